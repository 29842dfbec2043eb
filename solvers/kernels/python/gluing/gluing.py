"""Packing by gluing, in plain Python. It makes the same decisions as the native kernel: the tests' reference, and the fallback without it.

Pieces are joined, one on top of the other or one after the other, until one is left: the placement. Below the height that is tried, each section has
some slack. A joint uses up slack where neither of its two pieces fills the joined one; the less slack a section has, the more that costs. First the
cheapest joints are made. Then pieces that meet at one time are taken apart some way down and glued again, with random noise on the costs; the result
is kept if it leaves fewer pieces, or little more. The exact search places the few pieces that are left. From each success it goes on to lower heights,
where only the joints that waste too much room are taken apart.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from ....model.instance import Ints
from ....model.splitmix import SplitMix64
from ...columns import Columns
from ...interface import Report
from ..beam import is_plain
from ..input import check_start, demand, instance_of
from .assembly import (
    LOOKS_A_JOINT,
    LOOKS_A_PAYMENT,
    MOST_OTHERS,
    MOST_RIVALS,
    MOST_SURETY,
    NOISES,
    PATH_BITS,
    Assembly,
)
from .boxes import placed_below
from .exact import ExactGluing
from .forest import Forest, Piece
from .leaves import LeafBlocks, by_area, piled
from .slack import ONE, Slack, log2

# The same numbers stand in kernels/native/gluing.
TRIFLE = 1 << 20
CANDIDATES = 8
NEAR = 4
MOST_AT_ONCE = 12
WASTE_WEIGHS = 4
TEMPERATURE = 9_000
FIRST_GAP = 60
WIDER = 3
PART_OF_WORK = 4
FEW_LEFT = 8
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
    instance = instance_of(sections, columns)
    demand(is_plain(instance), "blocks of one rect each, without pairs or reserved ranges")
    check_start(columns, start, enough, work)
    run = _Gluing(LeafBlocks(instance, columns), start, enough, seed, work * LOOKS_PER_MICROSECOND, report)
    run.run()
    return np.array(run.best, dtype=np.int64), run.slack.work // LOOKS_PER_MICROSECOND


class _Gluing:
    def __init__(self, blocks: LeafBlocks, start: Ints, enough: int, seed: int, limit: int, report: Report) -> None:
        self.blocks, self.enough, self.limit, self.report = blocks, enough, limit, report
        self.glued = Assembly(blocks, 0)
        self.random = SplitMix64(seed)
        self.best: list[int] = start.tolist()
        self.peak = blocks.peak_of(self.best)
        self.least = max([*blocks.live, min(enough, self.peak) // blocks.unit])
        self.stopped = self.suits_exact = False
        self.noise = self.turn = 0
        self.once = 0
        """The work of the first gluing."""
        self.queue: list[tuple[int, int, int, int, int]] = []
        self.log: list[tuple[int, bool]] = []
        self.fresh: list[int] = []

    @property
    def forest(self) -> Forest:
        return self.glued.forest

    @property
    def slack(self) -> Slack:
        return self.glued.slack

    def _is_over(self) -> bool:
        return self._stops() or self.slack.work >= self.limit

    def _stops(self) -> bool:
        self.stopped = self.stopped or self.report(None)
        return self.stopped

    def _most_gap(self) -> int:
        return -(-self.peak // self.blocks.unit) - self.least

    def _first_gap(self) -> int:
        return min(self.least // FIRST_GAP, self._most_gap() // 2)

    def run(self) -> None:
        if not self.blocks.live:
            return
        if self._glue_exactly(self.limit // PART_OF_WORK):
            return
        patience = min(self.limit // PART_OF_WORK, LOOKS_A_BLOCK * len(self.blocks.pieces))
        gap, failed, is_better = self._first_gap(), 0, True
        while self.peak > self.enough and not self._is_over():
            if is_better and not self.suits_exact:
                self._glue_once(self.least)
                if self._improve(self.slack.work + min(patience, NO_SLACK * self.once)):
                    break
            gap, known = min(gap, self._most_gap() // 2), self.peak
            is_better = self._attempt(self.least + gap, self.slack.work + patience) or self.peak < known
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
        """Glues blocks that leave no room unused, from the start again where it gets stuck. True if that places them."""
        if any(live < self.least for live in self.blocks.live):
            return False
        exact = ExactGluing(len(self.blocks.live), self.blocks.pieces, self.random, self.slack, self._is_over)
        noise = 0
        while not self._is_over() and self.slack.work < until:
            exact.glue_all(noise, until)
            self.suits_exact = len(exact.forest.loose) * FEW_LEFT <= len(self.blocks.pieces)
            if not self.suits_exact:
                break
            if self._fits(exact.forest, self.least):
                return self.peak <= self.enough
            noise = NOISES[0]
        return False

    def _attempt(self, height: int, until: int) -> bool:
        self.noise = 0
        while not self._is_over():
            self._glue_once(height)
            if self._improve(until):
                return True
            if self.slack.work >= until:
                break
            self.noise = NOISES[0]
        return False

    def _glue_once(self, height: int) -> None:
        """Glues all blocks, from the cheapest joint on, without taking anything apart."""
        begun = self.slack.work
        self.glued = Assembly(self.blocks, height, self.slack.work)
        self._forget()
        for leaf in range(len(self.blocks.pieces)):
            if self._is_over():
                break
            self._look_around(leaf)
        self._glue()
        self.once = self.slack.work - begun

    def _go_on(self, patience: int) -> None:
        """Goes on from what was glued with success to lower heights: half of the gap lower, and less after failures."""
        kept = self.glued.copy()
        work, failed = SHORT * self.once, 0
        while work <= SHORT * patience and self._most_gap() > 0 and self.peak > self.enough and not self._is_over():
            known, step = self.peak, max(self._most_gap() >> (failed + 1), 1)
            self._glue_lower(self.least + self._most_gap() - step, self.slack.work + work)
            if self.peak < known:
                kept = self.glued.copy()
                failed, work = max(failed - 1, 0), max(work // 2, SHORT * self.once)
                continue
            kept.slack.work = self.slack.work
            self.glued = kept.copy()
            failed += 1
            if failed == STEPS:
                failed, work = 0, 2 * work

    def _glue_lower(self, height: int, until: int) -> None:
        self.glued.lower(height)
        self._forget()
        self.noise = 0
        for node in self.glued.loose.copy():
            if self._is_over():
                return
            self._look_around(node)
        self._glue()
        if not self._fits(self.forest, self.glued.height):
            self._improve(until)

    def _improve(self, until: int) -> bool:
        """Takes apart and glues again until one piece is left, or it gets stuck. True if the blocks have a place below the height."""
        self.log.clear()
        last, patience = self.slack.work, STUCK * self.once
        fewest, energy = len(self.glued.loose), self._energy()
        while len(self.glued.loose) > 1 and self.slack.work < until:
            if self.slack.work - last >= patience or self._is_over():
                break
            if len(self.glued.loose) < fewest:
                fewest, last = len(self.glued.loose), self.slack.work
            self._move()
            after = self._energy()
            if not self._is_over() and after - energy <= self._leniency():
                energy = after
                for node, was_made in self.log:
                    if not was_made:
                        self.glued.give_back(node)
            else:
                self.glued.undo(self.log)
            self.log.clear()
        if self._fits(self.forest, self.glued.height):
            return True
        if len(self.glued.loose) <= MOST_LEFT:
            boxes = by_area(self.forest, self.slack)
            self._settle(self.forest, boxes, piled(self.forest, self.slack, boxes, self._below))
        return len(self.glued.loose) == 1

    def _fits(self, forest: Forest, height: int) -> bool:
        """Asks the exact search for places of the pieces that are left, if there are several."""
        if len(forest.loose) == 1:
            self._settle(forest, forest.loose, [0])
            return True
        left = (self.limit - self.slack.work) // LOOKS_PER_MICROSECOND
        if len(forest.loose) > MOST_BOXES or left <= 0:
            return False
        seed = self.random.next()
        bases, work = placed_below(height, forest, seed, min(left, BOXES_WORK), self._stops)
        self.slack.work += work * LOOKS_PER_MICROSECOND
        if bases is None:
            return False
        self._settle(forest, forest.loose, bases)
        return True

    def _forget(self) -> None:
        self.queue, self.turn, self.log, self.fresh = [], 0, [], []

    def _energy(self) -> int:
        return len(self.glued.loose) * ONE + self.glued.waste // (self.glued.room // (WASTE_WEIGHS * ONE) + 1)

    def _leniency(self) -> int:
        return ((64 << 16) - log2(self.random.next())) * TEMPERATURE >> 16

    def _below(self, most: int) -> int:
        return (self.random.next() >> 32) * most >> 32

    def _move(self) -> None:
        self._forget()
        self.noise = NOISES[self._below(len(NOISES))]
        loose, forest = self.forest.loose, self.forest
        where = loose[self._below(len(loose))] if self._below(2) == 0 else self._below(len(self.blocks.pieces))
        time = forest[where].begin if self._below(2) == 0 else forest[where].end
        touching = [other for other in loose if other != where and forest[other].touches(time)]
        first = [where] if forest.is_loose(where) else []
        self.slack.work += len(loose)
        others = min(len(touching), 1 + self._below(MOST_OTHERS))
        for i in range(others):
            k = i + self._below(len(touching) - i)
            touching[i], touching[k] = touching[k], touching[i]
        for node in (*first, *touching[:others]):
            self._take_apart(node, time)
        for node in self.fresh:
            if forest.is_loose(node):
                self._look_around(node)
        self._glue()

    def _take_apart(self, node: int, time: int) -> None:
        self.fresh.append(node)
        forest = self.forest
        for _ in range(1 + self._below(2 << self._below(PATH_BITS))):
            piece = forest[node]
            if piece.is_leaf:
                break
            self.glued.split(node)
            self.log.append((node, False))
            self.fresh += (piece.first, piece.second)
            in_first, in_second = forest[piece.first].touches(time), forest[piece.second].touches(time)
            goes_first = self._below(2) == 0 if in_first == in_second else in_first
            node = piece.first if goes_first else piece.second

    def _key(self, made: Piece) -> int | None:
        """The logarithm of the joint's cost; None if there is not enough slack."""
        self.slack.work += LOOKS_A_JOINT
        cost = TRIFLE
        for begin, end, height in self.glued.wasted(made):
            price = self.slack.price(begin, end, height)
            if price is None:
                return None
            cost += price
        if cost > TRIFLE or not made.is_chain:
            return log2(cost)
        ends = min(len(self.forest.ends[self.forest[made.first].end]), MOST_RIVALS)
        begins = min(len(self.forest.begins[self.forest[made.second].begin]), MOST_RIVALS)
        self.slack.work += ends + begins
        # Equal heights are the less likely by chance the greater they are, so such joints are cheaper. Many rivals make a joint dearer: it can wait.
        return log2(cost * ends * begins) - min(log2(made.height + 1), MOST_SURETY)

    def _look_around(self, node: int) -> None:
        found: dict[tuple[int, int], tuple[int, int, int] | None] = {}
        for others in self._neighbours(node):
            for other in others[:MOST_AT_ONCE]:
                if other != node:
                    self._consider(node, other, found)
        ranked = sorted(entry for entry in ((*value, *pair) for pair, value in found.items() if value is not None))
        for key, _, noise, first, second in ranked[:CANDIDATES]:
            heappush(self.queue, (key, self.turn, first, second, noise))
            self.turn += 1

    def _consider(self, node: int, other: int, found: dict[tuple[int, int], tuple[int, int, int] | None]) -> None:
        a, b = self.forest[node], self.forest[other]
        apart = a.end <= b.begin or b.end <= a.begin
        in_order = a.end <= b.begin if apart else node < other
        pair = (node, other) if in_order else (other, node)
        if found.get(pair) is not None:
            return
        key = self._key(self.glued.joined(*pair))
        if key is None:
            return
        noise = 0
        if self.noise > 0:
            up = self._below(ONE)
            noise = self.noise * (up - self._below(ONE)) >> 16
        found[pair] = (key + noise, len(found), noise)

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

    def _glue(self) -> None:
        while self.queue:
            if self._is_over():
                return
            known, _, first, second, noise = heappop(self.queue)
            self.slack.work += LOOKS_A_PAYMENT
            if not self.forest.is_loose(first) or not self.forest.is_loose(second):
                continue
            made = self.glued.joined(first, second)
            key = self._key(made)
            if key is None:
                continue
            key += noise
            if key > known and self.queue and key > self.queue[0][0]:
                heappush(self.queue, (key, self.turn, first, second, noise))
                self.turn += 1
                continue
            node = self.glued.join(made)
            self.log.append((node, True))
            self._look_around(node)

    def _settle(self, forest: Forest, boxes: list[int], bases: list[int]) -> None:
        """Takes the placement of the pieces at these bases if it is better."""
        offsets = self.blocks.settle(forest, self.slack, boxes, bases)
        if offsets is None:
            return
        peak = self.blocks.peak_of(offsets)
        if peak < self.peak:
            self.best, self.peak = offsets, peak
            self.stopped = self.report(np.array(offsets, dtype=np.int64)) or self.stopped
