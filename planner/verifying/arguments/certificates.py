"""Checks that certificates prove what they say: each argument is derived again from the Problem alone, in exact numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import combinations, product
from math import ceil
from typing import NamedTuple

from solvers.model.instance import Term
from solvers.model.outcome import Proof
from solvers.model.registry import searchers

from ...facts.intervals import covers
from ...facts.possible_places import Places
from ...facts.sweep import VERIFYING
from ...model.columns.pools import costs_of, names_of, sizes_of
from ...model.deadline import in_time, look, tick
from ...model.errors import echo
from ...model.plan import PlanCertificate
from ...model.problem import BufferId
from .weights import one_group, read_weights, weigh


def objections(places: Places, certificates: Iterable[PlanCertificate]) -> list[tuple[PlanCertificate, str]]:
    """Return the certificates that do not hold, each with the reason."""
    found = []
    for certificate in certificates:
        look(VERIFYING)
        wrong = _names(places, certificate) or _subject(places, certificate) or _spare(certificate)
        if wrong is None:
            wrong = _CHECKS[certificate.proof](places, certificate)
        if wrong is not None:
            found.append(
                (certificate, f"the certificate ({certificate.proof}, {certificate.value}) does not hold: {wrong}")
            )
    return found


def proves_infeasible(places: Places, certificate: PlanCertificate) -> bool:
    """True if the certificate, if it holds, proves that there is no plan."""
    if _names(places, certificate) is not None:
        return False  # it does not hold and cannot be examined
    if certificate.proof is Proof.POOL_SHARING:
        shared = _shared(places, certificate)
        return not isinstance(shared, str) and shared.shortage > 0
    if certificate.pool is not None:
        size = places.pools[certificate.pool].size
        return size is not None and certificate.value > size
    if certificate.proof is Proof.SINGLE_BLOCK:
        return any(places.is_homeless(places.index[id_]) for id_ in certificate.buffers)
    return certificate.term is None and certificate.proof in (Proof.SEARCH, Proof.TOO_FEW_POOLS)


def _names(places: Places, certificate: PlanCertificate) -> str | None:
    """Return objections to buffers and pools that do not exist."""
    for ids in (*(each[0] for each in certificate.sets), *(each[2] for each in certificate.crowds)):
        wrong = _ids(places, ids)
        if wrong is not None:
            return wrong
    named = [each[0] for each in (*certificate.weights, *certificate.crowds)] + (
        [] if certificate.pool is None else [certificate.pool]
    )
    unknown = {*named}.difference(places.pools)
    if unknown:
        return f"there is no pool {echo(next(pool for pool in named if pool in unknown))}"
    return _ids(places, certificate.buffers)


def _ids(places: Places, ids: Sequence[BufferId]) -> str | None:
    for id_ in ids:
        if id_ not in places.index:
            return f"there is no buffer {echo(id_)}"
    return "it names a buffer twice" if len(set(ids)) < len(ids) else None


def _echo(places: Places, buffer: int) -> str:
    return echo(places.problem.buffers[buffer].id)


def _subject(places: Places, certificate: PlanCertificate) -> str | None:
    """Return objections to its subject: a pool's peak, a term, or (neither) that there is no plan."""
    term = certificate.term
    if term is None:
        return None
    if certificate.pool is not None:
        return "it names a pool and a term, and can be of one thing alone"
    terms = places.problem.terms
    provable = {Proof.POOL_SHARING: (Term.SUM_OF_PEAKS,), Proof.PRICED_ROOM: terms, Proof.SEARCH: terms}
    provable[Proof.MUST_SHARE] = (Term.REUSE_COST,)
    provable[Proof.MUST_MOVE] = (Term.MOVED_BUFFERS, Term.MOVED_BYTES)
    if term in provable.get(certificate.proof, ()):
        return None
    return f"it names the term {term}, of which it can prove nothing"


def _spare(certificate: PlanCertificate) -> str | None:
    """Return objections to fields on which its argument does not rest."""
    proof = certificate.proof
    if certificate.solver is not None and proof is not Proof.SEARCH:
        return "it names a solver, but its argument needs none"
    if certificate.weights and proof not in (Proof.POOL_SHARING, Proof.PRICED_ROOM):
        return "it has weights, but its argument needs none"
    if certificate.sets and proof not in _OF_SETS:
        return "it has sets, but its argument needs none"
    if certificate.crowds and proof is not Proof.PRICED_ROOM:
        return "it has crowds, but its argument needs none"
    if certificate.held and proof is not Proof.PRICED_ROOM:
        return "it holds terms, but its argument needs none"
    if proof in _OF_SETS and (certificate.buffers or certificate.time is not None):
        return "it names buffers or a time, but its sets say which"
    if proof is Proof.SEARCH and (certificate.buffers or certificate.time is not None):
        return "it names buffers or a time, but a search is through all there are"
    times = {weight[1] for weight in certificate.weights}
    if certificate.weights and certificate.time is not None and times != {certificate.time}:
        return f"it names time {certificate.time}, but its weights are at other times"
    if proof is Proof.PRICED_ROOM and certificate.time is not None:
        return "it names a time, but prices are of many"
    return None


def _live_together(places: Places, certificate: PlanCertificate) -> str | None:
    if certificate.time is None:
        return "it names no time"
    for id_ in in_time(certificate.buffers, VERIFYING):
        if not covers(places.problem.buffers[places.index[id_]].live, certificate.time):
            return f"buffer {echo(id_)} is not live at {certificate.time}"
    chosen = {places.index[id_] for id_ in certificate.buffers}
    exclusions = places.partners.exclusions
    for a in in_time(chosen & exclusions.keys(), VERIFYING):
        for b in exclusions[a].keys() & chosen:
            if not one_group(places, a, b):
                return f"buffers {_echo(places, min(a, b))} and {_echo(places, max(a, b))} never coexist"
    return _side_by_side(places, certificate)


def _conflict_clique(places: Places, certificate: PlanCertificate) -> str | None:
    if certificate.time is not None:
        return "it names a time, but its buffers conflict at any time"
    chosen = [places.index[id_] for id_ in certificate.buffers]
    of_group: dict[int, list[int]] = {}
    for buffer in chosen:
        of_group.setdefault(places.group(buffer).members[0], []).append(buffer)
    for some, others in combinations(of_group.values(), 2):
        for a, b in product(some, others):
            tick(VERIFYING)
            if not places.partners.must_be_apart(a, b):
                return f"buffers {_echo(places, a)} and {_echo(places, b)} may share addresses"
    return _side_by_side(places, certificate)


def _conflict_weights(places: Places, certificate: PlanCertificate) -> str | None:
    """Check a bound of one pool by weights of buffers that can be nowhere else."""
    from .conflict_weights import weighed_height

    chosen = [places.index[id_] for ids, _, _ in certificate.sets for id_ in ids]
    return _of_one_pool(places, certificate, "weights", chosen, lambda _: weighed_height(places, certificate))


def _too_few_pools(places: Places, certificate: PlanCertificate) -> str | None:
    """Check by the pigeonhole principle. Buffers that must share a pool count as one."""
    if certificate.pool is not None or certificate.time is not None:
        return "it speaks of all pools and of no time, but names one"
    chosen = {places.tied(places.index[id_])[0]: id_ for id_ in certificate.buffers}
    together = _free_to_share_a_pool(places, frozenset(chosen))
    if together is not None:
        return f"buffers {echo(chosen[together[0]])} and {echo(chosen[together[1]])} may share a pool"
    lists = {id(homes): homes for homes in map(places.possible_pools, chosen)}
    pools = set[str]().union(*lists.values())
    if len(pools) >= len(chosen):
        return f"its buffers have {len(pools)} pools to go to"
    return None if certificate.value == len(chosen) else f"its buffers need {len(chosen)} pools"


def _free_to_share_a_pool(places: Places, chosen: frozenset[int]) -> tuple[int, int] | None:
    """Return two that no group keeps in different pools, of buffers that stand for all that must share theirs."""
    groups = places.partners.in_other_pools(places.tied)
    for first in chosen:
        apart = {first}
        for group in groups.get(first, ()):
            tick(VERIFYING, min(len(group), len(chosen)))
            if chosen <= group:
                return None
            apart |= group & chosen
        other = next(iter(chosen - apart), None)
        if other is not None:
            return min(first, other), max(first, other)
    return None


def _search(places: Places, certificate: PlanCertificate) -> str | None:
    """Check that an exhausted search, which can only be believed or repeated, names its solver and its subject."""
    if not certificate.solver:
        return "it names no solver"
    if certificate.solver not in searchers():
        return f"there is no solver {echo(certificate.solver)} that searches"
    if certificate.pool is None and certificate.term is None and certificate.value:
        return "it has a value, but names neither a pool nor a term of which it would be"
    return None


def _side_by_side(places: Places, certificate: PlanCertificate) -> str | None:
    """Return objections if the buffers may be elsewhere than in the pool, or do not reach so high."""
    from .height import least_height

    chosen = [places.index[id_] for id_ in certificate.buffers]
    return _of_one_pool(places, certificate, "buffers", chosen, lambda pool: least_height(places, pool, chosen))


def _of_one_pool(
    places: Places, certificate: PlanCertificate, what: str, chosen: Collection[int], proven: Callable[[str], int | str]
) -> str | None:
    """Return objections to a bound of one pool by buffers that may be elsewhere, or prove less; `proven` tells what they prove, or why they prove nothing."""
    if certificate.pool is None:
        return "it names no pool"
    elsewhere = _free_to_leave(places, chosen, certificate.pool)
    if elsewhere is not None:
        return elsewhere
    height = proven(certificate.pool)
    if isinstance(height, str):
        return height
    return None if certificate.value <= height else f"its {what} prove {height}, no more"


def _free_to_leave(places: Places, buffers: Collection[int], pool: str) -> str | None:
    if len(places.pools) == 1:
        return None  # no pool can take them
    for buffer in in_time(buffers, VERIFYING):
        others = [name for name in places.possible_pools(buffer) if name != pool]
        if others:
            return f"buffer {_echo(places, buffer)} can also be in pool {echo(others[0])}"
    return None


def _single_block(places: Places, certificate: PlanCertificate) -> str | None:
    if certificate.time is not None:
        return "it names a time, but its buffer cannot end lower at any time"
    chosen = [places.index[id_] for id_ in certificate.buffers]
    if not chosen:
        return "it names no buffer"
    if certificate.pool is None:
        homeless = [buffer for buffer in chosen if places.is_homeless(buffer)]
        if not homeless:
            return "its buffer does fit into a pool"
        height = max(max(places.height(buffer), places.class_height(buffer)) for buffer in homeless)
        return None if certificate.value <= height else f"its buffer is {height} bytes high, no more"
    elsewhere = _free_to_leave(places, chosen, certificate.pool)
    if elsewhere is not None:
        return elsewhere
    heads = {places.group(buffer).members[0] for buffer in chosen}
    ends = [places.end(places.group(head), certificate.pool) for head in heads]
    height = max((end for end in ends if end is not None), default=0)
    return None if certificate.value <= height else f"its buffer proves {height}, no more"


def _of_all_pools(certificate: PlanCertificate, what: str, proven: Callable[[], int | str]) -> str | None:
    """Return objections to a bound of no single pool; `proven` tells what it proves, or why it proves nothing."""
    if certificate.pool is not None:
        return "it names a pool, but speaks of all of them"
    if certificate.value <= 0:
        return None  # nothing is below zero
    found = proven()
    if isinstance(found, str):
        return found
    return None if certificate.value <= found else f"its {what} prove {found}, no more"


def _pool_sharing(places: Places, certificate: PlanCertificate) -> str | None:
    """Check a bound of the sum of peaks, each times its pool's cost, which holds for any objective."""

    def proven() -> int | str:
        shared = _shared(places, certificate)
        if isinstance(shared, str):
            return shared
        if shared.bound is None and not shared.shortage:
            return f"it weighs the unlimited pool {echo(shared.beyond_cost)} above its cost"
        return max(shared.bound or 0, shared.shortage)

    return _of_all_pools(certificate, "weights", proven)


def _priced_room(places: Places, certificate: PlanCertificate) -> str | None:
    """Check a bound of the objective's first term, or of a later one with earlier ones held."""

    def proven() -> int | str:
        from .prices import priced_bound

        bound = priced_bound(places, certificate)
        return bound if isinstance(bound, str) else max(ceil(bound), 0)

    return _of_all_pools(certificate, "prices", proven)


def _must_share(places: Places, certificate: PlanCertificate) -> str | None:
    """Check a bound of the cost of reuse, which holds whatever the other terms are."""
    from .shared_addresses import shared_cost

    return _of_all_pools(certificate, "sets", lambda: shared_cost(places, certificate))


def _must_move(places: Places, certificate: PlanCertificate) -> str | None:
    """Check a bound of what moves, in buffers or bytes, which holds for any objective."""
    from .old_places import moved_least

    return _of_all_pools(certificate, "sets", lambda: moved_least(places, certificate))


class _Shared(NamedTuple):
    """What the weights of several pools prove."""

    shortage: int
    """By how much, weighted, the live bytes exceed the pools; above 0: nothing fits."""
    bound: int | None = None
    """A bound of the sum of peaks, each times its pool's cost; None: nothing is proven."""
    beyond_cost: str = ""
    """An unlimited pool whose weight exceeds its cost, so that nothing is proven."""


def _shared(places: Places, certificate: PlanCertificate) -> _Shared | str:
    """Return what the certificate's weights prove, or in words why they are invalid.

    With H[p] the peak of pool p and any weights y >= 0, the sum of Y[p] * H[p] is at least Z. Y[p] is the sum of p's weights, and Z the least
    weight of the named buffers, each set that must share a pool being in its cheapest.
    """
    weights = read_weights(certificate)
    if isinstance(weights, str):
        return weights
    unit = weights.denominator
    least = _least_weight(places, certificate, weights.moments)
    names, totals = [*weights.totals], [*weights.totals.values()]
    sizes, costs = _sizes_and_costs(places, names)
    shortage = 0
    if not any(size is None and total for size, total in zip(sizes, totals, strict=True)):
        room = sum(total * (size or 0) for size, total in zip(sizes, totals, strict=True))
        shortage = max(_rounded_up(least - room, unit), 0)
    bound = least
    for name, total, size, cost in zip(names, totals, sizes, costs, strict=True):
        if total > unit * cost:
            if size is None:
                return _Shared(shortage, beyond_cost=name)
            bound -= (total - unit * cost) * size
    return _Shared(shortage, _rounded_up(bound, unit))


def _sizes_and_costs(places: Places, names: list[str]) -> tuple[list[int | None], list[int]]:
    """Return the sizes and the costs of these pools."""
    pools = places.problem.pools
    if names == names_of(pools):
        return sizes_of(pools), costs_of(pools)
    some = [places.pools[name] for name in names]
    return sizes_of(some), costs_of(some)


def _rounded_up(number: int, unit: int) -> int:
    return -(-number // unit)


def _least_weight(places: Places, certificate: PlanCertificate, moments: dict[int, dict[str, int]]) -> int:
    """Return the named buffers' least weight in any plan; one that fits nowhere counts in its dearest allowed pool: then nothing fits, and every claim holds."""
    alike = _same_everywhere(places, moments)
    if alike is not None:
        of_one = {time: {alike: of_pool[alike]} for time, of_pool in moments.items()}
        return sum(mine.get(alike, 0) for mine in weigh(places, certificate, of_one).values())
    least = 0
    for first, mine in weigh(places, certificate, moments).items():
        homes = places.possible_pools(first)
        others = () if homes else places.allowed_pools(places.tied(first))
        least += (
            min(mine.get(pool, 0) for pool in homes)
            if homes
            else max((mine.get(pool, 0) for pool in others), default=0)
        )
    return least


def _same_everywhere(places: Places, moments: dict[int, dict[str, int]]) -> str | None:
    """Return one of the pools, if all have the same weights: then it does not matter where a buffer is."""
    alike = next(iter(places.pools))
    same = all(len(of) == len(places.pools) and len(set(of.values())) == 1 for of in moments.values())
    return alike if same else None


_OF_SETS = frozenset({Proof.CONFLICT_WEIGHTS, Proof.MUST_SHARE, Proof.MUST_MOVE})
_CHECKS: dict[Proof, Callable[[Places, PlanCertificate], str | None]] = {
    Proof.LIVE_TOGETHER: _live_together,
    Proof.CONFLICT_CLIQUE: _conflict_clique,
    Proof.CONFLICT_WEIGHTS: _conflict_weights,
    Proof.SINGLE_BLOCK: _single_block,
    Proof.POOL_SHARING: _pool_sharing,
    Proof.PRICED_ROOM: _priced_room,
    Proof.MUST_SHARE: _must_share,
    Proof.MUST_MOVE: _must_move,
    Proof.TOO_FEW_POOLS: _too_few_pools,
    Proof.SEARCH: _search,
}
