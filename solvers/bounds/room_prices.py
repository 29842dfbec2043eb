"""Proves bounds by prices on room in the pools, those of the first term, and of a second one of peaks alone after one of the choice alone."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import ClassVar

from ..model.errors import StopReason
from ..model.instance import Instance, Term
from ..model.objective import evaluate
from ..model.outcome import Certificate, Outcome
from ..model.solver import Control, Feature, Solver, Task
from .first_bounds import largest_by_busiest
from .prices.held_prices import bounded_second, has_second_of_peaks
from .prices.market import Market
from .prices.priced_room import can_price_room, priced_value, proof_of
from .weighted_sections import weigh_busiest

OF_FIRST, OF_SECOND = (3, 4), 2
"""The part of the work that the first term has at most, where prices bound a second one, too, which has one part in so many of what that took."""
SECONDS_TO_WEIGH = 5e-6
"""Time for each rect and pool to compute the exact bound a few times."""


class RoomPrices(Solver):
    """Proves a bound on costs that lack of room causes, from prices on that room; gives no placement."""

    name: ClassVar[str] = "room_prices"
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """The best bound that the prices found prove."""
        if not can_price_room(instance) or not instance.has_choice or not len(instance.rect_part):
            return Outcome(StopReason.WORK_LIMIT)
        end = task.limits.deadline
        if end is not None:
            end -= SECONDS_TO_WEIGH * len(instance.rect_part) * len(instance.pools)
            if time.monotonic() >= end:
                return Outcome(StopReason.TIME_LIMIT, reproducible=False)
        task = replace(task, limits=replace(task.limits, deadline=end))
        goal = None if task.start is None else evaluate(instance, task.start)[0]
        best, work, stop = Certificate(proof_of(instance), 0), 0, StopReason.WORK_LIMIT
        has_second = goal is not None and task.limits.work is not None and has_second_of_peaks(instance)
        part, of = OF_FIRST if has_second else (1, 1)
        for shared in _shapes(instance):
            left = None if task.limits.work is None else max(task.limits.work * part // of - work, 0)
            market = Market(instance, shared)
            prices, spent, stop = market.haggle(goal, replace(task, limits=replace(task.limits, work=left)), control)
            work += spent
            weights = tuple(market.weights(prices))
            value = priced_value(instance, weights)
            if value > best.value:
                best = replace(best, value=value, weights=weights)
                control.bound((value,))
            if not stop.is_repeatable:
                break
        bound = (best.value,) if best.value else ()
        found = (best,) if best.value else ()
        if has_second and stop.is_repeatable and task.limits.work is not None and goal is not None:
            left = min(task.limits.work - work, work // OF_SECOND)
            second, spent = bounded_second(instance, goal, task, control, left)
            found, work = found if second is None else (*found, second), work + spent
        return Outcome(stop, bound=bound, certificates=found, work=work, reproducible=stop.is_repeatable)


def _shapes(instance: Instance) -> tuple[int | None, ...]:
    """Among how many pools a unit of free price is shared evenly: as many as are not full at the busiest section. None: by no such rule."""
    busiest = weigh_busiest(instance) if instance.terms[0] is Term.LARGEST_PEAK else None
    found = None if busiest is None else largest_by_busiest(instance, busiest[0])
    return (None,) if found is None else (found.weights[0][-1], None)
