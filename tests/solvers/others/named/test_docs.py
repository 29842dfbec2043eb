"""docs/planners.md knows every named planner, and what it takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from solvers.model import solver as registry
from solvers.model.solver import Feature

TEXT = (Path(__file__).resolve().parents[4] / "docs" / "planners.md").read_text(encoding="utf-8")
NAMED = tuple(name for name, path in registry.SOLVERS.items() if path.startswith("solvers.others.named."))


@pytest.mark.parametrize("name", NAMED)
def test_each_has_a_row_that_says_what_it_takes(name: str) -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith(f"| `{name}` |")]
    row = rows[0]
    assert row.count("|") == 5
    features = registry.get(name).features
    assert ("one pool each" in row or row.endswith("the same |")) == (Feature.POOLS not in features)
    assert ("no explicit conflicts" in row) == (Feature.CONFLICTS not in features)
    assert Feature.TERMS not in features
    assert (Feature.FIXED in features) == name.startswith(("cadence", "tflm"))
