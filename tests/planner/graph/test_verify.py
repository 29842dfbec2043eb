"""Plans made function by function are verified from the program: whatever is changed in them is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from planner import BadInput, Options, Plan, Problem, plan, verify
from planner.formats.answers.nested import read_nested, write_nested_json
from planner.graph import (
    Function,
    GraphOptions,
    Operator,
    OperatorKind,
    Program,
    Tensor,
    TensorKind,
    nested_plan,
    program_problem,
)
from planner.graph.nested import NestedAnswer
from planner.graph.verify import check_arenas, verify_nested
from planner.model.plan import Placement
from planner.model.problem import Pool
from planner.verifying.findings import FindingKind
from tests.planner.graph.random_programs import random_program
from tests.planner.graph.test_nested import POOL, two_calls
from tests.small.strategies import NIGHTLY

RUNS = 2000 if NIGHTLY else 15
Change = Callable[[NestedAnswer], NestedAnswer]


def solve(problem: Problem) -> Plan:
    return plan(problem, Options(solver="greedy", workers=1))


def test_what_is_made_is_right() -> None:
    arenas = 0
    for seed in range(RUNS):
        program = random_program(seed)
        pools = (Pool("sram", alignment=4), Pool("dram"))
        try:
            made = nested_plan(program, pools, GraphOptions(), solve)
        except BadInput:
            continue
        assert verify_nested(program, pools, GraphOptions(), read_nested(write_nested_json(made))) == (), seed
        arenas += len(made.arenas)
    assert arenas > RUNS


def moved(answer: NestedAnswer, function: str) -> NestedAnswer:
    """Return the answer with everything in that arena at offset 0."""
    old = answer.plans[function]
    places = tuple(Placement(place.id, place.pool, 0, place.size) for place in old.placements)
    return answer._replace(plans={**answer.plans, function: replace(old, placements=places)})


def renamed(answer: NestedAnswer) -> NestedAnswer:
    old = answer.plans["inner"]
    places = tuple(replace(place, id=f"{place.id}'") for place in old.placements)
    return answer._replace(plans={**answer.plans, "inner": replace(old, placements=places)})


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (lambda a: moved(a, "inner"), FindingKind.OVERLAP, "the arena of 'inner': "),
        (lambda a: moved(a, "main"), FindingKind.OVERLAP, "the arena of 'main': "),
        (renamed, FindingKind.UNKNOWN_BUFFER, "the arena of 'inner': "),
        (lambda a: a._replace(peak=1), FindingKind.WRONG_PEAK, "the peaks of the memories add up to 260, not 1"),
        (
            lambda a: a._replace(peaks=(("sram", 1),), peak=1),
            FindingKind.WRONG_PEAK,
            "the memories need 260 B of 'sram'; the answer says 1 B of 'sram'",
        ),
        (
            lambda a: a._replace(peaks=None, peak=None),
            FindingKind.WRONG_PEAK,
            "the memories need 260 B of 'sram'; the answer says nothing",
        ),
        (
            lambda a: a._replace(plans={"inner": a.plans["inner"]}),
            FindingKind.MISSING_BUFFER,
            "there is no arena of 'main'",
        ),
        (
            lambda a: a._replace(plans=dict(reversed(a.plans.items()))),
            FindingKind.WRONG_ORDER,
            "the arena of 'main' stands where that of 'inner' belongs",
        ),
        (
            lambda a: a._replace(plans={**a.plans, "more": a.plans["main"]}),
            FindingKind.WRONG_ORDER,
            "there is no function 'more' to be planned",
        ),
    ],
)
def test_what_is_wrong_is_found(change: Change, kind: FindingKind, message: str) -> None:
    program = two_calls()
    right = nested_plan(program, POOL, GraphOptions(), solve).answer
    assert verify_nested(program, POOL, GraphOptions(), right) == ()
    found = verify_nested(program, POOL, GraphOptions(), change(right))
    assert any(each.kind is kind and each.message.startswith(message) for each in found), found


def test_arenas_that_are_not_planned_yet_are_not_missed() -> None:
    program = two_calls()
    right = nested_plan(program, POOL, GraphOptions(), solve).answer
    begun = NestedAnswer({"inner": right.plans["inner"]}, None, None)
    known = check_arenas(program, POOL, GraphOptions(), begun)
    assert ([arena.function for arena in known.arenas], known.findings) == (["inner"], ())


def test_names_with_slashes_are_kept_apart() -> None:
    """'main/y' is tensor 'y' of 'main' or what all functions see; 'f/s' is a state of 'f' or a tensor of 'main'."""

    def function(name: str, target: str | None = None) -> Function:
        tensors = (
            Tensor("x", (8,), kind=TensorKind.INPUT),
            Tensor("s", (4,), kind=TensorKind.MUTABLE),
            Tensor("f/s", (16,)),
            Tensor("y", (8,)),
        )
        kind, functions = (OperatorKind.CALL, (target,)) if target else (OperatorKind.COMPUTE, ())
        operators = (
            Operator(kind, ("x",), ("y",), functions=functions),
            Operator(OperatorKind.COMPUTE, ("y", "main/y"), ("f/s",)),
            Operator(OperatorKind.COMPUTE, ("f/s",), ("s", "main/y")),
        )
        return Function(name, tensors, operators, ("x",), ("y",))

    shared = (Tensor("main/y", (4,), kind=TensorKind.MUTABLE),)
    program = Program((function("f"), function("main", "f")), ("main",), shared)
    found = program_problem(program, POOL)
    sizes = {buffer.id: buffer.size for buffer in found.problem.buffers}
    assert sizes == {"main/y": 4, "main/x": 8, "main/s": 4, "main/f/s": 16, "main/y'": 8, "f/s": 4, "f/f/s": 16}
    assert found.homes["main", "y"] == found.homes["f", "y"] == "main/y'"
    made = nested_plan(program, POOL, GraphOptions(), solve)
    assert [verify(arena.problem, arena.plan) for arena in made.arenas] == [(), (), ()]
    assert verify_nested(program, POOL, GraphOptions(), made.answer) == ()


def test_functions_may_have_any_name_and_equal_names_of_tensors() -> None:
    """Tensors of one name in several functions, a state that every function sees, and a function called like the arena of state."""

    def function(name: str, *targets: str) -> Function:
        tensors = (
            Tensor("x", (8,), kind=TensorKind.INPUT),
            Tensor("kept", (4,), kind=TensorKind.MUTABLE),
            Tensor("y", (8,)),
        )
        calls = [
            Operator(OperatorKind.CALL, ("x",), ("y",) if target == targets[-1] else (), functions=(target,))
            for target in targets
        ]
        operators = calls or [Operator(OperatorKind.COMPUTE, ("x", "kept"), ("y",))]
        return Function(name, tensors, (*operators, Operator(OperatorKind.COMPUTE, ("x",), ("kept",))), ("x",), ("y",))

    program = Program((function("state"), function("main", "state")), ("main",))
    made = nested_plan(program, POOL, GraphOptions(), solve)
    assert [arena.function for arena in made.arenas] == ["state'", "state", "main"]
    assert [verify(arena.problem, arena.plan) for arena in made.arenas] == [(), (), ()]
    answer = read_nested(write_nested_json(made))
    assert verify_nested(program, POOL, GraphOptions(), answer) == ()
