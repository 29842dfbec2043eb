"""Problems and plans made by hand, for tests of what is shown and written."""

from __future__ import annotations

from collections.abc import Sequence

from planner.model.plan import Objective, Placement, Plan, PlanStatus, PoolUse, Run, Shortage, TermValue
from planner.model.problem import Buffer, BufferId, Pool, Problem
from solvers.model.errors import StopReason
from solvers.model.instance import Term


def stacked(
    sizes: Sequence[tuple[BufferId, int]], *, pools: Sequence[Pool] = (Pool("default"),), name: str | None = None
) -> tuple[Problem, Plan]:
    """A problem of buffers that are all live together, and its optimal plan: one above the other in the first pool."""
    placements, top = [], 0
    for identifier, size in sizes:
        placements.append(Placement(identifier, pools[0].name, top, size))
        top += size
    problem = Problem(tuple(Buffer(i, size, live=((0, 1),)) for i, size in sizes), tuple(pools), name=name)
    uses = tuple(PoolUse(p.name, p.size, top if p is pools[0] else 0, top if p is pools[0] else 0) for p in pools)
    return problem, make_plan(PlanStatus.OPTIMAL, peak=top, bound=top, pools=uses, placements=tuple(placements))


def make_plan(
    status: PlanStatus,
    *,
    stop: StopReason = StopReason.PROVED,
    peak: int | None = None,
    bound: int = 0,
    pools: tuple[PoolUse, ...] = (),
    placements: tuple[Placement, ...] = (),
    shortage: Shortage | None = None,
    warnings: tuple[str, ...] = (),
) -> Plan:
    """A plan with these figures and nothing else of interest."""
    return Plan(
        status=status,
        stop=stop,
        peak=peak,
        bound=bound,
        gap=None if peak is None or not bound else peak / bound - 1,
        objective=Objective(peak, bound, (TermValue(Term.SUM_OF_PEAKS, peak, bound),)),
        pools=pools,
        placements=placements,
        solver="greedy",
        seed=0,
        reproducible=True,
        versions={},
        problem_digest="",
        shortage=shortage,
        warnings=warnings,
        run=Run(0.25),
    )
