"""Random programs are planned function by function, then run in the memory of nested arenas, and compared with a run without memory."""

from __future__ import annotations

import random

import pytest

from planner import BadInput, Options, Plan, Problem, plan, verify
from planner.graph import (
    Function,
    GraphOptions,
    NestedPlan,
    Operator,
    OperatorKind,
    Program,
    Tensor,
    TensorKind,
    nested_plan,
)
from planner.model.problem import Pool
from tests.planner.graph.arenas import Arenas
from tests.planner.graph.random_programs import random_program
from tests.planner.graph.values import Answer, Values
from tests.small.strategies import NIGHTLY

K = OperatorKind
RUNS = 10000 if NIGHTLY else 80
POOLS = ((Pool("sram"),), (Pool("sram", alignment=4),), (Pool("tcm", 48), Pool("sram", None, cost=4)))


def solve(problem: Problem) -> Plan:
    answer = plan(problem, Options(solver="greedy", workers=1))
    assert verify(problem, answer) == ()
    return answer


@pytest.mark.parametrize("block", range(10))
def test_programs_in_nested_arenas_compute_what_they_do_without_memory(block: int) -> None:
    ran = 0
    for seed in range(block, RUNS, 10):
        try:
            ran += run(seed)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
    assert ran > RUNS / 10 * 0.7


def run(seed: int) -> bool:
    """Plan one program and run it three times; False if it is refused, or does not fit."""
    program, chance = random_program(seed), random.Random(seed)
    options = GraphOptions(
        plan_inputs=chance.random() < 0.8, opt_level=chance.choice((2, 2, 0)), offset_multiple=chance.choice((1, 4))
    )
    try:
        nested = nested_plan(program, chance.choice(POOLS), options, solve)
    except BadInput as refusal:
        if all("written meanwhile" in finding.message for finding in refusal.findings):
            return False
        raise
    if nested.peaks is None:
        return False
    require_right(program, nested, seed)
    return True


def answers(seed: str) -> Answer:
    """Return which way each branch and loop goes, the same for the same seed."""
    chance = random.Random(seed)
    return lambda: chance.randrange(1000)


def require_right(program: Program, nested: NestedPlan, seed: int) -> None:
    """Run the program three times, in the planned memory and without."""
    chance = random.Random(seed)
    values, arenas = Values(program), Arenas(program, nested, chance)
    functions = {function.name: function for function in program.functions}
    for turn in range(3):
        entry = functions[chance.choice(program.entries)]
        sizes = {tensor.id: tensor.bytes for tensor in entry.tensors}
        given = [chance.randbytes(sizes[id_]) for id_ in entry.inputs]
        right = values.enter(entry.name, given, answers(f"{seed} {turn}"))
        made = arenas.enter(entry.name, given, answers(f"{seed} {turn}"))
        for one, other in zip(values.log, arenas.log, strict=False):
            assert one == other, f"operator {one[1]} of {one[0]} reads what was not written for it"
        assert right == made, "an output is not what it was"
        assert values.state() == arenas.state(), "state is not what it was"


def tensor(id_: str, kind: TensorKind = TensorKind.INTERMEDIATE) -> Tensor:
    return Tensor(id_, (4,), kind=kind)


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_view_of_state_is_copied_before_a_function_writes_the_state(is_shared: bool) -> None:
    given = () if is_shared else ("s",)
    state = tensor("s", TensorKind.MUTABLE)
    writes = Function(
        "writes",
        (tensor("x", TensorKind.INPUT), tensor("y"), *(() if is_shared else (state,))),
        (Operator(K.COMPUTE, ("x",), ("s",)), Operator(K.COMPUTE, ("x",), ("y",))),
        (*given, "x"),
        ("y",),
    )
    main = Function(
        "main",
        (tensor("x", TensorKind.INPUT), tensor("before"), tensor("y"), tensor("z"), *(() if is_shared else (state,))),
        (
            Operator(K.VIEW, ("s",), ("before",)),
            Operator(K.CALL, (*given, "x"), ("y",), functions=("writes",)),
            Operator(K.COMPUTE, ("before", "y"), ("z",)),
        ),
        ("x",),
        ("z",),
    )
    program = Program((writes, main), ("main",), (state,) if is_shared else ())
    require_right(program, nested_plan(program, POOLS[0], GraphOptions(), solve), 1)


def test_a_view_is_copied_before_its_state_is_written_under_another_name() -> None:
    one, other = tensor("one", TensorKind.MUTABLE), tensor("other", TensorKind.MUTABLE)
    inner = Function(
        "inner",
        (one, other, tensor("before"), tensor("y")),
        (
            Operator(K.VIEW, ("one",), ("before",)),
            Operator(K.COMPUTE, ("one",), ("other",)),
            Operator(K.COMPUTE, ("before",), ("y",)),
        ),
        ("one", "other"),
        ("y",),
    )
    main = Function(
        "main",
        (tensor("s", TensorKind.MUTABLE), tensor("y")),
        (Operator(K.CALL, ("s", "s"), ("y",), functions=("inner",)),),
        (),
        ("y",),
    )
    program = Program((inner, main), ("main",))
    require_right(program, nested_plan(program, POOLS[0], GraphOptions(), solve), 1)
