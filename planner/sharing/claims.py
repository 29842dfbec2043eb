"""What a sharing says of itself: status, totals, gap and bounds, computed once more and held against its certificates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isclose

from solvers.model.errors import StopReason

from ..errors import echo
from ..plan import PlanStatus
from ..problem import Problem
from ..storage import Kind, Sharing, SharingProof, StorageObject
from .findings import SharingFinding, SharingFindingKind
from .users import Users


def check_claims(users: Users, sharing: Sharing, where: Sequence[StorageObject | None]) -> Iterator[SharingFinding]:
    """Findings about everything but the assignments; `where` has each buffer's object."""
    problem = users.problem
    has_plan = sharing.status in (PlanStatus.OPTIMAL, PlanStatus.FEASIBLE)
    yield from _status(problem, sharing, has_plan)
    yield from _shortage(problem, sharing)
    if sharing.seed < 0:
        text = f"the seed is {sharing.seed}, but no seed is below 0"
        yield SharingFinding(SharingFindingKind.WRONG_SEED, text)
    if has_plan and None in where:
        return  # something else is wrong already: sums over half a sharing would only add noise
    yield from _totals(problem, sharing, has_plan)
    yield from _bounds(problem, sharing, has_plan)


def _status(problem: Problem, sharing: Sharing, has_plan: bool) -> Iterator[SharingFinding]:
    def wrong(message: str) -> SharingFinding:
        return SharingFinding(SharingFindingKind.WRONG_STATUS, message)

    status, stop = sharing.status, sharing.stop
    if has_plan and problem.buffers and not sharing.assignments:
        yield wrong(f"the status is {status}, but there are no assignments")
    if not has_plan and (sharing.assignments or sharing.objects):
        yield wrong(f"the status is {status}, but there are objects or assignments")
    if status in (PlanStatus.INFEASIBLE, PlanStatus.OPTIMAL) and stop is not StopReason.PROVED:
        yield wrong(f"the status is {status}, but the run stopped with {stop}, not with a proof")


def _totals(problem: Problem, sharing: Sharing, has_plan: bool) -> Iterator[SharingFinding]:
    if [pool.name for pool in sharing.pools] != [pool.name for pool in problem.pools]:
        text = "the sharing does not list the problem's pools, in their order"
        yield SharingFinding(SharingFindingKind.WRONG_POOL_TOTAL, text)
        return
    sums = {pool.name: 0 for pool in problem.pools}
    for thing in sharing.objects:
        sums[thing.kind.pool] = sums.get(thing.kind.pool, 0) + thing.size
    for pool, said in zip(problem.pools, sharing.pools, strict=True):
        total = sums[pool.name] if has_plan else None
        if said.total != total:
            text = f"the objects of pool {echo(pool.name)} add up to {total}, the sharing says {said.total}"
            yield SharingFinding(SharingFindingKind.WRONG_TOTAL, text)
        if said.size != pool.size:
            text = f"pool {echo(pool.name)} has the size {pool.size} in the problem, {said.size} in the sharing"
            yield SharingFinding(SharingFindingKind.WRONG_POOL_TOTAL, text)
        if pool.size is not None and total is not None and total > pool.size:
            text = f"the objects of pool {echo(pool.name)} add up to {total} bytes, but it has only {pool.size}"
            yield SharingFinding(SharingFindingKind.OVER_CAPACITY, text)
    whole = sum(thing.size for thing in sharing.objects) if has_plan else None
    if sharing.total != whole:
        text = f"all objects add up to {whole}, the sharing says {sharing.total}"
        yield SharingFinding(SharingFindingKind.WRONG_TOTAL, text)
    gap = expected_gap(sharing.total, sharing.bound)
    said_gap = sharing.gap
    if not (
        gap is said_gap is None or (gap is not None and said_gap is not None and isclose(gap, said_gap, abs_tol=1e-12))
    ):
        yield SharingFinding(SharingFindingKind.WRONG_GAP, f"the gap is {gap}, the sharing says {said_gap}")


def expected_gap(total: int | None, bound: int) -> float | None:
    """By how much the total could be less at most, as a share of the bound."""
    return None if total is None or not bound else total / bound - 1


def _bounds(problem: Problem, sharing: Sharing, has_plan: bool) -> Iterator[SharingFinding]:
    proven = _proven(sharing)
    if sharing.status is PlanStatus.INFEASIBLE:  # then every bound holds
        sizes = {pool.name: pool.size for pool in problem.pools}
        if not any((size := sizes.get(pool)) is not None and least > size for pool, least in proven.items()):
            text = "the status is infeasible, but no certificates prove that a pool is too small"
            yield SharingFinding(SharingFindingKind.UNPROVEN_INFEASIBILITY, text)
        return
    claims = [(f"the bound of pool {echo(p.name)}", p.bound, proven.get(p.name, 0), p.total) for p in sharing.pools]
    claims.append(("the bound", sharing.bound, sum(proven.values()), sharing.total))
    for what, bound, least, total in claims:
        if bound > least:
            text = f"{what} is {bound}, but the certificates prove {least}"
            yield SharingFinding(SharingFindingKind.UNPROVEN_BOUND, text)
        if has_plan and total is not None and bound > total:
            text = f"{what} is {bound}, above the total {total}"
            yield SharingFinding(SharingFindingKind.BOUND_ABOVE_TOTAL, text)
    if sharing.status is PlanStatus.OPTIMAL and sharing.total is not None and sharing.total > sharing.bound:
        text = f"the sharing claims to be optimal, but its total is {sharing.total} and its bound {sharing.bound}"
        yield SharingFinding(SharingFindingKind.CLAIMED_OPTIMAL_ABOVE_BOUND, text)


def proven_of_kinds(sharing: Sharing) -> dict[Kind, int]:
    """What the certificates prove of each kind, if they hold; a kind without any is left out."""
    best: dict[Kind, int] = {}
    for certificate in sharing.certificates:
        best[certificate.kind] = max(best.get(certificate.kind, 0), certificate.value)
    return best


def _proven(sharing: Sharing) -> dict[str, int]:
    """The same of each pool: different kinds never share, so their bounds add up."""
    sums: dict[str, int] = {}
    for kind, value in proven_of_kinds(sharing).items():
        sums[kind.pool] = sums.get(kind.pool, 0) + value
    return sums


def _shortage(problem: Problem, sharing: Sharing) -> Iterator[SharingFinding]:
    why = sharing.shortage
    if why is None:
        return
    if sharing.status is not PlanStatus.INFEASIBLE:
        text = f"the status is {sharing.status}, but there is a shortage"
        yield SharingFinding(SharingFindingKind.WRONG_SHORTAGE, text)
    if why.pool is not None and why.pool not in {pool.name for pool in problem.pools}:
        text = f"the shortage names pool {echo(why.pool)}, which the problem does not have"
        yield SharingFinding(SharingFindingKind.WRONG_SHORTAGE, text)


def notes(sharing: Sharing) -> tuple[str, ...]:
    """What had to be believed: searches that only who made the sharing went through."""
    found = [
        f"the bound of pool {echo(certificate.kind.pool)} rests on an exhausted search by "
        f"{echo(certificate.solver or 'a solver without a name')} and was not checked again"
        for certificate in sharing.certificates
        if certificate.proof is SharingProof.SEARCH
    ]
    return tuple(dict.fromkeys(found))
