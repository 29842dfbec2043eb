"""Fast arrangements: the largest first, or many orders one after the other until one meets the bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random
from typing import ClassVar

import numpy as np

from ..model.errors import StopReason, Unsupported
from ..model.instance import Instance
from .arrangement import Arrangement, Best, homes, totals
from .bounds import by_size, ranked
from .local_search import improved
from .named import RelayObjects
from .passes import Choice, LimitReached, Order, Passes
from .solver import SharingControl, SharingOutcome, SharingSolver, SharingTask

ATTEMPTS = (
    (Order.SIZE_LAST, Choice.FIRST, False),
    (Order.SIZE_BIRTH, Choice.FIRST, False),
    (Order.DEATH, Choice.SNUG, True),
    (Order.DEATH, Choice.SNUG, False),
    (Order.SIZE_LIFE, Choice.SOON, False),
    (Order.SIZE_BIRTH, Choice.SNUG, False),
    (Order.SIZE_LAST, Choice.SNUG, False),
    (Order.BIRTH, Choice.SNUG, True),
    (Order.AREA, Choice.SNUG, True),
)
"""Order, rule, and whether the objects that the bound proves exist from the start: of 42 combinations, those that were best somewhere."""


class Greedy(SharingSolver):
    """Several orders and choices, with and without the bound's objects as a start, then moves in the best order; each pool until its bound is met."""

    name: ClassVar[str] = "greedy"

    def share(self, instance: Instance, task: SharingTask, control: SharingControl) -> SharingOutcome:
        best = Best(instance, task.start)
        bounds = task.bounds or (0,) * len(instance.pools)
        passes = Passes(instance, task, control)
        stop = StopReason.WORK_LIMIT
        try:
            self._before(instance, task, control, best)
            for pool, bound in enumerate(bounds):
                for objects in self._attempts(instance, pool, passes, task):
                    if best.note(pool, objects) and (arrangement := best.arrangement()) is not None:
                        control.incumbent(arrangement)
                    if best.total(pool) == bound:
                        break
        except LimitReached as end:
            stop = end.reason
            if stop is StopReason.TIME_LIMIT:
                self._hurry(instance, passes, best)
        arrangement = best.arrangement()
        if arrangement is not None and totals(instance, arrangement) == task.bounds:
            stop = StopReason.PROVED
        return SharingOutcome(
            stop=stop,
            arrangement=arrangement,
            bounds=task.bounds,
            solver=None if arrangement is None else self.name,
            work=passes.work,
            reproducible=stop.is_repeatable,
            took_part=(self.name,),
        )

    def _before(self, instance: Instance, task: SharingTask, control: SharingControl, best: Best) -> None:
        """Offers one object per block, then Relay's tokens, which are by far the fastest to compute."""
        best.offer(Arrangement(np.arange(instance.blocks, dtype=np.int64)))
        try:
            found = RelayObjects().share(instance, task, control)
        except Unsupported:
            return
        if found.arrangement is not None:
            best.offer(found.arrangement)

    def _hurry(self, instance: Instance, passes: Passes, best: Best) -> None:
        """Makes the fastest sweep of every pool, however little time there was."""
        members: dict[int, list[int]] = {}
        for block, (home, size) in enumerate(zip(homes(instance).tolist(), instance.block_high.tolist(), strict=True)):
            if size:
                members.setdefault(home, []).append(block)
        for pool, blocks in members.items():
            best.note(pool, passes.hurried(blocks))

    def _attempts(self, instance: Instance, pool: int, passes: Passes, task: SharingTask) -> Iterator[list[list[int]]]:
        members = by_size(instance, pool).tolist()
        sizes = task.least[pool] if task.least else ranked(instance, pool).sizes
        if passes.only_time_parts(members):
            for first, backwards in product(((), sizes), (False, True)):
                yield passes.sweep(members, first, backwards=backwards)
        tried: list[tuple[int, int, list[int], Choice, Sequence[int]]] = []
        for order, choice, from_bound in ATTEMPTS:
            blocks = passes.ordered(members, order)
            objects = passes.run(blocks, choice, sizes if from_bound else ())
            tried.append((passes.total(objects), len(tried), blocks, choice, sizes if from_bound else ()))
            yield objects
        _, _, best, rule, start = min(tried, key=lambda each: each[:2])
        yield from improved(passes, best, rule, start, sizes, Random(task.seed))


class LargestFirst(Greedy):
    """The largest first, each into the smallest free object that is large enough; objects never grow."""

    name: ClassVar[str] = "largest_first"

    def _before(self, instance: Instance, task: SharingTask, control: SharingControl, best: Best) -> None:
        """Does nothing."""

    def _attempts(self, instance: Instance, pool: int, passes: Passes, task: SharingTask) -> Iterator[list[list[int]]]:
        yield passes.run(by_size(instance, pool).tolist(), Choice.SNUG)
