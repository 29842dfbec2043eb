"""Tensors that share bytes are compared within the time limit, also in a chain of loops."""

from __future__ import annotations

import time

import pytest

from planner.graph import Function, Operator, OperatorKind, Program, Tensor, TensorKind, program_problem
from planner.model import deadline
from planner.model.problem import Pool


def chain(loops: int) -> Program:
    """Return a program of loops, each of which goes on with what the one before gave."""
    leaf_tensors = (Tensor("x", (8,), kind=TensorKind.INPUT), Tensor("y", (8,)))
    leaf = Function("leaf", leaf_tensors, (Operator(OperatorKind.COMPUTE, ("x",), ("y",)),), ("x",), ("y",))
    tensors = (Tensor("t0", (8,), kind=TensorKind.INPUT), *(Tensor(f"t{i + 1}", (8,)) for i in range(loops)))
    operators = tuple(
        Operator(OperatorKind.LOOP, (f"t{i}",), (f"t{i + 1}",), functions=("leaf",), carried=1) for i in range(loops)
    )
    return Program((leaf, Function("main", tensors, operators, ("t0",), (f"t{loops}",))), ("main",))


def test_comparing_tensors_looks_at_the_clock_as_often_as_it_compares(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    def is_over(*_: object) -> bool:
        nonlocal looks
        looks += 1
        return False

    monkeypatch.setattr(deadline, "LOOK_EVERY", 256)
    monkeypatch.setattr("planner.model.deadline._Deadline.is_over", is_over)
    counted = []
    for loops in (40, 80):
        looks = 0
        with deadline.time_limit(1000, time.monotonic()):
            program_problem(chain(loops), (Pool("sram"),))
        counted.append(looks)
    assert counted[1] > 1.5 * counted[0] > 15
