"""The beam search in plain Python. It makes the same decisions as the native kernel: the tests' reference, and the fallback without it.

Time is swept from the first section to the last, or from the last to the first. A layout is the blocks live at the moment, by address. The next block is
tried in every gap of every kept layout: at the gap's bottom, at its top, and where exactly the room of a later block is left beside blocks that will then
still be live. The best layouts are kept: those whose blocks touch each other, the floor or the ceiling for long, as they promise the fewest gaps. Where no
layout had room, the next sweep goes the other way, and the next one this way keeps more layouts on the way there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from ...model.instance import Instance, Ints
from ...model.splitmix import GOLDEN, WORD, SplitMix64
from ..columns import Columns
from ..interface import Report
from .input import check_start, demand, instance_of

# The same numbers stand in kernels/native/beam.
WIDTH = 20
WIDEST = 256
STRETCH = 15
MOST_TIMES = 8
MOST_KEPT = 512
PATIENCE = 16
HEIGHTS = 7
MILD_HEIGHT = 3
MISMATCH = (0, 5, 2, 8)
WHOLE = 16
SECTION = 1024
NOISE = 128
MOST_LATER = 6
LOOK_AHEAD = 64
LOOKS_A_CANDIDATE = 5
LOOKS_A_LAYOUT = 100
LOOKS_PER_MICROSECOND = 600


def beam(
    sections: int, columns: Columns, start: Ints, enough: int, seed: int, work: int, report: Report
) -> tuple[Ints, int]:
    """Offsets that are no worse than the start, and the work done in approximate microseconds of native code."""
    instance = instance_of(sections, columns)
    demand(is_plain(instance), "blocks of one rect each, without pairs or reserved ranges")
    check_start(columns, start, enough, work)
    run = _Beam(instance, start, enough, seed, work * LOOKS_PER_MICROSECOND, report)
    run.run()
    return np.array(run.best, dtype=np.int64), run.work // LOOKS_PER_MICROSECOND


@dataclass(frozen=True, slots=True)
class _Step:
    """The base of one block, and the step before it."""

    before: _Step | None
    base: int


@dataclass(slots=True)
class _Layout:
    """The live blocks, by address. Equal layouts have equal `name` hashes."""

    live: list[int]
    base: list[int]
    worth: int
    name: int
    step: _Step | None


class _Way:
    """The blocks as a sweep meets them, from the first section to the last or from the last to the first, and what such sweeps have learnt."""

    def __init__(self, instance: Instance, size: list[int], seed: int, *, is_back: bool) -> None:
        owner = instance.part_block[instance.rect_part]
        begin, end = np.zeros((2, instance.blocks), dtype=np.int64)
        begin[owner], end[owner] = instance.rect_start, instance.rect_end
        if is_back:
            begin, end = instance.sections - end, instance.sections - begin
        self.begin: list[int] = begin.tolist()
        self.end: list[int] = end.tolist()
        # Of blocks that begin together, the longest comes first, then the largest.
        self.order = sorted(range(instance.blocks), key=lambda b: (self.begin[b], -self.end[b], -size[b], b))
        self.later = self._later_sizes(size)
        self.times = [1] * instance.blocks
        self.random = SplitMix64(seed)
        self.sweeps = 0

    def _later_sizes(self, size: list[int]) -> list[list[int]]:
        """For each block, the sizes of the blocks that begin during its life and outlast it.

        Leaving exactly this much room beside it is worth trying.
        """
        later: list[list[int]] = [[] for _ in self.order]
        for turn, block in enumerate(self.order):
            sizes: dict[int, None] = {}
            for other in self.order[turn + 1 : turn + 1 + LOOK_AHEAD]:
                if len(sizes) == MOST_LATER or self.begin[other] >= self.end[block]:
                    break
                if self.end[other] > self.end[block]:
                    sizes[size[other]] = None
            later[block] = list(sizes)
        return later


class _Beam:
    def __init__(
        self,
        instance: Instance,
        start: Ints,
        enough: int,
        seed: int,
        limit: int,
        report: Report,
    ) -> None:
        self.size: list[int] = instance.block_high.tolist()
        self.instance = instance
        columns = (instance.lowest, instance.highest, instance.modulus, instance.residue)
        self.lowest, self.highest, self.modulus, self.residue = (column[:, 0].tolist() for column in columns)
        self.sections = instance.sections
        self.seed = seed
        self.ways = [_Way(instance, self.size, seed, is_back=False)]
        self.way = self.ways[0]
        self.enough, self.limit, self.report = enough, limit, report
        self.work = 0
        self.stopped = False
        self.best: list[int] = start.tolist()
        self.height = self.now = self.mismatch = 0
        self.until: list[int] = []
        self.kept: list[_Layout] = []

    @property
    def peak(self) -> int:
        return max((b + s for b, s in zip(self.best, self.size, strict=True)), default=0)

    def run(self) -> None:
        step, width, failed, has_turned = 0, WIDTH, 0, False
        while self.peak > self.enough and width <= WIDEST and not self._is_over():
            gap = self.peak - self.enough
            self.mismatch = MISMATCH[self.way.sweeps % len(MISMATCH)]
            self.way.sweeps += 1
            if self._sweep(self.peak - max(1, gap >> step), width):
                step = max(0, step - 1)
                has_turned = False
                continue
            self._turn_round()
            has_turned = not has_turned
            if has_turned:  # the same height the other way
                continue
            if step == 0:
                failed += 1
                if failed % PATIENCE:
                    continue
                for way in self.ways:
                    way.times = [1] * len(way.order)
            step = step + 1 if step else MILD_HEIGHT
            if step >= HEIGHTS or gap >> step == 0:
                step, width = 0, 2 * width

    def _turn_round(self) -> None:
        """After a sweep that failed the next one goes the other way: which way is better shows only in what succeeds."""
        if len(self.ways) == 1:
            self.ways.append(_Way(self.instance, self.size, self.seed, is_back=True))
        self.way = self.ways[self.way is self.ways[0]]

    def _sweep(self, height: int, width: int) -> bool:
        """Looks for a layout in which every block ends at or below the height; false if none is found."""
        self.height = height
        # A little noise makes other sweeps and other seeds try other layouts.
        lengths = [SECTION + self.way.random.next() % NOISE for _ in range(self.sections)]
        self.until = list(accumulate(lengths, initial=0))
        self.kept = [_Layout([], [], 0, 0, None)]
        self.now = -1
        for turn, block in enumerate(self.way.order):
            if self._is_over():
                return False
            if self.way.begin[block] != self.now:
                self._move_on_to(self.way.begin[block])
            places = [place for number in range(len(self.kept)) for place in self._places(number, block)]
            if not places:
                self._learn(turn)
                return False
            self._keep_the_best(block, places, min(width * self.way.times[turn], MOST_KEPT))
        step = self.kept[0].step
        for block in reversed(self.way.order):
            assert step is not None, "every block had its step"
            self.best[block], step = step.base, step.before
        self.stopped = self.stopped or self.report(np.array(self.best, dtype=np.int64))
        return True

    def _move_on_to(self, now: int) -> None:
        self.now = now
        kept: dict[int, _Layout] = {}
        for layout in self.kept:
            self.work += 2 * len(layout.live)
            stay = [
                (block, base) for block, base in zip(layout.live, layout.base, strict=True) if self.way.end[block] > now
            ]
            gone = [
                (block, base)
                for block, base in zip(layout.live, layout.base, strict=True)
                if self.way.end[block] <= now
            ]
            layout.name = (layout.name - sum(_name(block, base) for block, base in gone)) & WORD
            layout.live, layout.base = [block for block, _ in stay], [base for _, base in stay]
            kept.setdefault(layout.name, layout)
        self.kept = list(kept.values())
        for layout in self.kept:
            layout.worth = sum(
                self._contact(below, above)
                for floor, top, below, above in self._gaps(layout)
                if floor == top and layout.live
            )

    def _gaps(self, layout: _Layout) -> Iterator[tuple[int, int, int, int]]:
        """Each gap as (bottom, top, end of the block below, end of the block above). Floor and ceiling never end."""
        floor, below = 0, self.sections
        for block, base in zip(layout.live, layout.base, strict=True):
            yield floor, base, below, self.way.end[block]
            floor, below = base + self.size[block], self.way.end[block]
        yield floor, self.height, below, self.sections

    def _contact(self, end: int, other: int) -> int:
        """The worth of a contact between two blocks, or a block and the floor or ceiling, by when both end: there is no gap for the time they share.

        In some sweeps the time by which one outlives the other is deducted.
        """
        first, last = self.until[min(end, other)], self.until[max(end, other)]
        return WHOLE * (first - self.until[self.now]) - self.mismatch * (last - first)

    def _places(self, number: int, block: int) -> Iterator[tuple[int, int, int, int]]:
        """The places of the block in every gap of a layout, as (minus the worth, layout, base, gap)."""
        layout, size = self.kept[number], self.size[block]
        self.work += len(layout.live) + 1
        for gap, (floor, top, below, above) in enumerate(self._gaps(layout)):
            if top - floor < size:
                continue
            for base in self._bases(
                layout, gap, block, max(floor, self.lowest[block]), min(top - size, self.highest[block])
            ):
                worth = layout.worth
                if base == floor:
                    worth += self._contact(below, self.way.end[block])
                if base + size == top:
                    worth += self._contact(above, self.way.end[block])
                self.work += LOOKS_A_CANDIDATE
                yield -worth, number, base, gap

    def _bases(self, layout: _Layout, gap: int, block: int, lowest: int, highest: int) -> list[int]:
        """The bases to try in the gap: its bottom, its top, and those that leave exactly the room of a later block."""
        modulus, residue = self.modulus[block], self.residue[block]
        low, high = lowest + (residue - lowest) % modulus, highest - (highest - residue) % modulus
        if low > high:
            return []
        bases = {low: None, high: None}
        for floor, top in self._rooms(layout, gap, block) if self.way.later[block] else ():
            for room in self.way.later[block]:
                bases[floor + room + (residue - floor - room) % modulus] = None
                base = top - room - self.size[block]
                bases[base - (base - residue) % modulus] = None
        return [base for base in bases if low <= base <= high]

    def _rooms(self, layout: _Layout, gap: int, block: int) -> Iterator[tuple[int, int]]:
        """The gap, and the larger gap once neighbours that end before the block are gone."""
        bounds = [0, *(base + self.size[other] for other, base in zip(layout.live, layout.base, strict=True))]
        tops = [*layout.base, self.height]
        yield bounds[gap], tops[gap]
        down = gap > 0 and self.way.end[layout.live[gap - 1]] < self.way.end[block]
        up = gap < len(layout.live) and self.way.end[layout.live[gap]] < self.way.end[block]
        if down or up:
            yield bounds[gap - down], tops[gap + up]

    def _keep_the_best(self, block: int, places: list[tuple[int, int, int, int]], width: int) -> None:
        """Keeps the best layouts; twice the width is examined, since some are equal."""
        kept: dict[int, _Layout] = {}
        for worth, number, base, gap in sorted(places)[: 2 * width]:
            if len(kept) == width:
                break
            layout = self.kept[number]
            name = (layout.name + _name(block, base)) & WORD
            if name in kept:
                continue
            live = [*layout.live[:gap], block, *layout.live[gap:]]
            bases = [*layout.base[:gap], base, *layout.base[gap:]]
            kept[name] = _Layout(live, bases, -worth, name, _Step(layout.step, base))
            self.work += len(live) + LOOKS_A_LAYOUT
        self.kept = list(kept.values())

    def _learn(self, turn: int) -> None:
        """Where no layout had room, the next sweep keeps more layouts on the way there."""
        for i in range(max(0, turn - STRETCH), turn + 1):
            self.way.times[i] = min(2 * self.way.times[i], MOST_TIMES)

    def _is_over(self) -> bool:
        if self.work < self.limit and not self.stopped:
            self.stopped = self.report(None)
        return self.work >= self.limit or self.stopped


def _name(block: int, base: int) -> int:
    return SplitMix64(block * GOLDEN ^ base).next()


def is_plain(instance: Instance) -> bool:
    """True if each block is one rect that begins at its base, and there are no pairs or reserved ranges."""
    owner = instance.part_block[instance.rect_part]
    whole = len(np.unique(owner)) == len(owner) and not instance.part_low.any()
    return instance.is_plain and whole and not instance.pools[0].reserved
