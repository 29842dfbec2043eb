"""Greedy with a choice of pools, or where more than peaks counts: makes many cheap placements and keeps the best."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from ...fitting.neighbours import Neighbours, neighbours
from ...fitting.orders import Fit, orders
from ...fitting.placing import Pass, PoolPolicy, place_all
from ...geometry.tie_breaks import rank_tie
from ...model.errors import StopReason
from ...model.instance import Instance, Placement
from ...model.interruption import check_interrupted
from ...model.linear_terms import peak_price
from ...model.objective import evaluate
from ...model.outcome import Outcome
from ...model.solver import Control, Task
from ..best import Best
from .by_density import by_density
from .pool_by_pool import MANY_BLOCKS, pool_by_pool

HASTE_SECONDS = 0.1
"""A first placement may take this long however late it is; then it is finished in haste."""


def solve_many_pools(solver: str, instance: Instance, task: Task, control: Control) -> Outcome:
    """The best that all combinations of order, fit and policy find, or the first that is good enough."""
    search = _Passes(solver, instance, task, control)
    check_interrupted()
    quick = pool_by_pool(instance, search.haste) if task.start is None and instance.blocks >= MANY_BLOCKS else None
    if quick is not None:
        search.offer(quick.placement)
        stop = search.stop_after(instance.blocks)
        if stop is not None and (stop is not StopReason.WORK_LIMIT or quick.all_as_preferred):
            return search.end(stop)
        stop = control.stopped()
        if stop is not None:  # any further look takes long
            return search.end(stop)
    near = neighbours(instance)
    check_interrupted()
    begun = search.by_density(near) if instance.blocks < MANY_BLOCKS and search.stop_after(0) is None else 0
    for number, one_pass in enumerate(_passes(instance)):
        if not number and quick is not None and quick.all_as_preferred and not one_pass.unwelcome:
            continue
        # However little time there is, the first pass is made, hurrying if it must. If there is no time at all, a quick placement replaces it.
        stop = search.stop_after((begun + number) * near.work)
        is_due = not number and (search.placement is None or (quick is not None and stop is StopReason.WORK_LIMIT))
        is_due |= number == 1 and stop is StopReason.WORK_LIMIT and quick is None and _counts_peaks(instance)
        if stop is not None and not is_due:
            return search.end(stop)
        check_interrupted()
        placement = place_all(
            instance,
            one_pass,
            near.fresh(),
            lambda: control.stopped() is not None,
            finish=search.placement is None,
        )
        if placement is None and not number and search.placement is None and len(instance.apart):
            quick = pool_by_pool(instance, search.haste)  # which colours what must be apart
            placement = None if quick is None else quick.placement
        if placement is not None:
            search.offer(placement)
    return search.end(search.stop_after(search.work + near.work) or StopReason.WORK_LIMIT)


def _passes(instance: Instance) -> Iterator[Pass]:
    """All that differ on this instance, most promising first."""
    unwelcome = _unwelcome(instance)
    policies = _policies(instance)
    sequences = list(orders(instance).values())
    for fit, avoided in product(Fit, (unwelcome, {}) if unwelcome else ({},)):
        for sequence, policy in product(sequences, policies):
            yield Pass(sequence, fit, policy, avoided)


def _policies(instance: Instance) -> tuple[PoolPolicy, ...]:
    """Where peaks have a price in the first term, what counts it comes first; either may be far better, so both are tried with any work."""
    if not instance.has_choice:
        return (PoolPolicy.PREFERRED,)
    return tuple(reversed(PoolPolicy)) if _counts_peaks(instance) else tuple(PoolPolicy)


def _counts_peaks(instance: Instance) -> bool:
    return instance.has_choice and bool(instance.terms) and peak_price(instance, instance.terms[0]) > 0


def _unwelcome(instance: Instance) -> dict[int, list[int]]:
    """For each block, the blocks whose addresses it should rather not share, if the objective counts that."""
    found: dict[int, list[int]] = {}
    if instance.weighs_reuse:
        for a, b in instance.part_block[instance.penalties[:, :2]].tolist():
            if a != b:
                found.setdefault(a, []).append(b)
                found.setdefault(b, []).append(a)
    return found


class _Haste:
    """True when a first placement takes longer than it may although time is up."""

    def __init__(self, control: Control) -> None:
        self._control, self._begun, self.is_over = control, time.monotonic(), False

    def __call__(self) -> bool:
        late = time.monotonic() - self._begun > HASTE_SECONDS
        self.is_over = self.is_over or (late and self._control.stopped() is not None)
        return self.is_over


class _Passes(Best):
    """What the passes found, and their work."""

    def __init__(self, solver: str, instance: Instance, task: Task, control: Control) -> None:
        super().__init__(solver, instance, task, control)
        self.haste, self.work = _Haste(control), 0

    def offer(self, placement: Placement) -> None:
        """Keep the placement if it is better, or as good and nearer to what is preferred."""
        value = evaluate(self.instance, placement)
        better = self.is_above(value)
        if value == self.value and self.placement is not None and len(self.instance.pools) > 1:
            better = rank_tie(self.instance, placement) < rank_tie(self.instance, self.placement)
        if better:
            self.keep(placement, value)

    def stop_after(self, work: int) -> StopReason | None:
        """Why to stop now, with this much work done; None to go on."""
        self.work = work
        stop, limit = self.finished(), self.task.limits.work
        if stop is None and limit is not None and work >= limit:
            stop = StopReason.WORK_LIMIT
        return stop or self.control.stopped()

    def by_density(self, near: Neighbours) -> int:
        """Place those first that save most by being in a cheaper pool; how many passes that were."""
        dense = by_density(self.instance)
        if dense is None:
            return 0
        preferring, orders = dense
        for number, order in enumerate(orders):
            if number and self.stop_after(number * near.work) is not None:
                return number
            check_interrupted()
            placement = place_all(preferring, Pass(order, Fit.LOWEST), near.fresh(), self._is_late)
            if placement is not None:
                self.offer(placement)
        return len(orders)

    def _is_late(self) -> bool:
        return self.control.stopped() is not None

    def end(self, stop: StopReason) -> Outcome:
        found = self.outcome(stop, self.work)
        return replace(found, reproducible=False) if self.haste.is_over else found
