"""The tiles of an instance: its blocks without the rules that plain kernels do not know, each of one rectangle."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...geometry.presolve import restrict
from ...model.instance import ADDRESS_LIMIT, Instance, Ints, PoolSpec
from ..layout import lives


@dataclass(frozen=True, slots=True)
class Tiles:
    """Rectangles of blocks. A block with gaps in its life is one tile if others leave it room there, else one for each time it is live."""

    block: Ints
    begin: Ints
    end: Ints
    size: Ints
    modulus: int
    """The alignment of most blocks."""

    def plain(self, instance: Instance) -> Instance:
        """The instance with these tiles as blocks, and no rules but their alignment."""
        number = np.arange(len(self.block), dtype=np.int64)
        zero = 0 * number
        highest = ADDRESS_LIMIT - 1 - self.size
        pairs = np.zeros((0, 2), dtype=np.int64)
        whole = replace(
            instance,
            pools=(PoolSpec(),),
            part_block=number,
            part_low=zero,
            part_high=self.size,
            rect_part=number,
            rect_start=self.begin,
            rect_end=self.end,
            allowed=np.ones((len(number), 1), dtype=bool),
            modulus=(zero + self.modulus)[:, None],
            residue=zero[:, None],
            lowest=zero[:, None],
            highest=(highest - highest % self.modulus)[:, None],
            access_cost=zero[:, None],
            pool_class=number,
            preference=zero[:, None],
            apart=pairs,
            conflicts=pairs,
            exclusions=pairs,
            hint=zero,
            hinted=np.zeros(len(number), dtype=bool),
            input_rank=number,
            name_rank=number,
            penalties=np.zeros((0, 3), dtype=np.int64),
            source=None,
            was=None,
        )
        return restrict(whole, number, [0]).instance


def tiles_of(instance: Instance, enough: int, peak: int) -> Tiles | None:
    """The tiles; None if they cannot lie below this peak. They are no higher for gaps that are taken for lives, if that is enough."""
    birth, death = lives(instance)
    high = instance.block_high
    rects = np.bincount(instance.part_block[instance.rect_part], minlength=instance.blocks)
    is_one_part = np.bincount(instance.part_block, minlength=instance.blocks) == 1
    is_split = is_one_part & (rects > 1)
    whole = np.flatnonzero((rects > 0) & (high > 0) & ~is_split)
    part = instance.part_block[instance.rect_part]
    single = np.flatnonzero(is_split[part] & (high[part] > 0))
    block = np.concatenate([whole, part[single]])
    begin = np.concatenate([birth[whole], instance.rect_start[single]])
    end = np.concatenate([death[whole], instance.rect_end[single]])
    live = _live(begin, end, high[block], instance.sections)
    height = max(enough, int(live.max(initial=0)))
    if height >= peak:
        return None
    is_filled = np.zeros(instance.blocks, dtype=bool)
    for odd in np.flatnonzero(is_split & (high > 0)).tolist():
        own = part == odd
        room = live[birth[odd] : death[odd]] + high[odd]
        for first, last in zip(instance.rect_start[own].tolist(), instance.rect_end[own].tolist(), strict=True):
            room[first - birth[odd] : last - birth[odd]] -= high[odd]
        if room.max() <= height:
            live[birth[odd] : death[odd]] = room
            is_filled[odd] = True
    filled = np.flatnonzero(is_filled)
    kept = ~is_filled[block]
    block = np.concatenate([block[kept], filled])
    moduli, counts = np.unique(instance.modulus, return_counts=True)
    return Tiles(
        block,
        np.concatenate([begin[kept], birth[filled]]),
        np.concatenate([end[kept], death[filled]]),
        high[block],
        int(moduli[np.argmax(counts)]),
    )


def _live(begin: Ints, end: Ints, size: Ints, sections: int) -> Ints:
    """The sum of live sizes in each section."""
    steps = np.zeros(sections + 1, dtype=np.int64)
    np.add.at(steps, begin, size)
    np.add.at(steps, end, -size)
    return np.cumsum(steps)[:-1]
