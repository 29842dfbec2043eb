"""A neighbour's arrays, updated by the changes, equal arrays computed anew."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from planner import Buffer, Pool, Problem
from planner.facts.figures import amounts, figures, rows_of
from planner.model.problem import Neighbour


def made_up(name: str, chance: random.Random) -> Buffer:
    starts = sorted(chance.sample(range(20), chance.randrange(4)))
    live = tuple((start, start + chance.randrange(3)) for start in starts)  # some intervals touch, some are empty
    return Buffer(name, chance.randrange(50), chance.choice((1, 4, 8)), live=live)


@pytest.mark.parametrize("seed", range(8))
def test_changed_buffers_are_merged_into_known_arrays(seed: int) -> None:
    chance = random.Random(seed)
    before = Problem(tuple(made_up(f"b{i}", chance) for i in range(12)))
    for turn in range(20):
        buffers = [each for each in before.buffers if chance.random() < 0.9]
        chance.shuffle(buffers)
        for i in range(chance.randrange(3)):
            buffers.insert(chance.randrange(len(buffers) + 1), made_up(f"new {turn} {i}", chance))
        after = Problem(tuple(buffers), pools=(Pool("default", chance.choice((None, 100))),))
        after.facts.neighbour = Neighbour(before.buffers, before.pools, figures=figures(before))
        after.facts.rows = rows_of(after.facts.neighbour, after.buffers)
        found, expected = figures(after), figures(replace(after))
        assert found is not None
        assert expected is not None
        assert found.is_plain
        assert expected.is_plain
        for one, other in zip(found[:6], expected[:6], strict=True):
            assert np.array_equal(one, other)
        before = after


def test_problems_that_arrays_cannot_hold_have_no_figures() -> None:
    one = Buffer("a", 4, live=((0, 2),))
    before = Problem((one,))
    for other in (Buffer("b", 4), replace(one, max_offset=8), replace(one, pools=("default",))):
        after = Problem((one, other))
        assert figures(after) is None
        after.facts.neighbour = Neighbour(before.buffers, before.pools, figures=figures(before))
        after.facts.rows = rows_of(after.facts.neighbour, after.buffers)
        assert figures(after) is None
        assert amounts(after).size.tolist() == [4, 4]
    assert figures(replace(before, pools=(Pool("a"), Pool("b")))) is None
