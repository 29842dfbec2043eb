"""What a plan for all shapes is at one of them: a plan like any other, and what a shape is called."""

from __future__ import annotations

from solvers.model.errors import StopReason

from ...facts.digest import digest
from ...model.plan import Objective, Placement, Plan, PlanStatus, PoolUse, TermValue
from ...model.versions import versions
from ...verifying.objective import term_value
from .answer import Row, ShapesPlan
from .expression import Values
from .shaped import ShapedProblem


def shape_name(values: Values) -> str:
    """`n=128,m=4`."""
    return ",".join(f"{name}={value}" for name, value in values.items())


def plan_at(problem: ShapedProblem, found: ShapesPlan, row: Row) -> Plan:
    """The offsets there, with what is proven of every plan for that shape."""
    alone = problem.at(row.values)
    offsets = found.offsets(row.values)
    pools = {each.id: each.pool for each in (found.behind if found.plan is None else found.plan.placements)}
    placements = tuple(Placement(b.id, pools[b.id], offsets[b.id], b.size) for b in alone.buffers)
    peaks = {pool.name: 0 for pool in alone.pools}
    for place in placements:
        if place.size:
            peaks[place.pool] = max(peaks[place.pool], place.offset + place.size)
    peak = sum(peaks.values())
    terms = tuple(TermValue(term, term_value(alone, placements, peaks, term), None) for term in alone.terms)
    return Plan(
        status=PlanStatus.FEASIBLE,
        stop=StopReason.WORK_LIMIT,
        peak=peak,
        bound=row.bound,
        gap=None,
        objective=Objective(terms[0].value, None, terms),
        pools=tuple(PoolUse(pool.name, pool.size, peaks[pool.name], 0) for pool in alone.pools),
        placements=placements,
        solver=None,
        seed=0,
        reproducible=True,
        versions=versions(()),
        problem_digest=digest(alone),
    )
