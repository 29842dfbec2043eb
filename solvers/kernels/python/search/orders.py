"""Static orders of blocks that break ties, shuffled a little anew for each attempt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import TypeAlias

from ....model.splitmix import SplitMix64
from .building.model import Mover

MOST_AREA = (1 << 63) - 1
SHUFFLE_SALT = 0x5BD1E995
PRECISION = 1 << 50
"""What is compared is kept below this."""

Key: TypeAlias = Callable[[Mover], int]


class Order(IntEnum):
    """What comes first: what lives longest, is largest, or takes up most of both. The other two break ties."""

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
    """By block: its rank in this order, where what differs by less than a quarter may change places."""
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
