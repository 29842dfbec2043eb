"""Compares what a sharing claims to be proven with what its certificates prove. planner.planning.sharing.certificates checks these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...model.errors import echo
from ...model.plan import PlanStatus, Shortage
from ...model.problem import Problem
from ...model.storage import Kind, Sharing, SharingProof
from ...verifying.arguments.claims import differences
from .findings import SharingFinding, SharingFindingKind


def check_bounds(problem: Problem, sharing: Sharing) -> Iterator[SharingFinding]:
    """Return findings about bounds and infeasibility that nothing in the sharing proves, or that its totals contradict."""
    proven = _proven(sharing)
    if sharing.status is PlanStatus.INFEASIBLE:
        right = shortage(problem, proven)
        if right is None:
            text = "the status is infeasible, but no certificates prove that a pool is too small"
            yield SharingFinding(SharingFindingKind.UNPROVEN_INFEASIBILITY, text)
        elif sharing.shortage is not None:
            for wrong in differences(right, sharing.shortage):
                yield SharingFinding(SharingFindingKind.WRONG_SHORTAGE, wrong)
    claims = [(f"the bound of pool {echo(p.name)}", p.bound, proven.get(p.name, 0), p.total) for p in sharing.pools]
    claims.append(("the bound", sharing.bound, sum(proven.values()), sharing.total))
    for what, bound, least, total in claims:
        if bound > least:
            text = f"{what} is {bound}, but the certificates prove {least}"
            yield SharingFinding(SharingFindingKind.UNPROVEN_BOUND, text)
        if sharing.status.has_plan and total is not None and bound > total:
            text = f"{what} is {bound}, above the total {total}"
            yield SharingFinding(SharingFindingKind.BOUND_ABOVE_TOTAL, text)
    if sharing.status is PlanStatus.OPTIMAL and sharing.total is not None and sharing.total > sharing.bound:
        text = f"the sharing claims to be optimal, but its total is {sharing.total} and its bound {sharing.bound}"
        yield SharingFinding(SharingFindingKind.CLAIMED_OPTIMAL_ABOVE_BOUND, text)


def shortage(problem: Problem, bounds: Mapping[str, int]) -> Shortage | None:
    """Return the first pool that is too small for the least total of its objects, and by how much; None if there is none."""
    for pool in problem.pools:
        least = bounds.get(pool.name, 0)
        if pool.size is not None and least > pool.size:
            short = least - pool.size
            text = (
                f"the objects of pool {echo(pool.name)} add up to {least} bytes at least, "
                f"which is {short} more than it has"
            )
            return Shortage(text, pool.name, short)
    return None


def proven_of_kinds(sharing: Sharing) -> dict[Kind, int]:
    """Return what the certificates prove about each kind, if they hold; kinds without certificates are left out."""
    best: dict[Kind, int] = {}
    for certificate in sharing.certificates:
        best[certificate.kind] = max(best.get(certificate.kind, 0), certificate.value)
    return best


def _proven(sharing: Sharing) -> dict[str, int]:
    """Return the proven bound of each pool: different kinds never share, so their bounds add up."""
    sums: dict[str, int] = {}
    for kind, value in proven_of_kinds(sharing).items():
        sums[kind.pool] = sums.get(kind.pool, 0) + value
    return sums


def notes(sharing: Sharing) -> tuple[str, ...]:
    """Return notes on what could not be checked: exhaustive searches that only the sharing's maker ran."""
    found = [
        f"the bound of pool {echo(certificate.kind.pool)} rests on an exhausted search by "
        f"{echo(certificate.solver or 'a solver without a name')} and was not checked again"
        for certificate in sharing.certificates
        if certificate.proof is SharingProof.SEARCH
    ]
    return tuple(dict.fromkeys(found))
