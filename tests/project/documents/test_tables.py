"""The tables on the pages about measuring and about sharing have a row for everything that the code has."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from planner.bench.running.suites import SUITES
from planner.generate import KINDS
from planner.planning.sharing.findings import SharingFindingKind
from solvers.sharing.local_search import MOVES
from solvers.sharing.solver import AUTO, SHARERS
from tests.planner.bench.made_records import made

ROOT = Path(__file__).parents[3]
BENCH, SHARING = ((ROOT / "docs" / name).read_text("utf-8") for name in ("bench.md", "sharing.md"))


def rows(title: str) -> dict[str, str]:
    """Return the rest of each row below a heading, by the words in code style in the row's first column."""
    section = re.split(r"^#+ ", BENCH.split(f"# {title}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
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


def test_every_solver_has_a_row() -> None:
    table = SHARING.split("## Solvers", 1)[1].split("\n\n", 2)[1]
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == {AUTO, *SHARERS}
    assert f"up to {MOVES} moves" in table


def test_every_finding_is_named() -> None:
    assert set(SharingFindingKind) <= set(re.findall(r"`(\w+)`", SHARING))


def test_the_example_prints_the_stated_result() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", SHARING, re.DOTALL)
    printed = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    assert f"prints `{printed.strip()}`" in SHARING
