"""Points of a frontier that were found at different times, put together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from solvers.model.errors import StopReason

from ...model.plan import Frontier, Plan


def worth(plan: Plan) -> tuple[int, int]:
    """What the point costs, and the memory that it takes."""
    assert plan.choice is not None
    assert plan.objective.value is not None
    return plan.choice.cost, plan.objective.value


def undominated(plans: Iterable[Plan]) -> tuple[Plan, ...]:
    """Those that none is better than in one of cost and memory and no worse than in the other, the cheapest first. Of equal ones the first stays."""
    found: list[Plan] = []
    for plan in sorted(plans, key=worth):
        if not found or worth(plan)[1] < worth(found[-1])[1]:
            found.append(plan)
    return tuple(found)


def joined(found: Frontier, before: Iterable[Plan]) -> Frontier:
    """The frontier with points that were known before, where it is not all there is."""
    known = tuple(before)
    if found.is_complete or not known:
        return found
    points = undominated((*found.points, *known))
    stop = found.stop if found.stop is not StopReason.PROVED else StopReason.WORK_LIMIT
    return replace(found, points=points, is_infeasible=False, stop=stop, reproducible=False)
