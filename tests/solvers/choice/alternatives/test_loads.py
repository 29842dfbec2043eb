"""The loads of live buffers agree with a count for every choice and every time."""

from __future__ import annotations

import itertools
import random

import pytest

from solvers.choice.alternatives.instance import Choices
from solvers.choice.alternatives.loads import Piece, live_together


@pytest.mark.parametrize("seed", range(40))
def test_loads_of_every_choice_agree_with_a_count(seed: int) -> None:
    chance = random.Random(seed)
    groups = [chance.randint(1, 3) for _ in range(3)]
    picks = [None, *((g, a) for g, count in enumerate(groups) for a in range(count))]
    pieces = []
    for _ in range(chance.randint(1, 14)):
        start, low = chance.randrange(8), chance.randrange(6)
        block = chance.randrange(6)
        pieces.append(
            Piece(block, start, start + chance.randint(0, 4), low, low + chance.randint(0, 9), chance.choice(picks))
        )
    loads = live_together(pieces, groups).loads
    choices = Choices(tuple((0,) * count for count in groups), loads)
    for choice in itertools.product(*map(range, groups)):
        there = [p for p in pieces if p.pick is None or choice[p.pick[0]] == p.pick[1]]
        most = max(
            len({(p.block, at) for p in there if p.start <= time < p.end for at in range(p.low, p.high)})
            for time in range(12)
        )
        assert choices.load(choice) == most


def test_all_pieces_but_the_last_count_in_whole_units() -> None:
    pieces = [Piece(block, 0, 1, 0, size, None) for block, size in enumerate((5, 9, 16))]
    assert Choices((), live_together(pieces, (), unit=8).loads).load(()) == 8 + 16 + 16 - 7


def test_equal_pieces_are_counted_once_and_end_separately() -> None:
    twice = [Piece(0, 0, 2, 0, 4, None), Piece(0, 0, 2, 0, 4, None), Piece(1, 1, 3, 0, 3, None)]
    assert Choices((), live_together(twice, ()).loads).load(()) == 7


def test_only_the_largest_of_too_many_loads_are_formed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaving out smaller loads makes the bound weaker, never wrong."""
    pieces = [Piece(i, i, i + 20, 0, 1 + i % 17, (i % 5, i % 2)) for i in range(200)]
    groups = [2] * 5
    costs = tuple((0, 0) for _ in groups)
    every = Choices(costs, live_together(pieces, groups).loads)
    monkeypatch.setattr("solvers.choice.alternatives.loads.MOST_PIECES", 100)
    some = Choices(costs, live_together(pieces, groups).loads)
    assert 1 <= len(some.loads) < len(every.loads)
    for choice in itertools.product(range(2), repeat=5):
        assert some.load(choice) <= every.load(choice)


def test_shares_that_recur_at_many_times_are_kept_once() -> None:
    """Otherwise thousands of buffers beside one with thousands of lifetimes would fill the memory."""
    always = [Piece(block, 0, 100, 0, 1 + block, None) for block in range(50)]
    now_and_then = [Piece(50, at, at + 1, 0, 1 + at, None) for at in range(0, 100, 2)]
    shares = live_together([*always, *now_and_then], (), homes=dict.fromkeys(range(51), (0, 1))).shares
    assert len(shares) == 50
    assert len({id(share) for at_once in shares for share in at_once}) == 100
