"""What a proof must show for a plan: that nothing ends below its bound, or that nothing fits at all."""

from __future__ import annotations

from ...plan import Plan, PlanStatus
from ...problem import Problem
from .blocks import BEYOND


def height_to_refute(problem: Problem, plan: Plan) -> int:
    """The greatest peak that the plan claims to be impossible: the memory's size, or one byte less than the bound."""
    if plan.status is not PlanStatus.INFEASIBLE:
        return plan.bound - 1
    size = problem.pools[0].size
    return BEYOND if size is None else size
