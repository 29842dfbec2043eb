"""Functions that write state, also state handed to them twice or seen under two names, find what was in it before where they kept that."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from planner import BadInput, plan, verify
from planner.graph import (
    Function,
    GraphOptions,
    Operator,
    OperatorKind,
    Program,
    Reason,
    Tensor,
    TensorKind,
    nested_plan,
    program_problem,
)
from planner.model.problem import Pool
from planner.verifying.findings import FindingKind
from tests.planner.graph.machine import Machine
from tests.planner.graph.test_arenas_run import require_right, solve
from tests.small.strategies import NIGHTLY

K = OperatorKind
RUNS = 2400 if NIGHTLY else 60
POOL = (Pool("sram"),)


def function(name: str, chance: random.Random, others: list[Function]) -> Function:
    """Return a function of two states and a value, which looks at states, writes them, and runs other functions with any two of them."""
    tensors = [Tensor(id_, (4,), kind=TensorKind.MUTABLE) for id_ in ("a", "b")]
    tensors.append(Tensor("x", (4,), kind=TensorKind.INPUT))
    operators: list[Operator] = []
    states, values = ["a", "b", "shared"], ["x", "fixed"]

    def new() -> str:
        tensors.append(Tensor(f"t{len(tensors)}", (4,)))
        return str(tensors[-1].id)

    for _ in range(chance.randrange(1, 8)):
        what = chance.choice(
            ("look", "write", "compute", "run", "run") if others else ("look", "look", "write", "write")
        )
        source = chance.choice(states + values)
        if what == "write":
            state = chance.choice([each for each in states if each != source])
            kind = chance.choice((K.COMPUTE, K.COPY, K.VIEW, K.IN_PLACE))
            operands = (source, state) if kind is K.IN_PLACE else (source,)
            operators.append(Operator(kind, operands, (state,), over=chance.randint(1, len(operands))))
            continue
        result = new()
        if what == "look":
            operators.append(Operator(chance.choice((K.VIEW, K.COPY, K.IN_PLACE)), (source,), (result,)))
        elif what == "compute":
            operators.append(Operator(K.COMPUTE, (source, chance.choice(values)), (result,)))
        else:
            one, other = chance.choice(states), chance.choice(states)
            given = (one, chance.choice((one, other)), chance.choice(values))
            operators.append(Operator(K.CALL, given, (result,), functions=(chance.choice(others).name,)))
        values.append(result)
    kept = tuple(values[chance.randrange(2) :])
    operators.append(Operator(K.COMPUTE, kept, (new(),)))
    return Function(name, tuple(tensors), tuple(operators), ("a", "b", "x"), (tensors[-1].id,))


def program(chance: random.Random) -> Program:
    functions: list[Function] = []
    for name in ("inner", "middle", "main")[chance.randrange(3) :]:
        functions.append(function(name, chance, functions))
    seen_by_all = (
        Tensor("shared", (4,), kind=TensorKind.MUTABLE),
        Tensor("fixed", (4,), kind=TensorKind.CONSTANT),
    )
    return Program(tuple(functions), ("main",), seen_by_all)


@pytest.mark.parametrize("block", range(5))
def test_what_was_kept_of_state_is_found_after_the_state_is_written(block: int) -> None:
    ran = 0
    for seed in range(block, RUNS, 5):
        made = program(random.Random(seed))
        try:
            found = program_problem(made, POOL, GraphOptions(offset_multiple=1))
        except BadInput as refusal:
            if all("written meanwhile" in finding.message for finding in refusal.findings):
                continue
            raise
        places = {place.id: (place.pool, place.offset) for place in solve(found.problem).placements}
        machine = Machine(made, found, places, random.Random(seed))
        try:
            for _ in range(2):
                machine.run_entry("main")
            require_right(made, nested_plan(made, POOL, GraphOptions(offset_multiple=1), solve), seed)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        ran += 1
    assert ran > RUNS / 5 * 0.3


X, S = Tensor("x", (4,), kind=TensorKind.INPUT), Tensor("S", (4,), kind=TensorKind.MUTABLE)
UPDATE = Operator(K.IN_PLACE, ("x", "S"), ("S",))
ELSEWHERE = Function("other", (Tensor("u", (4,), kind=TensorKind.INPUT),), (), ("u",), ())
INNER = Function("inner", (replace(X, id="h"),), (replace(UPDATE, inputs=("h", "S")),), ("h",), ())


def updating(*operators: Operator, own: tuple[Tensor, ...] = (), inputs: tuple[str, ...] = ("x",)) -> Function:
    return Function("main", (X, *own), operators, inputs, ())


@pytest.mark.parametrize(
    ("made", "input_", "reasons"),
    [
        (Program((updating(UPDATE),), ("main",), (S,)), "x", [Reason.STILL_NEEDED]),
        (Program((updating(replace(UPDATE, over=2)),), ("main",), (S,)), "x", []),
        (Program((updating(UPDATE, own=(S,), inputs=("x", "S")),), ("main",)), "x", [Reason.STILL_NEEDED]),
        (Program((ELSEWHERE, updating(UPDATE)), ("other", "main"), (S,)), "main/x", [Reason.STILL_NEEDED]),
        (
            Program((updating(Operator(K.CALL, ("x",), (), functions=("inner",))), INNER), ("main",), (S,)),
            "main/x",
            [Reason.STILL_NEEDED],
        ),
    ],
    ids=["first operator", "over either", "of the entry", "second entry", "in a call"],
)
def test_what_an_entry_is_given_does_not_lie_over_state(made: Program, input_: str, reasons: list[Reason]) -> None:
    found = program_problem(made, POOL)
    assert [each.reason for each in found.refused] == reasons
    answer = plan(found.problem)
    assert verify(found.problem, answer) == ()
    places = {place.id: (place.pool, place.offset) for place in answer.placements}
    Machine(made, found, places, random.Random(0)).run_entry("main")
    over_state = next(place.offset for place in answer.placements if place.id == "S")
    wrong = tuple(replace(place, offset=over_state) if place.id == input_ else place for place in answer.placements)
    kinds = {finding.kind for finding in verify(found.problem, replace(answer, placements=wrong))}
    assert FindingKind.OVERLAP in kinds
