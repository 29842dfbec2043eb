"""Whether certificates prove what they say: each argument is worked out again, from the Problem alone and in exact numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import combinations, product
from math import ceil
from typing import NamedTuple

from solvers.model.outcome import Proof

from ..errors import echo
from ..facts.places import Places
from ..plan import PlanCertificate
from ..problem import Buffer
from .weights import live_at, one_group, read_weights, weigh


def objections(places: Places, certificates: Iterable[PlanCertificate]) -> list[tuple[PlanCertificate, str]]:
    """The certificates that do not hold, each with the reason in a sentence."""
    found = []
    for certificate in certificates:
        wrong = _names(places, certificate)
        if wrong is None and not _is_homeless(places, certificate):
            wrong = _CHECKS[certificate.proof](places, certificate)
        if wrong is not None:
            found.append(
                (certificate, f"the certificate ({certificate.proof}, {certificate.value}) does not hold: {wrong}")
            )
    return found


def proves_infeasible(places: Places, certificate: PlanCertificate) -> bool:
    """True if there is no plan at all, provided that the certificate holds."""
    if _names(places, certificate) is not None:
        return False  # it does not hold, and cannot even be looked at
    if _is_homeless(places, certificate):
        return True
    if certificate.proof is Proof.POOL_SHARING:
        shared = _shared(places, certificate)
        return shared is not None and shared.nothing_fits
    if certificate.pool is None:
        return certificate.proof in (Proof.SEARCH, Proof.TOO_FEW_POOLS)
    size = places.pools[certificate.pool].size
    return size is not None and certificate.value > size


def _names(places: Places, certificate: PlanCertificate) -> str | None:
    """Objections to buffers and pools that do not exist."""
    named = [weight[0] for weight in certificate.weights] + ([] if certificate.pool is None else [certificate.pool])
    for pool in named:
        if pool not in places.pools:
            return f"there is no pool {echo(pool)}"
    for id_ in certificate.buffers:
        if id_ not in places.index:
            return f"there is no buffer {echo(id_)}"
    if len(set(certificate.buffers)) < len(certificate.buffers):
        return "it names a buffer twice"
    return None


def _is_homeless(places: Places, certificate: PlanCertificate) -> bool:
    """True if a buffer that the certificate names fits nowhere, even by itself. Then there is no plan, and every claim about plans holds."""
    return any(places.is_homeless(places.index[id_]) for id_ in certificate.buffers)


def _live_together(places: Places, certificate: PlanCertificate) -> str | None:
    if certificate.time is None:
        return "it names no time"
    for id_ in certificate.buffers:
        if not live_at(places.problem.buffers[places.index[id_]], certificate.time):
            return f"buffer {echo(id_)} is not live at {certificate.time}"
    chosen = {places.index[id_] for id_ in certificate.buffers}
    for a, b in places.problem.constraints.exclusions:
        if (
            places.index[a] in chosen
            and places.index[b] in chosen
            and not one_group(places, places.index[a], places.index[b])
        ):
            return f"buffers {echo(a)} and {echo(b)} never coexist"
    return _side_by_side(places, certificate)


def _conflict_clique(places: Places, certificate: PlanCertificate) -> str | None:
    if certificate.time is not None:
        return "it names a time, but its buffers conflict at any time"
    chosen = [places.index[id_] for id_ in certificate.buffers]
    buffers = places.problem.buffers
    constraints = places.problem.constraints
    conflicts = {frozenset((places.index[a], places.index[b])) for a, b in constraints.conflicts}
    exclusions = {frozenset((places.index[a], places.index[b])) for a, b in constraints.exclusions}
    of_group: dict[int, list[int]] = {}
    for buffer in chosen:
        of_group.setdefault(places.group(buffer).members[0], []).append(buffer)
    for some, others in combinations(of_group.values(), 2):
        for a, b in product(some, others):
            pair = frozenset((a, b))
            together = pair not in exclusions and _live_together_at_some_time(buffers[a], buffers[b])
            if not (together or pair in conflicts):
                return f"buffers {echo(buffers[a].id)} and {echo(buffers[b].id)} may share addresses"
    return _side_by_side(places, certificate)


def _too_few_pools(places: Places, certificate: PlanCertificate) -> str | None:
    """By the pigeonhole principle. What must share a pool counts as one."""
    if certificate.pool is not None or certificate.time is not None:
        return "it speaks of all pools and of no time, but names one"
    chosen = {places.tied(places.index[id_])[0]: id_ for id_ in certificate.buffers}
    apart: dict[int, set[int]] = {first: {first} for first in chosen}
    for group in places.problem.constraints.different_pool:
        members = {places.tied(places.index[id_])[0] for id_ in group} & chosen.keys()
        for first in members:
            apart[first] |= members
    for first, others in apart.items():
        together = next((id_ for other, id_ in chosen.items() if other not in others), None)
        if together is not None:
            return f"buffers {echo(chosen[first])} and {echo(together)} may share a pool"
    pools = {name for first in chosen for name in places.possible_pools(first)}
    if len(pools) >= len(chosen):
        return f"its buffers have {len(pools)} pools to go to"
    return None if certificate.value <= len(chosen) else f"its buffers need {len(chosen)} pools, no more"


def _search(places: Places, certificate: PlanCertificate) -> str | None:
    """An exhausted search can only be believed or repeated, but it is somebody's."""
    return None if certificate.solver else "it names no solver"


def _side_by_side(places: Places, certificate: PlanCertificate) -> str | None:
    """Objections if the buffers, which must not share addresses, need not be in the pool or do not reach so high."""
    if certificate.pool is None:
        return "it names no pool"
    chosen = [places.index[id_] for id_ in certificate.buffers]
    elsewhere = _free_to_leave(places, chosen, certificate.pool)
    if elsewhere is not None:
        return elsewhere
    from .height import least_height

    height = least_height(places, certificate.pool, chosen)
    return None if height is None or certificate.value <= height else f"its buffers prove {height}, no more"


def _free_to_leave(places: Places, buffers: Iterable[int], pool: str) -> str | None:
    if len(places.pools) == 1:
        return None  # there is nowhere to go
    for buffer in buffers:
        others = [name for name in places.possible_pools(buffer) if name != pool]
        if others:
            return f"buffer {echo(places.problem.buffers[buffer].id)} can also be in pool {echo(others[0])}"
    return None


def _single_block(places: Places, certificate: PlanCertificate) -> str | None:
    if certificate.time is not None:
        return "it names a time, but its buffer cannot end lower at any time"
    chosen = [places.index[id_] for id_ in certificate.buffers]
    if not chosen:
        return "it names no buffer"
    if certificate.pool is None:
        return "its buffer does fit into a pool"
    elsewhere = _free_to_leave(places, chosen, certificate.pool)
    if elsewhere is not None:
        return elsewhere
    heads = {places.group(buffer).members[0] for buffer in chosen}
    ends = [places.end(places.group(head), certificate.pool) for head in heads]
    height = max((end for end in ends if end is not None), default=0)
    return None if certificate.value <= height else f"its buffer proves {height}, no more"


def _pool_sharing(places: Places, certificate: PlanCertificate) -> str | None:
    """Speaks of the sum of peaks, each times its pool's cost, whatever the objective is."""
    if certificate.pool is not None:
        return "it names a pool, but speaks of all of them"
    if certificate.value <= 0:
        return None  # no peak is below zero
    shared = _shared(places, certificate)
    if shared is None:
        return "it has a weight below zero"
    if shared.nothing_fits:
        return None
    if shared.bound is None:
        return f"it weighs the unlimited pool {echo(shared.beyond_cost)} above its cost"
    proven = max(ceil(shared.bound), 0)
    return None if certificate.value <= proven else f"its weights prove {proven}, no more"


def _priced_room(places: Places, certificate: PlanCertificate) -> str | None:
    """Speaks of the objective's first term."""
    if certificate.pool is not None:
        return "it names a pool, but speaks of all of them"
    if certificate.value <= 0:
        return None  # no cost is below zero
    from .prices import priced_bound

    bound = priced_bound(places, certificate)
    if isinstance(bound, str):
        return bound
    return (
        None
        if bound is None or certificate.value <= ceil(bound)
        else f"its prices prove {max(ceil(bound), 0)}, no more"
    )


class _Shared(NamedTuple):
    """What the weights of several pools prove."""

    nothing_fits: bool
    bound: Fraction | None = None
    """The sum of peaks, each times its pool's cost, is at least this; None: nothing is proven of it."""
    beyond_cost: str = ""
    """An unlimited pool that weighs more than its cost, which is why nothing is proven."""


def _shared(places: Places, certificate: PlanCertificate) -> _Shared | None:
    """What the certificate's weights prove; None if they are no weights.

    With H[p] the peak of pool p and any weights y >= 0, the sum of Y[p] * H[p] is at least Z, where
    Y[p] is the sum of p's weights, and Z what the named buffers weigh at least, each set that must share a pool taking the cheapest.
    """
    prices = read_weights(certificate)
    if prices is None:
        return None
    totals, moments = prices
    least = _least_weight(places, certificate, moments)
    sizes = [(places.pools[name].size, total) for name, total in totals.items() if total]
    if least is None or (
        all(size is not None for size, _ in sizes) and least > sum(total * (size or 0) for size, total in sizes)
    ):
        return _Shared(nothing_fits=True)
    bound = least
    for name, total in totals.items():
        pool_ = places.pools[name]
        if total > pool_.cost:
            if pool_.size is None:
                return _Shared(nothing_fits=False, beyond_cost=name)
            bound -= (total - pool_.cost) * pool_.size
    return _Shared(nothing_fits=False, bound=bound)


def _least_weight(
    places: Places, certificate: PlanCertificate, moments: dict[int, dict[str, Fraction]]
) -> Fraction | None:
    """What the named buffers weigh at least in any plan; None if one of them fits nowhere, so that there is no plan."""
    alike = _same_everywhere(places, moments)
    weights = weigh(
        places, certificate, moments if alike is None else {t: {alike: of[alike]} for t, of in moments.items()}
    )
    least = Fraction(0)
    for first, mine in weights.items():
        if alike is not None:
            if places.is_homeless(first):
                return None
            least += mine.get(alike, Fraction(0))
            continue
        homes = places.possible_pools(first)
        if not homes:
            return None
        least += min(mine.get(pool, Fraction(0)) for pool in homes)
    return least


def _same_everywhere(places: Places, moments: dict[int, dict[str, Fraction]]) -> str | None:
    """One of the pools, if all of them have the same weights: then it does not matter where a buffer is."""
    alike = next(iter(places.pools))
    same = all(len(of) == len(places.pools) and len(set(of.values())) == 1 for of in moments.values())
    return alike if same else None


def _live_together_at_some_time(a: Buffer, b: Buffer) -> bool:
    return any(max(s, t) < min(e, f) for s, e in a.live or () for t, f in b.live or ())


_CHECKS: dict[Proof, Callable[[Places, PlanCertificate], str | None]] = {
    Proof.LIVE_TOGETHER: _live_together,
    Proof.CONFLICT_CLIQUE: _conflict_clique,
    Proof.SINGLE_BLOCK: _single_block,
    Proof.POOL_SHARING: _pool_sharing,
    Proof.PRICED_ROOM: _priced_room,
    Proof.TOO_FEW_POOLS: _too_few_pools,
    Proof.SEARCH: _search,
}
