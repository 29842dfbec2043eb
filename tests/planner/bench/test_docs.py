"""The page on measuring says what the code does."""

from __future__ import annotations

import json
import re
from pathlib import Path

from planner.bench.running.suites import SUITES
from planner.generate import KINDS
from tests.planner.bench.made_records import made

PAGE = (Path(__file__).parents[3] / "docs" / "bench.md").read_text("utf-8")


def rows(title: str) -> dict[str, str]:
    """The words in code style in the first column of the tables below a heading, and the rest of their row."""
    section = re.split(r"^#+ ", PAGE.split(f"# {title}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    found = re.findall(r"^\| (`.*?) \|(.*)", section, re.MULTILINE)
    return {name: rest for cell, rest in found for name in re.findall(r"`([@\w]+)`", cell)}


def test_every_field_of_a_record_has_a_row() -> None:
    assert set(rows("What is written")) == set(json.loads(made().line()))


def test_every_kind_has_a_row_with_its_parameters() -> None:
    described = rows("Made-up instances")
    assert set(described) == set(KINDS)
    for name, kind in KINDS.items():
        for parameter, default in kind.parameters.items():
            assert re.search(rf"`{parameter}`.*\({default}\)", described[name])


def test_every_suite_has_a_row() -> None:
    assert set(rows("Suites")) == {f"@{name}" for name in SUITES}
