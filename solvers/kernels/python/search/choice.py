"""Which clique is the most urgent (the rule that the search depends on most), and which of its blocks comes first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import TypeAlias

from ....model.splitmix import SplitMix64
from .building.model import Mover
from .states.state import CHUNK, State

MOST_CANDIDATES = 1024
SLACK_DAMP = 8
FAILURE_DAMP = 64
NOISE, NOISE_RANGE = 64, 32
SLACK_STEPS = 2047
"""Slack is scaled down so that the highest ceiling is at most this many steps."""

MOST_AREA = (1 << 63) - 1
SHUFFLE_SALT = 0x5BD1E995
PRECISION = 1 << 50
"""Keys are scaled down to less than this."""

Key: TypeAlias = Callable[[Mover], int]


class Urgency:
    """The urgency of each clique, small for urgent ones: few candidates, little slack, many failures, and a little noise."""

    def __init__(self, state: State, seed: int) -> None:
        self._state = state
        draw = SplitMix64(seed)
        self._noise = [NOISE + draw.next() % NOISE_RANGE for _ in state.levels]
        self._shift = 0
        while max(state.ceiling, default=1) >> self._shift > SLACK_STEPS:
            self._shift += 1
        self._factor = [0] * len(state.levels)
        for c in range(len(state.levels)):
            self.rate(c)

    def rate(self, clique: int) -> None:
        """Rates the clique again after a failure."""
        self._factor[clique] = (self._noise[clique] << 24) // (FAILURE_DAMP + self._state.weight[clique])
        self._state.restless.add(clique // CHUNK)

    def most_urgent(self, first: int, last: int) -> int | None:
        """The most urgent clique with unplaced members, from `first` to before `last`; of equals the first."""
        self._count_work(first, last)
        levels, left = self._state.levels, self._state.left
        best: tuple[int, int] | None = None
        for c in range(first, last):
            if left[c] == 0:
                continue
            candidates = min(levels[c].candidates, MOST_CANDIDATES)
            score = candidates * candidates * (SLACK_DAMP + (levels[c].slack >> self._shift)) * self._factor[c]
            if best is None or score < best[0]:
                best = score, c
        return None if best is None else best[1]

    def _count_work(self, first: int, last: int) -> None:
        """Counts work as the native search does: it caches the best of each chunk and examines only changed chunks again."""
        state = self._state
        for chunk in range(first // CHUNK, -(-last // CHUNK)):
            start, end = max(first, chunk * CHUNK), min(last, (chunk + 1) * CHUNK)
            if end - start < CHUNK:
                state.work += end - start
            elif chunk in state.restless or not state.self_contained:
                state.restless.discard(chunk)
                state.work += CHUNK
        state.work += (last - first) // CHUNK


class Order(IntEnum):
    """The first sort key; the other two break ties."""

    LIFETIME = 0
    SIZE = 1
    AREA = 2


def _lifetime(block: Mover) -> int:
    return block.lifetime


def _size(block: Mover) -> int:
    return block.size


def _area(block: Mover) -> int:
    return min(block.lifetime * block.size, MOST_AREA)


KEYS: dict[Order, tuple[Key, Key, Key]] = {
    Order.LIFETIME: (_lifetime, _area, _size),
    Order.SIZE: (_size, _area, _lifetime),
    Order.AREA: (_area, _lifetime, _size),
}


def ranks(blocks: Sequence[Mover], order: Order, seed: int) -> list[int]:
    """By block: its rank in this order. Blocks whose keys differ by less than a quarter may change places."""
    keys = KEYS[order]
    by = sorted(range(len(blocks)), key=lambda j: (*(-key(blocks[j]) for key in keys), j))
    main = [keys[0](blocks[j]) for j in by]
    shift = 0
    while max(main, default=0) >> shift >= PRECISION:
        shift += 1
    draw = SplitMix64(seed ^ SHUFFLE_SALT)
    noisy = sorted((-(value >> shift) * (64 + draw.next() % 16), place) for place, value in enumerate(main))
    rank = [0] * len(blocks)
    for i, (_, place) in enumerate(noisy):
        rank[by[place]] = i
    return rank
