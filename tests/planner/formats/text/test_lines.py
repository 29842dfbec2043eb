"""Rows written as CSV are the same rows for whoever reads them, whatever their cells hold."""

from __future__ import annotations

import csv
import io

import pytest

from planner import Buffer, Pool, Problem, plan, read_problem
from planner.formats.planners.minimalloc_writer import write_csv, write_plan_csv
from planner.formats.text.lines import table

STRANGE = ["a\r", "\rb", "a\r\nb", "\n", "\r", "a,b", '"', "'", " ", "", "é", "\x85", "\u2028", "=1", "\0"]


def read_again(text: str) -> list[list[str]]:
    return [*csv.reader(io.StringIO(text, newline=""), strict=True)]


@pytest.mark.parametrize("cell", STRANGE)
def test_every_cell_comes_back(cell: str) -> None:
    text = table(("one", "two"), [{"one": cell, "two": 1}, {"two": cell, "more": 2}])
    assert text.endswith("\n")
    assert not text.endswith("\r\n")
    assert read_again(text) == [["one", "two"], [cell, "1"], ["", cell]]


def test_plans_and_problems_of_strange_names_can_be_read_by_others() -> None:
    names = [name for name in STRANGE if name and name != "\0"]
    problem = Problem(tuple(Buffer(name, 4, live=((0, 2),)) for name in names), (Pool("default"),))
    for data in (write_csv(problem), write_plan_csv(problem, plan(problem), b"")):
        assert [row[0] for row in read_again(data.decode())[1:]] == names
        assert [buffer.id for buffer in read_problem(data)[0].buffers] == names
