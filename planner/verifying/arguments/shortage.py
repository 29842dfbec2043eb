"""What an infeasible problem lacks, in words and numbers, from the proof of its infeasibility."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from solvers.model.outcome import Proof

from ...facts.colocation import Group
from ...facts.possible_places import Places
from ...model.errors import echo
from ...model.plan import PlanCertificate, Shortage
from ...model.problem import BufferId, Pool, Problem
from .certificates import proves_infeasible
from .height import least_height

NAMED = 12
"""The number of buffers that a sentence lists before it only counts the rest."""
WHAT_ADDS = ", and what alignments, reserved ranges and fixed places add"
"""Why buffers may need more than their sizes tell."""


def shortage(problem: Problem, certificates: Sequence[PlanCertificate]) -> Shortage:
    """Return what an infeasible problem lacks, according to what proved its infeasibility."""
    pools = {pool.name: pool for pool in problem.pools}
    places = Places(problem)
    worst: Shortage | None = None
    for certificate in certificates:
        found = _of_one(places, pools, certificate)
        if found is not None and (worst is None or (found.bytes_short or 0) > (worst.bytes_short or 0)):
            worst = found
    if worst is not None:
        return worst
    solver = next((c.solver for c in certificates if c.proof is Proof.SEARCH and c.solver), None)
    return Shortage(_of_search(problem, solver))


def as_in_a_larger_pool(problem: Problem, certificates: Sequence[PlanCertificate]) -> tuple[PlanCertificate, ...]:
    """Return the certificates with what their buffers need however large the pool is, where that is too much for it, too.

    In a pool that is too small its end can leave a buffer one place, beside which more is needed than there would be in a larger one.
    """
    sizes = {pool.name: pool.size for pool in problem.pools}
    places: Places | None = None
    found = []
    for certificate in certificates:
        pool, is_stack = certificate.pool, certificate.proof in (Proof.LIVE_TOGETHER, Proof.CONFLICT_CLIQUE)
        size = None if pool is None else sizes[pool]
        if pool is not None and size is not None and is_stack and certificate.value > size:
            if places is None:
                places = Places(replace(problem, pools=tuple(replace(each, size=None) for each in problem.pools)))
            need = least_height(places, pool, [places.index[id_] for id_ in certificate.buffers])
            if size < need < certificate.value:
                certificate = replace(certificate, value=need)
        found.append(certificate)
    return tuple(found)


def _of_one(places: Places, pools: dict[str, Pool], certificate: PlanCertificate) -> Shortage | None:
    """Return the shortage that one certificate proves, if any."""
    named = certificate.buffers
    if certificate.proof is Proof.SEARCH:
        return None
    if certificate.proof is Proof.POOL_SHARING:
        return _of_pool_sharing(places.problem, certificate) if proves_infeasible(places, certificate) else None
    if certificate.proof is Proof.TOO_FEW_POOLS:
        return _of_crowd(places, certificate)
    if certificate.pool is None:
        return _of_homeless(places, named)
    pool = pools[certificate.pool]
    if pool.size is None or certificate.value <= pool.size:
        return _of_homeless(places, named)
    short = certificate.value - pool.size
    room = f"pool {echo(pool.name)} is {in_bytes(short)} too small: it has {in_bytes(pool.size)}, but "
    if certificate.proof is Proof.SINGLE_BLOCK:
        text = room + f"{these(named)} cannot end below {certificate.value} there"
    elif certificate.proof is Proof.LIVE_TOGETHER:
        live = "live" if len(named) == 1 else "which live together"
        text = room + f"{these(named)}, {live} at time {certificate.time}, {_need(named)} {in_bytes(certificate.value)}"
        own = sum(places.problem.buffers[places.index[id_]].size for id_ in named)
        if certificate.value > own:
            text += f": {in_bytes(own)}{WHAT_ADDS}"
    elif certificate.proof is Proof.CONFLICT_WEIGHTS:
        named = tuple(id_ for ids, _, _ in certificate.sets for id_ in ids)
        text = room + f"{these(named)} need {in_bytes(certificate.value)}, since too few of them may share addresses"
    else:
        text = room + f"{these(named)}, which all conflict with each other, need {in_bytes(certificate.value)}"
    return Shortage(text, pool.name, short, certificate.time, named)


def _of_homeless(places: Places, named: Sequence[BufferId]) -> Shortage | None:
    """Return the shortage of a buffer, or group, that fits into no pool."""
    for id_ in named:
        index = places.index[id_]
        if not places.is_homeless(index):
            continue
        rooms = [places.pools[name].size for name in places.allowed_pools(places.tied(index))]
        if rooms and all(room is not None and room < places.class_height(index) for room in rooms):
            return _of_class(places, index)
        homeless = next((each for each in places.tied(index) if not places.fits_alone(each)), None)
        return _of_tied(places, index) if homeless is None else _of_group(places, places.group(homeless))
    return None


def _of_tied(places: Places, buffer: int) -> Shortage:
    """Return the shortage of buffers that must share a pool, each of which fits into one."""
    members = tuple(places.problem.buffers[i].id for i in places.tied(buffer))
    return Shortage(f"{these(members)} must share a pool, but no pool can take all of them", buffers=members)


def _of_class(places: Places, buffer: int) -> Shortage:
    """Return the shortage of buffers that must share a pool and need more at one time than any has."""
    members = tuple(places.problem.buffers[i].id for i in places.tied(buffer))
    need = places.class_height(buffer)
    sizes = {name: places.pools[name].size or 0 for name in places.allowed_pools(places.tied(buffer))}
    name = max(sizes, key=sizes.__getitem__)
    missing = need - sizes[name]
    text = (
        f"{these(members)}, which must share a pool, need {in_bytes(need)} at one time, {in_bytes(missing)} more than "
        f"the largest pool allowed, {echo(name)}, has"
    )
    return Shortage(text, name, missing, None, members)


def _of_group(places: Places, group: Group) -> Shortage:
    """Describe a group that moves as one, or a single buffer."""
    height = max(low + places.problem.buffers[i].size for i, low in zip(group.members, group.offsets, strict=True))
    members = tuple(places.problem.buffers[i].id for i in group.members)
    who = these(members) + (", which move as one," if len(members) > 1 else "")
    wanted = [places.pools[name] for name in places.allowed_pools(group.members)]
    short = [(height - pool.size, pool.name) for pool in wanted if pool.size is not None and pool.size < height]
    if wanted and len(short) == len(wanted):
        missing, name = min(short)
        text = f"{who} {_need(members)} {in_bytes(height)}, {in_bytes(missing)} more than the largest pool allowed, {echo(name)}, has"
        return Shortage(text, name, missing, None, members)
    where = ", ".join(echo(pool.name) for pool in wanted) or "none is allowed to all of them"
    text = (
        f"{who} {_need(members)} {in_bytes(height)} and {'fit' if len(members) > 1 else 'fits'} nowhere, even alone, "
        f"with the sizes, alignments, reserved ranges and fixed places of the pools it may be in ({where})"
    )
    return Shortage(text, wanted[0].name if len(wanted) == 1 else None, None, None, members)


def _of_pool_sharing(problem: Problem, certificate: PlanCertificate) -> Shortage | None:
    """Return the shortage of several pools that are too small together."""
    names = list(dict.fromkeys(pool for pool, _, numerator, _ in certificate.weights if numerator > 0))
    sizes = {pool.name: pool.size for pool in problem.pools}
    times = {time for _, time, numerator, _ in certificate.weights if numerator > 0}
    time = times.pop() if len(times) == 1 else None
    room = [size for name in names if (size := sizes[name]) is not None]
    if not names or len(room) < len(names):
        return None
    demand = "what is live over time" if time is None else f"what is live at time {time}"
    if problem.facts.has_moments:
        demand, time = "what conflicts" if time is None else "what conflicts pairwise", None
    are_too_small = "is too small" if len(names) == 1 else "are too small together"
    text = f"{named_pools(names)} {are_too_small} ({in_bytes(sum(room))}) for {demand}"
    if certificate.buffers:
        text += f": {these(certificate.buffers)}"
    return Shortage(text, names[0] if len(names) == 1 else None, None, time, certificate.buffers)


def _of_crowd(places: Places, certificate: PlanCertificate) -> Shortage:
    """Return the shortage of pools for buffers that must all be in different ones."""
    pools = list(
        dict.fromkeys(name for id_ in certificate.buffers for name in places.possible_pools(places.index[id_]))
    )
    count = f"only {len(pools)} pools are" if len(pools) != 1 else "only 1 pool is"
    text = f"{these(certificate.buffers)} must all be in different pools, but {count} open to them"
    return Shortage(f"{text} ({named_pools(pools)})" if pools else text, buffers=certificate.buffers)


def _of_search(problem: Problem, solver: str | None) -> str:
    sized = [f"{echo(pool.name)} has {in_bytes(pool.size)}" for pool in problem.pools if pool.size is not None]
    by = "" if solver is None else f" ({solver} went through all)"
    capacities = f" where {', '.join(sized[:NAMED])}" if sized else ""
    return f"there is no way to place the {len(problem.buffers)} buffers{capacities}{by}; no single moment explains it"


def these(ids: Sequence[BufferId]) -> str:
    named = ", ".join(echo(id_) for id_ in ids[:NAMED])
    more = len(ids) - NAMED
    return ("buffer " if len(ids) == 1 else "buffers ") + named + (f" and {more} more" if more > 0 else "")


def _need(ids: Sequence[BufferId]) -> str:
    return "needs" if len(ids) == 1 else "need"


def named_pools(names: Sequence[str]) -> str:
    return ("pool " if len(names) == 1 else "pools ") + ", ".join(echo(name) for name in names[:NAMED])


def in_bytes(size: int) -> str:
    return "1 byte" if size == 1 else f"{size} bytes"
