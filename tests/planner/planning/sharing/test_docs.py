"""The page on sharing says what the code does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from planner.planning.sharing.findings import SharingFindingKind
from solvers.sharing.local_search import MOVES
from solvers.sharing.solver import AUTO, SHARERS

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "sharing.md").read_text("utf-8")


def test_every_solver_has_a_row() -> None:
    table = PAGE.split("## Solvers", 1)[1].split("\n\n", 2)[1]
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == {AUTO, *SHARERS}
    assert f"up to {MOVES} moves" in table


def test_every_finding_is_named() -> None:
    assert set(SharingFindingKind) <= set(re.findall(r"`(\w+)`", PAGE))


def test_the_example_prints_what_it_says() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    printed = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    assert f"prints `{printed.strip()}`" in PAGE
