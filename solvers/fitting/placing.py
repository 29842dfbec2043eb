"""Places blocks in a given order, each into the gap that a fit chooses: the reference for all faster kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from ..model.instance import Bools, Instance, Ints, Placement
from ..model.interruption import check_interrupted, interruptible
from ..model.linear_terms import choice_cost, peak_price
from .gaps import Span
from .neighbours import Neighbours
from .orders import Fit
from .pool_choice import PoolChoice
from .reserved import Reserved


class PoolPolicy(StrEnum):
    """Which of its allowed pools a block goes to."""

    PREFERRED = "preferred"
    """The first in the block's order of preference in which it fits."""
    CHEAPEST = "cheapest"
    """The one in which the objective grows least by the block's own cost there and by the peak; ties by growth of the peak, then by preference."""


Stop = Callable[[], bool]
CHECK_EVERY = 64
LOOK = 10
"""The work of looking for a place in a pool, without its reserved ranges."""
MUCH = 10_000
"""After this much work on pools and reserved ranges the caller is asked whether to stop, even within CHECK_EVERY blocks."""


@dataclass(frozen=True, slots=True, eq=False)
class Pass:
    """In which order the blocks are placed, and how each place is chosen."""

    order: Ints
    fit: Fit
    policy: PoolPolicy = PoolPolicy.PREFERRED
    unwelcome: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """For a block, others whose addresses it should avoid if there is room."""


def place_all(
    instance: Instance, one_pass: Pass, near: Neighbours, stop: Stop, *, finish: bool = False
) -> Placement | None:
    """Places the blocks one after the other; None if one fits nowhere or the caller stops it. With `finish`, a stop stacks the remaining ones on top instead."""
    check_interrupted()
    run = _Run(instance, one_pass, near)
    check_interrupted()
    lost = run.all(stop, np.zeros(instance.blocks, dtype=np.int64), finish)
    return None if lost is None or lost else Placement(run.pool, run.offset)


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """A placement of some of the blocks."""

    offset: Ints
    placed: Bools


def place_components(
    instance: Instance, one_pass: Pass, near: Neighbours, component: Ints, stop: Stop, *, finish: bool = False
) -> Partial | None:
    """Places blocks in a single pool, each component on its own: a block that fits nowhere only ends its own component."""
    run = _Run(instance, one_pass, near)
    lost = run.all(stop, component, finish)
    return None if lost is None else Partial(run.offset, ~np.isin(component, list(lost)))


def place_what_fits(instance: Instance, one_pass: Pass, near: Neighbours, hurries: Stop) -> Partial:
    """Places blocks in a single pool, without those that fit nowhere; once it hurries, without those that cannot be stacked on top."""
    run = _Run(instance, one_pass, near)
    run.all(hurries, np.arange(instance.blocks), finish=True, leaves_out=True)
    placed = np.zeros(instance.blocks, dtype=bool)
    placed[list(run.placed)] = True
    return Partial(run.offset, placed)


class _Run:
    """The state of one pass over an order."""

    def __init__(self, instance: Instance, one_pass: Pass, near: Neighbours) -> None:
        self.instance = instance
        self.one_pass = one_pass
        self.fit = one_pass.fit
        self.near = near
        self.pool = np.zeros(instance.blocks, dtype=np.int64)
        self.offset = np.zeros(instance.blocks, dtype=np.int64)
        self.peak = [0] * len(instance.pools)
        self.high = instance.block_high.tolist()
        rects = np.bincount(instance.part_block[instance.rect_part], minlength=instance.blocks)
        self.rects = np.maximum(rects, 1).tolist()
        self.reserved = Reserved(instance)
        self.terms = [(choice_cost(instance, term), peak_price(instance, term)) for term in instance.terms]
        # For each block and each pool; as lists they would take ten times as much.
        self.modulus = np.ascontiguousarray(instance.modulus).data
        self.residue = np.ascontiguousarray(instance.residue).data
        self.lowest = np.ascontiguousarray(instance.lowest).data
        self.highest = np.ascontiguousarray(instance.highest).data
        self.placed: set[int] = set()
        self.looked = 0
        """Work on pools and reserved ranges since the caller was last asked whether to stop."""
        self.pools = PoolChoice(instance)
        self.hurried = False
        """True once there is no time to look for gaps."""
        self._stacked: list[tuple[int, int, int]] = []
        """Blocks placed in a hurry, not yet known to `near`: (block, pool, base)."""

    def all(self, stop: Stop, group: Ints, finish: bool, *, leaves_out: bool = False) -> set[int] | None:
        """Places all blocks, fixed ones first. Returns the groups with a block that fits nowhere, or None if it was stopped.

        If it may leave blocks out, none is looked a place for once it is hurried.
        """
        instance, order = self.instance, self.one_pass.order
        fixed = instance.allowed & (instance.lowest == instance.highest)
        first = order[np.argsort(~fixed.any(axis=1)[order], kind="stable")]
        lost: set[int] = set()
        for step, (block, own) in enumerate(
            interruptible(list(zip(first.tolist(), group[first].tolist(), strict=True)))
        ):
            if not self.hurried and (step % CHECK_EVERY == 0 or self.looked > MUCH):
                self.looked = 0
                if stop():
                    if not finish:
                        return None
                    self.hurried = True
            looks = not (self.hurried and leaves_out)
            if own not in lost and not ((self.hurried and self.stack(block)) or (looks and self.place(block))):
                lost.add(own)
        return lost

    def place(self, block: int) -> bool:
        for each in self._stacked:
            self.near.place(*each)
        self._stacked.clear()
        best: tuple[tuple[int, ...], int, int] | None = None
        for pool in self.pools.open(block):
            base = self._base(block, pool)
            if base is None:
                continue
            if self.one_pass.policy is PoolPolicy.PREFERRED:
                best = ((), pool, base)
                break
            added = self._added(block, pool, base)
            if best is None or added < best[0]:
                best = (added, pool, base)
        if best is None:
            return False
        self._put(block, best[1], best[2])
        return True

    def _added(self, block: int, pool: int, base: int) -> tuple[int, ...]:
        """What the block adds to each term there, and to the pool's peak by its cost."""
        growth = max(0, base + self.high[block] - self.peak[pool]) * self.instance.pools[pool].cost
        added = [price * growth + (0 if cost is None else int(cost[block, pool])) for cost, price in self.terms]
        return (*added, growth)

    def _base(self, block: int, pool: int) -> int | None:
        span = self._span(block, pool)
        extra = self.reserved.closed(block, pool, span, self.peak[pool], self.fit)
        self.looked += LOOK * self.rects[block] + len(extra)
        wishes = self._unwelcome(block, pool)
        if wishes:
            base = self.near.open_base(block, pool, span, extra + wishes, self.fit)
            if base is not None:
                return base
        return self.near.open_base(block, pool, span, extra, self.fit)

    def _span(self, block: int, pool: int) -> Span:
        return Span(
            self.lowest[block, pool], self.highest[block, pool], self.modulus[block, pool], self.residue[block, pool]
        )

    def stack(self, block: int) -> bool:
        """Puts the block above everything else in the first pool where that is possible; false if there is none. Used when time is short."""
        for pool in self.pools.open(block):
            span = self._span(block, pool)
            base = self.reserved.above(block, pool, span, max(span.lowest, self.peak[pool]))
            if base <= span.highest:
                self._put(block, pool, base)
                return True
        return False

    def _put(self, block: int, pool: int, base: int) -> None:
        if self.hurried:
            self._stacked.append((block, pool, base))
        else:
            self.near.place(block, pool, base)
        self.pool[block], self.offset[block] = pool, base
        self.peak[pool] = max(self.peak[pool], base + self.high[block])
        self.placed.add(block)
        self.pools.put(block, pool)

    def _unwelcome(self, block: int, pool: int) -> list[tuple[int, int]]:
        return [
            (int(self.offset[other]) - self.high[block], int(self.offset[other]) + self.high[other])
            for other in self.one_pass.unwelcome.get(block, ())
            if other in self.placed and self.pool[other] == pool
        ]
