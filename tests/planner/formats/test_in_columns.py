"""Whatever a file says of its buffers: in columns it is the same problem, with the same digest and the same plan, as in objects."""

from __future__ import annotations

from contextlib import ExitStack
from unittest.mock import patch

import pytest

from planner.facts import colocation
from planner.facts.digest import digest
from planner.formats import FORMATS, documents, read_problem
from planner.formats.json import loading, pieces, records, validate
from planner.model.columns import buffers, gathered, relations
from planner.model.columns.rows import Columns
from planner.model.errors import BadInput, Finding
from planner.model.problem import Problem
from planner.planning.options.options import Options
from planner.planning.placing.solving import plan
from planner.verifying.verify import verify
from scripts.measure.reading.files import PLAIN
from scripts.measure.reading.short_rows import SHORT_ROWS

LENGTH = 3000
MAKERS = {**{(name, "as programs write it"): make for name, make in PLAIN.items()}, **SHORT_ROWS}


def read(data: bytes, format_: str, *, in_columns: bool) -> tuple[Problem, tuple[str, ...]] | tuple[Finding, ...]:
    with ExitStack() as stack:
        stack.enter_context(patch.object(colocation, "FOREST", 1))
        for module in (gathered, relations, records, buffers) if in_columns else ():
            stack.enter_context(patch.object(module, "FEW", 1))
        if in_columns:
            stack.enter_context(patch.object(documents, "LEAST_BYTES", 0))
            stack.enter_context(patch.object(validate, "LARGE", 0))
            for module in (pieces, loading):
                stack.enter_context(patch.object(module, "PIECE", 1 << 10))
        try:
            return read_problem(data, format=format_)
        except BadInput as error:
            return error.findings


@pytest.mark.parametrize("kind", MAKERS, ids=" ".join)
def test_files_are_read_alike(kind: tuple[str, str]) -> None:
    made = MAKERS[kind](LENGTH)
    for data in (made, made[:-20], made.replace(b"64", b"65"), made.replace(b"2", b"1")):
        found = read(data, kind[0], in_columns=True)
        assert found == read(data, kind[0], in_columns=False)


@pytest.mark.parametrize("format_", FORMATS)
def test_examples_are_read_alike(format_: str) -> None:
    data = FORMATS[format_].document
    assert read(data, format_, in_columns=True) == read(data, format_, in_columns=False)


@pytest.mark.parametrize(
    "kind",
    [
        ("memplan", "fixed places"),
        ("minimalloc", "one window"),
        ("minimalloc", "all columns"),
        ("vela-log", "rows at one place"),
    ],
    ids=" ".join,
)
def test_plans_are_the_same(kind: tuple[str, str]) -> None:
    found = [read(SHORT_ROWS[kind](LENGTH), kind[0], in_columns=each) for each in (True, False)]
    problems = [each[0] for each in found if isinstance(each[0], Problem)]
    assert [isinstance(each.buffers, Columns) for each in problems] == [True, False]
    plans = [plan(each, Options(time_limit=None, work_limit=100_000)) for each in problems]
    assert digest(problems[0]) == digest(problems[1])
    assert plans[0].placements == plans[1].placements
    assert plans[0].peak == plans[1].peak
    assert not verify(problems[0], plans[1])
