"""Checks what a sharing claims: status, totals and gap, computed again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from solvers.model.errors import StopReason

from ...model.errors import echo
from ...model.plan import gap_to
from ...model.problem import Problem
from ...model.storage import Kind, Sharing, SharingProof, StorageObject
from ...verifying.arguments.claims import ended_otherwise, misplaced_shortage, same_gap
from .bounds import check_bounds
from .findings import SharingFinding, SharingFindingKind
from .plain import plain_totals
from .users import Users


def check_claims(
    users: Users, sharing: Sharing, where: Sequence[StorageObject | None], effort: int
) -> Iterator[SharingFinding]:
    """Return findings about everything but the assignments; `where` holds each buffer's object."""
    problem = users.problem
    has_plan = sharing.status.has_plan
    yield from _status(problem, sharing, has_plan)
    if sharing.shortage is not None:
        for wrong in misplaced_shortage(sharing.status):
            yield SharingFinding(SharingFindingKind.WRONG_SHORTAGE, wrong)
        why = sharing.shortage
        if why.subset is not None or why.irreducible is not None or why.most_cost is not None:
            text = "the shortage has a subset of buffers or a greatest cost, which a sharing's never has"
            yield SharingFinding(SharingFindingKind.WRONG_SHORTAGE, text)
    if sharing.seed < 0:
        text = f"the seed is {sharing.seed}, but no seed is below 0"
        yield SharingFinding(SharingFindingKind.WRONG_SEED, text)
    if has_plan and None in where:
        return  # something is wrong already; totals of half a sharing would only add noise
    yield from _totals(problem, sharing, has_plan)
    yield from check_bounds(problem, sharing)
    yield from _check_against(users, sharing, effort)


def _check_against(users: Users, sharing: Sharing, effort: int) -> Iterator[SharingFinding]:
    """Return certificates that the sharing's own objects refute, and searches that a plain sharing refutes."""
    own: dict[Kind, int] = {}
    for thing in sharing.objects:
        own[thing.kind] = own.get(thing.kind, 0) + thing.size
    plain = plain_totals(users, _claimed_by_search(sharing), effort)
    for certificate in sharing.certificates:
        kind = certificate.kind
        known = [own.get(kind, 0)] if sharing.status.has_plan else []
        if certificate.proof is SharingProof.SEARCH and kind in plain:
            known.append(plain[kind])
        if known and certificate.value > min(known):
            text = f"a certificate ({certificate.proof}) says {certificate.value} of objects that can add up to {min(known)}"
            yield SharingFinding(SharingFindingKind.WRONG_CERTIFICATE, text)


def _claimed_by_search(sharing: Sharing) -> list[Kind]:
    """Return the kinds of which a search is said to have shown more than the other certificates, which are checked elsewhere."""
    others: dict[Kind, int] = {}
    for certificate in sharing.certificates:
        if certificate.proof is not SharingProof.SEARCH:
            others[certificate.kind] = max(others.get(certificate.kind, 0), certificate.value)
    searches = (each for each in sharing.certificates if each.proof is SharingProof.SEARCH)
    return [*dict.fromkeys(each.kind for each in searches if each.value > others.get(each.kind, 0))]


def _status(problem: Problem, sharing: Sharing, has_plan: bool) -> Iterator[SharingFinding]:
    def wrong(message: str) -> SharingFinding:
        return SharingFinding(SharingFindingKind.WRONG_STATUS, message)

    status = sharing.status
    if has_plan and problem.buffers and not sharing.assignments:
        yield wrong(f"the status is {status}, but there are no assignments")
    if not has_plan and (sharing.assignments or sharing.objects):
        yield wrong(f"the status is {status}, but there are objects or assignments")
    yield from map(wrong, ended_otherwise(sharing, (StopReason.PROVED,)))


def _totals(problem: Problem, sharing: Sharing, has_plan: bool) -> Iterator[SharingFinding]:
    if [pool.name for pool in sharing.pools] != [pool.name for pool in problem.pools]:
        text = "the sharing does not list the problem's pools, in their order"
        yield SharingFinding(SharingFindingKind.WRONG_POOL_TOTAL, text)
        return
    sums = {pool.name: 0 for pool in problem.pools}
    for thing in sharing.objects:
        sums[thing.kind.pool] = sums.get(thing.kind.pool, 0) + thing.size
    for pool, claimed in zip(problem.pools, sharing.pools, strict=True):
        total = sums[pool.name] if has_plan else None
        if claimed.total != total:
            text = f"the objects of pool {echo(pool.name)} add up to {total}, the sharing says {claimed.total}"
            yield SharingFinding(SharingFindingKind.WRONG_TOTAL, text)
        if claimed.size != pool.size:
            text = f"pool {echo(pool.name)} has the size {pool.size} in the problem, {claimed.size} in the sharing"
            yield SharingFinding(SharingFindingKind.WRONG_POOL_TOTAL, text)
        if pool.size is not None and total is not None and total > pool.size:
            text = f"the objects of pool {echo(pool.name)} add up to {total} bytes, but it has only {pool.size}"
            yield SharingFinding(SharingFindingKind.OVER_CAPACITY, text)
    whole = sum(thing.size for thing in sharing.objects) if has_plan else None
    if sharing.total != whole:
        text = f"all objects add up to {whole}, the sharing says {sharing.total}"
        yield SharingFinding(SharingFindingKind.WRONG_TOTAL, text)
    gap = gap_to(sharing.bound, sharing.total)
    if not same_gap(gap, sharing.gap):
        yield SharingFinding(SharingFindingKind.WRONG_GAP, f"the gap is {gap}, the sharing says {sharing.gap}")
