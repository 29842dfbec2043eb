"""docs/planners.md explains each solver of the table and no others, and every feature has words of its own."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

from solvers.model import registry
from solvers.model.needs import refusal
from solvers.model.solver import ONE_PEAK, Feature

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "planners.md").read_text(encoding="utf-8")
FIXED = re.findall("`(.*?)`", TEXT.partition("reserved ranges are taken by")[2].partition("alone")[0])
"""Patterns of the solvers that take fixed offsets, according to the page."""
NAMED = registry.names(registry.SolverKind.PUBLISHED)


def test_the_page_explains_each_solver_and_no_other() -> None:
    tables = TEXT.split("## Details", 1)[0]
    rows = [line.split("|")[1] for line in tables.splitlines() if line.startswith("| `")]
    assert sorted(name for row in rows for name in re.findall("`([a-z_]+)`", row)) == sorted(registry.SOLVERS)


@pytest.mark.parametrize("name", registry.SOLVERS)
def test_the_page_repeats_each_solver_s_summary(name: str) -> None:
    (row,) = (line for line in TEXT.split("## Details", 1)[0].splitlines() if line.startswith(f"| `{name}` |"))
    assert row.split(" | ")[1] == registry.SOLVERS[name].summary


@pytest.mark.parametrize("name", NAMED)
def test_each_solver_has_a_row_with_the_features_it_takes(name: str) -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith(f"| `{name}` |")]
    row = rows[0]
    assert row.count("|") == 5
    features = registry.get(name).features
    assert ("one pool each" in row or row.endswith("the same |")) == (Feature.POOLS not in features)
    assert ("no explicit conflicts" in row) == (Feature.CONFLICTS not in features)
    assert Feature.TERMS not in features
    assert (Feature.FIXED in features) == any(fnmatch(name, pattern) for pattern in FIXED)


def test_each_feature_has_its_own_words() -> None:
    words = [feature.words for feature in Feature]
    assert len({*words}) == len(words)
    assert not any("_" in each for each in words)


def test_a_refusal_names_all_missing_features() -> None:
    assert refusal(frozenset(Feature) - ONE_PEAK) == (
        "it does not take a choice of pools, counting moves, other objectives than peaks"
    )
