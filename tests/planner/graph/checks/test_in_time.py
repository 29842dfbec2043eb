"""Programs of many short functions are checked and put in order with looks at the clock, as those of one long function are."""

from __future__ import annotations

import pytest

from planner.graph import Function, GraphOptions, Operator, OperatorKind, Program, Tensor, TensorKind, program_problem
from planner.graph.checks.soundness import require_sound_program
from planner.model import deadline
from planner.model.deadline import LOOK_EVERY, time_limit
from planner.model.problem import Pool

MANY = 2 * LOOK_EVERY


def calls_of_short_functions() -> Program:
    """Return a program that runs each of many functions once."""
    io = (Tensor("h", (8,), kind=TensorKind.INPUT), Tensor("n", (8,)))
    write = (Operator(OperatorKind.COMPUTE, ("h",), ("n",)),)
    functions = [Function(f"f{i}", io, write, ("h",), ("n",)) for i in range(MANY)]
    names = ["x", *(f"t{i}" for i in range(MANY))]
    tensors = (Tensor("x", (8,), kind=TensorKind.INPUT), *(Tensor(name, (8,)) for name in names[1:]))
    calls = tuple(Operator(OperatorKind.CALL, (names[i],), (names[i + 1],), functions=(f"f{i}",)) for i in range(MANY))
    functions.append(Function("main", tensors, calls, ("x",), (names[-1],)))
    return Program(tuple(functions), ("main",))


def test_short_functions_are_looked_at_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    program, usual = calls_of_short_functions(), deadline.look

    def look(deed: str) -> None:
        looks.append(deed)
        usual(deed)

    monkeypatch.setattr(deadline, "look", look)
    with time_limit(1e6):
        require_sound_program(program)
        checking = len(looks)
        program_problem(program, (Pool("m"),), GraphOptions())
    assert checking >= 3 * MANY // LOOK_EVERY
    assert len(looks) - 2 * checking >= 2 * MANY // LOOK_EVERY
