"""Local search over assignments behind the Solver protocol: lifts a few classes of blocks out and sets them down where they cost less.

There are two kinds of change, in turns. The small one lifts a class that costs more than it need, or ends at a peak, with some that live beside it,
and sets them down again one after the other, each in the pool in which it costs least, peaks included. The large one packs a whole pool
anew, together with some classes that would gain by being there; those that end above its capacity have to leave. A change that makes things worse
is undone, unless it is by a little in the beginning; the answer is never worse than the start.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ...fitting.orders import Fit
from ...model.errors import StopReason
from ...model.instance import Instance
from ...model.outcome import Outcome, Value
from ...model.solver import Control, Feature, Goal, Solver, Task
from ..best import Best
from ..greedy.packing import ORDERS_TO_TRY, packed
from ..layout import LOOK_EVERY, Spots
from ..local_search import WORK_OF_A_BLOCK, WORK_OF_LOOKING, LocalSearch
from .from_prices import from_prices, work_of_settling
from .worth import Worth

FEWEST, MOST = 3, 20
"""A small change lifts this many classes."""
PACK_EVERY = 40
"""A large change follows this many small ones."""
SHARE_OF_A_POOL = 8
"""A large change brings in at most an eighth as many classes as are there."""
CANDIDATES = 4
"""Of this many classes drawn at random, the one with most to gain is taken."""
TOLERANCE = 0.01
"""By which part a layout may be worse than the last in the beginning and still be kept."""
WORK_OF_PACKING = 2
"""Work of packing, for each block."""


class Assign(Solver):
    """Improves the choice of pools of a known placement; proves nothing."""

    name: ClassVar[str] = "assign"
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """Improve the start; nothing without one."""
        best, work = Best(self.name, instance, task, control), 0
        if task.start is None or not instance.has_choice:
            return best.outcome()
        is_enough = task.limits.work is None or task.limits.work >= work_of_settling(instance)
        if task.goal is Goal.MINIMISE and len(instance.rect_part) and is_enough:
            found, work = from_prices(instance, task, control)
            if found is not None:
                best.offer(found)
        search = _Search(best, work)
        return search.run(StopReason.WORK_LIMIT if search.is_exhausted() else None)


class _Search(LocalSearch):
    """One run."""

    def __init__(self, best: Best, work: int) -> None:
        super().__init__(best)
        self.work = float(work)
        self.worth = Worth(self.instance, self.layout)
        self.movable = [group for group, homes in self.layout.homes.items() if len(homes) > 1]
        self.packings = 0

    def change(self, number: int) -> None:
        if number % PACK_EVERY == 0:
            self._pack_one_pool()
        else:
            self._move_some()

    def is_exhausted(self) -> bool:
        return not self.movable

    def is_acceptable(self, value: Value) -> bool:
        """Accept a layout that is a little worse than the last; less so the longer the search goes on."""
        if value > self.current and value[0] > self.current[0] + self._tolerance():
            return False
        return value <= self.current or value[0] != self.current[0]

    # Small changes

    def _move_some(self) -> None:
        """Lift a class and some that live beside it, and set them down one by one."""
        chosen = self._beside(self._promising())
        old = self.layout.lift(chosen)
        lifted = set(chosen)
        heights = self._peaks_without(lifted)
        skipped = chosen[0] if self.random.below(8) == 0 else None
        for group in self._in_some_order(chosen):
            spots = self._cheapest(group, heights, lifted, skip_best=group == skipped)
            if spots is None:
                break
            self._set_down(spots, heights)
            lifted.discard(group)
        if lifted or not self.accept():
            self.layout.lift(group for group in chosen if group not in lifted)
            self.layout.set_down(old)

    def _promising(self) -> int:
        """Draw a class that has something to gain, or that ends at a peak."""
        if self.worth.counts_peaks and self.random.below(2):
            pool = self.random.below(len(self.instance.pools))
            ends = np.where(self.layout.pool == pool, self.layout.offset + self.instance.block_high, 0)
            top = np.flatnonzero(ends == ends.max())
            group = int(self.instance.pool_class[top[self.random.below(len(top))]])
            if len(self.layout.homes[group]) > 1:
                return group
        drawn = [self.random.pick(self.movable) for _ in range(CANDIDATES)]
        return max(drawn, key=self._gain)

    def _gain(self, group: int) -> tuple[float, ...]:
        return self.worth.gain(group, self._pool_of(group))

    def _pool_of(self, group: int) -> int:
        return int(self.layout.pool[self.layout.members[group][0]])

    def _beside(self, group: int) -> list[int]:
        """The class, and some classes with a choice that live at the same time."""
        block = self.layout.members[group][0]
        near = (self.birth < self.death[block]) & (self.death > self.birth[block])
        classes = np.unique(self.instance.pool_class[near])
        count = FEWEST + self.random.below(MOST - FEWEST + 1)
        found = {group: None}
        for _ in range(min(2 * count, 2 * len(classes))):
            other = int(classes[self.random.below(len(classes))])
            if len(self.layout.homes[other]) > 1:
                found.setdefault(other)
            if len(found) >= count:
                break
        return list(found)

    def _in_some_order(self, groups: list[int]) -> list[int]:
        """Order the classes by gain for each byte of room with some noise, by size, or as drawn."""
        kind = self.random.below(4)
        if kind == 0:
            return sorted(groups, key=lambda g: -max(self.layout.high[b] for b in self.layout.members[g]))
        if kind == 1:
            return groups
        noise = {group: 1 + self.random.fraction(10) for group in groups}
        return sorted(groups, key=lambda g: tuple(-most * noise[g] for most in self.worth.spread(g)))

    def _peaks_without(self, lifted: set[int]) -> list[int]:
        """The pools' peaks without the lifted classes."""
        here = np.ones(self.instance.blocks, dtype=bool)
        here[[block for group in lifted for block in self.layout.members[group]]] = False
        tops = np.zeros(len(self.instance.pools), dtype=np.int64)
        np.maximum.at(tops, self.layout.pool[here], (self.layout.offset + self.instance.block_high)[here])
        self.work += WORK_OF_A_BLOCK * self.instance.blocks
        heights: list[int] = tops.tolist()
        return heights

    def _cheapest(self, group: int, heights: list[int], lifted: set[int], *, skip_best: bool = False) -> Spots | None:
        """The pool in which the class costs least now; with skip_best, the second cheapest if there is one."""
        found: list[tuple[tuple[int, ...], int, Spots]] = []
        for place, pool in enumerate(self.worth.choices[group]):
            if found and not skip_best and self.worth.least[group][pool] > found[0][0]:
                break
            if not self.layout.is_open(group, pool, lifted):
                continue
            spots = self.layout.room(group, pool, Fit.BEST if self.random.below(4) == 0 else Fit.LOWEST)
            self.work += (WORK_OF_LOOKING + 2 * self.layout.work_of_look) * len(self.layout.members[group])
            if spots is not None:
                found.append((self.worth.added(group, pool, spots, heights), place, spots))
                found.sort(key=lambda row: row[:2])
        if not found:
            return None
        return found[1 if skip_best and len(found) > 1 else 0][2]

    def _set_down(self, spots: Spots, heights: list[int]) -> None:
        self.layout.set_down(spots)
        for block, pool, base in spots:
            heights[pool] = max(heights[pool], base + self.layout.high[block])

    # Large changes

    def _pack_one_pool(self) -> None:
        """Pack a pool anew, with some classes that would gain by being there; what has no room goes elsewhere."""
        self.packings += 1
        pool = self.packings % len(self.instance.pools)
        inside = self.layout.blocks_in(pool)
        joining = self._would_join(pool, 1 + self.random.below(1 + len(inside) // SHARE_OF_A_POOL))
        moved = sorted({*self.instance.pool_class[inside].tolist(), *joining})
        blocks = np.array(sorted(block for group in moved for block in self.layout.members[group]), dtype=np.int64)
        if not len(blocks):
            return
        order = self.random.pick(ORDERS_TO_TRY)
        answer = packed(self.instance, pool, blocks, order, Fit.BEST if self.random.below(4) == 0 else Fit.LOWEST)
        self.work += WORK_OF_PACKING * len(blocks) + 500
        if answer is None:
            return
        bases, excess = answer
        old = self.layout.lift(moved)
        lifted = {int(group) for group in self.instance.pool_class[blocks[excess > 0]]}
        staying = [group for group in moved if group not in lifted]
        spots = [
            (block, pool, base)
            for block, base in zip(blocks.tolist(), bases.tolist(), strict=True)
            if int(self.instance.pool_class[block]) not in lifted
        ]
        self.layout.set_down(spots)
        heights = self._peaks_without(lifted)
        down = list(staying)
        for number, group in enumerate(self._in_some_order(sorted(lifted))):
            hurries = number % LOOK_EVERY == LOOK_EVERY - 1 and self.hurries()
            found = None if hurries else self._cheapest(group, heights, lifted)
            if found is None:
                break
            self._set_down(found, heights)
            lifted.discard(group)
            down.append(group)
        if lifted or not self.accept():
            self.layout.lift(down)
            self.layout.set_down(old)

    def _would_join(self, pool: int, most: int) -> list[int]:
        """Draw classes that would gain by being in the pool; more gain for the size makes a class more likely."""
        found: dict[int, None] = {}
        for _ in range(4 * most):
            if len(found) >= most:
                break
            drawn = [self.random.pick(self.movable) for _ in range(CANDIDATES)]
            gaining = [group for group in drawn if self._gains_by(group, pool)]
            if gaining:
                group = max(gaining, key=self._gain)
                if self.layout.is_open(group, pool, set()) and not self.layout.must_part(group, found):
                    found.setdefault(group)
        self.work += most
        return list(found)

    def _gains_by(self, group: int, pool: int) -> bool:
        here = self._pool_of(group)
        return (
            here != pool
            and pool in self.layout.homes[group]
            and self.worth.least[group][pool] < self.worth.least[group][here]
        )

    def _tolerance(self) -> int:
        """By how much the next layout may be worse in the first term."""
        limit = self.task.limits.work
        left = 1.0 - self.work / limit if limit else 1.0 / (1.0 + self.work / 1e6)
        draw = self.random.fraction(16)
        assert self.best.value is not None
        return int(self.best.value[0] * max(left, 0.0) * draw * TOLERANCE)
