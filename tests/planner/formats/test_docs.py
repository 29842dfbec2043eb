"""docs/format.md and docs/other-formats.md agree with the code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from planner.formats import read_plan, read_problem, schema
from planner.formats.answers.plan_wire import PlanWire
from planner.formats.planners.minimalloc import _COLUMNS
from planner.model.errors import Code
from planner.verifying.verify import verify
from solvers.model.instance import Term

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "format.md").read_text("utf-8")
EXAMPLES = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)


def rows(title: str) -> set[str]:
    """Return the words in code style in the first column of the tables below a heading."""
    section = re.split(r"^#+ ", PAGE.split(f" {title}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


@pytest.mark.parametrize(
    ("title", "type_"),
    [("Pools", "Pool"), ("Buffers", "BufferOfProblem"), ("Constraints", "Constraints"), ("The document", None)],
)
def test_every_field_has_a_row(title: str, type_: str | None) -> None:
    part = schema() if type_ is None else schema()["$defs"][type_]
    assert rows(title) == set(part["properties"])


def test_every_term_has_a_row() -> None:
    assert rows("Objective") == set(Term) == set(schema()["$defs"]["Objective"]["properties"]["terms"]["items"]["enum"])


def test_every_code_has_a_row() -> None:
    assert rows("What is refused, and how it is said") == set(Code)


def test_every_field_of_a_plan_has_a_row() -> None:
    assert rows("The plan: memplan-plan/1") == set(PlanWire.__annotations__) - {"format"}


def test_every_column_of_minimalloc_is_named() -> None:
    section = (DOCS / "other-formats.md").read_text("utf-8").split("### minimalloc", 1)[1].split("###", 1)[0]
    assert set(re.findall(r"`(\w+)`", section)) >= set(_COLUMNS)


def test_the_example_plan_fits_the_example_problem() -> None:
    problem, _ = read_problem(EXAMPLES[0].encode())
    digestless = json.loads(EXAMPLES[1])
    from planner.facts.digest import digest

    plan = read_plan(json.dumps({**digestless, "problem_digest": digest(problem)}).encode())
    assert list(verify(problem, plan)) == []
