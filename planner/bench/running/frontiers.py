"""A run on a problem with variants, which measures the whole frontier of memory and cost."""

from __future__ import annotations

import time
from typing import Any

from ...model.plan import Frontier, Plan, PlanStatus
from ...model.problem import Problem
from ...planning.options.options import Options
from ...planning.placing.solving import pareto
from ..results.records import FrontierPoint
from .known import Known


def measured(problem: Problem, options: Options) -> dict[str, Any]:
    """Return the fields of a record: the frontier's, with the least value of all points as its value."""
    begun = time.monotonic()
    trace: list[tuple[float, int | None, int | None]] = []

    def on_plan(plan: Plan) -> None:
        value = plan.objective.value
        known = trace[-1][1] if trace else None
        if value is not None and (known is None or value < known):
            trace.append((round(time.monotonic() - begun, 6), value, None))

    found = pareto(problem, options, on_plan=on_plan, begun=begun)
    points = [_numbers(plan) for plan in found.points]
    smallest = found.points[-1] if found.points else None
    value = None if smallest is None else smallest.objective.value
    bound = None if smallest is None else smallest.objective.bound
    if smallest is not None:
        trace.append((found.run.seconds, value, bound))
    is_proven = found.is_complete or found.is_infeasible
    return {
        "status": str(_status(found)),
        "stop": str(found.stop),
        "digest": found.problem_digest,
        "buffers": max((len(plan.placements) for plan in found.points), default=len(problem.buffers)),
        "peak": None if smallest is None else smallest.peak,
        "peak_bound": None if smallest is None else smallest.bound,
        "value": value,
        "values": [] if value is None else [value],
        "bound": bound,
        "gap": None if value is None or not bound else value / bound - 1,
        "points": points,
        "within": found.within,
        "reproducible": found.reproducible,
        "found_by": None if smallest is None else smallest.solver,
        "seconds": found.run.seconds,
        "seconds_to_best": next((seconds for seconds, least, _ in trace if least == value), None),
        "seconds_to_proof": found.run.seconds if is_proven else None,
        "trace": trace,
        "warnings": sorted({warning for plan in found.points for warning in plan.warnings}),
        "wrong": contradiction(points, Known.of(problem.name).bound),
    } | ({} if smallest is None else {"versions": smallest.versions})


def contradiction(points: list[FrontierPoint], least: int | None = None) -> str | None:
    """Return why the points and the proofs about them cannot all be true, or None. No choice has a smaller value than `least`, if known."""
    for cost, cost_bound, value, bound in points:
        if least is not None and value < least:
            return f"{value} is below {least}, which no plan can beat"
        for other_cost, _, other_value, _ in points:
            if other_cost <= cost and other_value < bound:
                return f"at a cost of {cost} the bound is {bound}, but {other_value} is reached at {other_cost}"
            if cost_bound is not None and other_value <= value and other_cost < cost_bound:
                return f"at {value} the bound of the cost is {cost_bound}, but {other_cost} is reached at {other_value}"
    return None


def _numbers(plan: Plan) -> FrontierPoint:
    assert plan.choice is not None
    return plan.choice.cost, plan.choice.cost_bound, plan.objective.value or 0, plan.objective.bound or 0


def _status(found: Frontier) -> PlanStatus:
    if found.is_infeasible:
        return PlanStatus.INFEASIBLE
    if not found.points:
        return PlanStatus.UNKNOWN
    return PlanStatus.OPTIMAL if found.is_complete else PlanStatus.FEASIBLE
