"""Compares a plan with the true optimum of a small problem."""

from __future__ import annotations

from dataclasses import replace

from planner.model.plan import Plan, PlanStatus
from planner.model.problem import Problem
from planner.verifying.verify import verify
from solvers.model.errors import StopReason
from solvers.model.instance import Term
from tests.small.oracle import Truth, solve


def judge(problem: Problem, plan: Plan, truth: Truth) -> list[str]:
    """Return the plan's false claims; none if all are true, even if a better plan exists."""
    wrong = [f"{f.kind}: {f.message}" for f in verify(problem, plan)]
    wrong += [text for text in plan.warnings if "withheld" in text]
    if plan.stop is StopReason.SOLVER_FAILED:
        wrong.append(f"a solver failed: {plan.warnings}")
    values = tuple(term.value for term in plan.objective.terms if term.value is not None)
    bounds: list[int] = []
    for term in plan.objective.terms:
        if term.bound is None:
            break
        bounds.append(term.bound)
    if truth.value is None:
        if plan.status in (PlanStatus.OPTIMAL, PlanStatus.FEASIBLE):
            wrong.append("a plan, although nothing fits")
        return wrong
    if plan.status is PlanStatus.INFEASIBLE:
        wrong.append(f"infeasible, although {truth.value} can be had")
    if plan.placements and values < truth.value:
        wrong.append(f"{values} is better than the best, {truth.value}")
    if plan.status is PlanStatus.OPTIMAL and values != truth.value:
        wrong.append(f"{values} is not optimal, {truth.value} is")
    if tuple(bounds) > truth.value[: len(bounds)]:
        wrong.append(f"the bound {bounds} is above the optimum {truth.value}")
    for number, (term, least) in enumerate(zip(plan.objective.terms, truth.value, strict=True)):
        is_no_higher = all(map(int.__le__, truth.value[:number], values[:number])) and len(values) >= number
        if is_no_higher and term.bound is not None and term.bound > least:
            wrong.append(f"the bound {term.bound} of {term.name} is above the optimum's {least}")
    return wrong + _peak_bounds(problem, plan)


def _peak_bounds(problem: Problem, plan: Plan) -> list[str]:
    """Return the false bounds on peaks; such bounds must hold whatever is minimised."""
    wrong = []
    for name in (None, *(use.name for use in plan.pools if use.bound > 0)):
        claimed = plan.bound if name is None else next(use.bound for use in plan.pools if use.name == name)
        pools = tuple(replace(pool, cost=int(name in (None, pool.name))) for pool in problem.pools)
        least = solve(replace(problem, pools=pools, terms=(Term.SUM_OF_PEAKS,))).value
        if claimed > 0 and least is not None and claimed > least[0]:
            wrong.append(f"the bound {claimed} of {name or 'all pools'} is above a reachable peak, {least[0]}")
    return wrong
