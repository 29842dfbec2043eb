"""The frontier of memory and cost: the memory needed at each cost, with the proven bound below."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from ...model.errors import BadAnswer, Code, Finding
from ...model.plan import Frontier
from ...model.problem import Problem, measures_bytes
from ..frame import STANDARD, Sheet
from ..ticks import address_labels, number_labels
from .plot import Axes, Curve, curves


def frontier_curve(problem: Problem, frontier: Frontier, sheet: Sheet = STANDARD) -> bytes:
    """Return the picture. Raises BadInput without points."""
    spots = [
        _Spot(plan.choice.cost, plan.objective.value, plan.objective.bound or 0, plan.choice.cost_bound)
        for plan in frontier.points
        if plan.choice is not None and plan.objective.value is not None
    ]
    if not spots:
        raise BadAnswer(Finding(Code.MISSING_FIELD, "/points", "the frontier has no points"))
    drawn = (
        Curve("plans", [(spot.cost, float(spot.memory)) for spot in spots], steps=True, dots=True),
        Curve("proven: no plan of that cost needs less", _floor(spots, frontier.within), steps=True, dashed=True),
    )
    in_bytes = measures_bytes(problem)
    say = address_labels if in_bytes else number_labels
    axes = Axes("memory by cost", drawn, say, in_bytes=in_bytes, along=_cost(problem))
    whole = "all of it, proven" if frontier.is_complete else "a part of it"
    if not frontier.is_complete and frontier.within is not None:
        whole += f"; any plan is matched by one of these but for {frontier.within:.2%}"
    figures = f"{len(spots)} point{'' if len(spots) == 1 else 's'} of the frontier of memory and cost, {whole}"
    return curves(problem.name or "Memory and cost", figures, [axes], number_labels, sheet)


def _cost(problem: Problem) -> str:
    """Return what the cost adds up."""
    terms = () if problem.variants is None else problem.variants.costs
    weighted = [term.name if term.weight == 1 else f"{term.weight} x {term.name}" for term in terms if term.weight]
    return f"cost: {' + '.join(weighted)}" if weighted else "cost"


class _Spot(NamedTuple):
    """A point's values and bounds: plans of no more cost need at least `least` memory, and plans of no more memory cost at least `cheapest`."""

    cost: int
    memory: int
    least: int
    cheapest: int | None


def _floor(spots: Sequence[_Spot], within: float | None) -> list[tuple[int, float]]:
    """Return, from each cost to the next, the least memory that a plan of this cost needs, by the bounds of all points."""
    claims = [(spot.cost, spot.least) for spot in spots]
    claims += [(spot.cheapest, spot.memory) for spot in spots if spot.cheapest is not None]
    matched = [] if within is None else [(int(_less(spot.cost, within)), _less(spot.memory, within)) for spot in spots]
    costs = sorted({cost for cost, _ in (*claims, *matched)})
    upto = _running(reversed(costs), claims, max)
    """At each cost and below, nothing needs less than this;"""
    since = _running(costs, matched, min)
    """and at each cost and above, nothing less than this."""
    found = []
    for cost, end in pairwise(costs):
        known = [value for value in (since[cost], upto[end]) if value is not None]
        if known:
            found.append((cost, max(known)))
    last = costs[-1]
    end_value = upto[last] if since[last] is None else since[last]
    return found if end_value is None else [*found, (last, end_value)]


def _running(
    costs: Iterable[int], values: Iterable[tuple[int, float]], best: Callable[[Iterable[float]], float]
) -> dict[int, float | None]:
    """Return the best of the values up to each cost."""
    at: dict[int, list[float]] = {}
    for cost, value in values:
        at.setdefault(cost, []).append(value)
    found: dict[int, float | None] = {}
    held: list[float] = []
    for cost in costs:
        held = [best(those)] if (those := [*held, *at.get(cost, ())]) else []
        found[cost] = held[0] if held else None
    return found


def _less(amount: int, within: float) -> float:
    """Return the least amount that this one matches."""
    return amount / (1 + within) if amount > 0 else amount
