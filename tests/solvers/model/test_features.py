"""What solvers may take, and how people are told of it."""

from __future__ import annotations

from solvers.model.needs import refusal
from solvers.model.solver import ONE_PEAK, Feature


def test_each_feature_has_words_of_its_own() -> None:
    words = [feature.words for feature in Feature]
    assert len({*words}) == len(words)
    assert not any("_" in each for each in words)


def test_a_refusal_names_all_that_is_missing() -> None:
    assert refusal(frozenset(Feature) - ONE_PEAK) == (
        "it does not take a choice of pools, counting moves, other objectives than peaks"
    )
