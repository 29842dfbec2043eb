"""What a pool's reserved ranges keep from lying low: blocks begin above the ranges between which they do not fit, and no large part fills a small gap.

All parts that are live in a section may fill the gaps, but the large ones only wide gaps. So some of them, those of some size or those that can only
begin high, may have to reach higher than the sizes of all of them tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..geometry.shape import outline, union
from ..kernels import active
from ..model.instance import Bools, Instance, Ints

MOST_STEPS = 64
"""A block is raised at most so often; it mostly takes one step, and more where alignments keep it out of gaps that are wide enough."""
MOST_LEVELS = 32
"""The most sizes, and the most least starts, from which on parts are looked at."""
MOST_LOOKED = 500_000
"""With many ranges there are fewer such levels, so that about so many ranges are looked at for each kind of them."""
LEAST_LEVELS = 4
MOST_CROWDS = 6


class Crowd(NamedTuple):
    """Parts that are live together and may have to reach higher than all others that are live tell."""

    section: int
    parts: Ints


class _Bars(NamedTuple):
    """Ranges of addresses that blocks cover for some time: from which address on each can begin, its height, when it is live."""

    block: Ints
    begin: Ints
    height: Ints
    start: Ints
    end: Ints

    def some(self, chosen: Bools) -> _Bars:
        return _Bars(*(each[chosen] for each in self))


def raised(instance: Instance, pool: int, forced: Bools) -> Instance:
    """The instance where these blocks' least bases are beside the pool's reserved ranges; as it is if one of them fits nowhere.

    It is for a look at this pool alone: of other pools it says nothing true.
    """
    reserved = instance.pools[pool].reserved
    if not reserved:
        return instance
    begins, ends = np.array(reserved, dtype=np.int64).T
    block, low, high = _runs(instance, forced)
    widest = np.maximum.accumulate(np.append(begins[1:] - ends[:-1], np.iinfo(np.int64).max))
    first = np.searchsorted(widest, high - low)  # the first range above which there is room
    base = instance.lowest[:, pool].copy()
    modulus, residue = instance.modulus[:, pool], instance.residue[:, pool]
    for _ in range(MOST_STEPS):
        following = np.searchsorted(ends, base[block] + low, side="right")
        hit = following < len(ends)
        hit[hit] = begins[following[hit]] < (base[block] + high)[hit]
        if not hit.any():
            break
        least = ends[np.maximum(first, following)[hit]] - low[hit]
        moved = block[hit]
        np.maximum.at(base, moved, least + (residue[moved] - least) % modulus[moved])
        again = np.zeros(instance.blocks, dtype=np.bool_)
        again[moved] = True
        block, low, high, first = (each[again[block]] for each in (block, low, high, first))
    if (forced & (base > instance.highest[:, pool])).any():
        return instance
    alike = np.broadcast_to(base[:, None], instance.lowest.shape)  # with many pools a copy for each is slow
    return replace(instance, lowest=alike)


def _runs(instance: Instance, forced: Bools) -> tuple[Ints, Ints, Ints]:
    """Block, begin and end of each range of addresses that a block covers at any time, from its base."""
    block, low, high = instance.part_block, instance.part_low, instance.part_high
    here = forced[block] & (high > low)
    several = here & (np.bincount(block, minlength=instance.blocks) > 1)[block]
    ranges = dict[int, list[tuple[int, int]]]()
    for one, begin, end in zip(*(each[several].tolist() for each in (block, low, high)), strict=True):
        ranges.setdefault(one, []).append((begin, end))
    joined = [(one, *run) for one, each in ranges.items() for run in union(each)]
    more = np.array(joined, dtype=np.int64).reshape(-1, 3).T
    plain = here & ~several
    found = (np.concatenate([each[plain], extra]) for each, extra in zip((block, low, high), more, strict=True))
    block, low, high = found
    return block, low, high


def crowds(instance: Instance, pool: int, forced: Bools, grain: int) -> Iterator[Crowd]:
    """Some parts of these blocks to be measured, those that promise most first. The instance is one as `raised` makes it; sizes count in whole grains."""
    reserved = instance.pools[pool].reserved
    shape = outline(instance)
    here = forced[shape.block] & (shape.high > shape.low) & (shape.end > shape.start)
    if not reserved or not here.any():
        return
    block, low, high = shape.block[here], shape.low[here], shape.high[here]
    bars = _Bars(block, instance.lowest[block, pool] + low, high - low, shape.start[here], shape.end[here])
    gaps = _Gaps(reserved)
    most = min(MOST_LEVELS, max(MOST_LOOKED // len(reserved), LEAST_LEVELS))
    promised = [_promise(instance, bars.some(chosen), gaps, grain) for chosen in _levels(bars, gaps, most)]
    for _, section, chosen in sorted(promised, key=lambda each: (-each[0], each[1]))[: min(MOST_CROWDS, most // 2)]:
        live = (chosen.start <= section) & (section < chosen.end)
        yield Crowd(section, _parts(instance, pool, section, chosen.some(live)))


def _levels(bars: _Bars, gaps: _Gaps, most: int) -> Iterator[Bools]:
    """Which bars to take together: all that are larger than some gaps, and all that can begin at some address or above."""
    sizes, begins = np.sort(bars.height), np.sort(bars.begin)
    cuts = np.unique(np.searchsorted(sizes, gaps.width, side="right"))
    for least in sizes[_some(cuts[cuts < len(sizes)], most)].tolist():
        yield bars.height >= least
    starts = np.unique(begins)[1:]
    for least in starts[_some(np.arange(len(starts)), most)].tolist():
        yield bars.begin >= least


def _some(places: Ints, most: int) -> Ints:
    """All of them, or so many, evenly."""
    if len(places) <= most:
        return places
    found: Ints = places[np.linspace(0, len(places) - 1, most).astype(np.int64)]
    return found


class _Gaps:
    """The free ranges of a pool, but for that above all reserved ranges."""

    def __init__(self, reserved: tuple[tuple[int, int], ...]) -> None:
        ranges = np.array(reserved, dtype=np.int64)
        self.begin = np.append(0, ranges[:-1, 1])
        self.end = ranges[:, 0]
        self.width = self.end - self.begin
        self.top = int(ranges[-1, 1])

    def height(self, base: int, shortest: int, bytes_: int) -> int:
        """How high these bytes reach from the base on if they fill all gaps of at least this width."""
        begin = np.maximum(self.begin, base)
        room = self.end - begin
        wide = room >= shortest
        filled = np.cumsum(room[wide])
        at = int(np.searchsorted(filled, bytes_))
        if at == len(filled):
            return max(self.top, base) + bytes_ - (int(filled[-1]) if at else 0)
        return int(begin[wide][at]) + bytes_ - (int(filled[at - 1]) if at else 0)


def _promise(instance: Instance, bars: _Bars, gaps: _Gaps, grain: int) -> tuple[int, int, _Bars]:
    """How high these bars must reach as far as sums tell, the section where they do, and the bars."""
    value, section = active().kernels.max_live(
        bars.start, bars.end, bars.height + -bars.height % grain, instance.sections
    )
    assert section is not None, "something is live"
    return gaps.height(int(bars.begin.min()), int(bars.height.min()), value), section, bars


def _parts(instance: Instance, pool: int, section: int, bars: _Bars) -> Ints:
    """The parts live in the section that these bars of it cover."""
    part = instance.rect_part[(instance.rect_start <= section) & (instance.rect_end > section)]
    covered = dict[int, list[tuple[int, int]]]()
    base = bars.begin - instance.lowest[bars.block, pool]
    for block, begin, height in zip(*(each.tolist() for each in (bars.block, base, bars.height)), strict=True):
        covered.setdefault(block, []).append((begin, begin + height))
    rows = zip(
        *(each[part].tolist() for each in (instance.part_block, instance.part_low, instance.part_high)), strict=True
    )
    inside = [
        any(begin <= low and high <= end for begin, end in covered.get(block, ())) and low < high
        for block, low, high in rows
    ]
    found: Ints = part[np.array(inside, dtype=np.bool_)]
    return found
