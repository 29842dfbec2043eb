"""Where the sum of the peaks is held at what is live at the fullest moment: heights that add up to that, and a placement below them, by filling pools in turn.

At the fullest section each pool must be full to the last unit, so the blocks there are divided first, and what each pool then holds is its height. A pool
is filled with these, and then with what gains most for its size; all others go to the next one. Where the last pool is too full by that, some of its blocks
come sooner the next time, until it can be packed. An attempt takes about as long as a pass of greedy, and mostly some dozens are enough, however crowded pools
are. Then the dearest blocks come sooner, and what comes of that is kept if it costs less.

Pools whose peaks cost nothing must be full there, too, and end where they end: what is in one of them is exchanged until no sum is greater.

Where half of the work finds nothing, gains count for less and sizes for more, and all pools but the last and those that cost nothing are lowered step by step;
after each placement they are raised again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from ....bounds.prices.market import Floats, costs_by_pool
from ....fitting.orders import Fit
from ....heuristics.assign.from_prices import in_turn
from ....heuristics.greedy.packing import Fillable, packed
from ....model.instance import Bools, Instance, Ints, Placement
from ....model.solver import Control, Goal, Task
from .. import budget
from ..placing.packing import Packing, ending_at

FULL, STEPS = 900, 20
"""Blocks that are live where all together take more than so many thousandths of the most come sooner, by a half for each step of so many."""
AT_ONCE, TIRED = 20, 0.7
"""So many blocks come sooner at most after an attempt; who came sooner before is chosen again only if he gains more, by e to this."""
ROOM_FOR_GAPS = 50
"""Where the last pool could not be packed, so much less of it is filled."""
EASED_AFTER, OF_GAIN, OF_SIZE = 2, 0.2, 0.3
"""After such a part of the work without a placement, these powers of a block's gain and of its size say how soon it comes."""
TRIES, LOWER, RAISE, LOWEST = 10, 100, 50, 300
"""Then pools are lowered by so many thousandths after so many attempts, down to the lowest, and raised after a placement."""
LEAST_GAIN = 1e-9
"""Less than any gain that counts."""
MOST_ATTEMPTS, IN_VAIN, AS_MANY = 400, 150, 3
"""So many attempts are made at most until there is a placement; after each that costs less than all before, so many more, and so many times as many as until then."""
KEPT, DEAREST = 0.8, 30
"""What is kept of who came sooner after a placement, and how many blocks then come sooner since they cost most in their pools."""
EXCHANGED, SUMS = 14, 2_000
"""So many blocks of a pool that costs nothing, and of others, are exchanged at most; what it takes to look at all sums of each half of these."""


Division: TypeAlias = tuple[Ints, tuple[int, ...]]
"""The pools of blocks that are live at the fullest section, -1 for all others, and the heights that follow."""


class Filling:
    """The search of one instance in which each block has a class of its own, for one term of the choice."""

    def __init__(
        self, instance: Instance, index: int, task: Task, control: Control, division: Division | None = None
    ) -> None:
        """With a division all attempts are below its heights; else each divides anew."""
        self.work = 0
        self._instance, self._task, self._control, self._given = instance, task, control, division
        pools = instance.pools
        self._turns = in_turn(instance)
        self._is_fixed = instance.lowest == instance.highest
        self._block = instance.part_block[instance.rect_part]
        self._sizes = (instance.part_high - instance.part_low)[instance.rect_part]
        live = self._live(np.ones(instance.blocks, dtype=bool))
        self.height = int(live.max())
        """How much is live at the fullest section: what all peaks come to, if none of them costs nothing."""
        self._fullest = int(live.argmax())
        self._free = [p for p in self._turns[:-1] if not pools[p].cost and pools[p].capacity is not None]
        self.least = self.height
        """What the peaks that cost something come to, as far as is known."""
        self._lives = np.zeros(instance.blocks, dtype=np.int64)
        np.add.at(self._lives, self._block, instance.rect_end - instance.rect_start)
        areas = np.zeros(instance.blocks, dtype=np.int64)
        np.add.at(areas, self._block, self._sizes * (instance.rect_end - instance.rect_start))
        fullest = np.zeros(instance.blocks, dtype=np.int64)
        spans = zip(self._block.tolist(), instance.rect_start.tolist(), instance.rect_end.tolist(), strict=True)
        for block, begin, end in spans:
            fullest[block] = max(fullest[block], live[begin:end].max(initial=0))
        self._near = np.maximum(fullest * 1000 // max(self.height, 1) - FULL, 0) // STEPS
        """How full it is, at most, where each block is live."""
        costs = costs_by_pool(
            replace(instance, terms=instance.terms[index:]), np.arange(instance.blocks), instance.blocks
        )
        self._costs = costs
        """Of each block in each pool."""
        self._gains = [
            _lost(costs[:, pool], costs[:, self._turns[n + 1 :]].min(axis=1)) / np.maximum(areas, 1)
            for n, pool in enumerate(self._turns[:-1])
        ]
        """By turn: what a block loses if it has to go to a later pool, for its size."""
        self._fillable = {pool: Fillable(instance, pool) for pool in self._turns[:-1]}
        self._sooner = np.zeros(instance.blocks, dtype=np.float64)
        """By how much each block comes sooner than its gain says."""
        self._is_eased, self._level, self._tries = False, 1000, 0
        self._missed = np.inf
        self._nearest: tuple[Placement, tuple[int, ...]] | None = None
        """Of all attempts that failed, the one whose last pool was least too full: by how much, where blocks are without that pool, and the heights."""

    def run(self, work: int) -> Placement | None:
        """The placement of the least peaks that is found, the cheapest of those; None if there was none within the work."""
        best, least, end = None, (np.inf, np.inf), 0
        attempts, most = 0, MOST_ATTEMPTS
        while self._gains and self.work < work and attempts < most and self._control.stopped() is None:
            attempts += 1
            self.work = max(self.work, end)
            end = self.work + budget.LEAST_OF_ATTEMPT
            is_late = max(self.work / work, attempts / MOST_ATTEMPTS) * EASED_AFTER >= 1
            if self._is_eased or (best is None and is_late):
                self._ease()
            keeps, tops = self._given or self._divided()
            lower = ending_at(self._instance, tops)
            pools, offset = self._filled(lower, keeps)
            last, rest = self._turns[-1], np.flatnonzero(pools < 0)
            over = self._live(pools < 0) - tops[last]
            is_too_full = over.max(initial=0) > 0 or not lower.allowed[rest, last].all()
            bases = None if is_too_full else self._packed(lower, rest, work - self.work)
            if bases is None:
                over = over if is_too_full else over + tops[last] // ROOM_FOR_GAPS
                self._remember(Placement(pools, offset), tops, over)
                self._let_come_sooner(rest, over, lower)
                continue
            pools[rest], offset[rest] = last, bases
            worth = self._counted(tops), float(self._costs[np.arange(len(pools)), pools].sum())
            if worth < least:
                best, least = Placement(pools, offset), worth
                most = IN_VAIN + AS_MANY * attempts
            self._level, self._tries = min(self._level + RAISE, 1000), 0
            self._begin_again(pools)
        return best

    def nearest(self) -> tuple[Placement, tuple[int, ...]] | None:
        """Where nothing was found, the placement that came nearest to that, with a last pool that is too high, and the heights it was to have."""
        if self._nearest is None:
            return None
        begun, tops = self._nearest
        pools, offset = begun.pool, begun.offset
        last, rest = self._turns[-1], np.flatnonzero(pools < 0)
        self.work += budget.FILLED_A_BLOCK * (len(rest) + 1)
        found = (
            packed(self._instance, last, rest, "size", Fit.LOWEST) if self._instance.allowed[rest, last].all() else None
        )
        if found is None or found[1].any():
            return None
        pools[rest], offset[rest] = last, found[0]
        return Placement(pools, offset), tops

    def _remember(self, begun: Placement, tops: tuple[int, ...], over: Ints) -> None:
        missed = float(np.maximum(over, 0).sum())
        if missed < self._missed:
            self._missed, self._nearest = missed, (begun, tops)

    def _packed(self, lower: Instance, rest: Ints, left: int) -> Ints | None:
        """Where these blocks lie in the last pool; None if they were not packed."""
        packing = Packing(lower, self._task, self._control)
        outcome = packing.outcome(self._turns[-1], rest, Goal.FIT, max(min(budget.PACKING_LAST, left), 1))
        self.work += packing.work
        return None if outcome.placement is None else outcome.placement.offset

    def _ease(self) -> None:
        """Let gains count for less from now on, and lower the pools after some attempts; from the lowest on they begin high again."""
        if not self._is_eased:
            self._is_eased, self._tries = True, TRIES
            self._sooner[:] = 0
        self._tries += 1
        if self._tries > TRIES:
            self._level, self._tries = (self._level if self._level > LOWEST else 1000) - LOWER, 0

    def _begin_again(self, pools: Ints) -> None:
        """Forget a part of who came sooner, and let those come sooner that would gain most by another pool."""
        self._sooner *= KEPT
        losses = self._costs[np.arange(len(pools)), pools] - self._costs.min(axis=1)
        self._sooner[np.argsort(-losses, kind="stable")[:DEAREST]] += 1.0

    def _divided(self) -> Division:
        """Those come first to the fast pools that gain most there."""
        i = self._instance
        rects = (i.rect_start <= self._fullest) & (self._fullest < i.rect_end)
        sizes = np.zeros(i.blocks, dtype=np.int64)
        np.add.at(sizes, self._block[rects], self._sizes[rects])
        keeps, tops, left = np.full(i.blocks, -1), [0] * len(i.pools), np.unique(self._block[rects])
        for pool, gains in zip(self._turns, self._gains, strict=False):
            capacity = i.pools[pool].capacity
            level = 1000 if pool in self._free else self._level
            end = None if capacity is None else capacity * level // 1000
            for block in left[np.argsort(-self._urgency(gains)[left], kind="stable")].tolist():
                if i.allowed[block, pool] and (end is None or tops[pool] + int(sizes[block]) <= end):
                    tops[pool] += int(sizes[block])
                    keeps[block] = pool
            left = left[keeps[left] < 0]
        keeps[left] = self._turns[-1]
        for pool in self._free:
            self._fill_up(pool, sizes, keeps)
        tops = [int(sizes[keeps == pool].sum()) for pool in range(len(tops))]
        for pool in self._free:
            tops[pool] = i.pools[pool].capacity or 0
        self.least = min(self.least, self._counted(tops))
        return keeps, tuple(tops)

    def _counted(self, tops: Sequence[int]) -> int:
        """The sum of these heights, without those that cost nothing."""
        return sum(tops) - sum(tops[pool] for pool in self._free)

    def _fill_up(self, pool: int, sizes: Ints, keeps: Ints) -> None:
        """Exchange what is in the pool at the fullest section, until no sum is greater: those that gain least there, and others of the last pool first."""
        i, last = self._instance, self._turns[-1]
        urgency = self._urgency(self._gains[self._turns.index(pool)])
        inside = np.flatnonzero((keeps == pool) & i.allowed[:, last])
        inside = inside[np.argsort(urgency[inside], kind="stable")][:EXCHANGED]
        outside = np.flatnonzero((keeps >= 0) & i.allowed[:, pool] & ~np.isin(keeps, self._free))
        outside = outside[np.lexsort((urgency[outside], keeps[outside] != last))][:EXCHANGED]
        some = np.concatenate([inside, outside])
        room = (i.pools[pool].capacity or 0) - int(sizes[keeps == pool].sum())
        taken = fullest(sizes[some], room + int(sizes[inside].sum()))
        self.work += SUMS
        if int(sizes[some[taken]].sum()) > int(sizes[inside].sum()):
            keeps[some[~taken & (keeps[some] == pool)]] = last
            keeps[some[taken]] = pool

    def _filled(self, lower: Instance, keeps: Ints) -> tuple[Ints, Ints]:
        """Where blocks are, -1 for those left to the last pool, and where they begin."""
        pools, offset = np.full(lower.blocks, -1), np.zeros(lower.blocks, dtype=np.int64)
        for pool, gains in zip(self._turns, self._gains, strict=False):
            some = np.flatnonzero((pools < 0) & lower.allowed[:, pool] & ((keeps < 0) | (keeps == pool)))
            stays, is_fixed = keeps[some] == pool, self._is_fixed[some, pool]
            long = np.where(stays, -self._lives[some], 0)
            order = some[np.lexsort((-(self._urgency(gains) + self._near / 2)[some], long, ~stays, ~is_fixed))]
            bases, out = self._fillable[pool].filled(order, lower.highest[:, pool])
            pools[order], offset[order] = pool, bases
            pools[out], offset[out] = -1, 0
            self.work += budget.FILLED_A_BLOCK * (len(some) + 1)
        return pools, offset

    def _let_come_sooner(self, rest: Ints, over: Ints, lower: Instance) -> None:
        """Blocks of the last pool that gain most, until it would be too full nowhere; and those that are too high for it."""
        last, gains = self._turns[-1], self._gains[-1]
        self._sooner[rest[~lower.allowed[rest, last]]] += 1
        stays = np.zeros(lower.blocks, dtype=bool)
        stays[rest] = True
        for _ in range(AT_ONCE):
            section = int(over.argmax())
            if over[section] <= 0:
                return
            here = np.unique(
                self._block[(lower.rect_start <= section) & (section < lower.rect_end) & stays[self._block]]
            )
            here = here[np.isfinite(gains[here])]
            if not len(here):
                return
            gained: Floats = np.maximum(gains[here], LEAST_GAIN) ** OF_GAIN if self._is_eased else gains[here]
            weights: Floats = gained * np.exp(-TIRED * self._sooner[here])
            block = here[int(weights.argmax())]
            self._sooner[block] += 1
            stays[block] = False
            for rect in np.flatnonzero(self._block == block).tolist():
                over[lower.rect_start[rect] : lower.rect_end[rect]] -= self._sizes[rect]

    def _urgency(self, gains: Floats) -> Floats:
        """The greater it is, the sooner a block comes."""
        found: Floats = np.log(np.maximum(gains, LEAST_GAIN))
        if self._is_eased:
            found = OF_GAIN * found + OF_SIZE * np.log(np.maximum(self._instance.block_high, 1))
        found += self._sooner
        return found

    def _live(self, some: Bools) -> Ints:
        """(sections) What these blocks take there."""
        i, rects = self._instance, some[self._block]
        change = np.zeros(i.sections + 1, dtype=np.int64)
        np.add.at(change, i.rect_start[rects], self._sizes[rects])
        np.subtract.at(change, i.rect_end[rects], self._sizes[rects])
        live: Ints = np.cumsum(change)[: i.sections]
        return live


def last_turn(instance: Instance) -> int:
    """The pool that holds whatever the others leave; its peak must count."""
    return in_turn(instance)[-1]


def _lost(here: Floats, later: Floats) -> Floats:
    """What each loses if it goes from here to the cheapest of the later pools; minus infinity where it may not be here."""
    is_open = np.isfinite(here)
    lost: Floats = np.where(is_open, later, -np.inf) - np.where(is_open, here, 0.0)
    return lost


def fullest(sizes: Ints, room: int) -> Bools:
    """Which of them take most of the room together, by all sums of each half of them."""
    half = len(sizes) // 2
    one, other = _sums(sizes[:half]), _sums(sizes[half:])
    order = np.argsort(other, kind="stable")
    place = np.searchsorted(other[order], room - one, side="right") - 1
    total = np.where(place >= 0, one + other[order[place]], -1)
    best = int(total.argmax())
    if total[best] < 0:
        return np.zeros(len(sizes), dtype=np.bool_)
    number = best | int(order[place[best]]) << half
    taken: Bools = np.array([number >> n & 1 for n in range(len(sizes))], dtype=np.bool_)
    return taken


def _sums(sizes: Ints) -> Ints:
    """The sum of each subset, whose number has a bit for each size."""
    sums = np.zeros(1, dtype=np.int64)
    for size in sizes.tolist():
        sums = np.concatenate([sums, sums + size])
    return sums
