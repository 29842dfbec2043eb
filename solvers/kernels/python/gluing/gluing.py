"""Packing by gluing, in plain Python. It makes the same decisions as the native kernel: the tests' reference, and the fallback without it.

Pieces are joined, one on top of the other, one after the other, or four around a fifth, until one is left: the placement. Below the height that is
tried, each section has some slack. A joint uses up slack where none of its pieces fills the joined one; the less slack a section has, the more that costs.
First the cheapest joints are made. Then pieces that meet at one time are taken apart some way down and glued again, with random noise on the costs; the
result is kept if it leaves fewer pieces, or little more. The exact search places the few pieces that are left. From each success it goes on to lower
heights, where only the joints that waste too much room are taken apart.
"""

from __future__ import annotations

import numpy as np

from ....model.instance import Ints
from ...columns import Columns
from ...interface import Report
from ..beam import is_plain
from ..input import check_start, demand, instance_of
from .assembly import LOOKS_A_JOINT, LOOKS_A_PAYMENT
from .boxes import placed_below
from .course import Course
from .exact import ExactGluing
from .forest import Forest, Piece
from .gluer import NOISES, Gluer
from .leaves import LeafBlocks, by_area, piled
from .slack import log2

# The same numbers stand in kernels/native/gluing.
TRIFLE = 1 << 20
CANDIDATES = 8
NEAR = 4
MOST_AT_ONCE = 12
FIRST_GAP = 60
WIDER = 3
PART_OF_WORK = 4
FEW_LEFT = 4
LOOKS_A_BLOCK = 400_000
MOST_FAILURES = 5
STUCK = 30
NO_SLACK = 4
MOST_LEFT = 30
MOST_BOXES = 100
BOXES_WORK = 20_000
SHORT = 2
STEPS = 4
LOOKS_PER_MICROSECOND = 350


def gluing(
    sections: int, columns: Columns, start: Ints, enough: int, seed: int, work: int, report: Report
) -> tuple[Ints, int]:
    """Offsets that are no worse than the start, and the work done in approximate microseconds of native code."""
    offsets, _, done = _glued(sections, columns, start, enough, seed, work, report, falls=True)
    return offsets, done


def glued_pieces(
    sections: int, columns: Columns, start: Ints, enough: int, seed: int, work: int, report: Report
) -> tuple[Ints, Ints, int]:
    """The same with the pieces, in which the blocks stay: the piece that each block and each piece is part of, -1 for none; empty if nothing is better."""
    return _glued(sections, columns, start, enough, seed, work, report, falls=False)


def _glued(
    sections: int,
    columns: Columns,
    start: Ints,
    enough: int,
    seed: int,
    work: int,
    report: Report,
    *,
    falls: bool,
) -> tuple[Ints, Ints, int]:
    instance = instance_of(sections, columns)
    demand(is_plain(instance), "blocks of one rect each, without pairs or reserved ranges")
    check_start(columns, start, enough, work)
    course = Course(seed, work * LOOKS_PER_MICROSECOND, report)
    run = _Gluing(LeafBlocks(instance, columns), start, enough, course, falls=falls)
    run.run()
    done = course.work // LOOKS_PER_MICROSECOND
    return np.array(run.best, dtype=np.int64), np.array(run.parents, dtype=np.int64), done


class _Gluing(Gluer):
    temperature = 9_000
    looks = LOOKS_A_PAYMENT

    def __init__(self, blocks: LeafBlocks, start: Ints, enough: int, course: Course, *, falls: bool) -> None:
        super().__init__(blocks, course)
        self.falls = falls
        self.parents: list[int] = []
        self.enough = enough
        self.best: list[int] = start.tolist()
        self.peak = blocks.peak_of(self.best)
        self.least = max([*blocks.live, min(enough, self.peak) // blocks.unit])
        self.suits_exact = False

    def _most_gap(self) -> int:
        return -(-self.peak // self.blocks.unit) - self.least

    def _first_gap(self) -> int:
        return min(self.least // FIRST_GAP, self._most_gap() // 2)

    def run(self) -> None:
        if not self.blocks.live:
            return
        if self._glue_exactly(self.course.most - self.course.most // PART_OF_WORK):
            return
        patience = min(self.course.most // PART_OF_WORK, LOOKS_A_BLOCK * len(self.blocks.pieces))
        if self.suits_exact:
            self._go_on(patience)
        gap, failed, is_better = self._first_gap(), 0, True
        while self.peak > self.enough and not self.course.is_over():
            if is_better and not self.suits_exact:
                self._glue_once(self.least)
                if self._places(self.course.work + min(patience, NO_SLACK * self.once)):
                    break
            gap, known = min(gap, self._most_gap() // 2), self.peak
            is_better = self._attempt(self.least + gap, self.course.work + patience) or self.peak < known
            if is_better:
                self._go_on(patience)
                gap = self._most_gap() // 2
                self.noise = NOISES[0]
                continue
            gap = min(WIDER * max(gap, 1), self._most_gap())
            if gap >= self._most_gap():
                failed += 1
                if failed == MOST_FAILURES:
                    break
                gap, patience = self._first_gap(), 2 * patience

    def _glue_exactly(self, until: int) -> bool:
        """Glues blocks that leave no room unused, window after window. True if that places them; else it keeps the pieces that are left."""
        if any(live < self.least for live in self.blocks.live):
            return False
        exact = ExactGluing(self.blocks, self.course, self.least)
        exact.glue_all()
        self.has_wheels = exact.has_wheels
        self.suits_exact = len(exact.glued.loose) * FEW_LEFT <= len(self.blocks.pieces)
        if not self.suits_exact:
            return False
        is_better = True
        while not self.course.is_over():
            if (is_better and self._fits(exact.forest, self.least)) or self.course.work >= until:
                break
            is_better = exact.renew(until)
        self.glued, self.once = exact.glued, exact.once
        return self.peak <= self.enough  # what fits may still have no place: some blocks may not lie high

    def _attempt(self, height: int, until: int) -> bool:
        self.noise = 0
        while not self.course.is_over():
            self._glue_once(height)
            if self._places(until):
                return True
            if self.course.work >= until:
                break
            self.noise = NOISES[0]
        return False

    def _go_on(self, patience: int) -> None:
        """Goes on from what was glued to lower heights than the peak: half of the gap lower, and less after failures."""
        kept = self.glued.copy()
        work, failed = SHORT * self.once, 0
        while (
            work <= SHORT * patience and self._most_gap() > 0 and self.peak > self.enough and not self.course.is_over()
        ):
            known, step = self.peak, max(self._most_gap() >> (failed + 1), 1)
            self._glue_lower(self.least + self._most_gap() - step, self.course.work + work)
            if self.peak < known:
                kept = self.glued.copy()
                failed, work = max(failed - 1, 0), max(work // 2, SHORT * self.once)
                continue
            self.glued = kept.copy()
            failed += 1
            if failed == STEPS:
                failed, work = 0, 2 * work

    def _glue_lower(self, height: int, until: int) -> None:
        self.glued.lower(height)
        self._forget()
        self.noise = 0
        for node in self.glued.loose.copy():
            if self.course.is_over():
                return
            self._look_around(node)
        self._glue()
        if not self._fits(self.forest, self.glued.height):
            self._places(until)

    def _places(self, until: int) -> bool:
        """True if the blocks have a place below the height after moves."""
        self._improve(until, STUCK * self.once)
        if self._fits(self.forest, self.glued.height):
            return True
        if len(self.glued.loose) <= MOST_LEFT:
            boxes = by_area(self.forest, self.glued.slack)
            self._settle(self.forest, boxes, piled(self.forest, self.course, boxes))
        return len(self.glued.loose) == 1

    def _fits(self, forest: Forest, height: int) -> bool:
        """Asks the exact search for places of the pieces that are left, if there are several."""
        if len(forest.loose) == 1:
            self._settle(forest, forest.loose, [0])
            return True
        left = self.course.left // LOOKS_PER_MICROSECOND
        if len(forest.loose) > MOST_BOXES or left <= 0:
            return False
        seed = self.course.random.next()
        bases, work = placed_below(height, forest, seed, min(left, BOXES_WORK), self.course.stops)
        self.course.work += work * LOOKS_PER_MICROSECOND
        if bases is None:
            return False
        self._settle(forest, forest.loose, bases)
        return True

    def _place(self) -> int:
        """Any loose piece or any block: loose pieces alone would have few times."""
        below, loose = self.course.below, self.forest.loose
        return loose[below(len(loose))] if below(2) == 0 else below(len(self.blocks.pieces))

    def _key(self, made: Piece) -> int | None:
        """The logarithm of the joint's cost; None if there is not enough slack."""
        self.course.work += LOOKS_A_JOINT
        cost = TRIFLE
        for begin, end, height in self.glued.wasted(made):
            price = self.glued.slack.price(begin, end, height)
            if price is None:
                return None
            cost += price
        if cost > TRIFLE or not (made.is_chain or made.is_wheel):
            return log2(cost)
        self.course.work += sum(self._rivals(made))
        return log2(cost) + self._chance(made)

    def _look_around(self, node: int) -> None:
        found: dict[tuple[int, ...], tuple[int, int, int]] = {}
        for others in self._neighbours(node):
            for other in others[:MOST_AT_ONCE]:
                if other != node:
                    self._consider(node, other, found)
        for parts in self._wheels_with(node):
            self._add(self.glued.joined(*parts), found)
        for key, _, noise, parts in sorted((*value, parts) for parts, value in found.items())[:CANDIDATES]:
            self._push(key, self.glued.joined(*parts), noise)

    def _consider(self, node: int, other: int, found: dict[tuple[int, ...], tuple[int, int, int]]) -> None:
        a, b = self.forest[node], self.forest[other]
        in_order = a.end <= b.begin or (a.begin < b.end and node < other)
        pair = (node, other) if in_order else (other, node)
        if pair not in found:
            self._add(self.glued.joined(*pair), found)

    def _add(self, made: Piece, found: dict[tuple[int, ...], tuple[int, int, int]]) -> None:
        key = self._key(made)
        if key is not None:
            noise = self._some_noise()
            found[made.parts] = (key + noise, len(found), noise)

    def _neighbours(self, node: int) -> list[list[int]]:
        """The loose pieces that begin or end at the piece's begin or end, or soon before or after: one list for each time."""
        piece, begins, ends = self.forest[node], self.forest.begins, self.forest.ends
        found = [begins[piece.begin], ends[piece.end]]
        last = len(begins)
        for lists, times in (
            (begins, range(piece.begin + 1, last)),
            (begins, range(piece.begin - 1, -1, -1)),
            (ends, range(piece.end + 1, last)),
            (ends, range(piece.end - 1, -1, -1)),
            (begins, range(piece.end, last)),
            (ends, range(piece.begin, -1, -1)),
        ):
            near = 0
            for time in times:
                if lists[time]:
                    found.append(lists[time])
                    near += 1
                    if near == NEAR:
                        break
        return found

    def _settle(self, forest: Forest, boxes: list[int], bases: list[int]) -> None:
        """Takes the placement of the pieces at these bases if it is better."""
        offsets = self.blocks.settle(forest, self.course, boxes, bases, falls=self.falls)
        if offsets is None:
            return
        peak = self.blocks.peak_of(offsets)
        if peak < self.peak:
            self.best, self.peak = offsets, peak
            self.parents = self.blocks.parents(forest, boxes) if not self.falls else []
            self.course.report(offsets)
