"""The frontier of memory and cost: how much memory each cost buys, and below it what is proven."""

from __future__ import annotations

from ..model.errors import BadInput, Code, Finding
from ..model.plan import Frontier
from ..model.problem import Problem, measures_bytes
from .curves import Axes, Curve, curves
from .frame import STANDARD, Sheet
from .ticks import grouped, short_bytes


def frontier_curve(problem: Problem, frontier: Frontier, sheet: Sheet = STANDARD) -> bytes:
    """The picture. Raises BadInput where there is no point."""
    spots = [
        (plan.choice.cost, plan.objective.value, plan.objective.bound or 0)
        for plan in frontier.points
        if plan.choice is not None and plan.objective.value is not None
    ]
    if not spots:
        raise BadInput(Finding(Code.MISSING_FIELD, "/points", "the frontier has no points"))
    drawn = (
        Curve("plans", [(cost, float(memory)) for cost, memory, _ in spots], steps=True),
        Curve("proven: no plan of that cost needs less", [(cost, float(bound)) for cost, _, bound in spots], steps=True, dashed=True),
    )  # fmt: skip
    in_bytes = measures_bytes(problem)
    axes = Axes(
        "memory by cost", drawn, lambda value: (short_bytes if in_bytes else grouped)(round(value)), in_bytes=in_bytes
    )
    whole = "all of it, proven" if frontier.is_complete else "a part of it"
    if not frontier.is_complete and frontier.within is not None:
        whole += f"; any plan is matched by one of these but for {frontier.within:.2%}"
    figures = f"{len(spots)} point{'' if len(spots) == 1 else 's'} of the frontier of memory and cost, {whole}"
    return curves(problem.name or "Memory and cost", figures, [axes], _cost, sheet)


def _cost(cost: int) -> str:
    """As much of it as has room below the field."""
    return grouped(cost) if abs(cost) < 10**9 else f"{cost:.6g}"
