"""The table of solvers: docs/planners.md explains each and no others, and all that they accept has a text."""

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
"""The solvers that take fixed offsets, by the page."""
NAMED = registry.names(registry.SolverKind.PUBLISHED)


def test_each_solver_is_explained_and_nobody_else() -> None:
    tables = TEXT.split("## Details", 1)[0]
    rows = [line.split("|")[1] for line in tables.splitlines() if line.startswith("| `")]
    assert sorted(name for row in rows for name in re.findall("`([a-z_]+)`", row)) == sorted(registry.SOLVERS)


@pytest.mark.parametrize("name", registry.SOLVERS)
def test_the_page_says_what_it_is_in_the_words_of_the_table(name: str) -> None:
    (row,) = (line for line in TEXT.split("## Details", 1)[0].splitlines() if line.startswith(f"| `{name}` |"))
    assert row.split(" | ")[1] == registry.SOLVERS[name].summary


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


def test_each_feature_has_words_of_its_own() -> None:
    words = [feature.words for feature in Feature]
    assert len({*words}) == len(words)
    assert not any("_" in each for each in words)


def test_a_refusal_names_all_that_is_missing() -> None:
    assert refusal(frozenset(Feature) - ONE_PEAK) == (
        "it does not take a choice of pools, counting moves, other objectives than peaks"
    )
