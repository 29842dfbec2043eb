"""docs/planners.md explains every solver there is and none that is not, and says of every named planner what it takes."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

from solvers.model import registry
from solvers.model.solver import Feature

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "planners.md").read_text(encoding="utf-8")
FIXED = re.findall("`(.*?)`", TEXT.partition("reserved ranges are taken by")[2].partition("alone")[0])
"""Which of them take fixed offsets, by the page."""
NAMED = registry.names(registry.SolverKind.PUBLISHED)


def test_each_solver_is_explained_and_nobody_else() -> None:
    tables = TEXT.split("## Details", 1)[0]
    rows = [line.split("|")[1] for line in tables.splitlines() if line.startswith("| `")]
    assert sorted(name for row in rows for name in re.findall("`([a-z_]+)`", row)) == sorted(registry.SOLVERS)


@pytest.mark.parametrize("name", NAMED)
def test_each_has_a_row_that_says_what_it_takes(name: str) -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith(f"| `{name}` |")]
    row = rows[0]
    assert row.count("|") == 5
    features = registry.get(name).features
    assert ("one pool each" in row or row.endswith("the same |")) == (Feature.POOLS not in features)
    assert ("no explicit conflicts" in row) == (Feature.CONFLICTS not in features)
    assert Feature.TERMS not in features
    assert (Feature.FIXED in features) == any(fnmatch(name, pattern) for pattern in FIXED)
