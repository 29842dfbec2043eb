"""The best choice of pools by sections is the best of all choices, tried one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from solvers.choice import over_time
from solvers.choice.over_time import Choosing, Found, TooMany, Weights, best_choice
from solvers.model.outcome import Value


def made(seed: int) -> Choosing:
    """Up to seven blocks, some with gaps in their lives or never live, in two or three pools."""
    chance = np.random.default_rng(seed)
    count, pools = int(chance.integers(1, 8)), int(chance.integers(2, 4))
    lives = [
        (block, start, start + int(chance.integers(1, 4)))
        for block in range(count)
        for start in sorted({int(each) * 4 for each in chance.integers(0, 4, int(chance.integers(0, 3)))})
    ]
    owner, start, end = np.array(lives, dtype=np.int64).reshape(-1, 3).T
    allowed = chance.random((count, pools)) < 0.8
    allowed[np.arange(count), chance.integers(0, pools, count)] = True
    prices = tuple(chance.integers(0, 3, pools).tolist())
    nothing = (0,) * pools
    kinds = (
        (Weights(True, nothing, 0), Weights(False, prices, 0)),
        (Weights(False, prices, 0), Weights(True, nothing, 0)),
        (Weights(True, prices, 0),),
        (Weights(True, nothing, 0),),
    )
    asked = Choosing(
        chance.integers(1, 9, count),
        chance.integers(0, 9, (count, pools)),
        allowed,
        [None if chance.random() < 0.3 else int(chance.integers(4, 25)) for _ in range(pools)],
        owner,
        start,
        end,
        kinds[seed % len(kinds)],
    )
    peaks = asked._replace(terms=(Weights(False, prices, 0),))
    least = min((value[0] for value in values(peaks)), default=0)
    terms = tuple(each._replace(least=least if any(each.peaks) else 0) for each in asked.terms)
    return asked._replace(terms=terms)


def value(asked: Choosing, pool: tuple[int, ...]) -> Value | None:
    """What the choice is worth; None if a pool would hold too much."""
    peaks = [0] * len(asked.room)
    for section in range(int(asked.end.max(initial=0))):
        load = [0] * len(asked.room)
        for block, start, end in zip(asked.owner.tolist(), asked.start.tolist(), asked.end.tolist(), strict=True):
            if start <= section < end:
                load[pool[block]] += int(asked.size[block])
        if any(room is not None and each > room for each, room in zip(load, asked.room, strict=True)):
            return None
        peaks = [*map(max, peaks, load)]
    cost = sum(int(asked.cost[block, p]) for block, p in enumerate(pool))
    return tuple(
        cost * term.counts_choice + sum(price * peak for price, peak in zip(term.peaks, peaks, strict=True))
        for term in asked.terms
    )


def values(asked: Choosing) -> list[Value]:
    """What every possible choice is worth, best first."""
    choices = product(*(np.flatnonzero(row).tolist() for row in asked.allowed))
    return sorted(each for each in (value(asked, pool) for pool in choices) if each is not None)


@pytest.mark.parametrize("seed", range(200))
def test_no_choice_is_better(seed: int) -> None:
    asked = made(seed)
    every = values(asked)
    found = best_choice(asked, None)
    if not every:
        assert found is None
        return
    assert found is not None
    assert found.value == every[0] == value(asked, tuple(found.pool.tolist()))
    for known in every[:: max(len(every) // 5, 1)]:
        better = best_choice(asked, known)
        assert (None if better is None else better.value) == (every[0] if every[0] < known else None)


def test_gives_up_where_too_many_blocks_are_live_together(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(count: int) -> Found | None:
        ones, owner = np.ones(count, dtype=np.int64), np.arange(count)
        cost = np.stack((0 * ones, ones), axis=1)
        terms = (Weights(True, (0, 0), 0),)
        return best_choice(Choosing(ones, cost, cost >= 0, (count // 2, None), owner, 0 * ones, ones, terms), None)

    assert ask(8) is not None
    with pytest.raises(TooMany):
        ask(80)
    monkeypatch.setattr(over_time, "MOST_STATES", 10)
    with pytest.raises(TooMany):
        ask(8)
