"""The buffers of many plain tensors are columns, and equal those that are made one by one."""

from __future__ import annotations

import pytest

from planner.facts.digest import digest
from planner.graph import Tensor, TensorKind, program_problem
from planner.graph.buffers import Gathered
from planner.model.columns.buffers import BufferColumns, KeptBuffers
from planner.model.columns.rows import StepColumns
from planner.model.errors import BadInput, Finding
from planner.model.problem import MAX_ADDRESS, Buffer, Fixed, Pool, Problem
from tests.planner.graph.random_programs import random_program

POOLS = (Pool("fast", rank=0), Pool("slow", rank=1))


def made(seed: int, pools: int) -> Problem | tuple[Finding, ...]:
    try:
        return program_problem(random_program(seed), POOLS[:pools]).problem
    except BadInput as error:
        return error.findings


def test_random_programs_give_equal_problems_in_columns_and_in_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    found: set[type] = set()
    for seed in range(60):
        rows = made(seed, 1 + seed % 2)
        with monkeypatch.context() as few:
            few.setattr("planner.graph.buffers.FEW", 0)
            few.setattr("planner.graph.running.flow.FEW", 0)
            columns = made(seed, 1 + seed % 2)
        assert columns == rows
        if not isinstance(rows, Problem) or not isinstance(columns, Problem):
            continue
        assert digest(columns) == digest(rows)
        found.add(type(columns.buffers))
        found.add(type(rows.buffers))
    assert found == {tuple, BufferColumns, KeptBuffers}


def test_what_columns_cannot_say_is_kept_in_objects() -> None:
    plain = Tensor("a", (4,))
    gathered = Gathered(keeps=False)
    gathered.add("a", plain, 1, ((0, 2),), None)
    gathered.add("b", plain, 1, ((0, 2), (4, 6)), None)
    gathered.add("c", Tensor("c", (4,), pools=("x",), device="d", kind=TensorKind.INPUT), 1, (), None)
    gathered.add("d", Tensor("d", (4,), is_output=True), 4 * MAX_ADDRESS, ((0, 2),), Fixed("x"))
    assert gathered.buffers() == (
        Buffer("a", 4, live=((0, 2),), kind="intermediate"),
        Buffer("b", 4, live=((0, 2), (4, 6)), kind="intermediate"),
        Buffer("c", 4, live=(), pools=("x",), kind="input", device="d"),
        Buffer("d", 4, 4 * MAX_ADDRESS, ((0, 2),), fixed=Fixed("x"), kind="output"),
    )


def test_steps_in_columns_equal_pairs() -> None:
    steps = StepColumns([1, 4], ["a", "b"])
    assert steps == ((1, "a"), (4, "b"))
    assert steps[1] == (4, "b")
    assert Problem((), steps=steps) == Problem((), steps=((1, "a"), (4, "b")))
