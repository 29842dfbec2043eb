"""Plans with true claims, for tests that then spoil them, and short ways to write a plan by one planner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner import Options, plan
from planner.facts.digest import digest
from planner.model.plan import Objective, Placement, Plan, PlanCertificate, PlanStatus, PoolUse, TermValue
from planner.model.problem import Buffer, BufferId, Constraints, Pool, Problem
from solvers.model.errors import StopReason
from solvers.model.instance import Term
from solvers.model.outcome import Proof
from tests.small.oracle import Counted, Truth, shares, solve, worth

Spots = Mapping[BufferId, tuple[str, int]]
"""Pool and offset of each buffer."""


def optimal_plan(problem: Problem) -> Plan:
    """A best plan of a small problem, with the bound that trying everything proves."""
    truth = solve(problem)
    if truth.offsets is None:
        return infeasible_plan(problem)
    return make_plan(problem, truth.offsets, truth)


def infeasible_plan(problem: Problem) -> Plan:
    """A plan that states that nothing fits."""
    return Plan(
        status=PlanStatus.INFEASIBLE,
        stop=StopReason.PROVED,
        peak=None,
        bound=0,
        gap=None,
        objective=Objective(None, None, tuple(TermValue(term, None, None) for term in problem.terms)),
        pools=tuple(PoolUse(pool.name, pool.size, None, 0) for pool in problem.pools),
        placements=(),
        solver=None,
        seed=0,
        reproducible=True,
        versions={},
        problem_digest=digest(problem),
        certificates=(PlanCertificate(Proof.SEARCH, 0, solver="search"),),
    )


def make_plan(problem: Problem, spots: Spots, truth: Truth | None = None) -> Plan:
    """A plan of these placements, whose claims are all computed here."""
    peaks = {pool.name: 0 for pool in problem.pools}
    ends: dict[BufferId, tuple[str, tuple[int, int]]] = {}
    for buffer in problem.buffers:
        pool, offset = spots[buffer.id]
        ends[buffer.id] = (pool, (offset, offset + buffer.size))
        peaks[pool] = max(peaks.get(pool, 0), offset + buffer.size)
    pools = {pool.name: pool for pool in problem.pools}
    homes = [(b, pools[spots[b.id][0]]) for b in problem.buffers if spots[b.id][0] in pools]
    reuse = 0
    for penalty in problem.constraints.reuse_penalties:
        (pool_a, range_a), (pool_b, range_b) = ends[penalty.first], ends[penalty.second]
        reuse += penalty.cost if pool_a == pool_b and shares(range_a, range_b) else 0
    old = {was.buffer: (was.pool, was.offset) for was in problem.was}
    gone = [b for b in problem.buffers if b.id in old and old[b.id] != spots[b.id]]
    found = [peaks[pool.name] for pool in problem.pools]
    counted = Counted(found, homes, reuse, (len(gone), sum(b.size for b in gone)))
    best = None if truth is None else truth.value
    values = tuple(
        TermValue(term, worth(problem, counted, term), None if best is None else best[n])
        for n, term in enumerate(problem.terms)
    )
    peak = sum(peaks.values())
    single = truth is not None and problem.terms == (Term.SUM_OF_PEAKS,) and len(problem.pools) == 1
    bound = peak if single and problem.pools[0].cost == 1 else 0
    gap = None
    if len(values) == 1:
        value, least = values[0].value, values[0].bound
        gap = None if value is None or not least else value / least - 1
    searched = [PlanCertificate(Proof.SEARCH, bound, pool.name, solver="search") for pool in problem.pools if bound]
    if best is not None:
        optima = zip(problem.terms, best, strict=True)
        searched += [PlanCertificate(Proof.SEARCH, value, solver="search", term=term) for term, value in optima]
    return Plan(
        status=PlanStatus.FEASIBLE if truth is None else PlanStatus.OPTIMAL,
        stop=StopReason.WORK_LIMIT if truth is None else StopReason.PROVED,
        peak=peak,
        bound=bound,
        gap=gap,
        objective=Objective(values[0].value, values[0].bound, values),
        pools=tuple(PoolUse(p.name, p.size, peaks[p.name], bound) for p in problem.pools),
        placements=tuple(Placement(b.id, *spots[b.id], b.size) for b in problem.buffers),
        solver="by hand",
        seed=0,
        reproducible=True,
        versions={},
        problem_digest=digest(problem),
        certificates=tuple(searched),
    )


def inclusive(*rows: tuple[int, int, int], alignment: int = 1) -> tuple[Buffer, ...]:
    """Numbered buffers, each given as first use, last use and size."""
    return tuple(Buffer(n, size, alignment, ((first, last + 1),)) for n, (first, last, size) in enumerate(rows))


def planned(solver: str, buffers: Sequence[Buffer], *pools: Pool, constraints: Constraints | None = None) -> Plan:
    """Plan with this solver; if no pools are given, there is one without limits."""
    problem = Problem(tuple(buffers), pools or (Pool("arena"),), constraints or Constraints())
    return plan(problem, Options(solver=solver, time_limit=60.0, workers=1))


def offsets(made: Plan) -> list[int]:
    """Return the offsets in the order of the buffers."""
    return [place.offset for place in made.placements]


def places(made: Plan) -> dict[BufferId, tuple[str, int]]:
    """Pool and offset of each buffer."""
    return {place.id: (place.pool, place.offset) for place in made.placements}
