"""Local search that leaves blocks where an older plan had them, behind the Solver protocol.

Two kinds of change, in turns. The small one puts a block back where it was: who is in its way is lifted out and set down again, where it was or
stood if that is free, else as low as there is room. The large one builds the placement anew: who was below some height goes back there, the
largest first, and the others into what room is left. What is worse than before is undone, so the answer is never worse than the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import ClassVar

import numpy as np

from ..fitting.orders import Fit
from ..model.instance import LINEAR_TERMS, Instance, Linear
from ..model.objective import peaks
from ..model.outcome import Outcome, Value
from ..model.solver import Control, Feature, Solver, Task
from .best import Best
from .layout import Spots
from .local_search import CHECK_EVERY, WORK_OF_A_BLOCK, WORK_OF_LOOKING, LocalSearch

BUILD_EVERY = 60
"""Small changes between two large ones."""
FIRST_BUILDS = 8
"""Large changes before the first small one: at heights from what is proven up to what the older plan needed."""
CANDIDATES = 4
"""Of so many that are drawn, the largest is put back."""
PATIENCE = 40
"""The search ends after this many changes without a gain, for each block with an older place: other engines find the rest sooner."""


class Keep(Solver):
    """Lowers what moves in a known placement; proves nothing."""

    name: ClassVar[str] = "keep"
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """The best placement that changes lead to from the start; nothing without one, or where nothing was anywhere."""
        best = Best(self.name, instance, task, control)
        if task.start is None or not instance.weighs_moves:
            return best.outcome()
        search = _Search(best)
        return search.run(search.finished(0))


class _Search(LocalSearch):
    """One run."""

    def __init__(self, best: Best) -> None:
        super().__init__(best)
        instance, bounds = self.instance, self.task.pool_bounds
        assert instance.was is not None
        self.work = float(10 * instance.blocks)
        self.high = instance.block_high
        self.timeless = np.zeros(instance.blocks, dtype=bool)
        """Blocks that must keep off others whatever their lifetimes."""
        self.timeless[instance.part_block[instance.conflicts].reshape(-1)] = True
        column = next(
            adds.moved.value for term in instance.terms if (adds := LINEAR_TERMS.get(term, Linear())).moved is not None
        )
        """What the first term that asks counts."""
        weights = instance.was.stays[:, 3 + column]
        order = np.argsort(-weights, kind="stable")
        self.rows = [(b, p, base) for b, p, base, *_ in instance.was.stays[order].tolist()]
        """Where blocks were, those first that count most."""
        self.was: dict[int, dict[int, int]] = {}
        """block -> pool -> where in it the most of the block was."""
        for block, pool, base in self.rows:
            self.was.setdefault(block, {}).setdefault(pool, base)
        self.once = [0] * len(instance.pools)
        """How high the older plan was, by what may still be there."""
        for block, pool, base in self.rows:
            self.once[pool] = max(self.once[pool], base + int(self.high[block]))
        self.least = list(bounds) if bounds else [0] * len(instance.pools)

    def change(self, number: int) -> None:
        if number <= FIRST_BUILDS or number % BUILD_EVERY == 0:
            self._build(number)
        else:
            self._put_back()

    def is_exhausted(self) -> bool:
        return not self.rows or self.idle > PATIENCE * (len(self.rows) + FIRST_BUILDS)

    def is_acceptable(self, value: Value) -> bool:
        return value <= self.current

    def looks_at_clock(self, number: int) -> bool:
        return number <= FIRST_BUILDS or super().looks_at_clock(number)

    # Small changes

    def _put_back(self) -> None:
        """Put a block back where it was, and whoever is in its way elsewhere."""
        moved = [row for row in self._drawn() if not self._is_there(*row)]
        self.work += WORK_OF_LOOKING
        if not moved:
            return
        block, pool, base = min(moved, key=lambda row: (-int(self.high[row[0]]), row))
        group = int(self.instance.pool_class[block])
        if pool not in self.layout.homes[group]:
            return
        lifted = [group, *self._in_the_way(block, pool, base)]
        old = self.layout.lift(lifted)
        before = {block: (pool, base) for block, pool, base in old}
        waiting = set(lifted)
        down: list[int] = []
        for number, each in enumerate(lifted):
            if not self._set_down(each, before, waiting, (block, pool, base) if number == 0 else None):
                break
            waiting.discard(each)
            down.append(each)
        if waiting or not self.accept():
            self.layout.lift(down)
            self.layout.set_down(old)

    def _drawn(self) -> list[tuple[int, int, int]]:
        return [self.random.pick(self.rows) for _ in range(CANDIDATES)]

    def _is_there(self, block: int, pool: int, base: int) -> bool:
        return int(self.layout.pool[block]) == pool and int(self.layout.offset[block]) == base

    def _in_the_way(self, block: int, pool: int, base: int) -> list[int]:
        """The classes of those that might be, the highest first."""
        layout = self.layout
        meets = (self.birth < self.death[block]) & (self.death > self.birth[block])
        meets |= self.timeless & self.timeless[block]
        meets &= (layout.pool == pool) & (layout.offset < base + self.high[block])
        meets &= layout.offset + self.high > base
        meets[block] = False
        self.work += WORK_OF_A_BLOCK * self.instance.blocks
        found = np.flatnonzero(meets)
        own = int(self.instance.pool_class[block])
        order = found[np.argsort(-self.high[found], kind="stable")]
        return [g for g in dict.fromkeys(self.instance.pool_class[order].tolist()) if g != own]

    def _set_down(
        self,
        group: int,
        before: Mapping[int, tuple[int, int]],
        waiting: set[int],
        wanted: tuple[int, int, int] | None = None,
    ) -> bool:
        """The class, each block where it was if that is free, or where it stood before, or as low as there is room; False: it has no room."""
        layout, members = self.layout, self.layout.members[group]
        usual = [p for block in members for p in self.was.get(block, ())]
        usual += [before[block][0] for block in members if block in before]
        homes = layout.homes[group]
        for pool in [wanted[1]] if wanted else [p for p in dict.fromkeys((*usual, *homes)) if p in homes]:
            if not layout.is_open(group, pool, waiting):
                continue
            spots: Spots = []
            for block in members if wanted is None else sorted(members, key=lambda b: b != wanted[0]):
                base = self._base(block, pool, before, wanted)
                if base is None:
                    break
                layout.set_down([(block, pool, base)])
                spots.append((block, pool, base))
            if len(spots) == len(members):
                return True
            layout.take(block for block, *_ in spots)
        return False

    def _base(
        self, block: int, pool: int, before: Mapping[int, tuple[int, int]], wanted: tuple[int, int, int] | None
    ) -> int | None:
        self.work += WORK_OF_LOOKING + 2 * self.layout.work_of_look
        if wanted is not None and block == wanted[0]:
            return wanted[2] if self.layout.is_free(block, pool, wanted[2]) else None
        was = self.was.get(block, {}).get(pool)
        if was is not None and self.layout.is_free(block, pool, was):
            return was
        if block in before and before[block][0] == pool and self.layout.is_free(block, pool, before[block][1]):
            return before[block][1]
        return self.layout.base(block, pool, Fit.LOWEST)

    # Large changes

    def _build(self, number: int) -> None:
        """All anew: who was below a ceiling goes back there, then the others come, the largest first."""
        assert self.best.placement is not None
        known = peaks(self.instance, self.best.placement)
        part = (FIRST_BUILDS - number) / (FIRST_BUILDS - 1) if number <= FIRST_BUILDS else self.random.fraction(10)
        ceiling = [
            least + part * (max(once, peak) - least)
            for least, once, peak in zip(self.least, self.once, known, strict=True)
        ]
        everyone = list(self.layout.members)
        old = self.layout.lift(everyone)
        waiting = set(everyone)
        down: list[int] = []
        steps = count(1)
        noise = {} if number <= FIRST_BUILDS else {row: self.random.below(1 << 10) for row in self.rows}
        for row in sorted(self.rows, key=lambda r: noise.get(r, 0) // 768):
            block, pool, base = row
            group = int(self.instance.pool_class[block])
            if self._is_late(next(steps)):
                break
            if group not in waiting or base + int(self.high[block]) > ceiling[pool]:
                continue
            self.work += WORK_OF_LOOKING + self.layout.work_of_look
            if pool in self.layout.homes[group] and self._set_down(group, {}, waiting, row):
                waiting.discard(group)
                down.append(group)
        room = (self.high * (self.death - self.birth)).tolist()
        largest = {group: max(room[block] for block in self.layout.members[group]) for group in waiting}
        for group in sorted(waiting, key=lambda g: (-largest[g], g)):
            if self._is_late(next(steps)) or not self._set_down(group, {}, waiting):
                break
            waiting.discard(group)
            down.append(group)
        self.work += WORK_OF_A_BLOCK * self.instance.blocks
        if waiting or not self.accept():
            self.layout.lift(down)
            self.layout.set_down(old)

    def _is_late(self, step: int) -> bool:
        return step % CHECK_EVERY == 0 and self.control.stopped() is not None
