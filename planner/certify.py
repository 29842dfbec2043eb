"""Does a certificate prove what it says? Each argument is worked out again, from the Problem alone and in exact numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import ceil

from solvers.outcome import Proof

from .alone import Alone
from .errors import echo
from .intervals import merged
from .plan import PlanCertificate
from .problem import Buffer, Problem
from .stack import least_height


def objections(problem: Problem, certificates: Iterable[PlanCertificate]) -> list[tuple[PlanCertificate, str]]:
    """The certificates that do not hold, each with the reason in a sentence."""
    alone: Alone | None = None
    found = []
    for certificate in certificates:
        if certificate.proof is Proof.SEARCH:
            continue  # an exhausted search can only be believed or repeated
        alone = alone or Alone(problem)
        wrong = _names(alone, certificate)
        if wrong is None and not _is_homeless(alone, certificate):
            wrong = _CHECKS[certificate.proof](alone, certificate)
        if wrong is not None:
            found.append(
                (certificate, f"the certificate ({certificate.proof}, {certificate.value}) does not hold: {wrong}")
            )
    return found


def _names(alone: Alone, certificate: PlanCertificate) -> str | None:
    """Objections to buffers and pools that do not exist."""
    pools = {pool.name for pool in alone.problem.pools}
    named = [weight[0] for weight in certificate.weights] + ([] if certificate.pool is None else [certificate.pool])
    for pool in named:
        if pool not in pools:
            return f"there is no pool {echo(pool)}"
    for id_ in certificate.buffers:
        if id_ not in alone.index:
            return f"there is no buffer {echo(id_)}"
    if len(set(certificate.buffers)) < len(certificate.buffers):
        return "it names a buffer twice"
    return None


def _is_homeless(alone: Alone, certificate: PlanCertificate) -> bool:
    """Does a buffer that the certificate names fit nowhere, even alone? Then there is no plan, and every claim about plans holds."""
    return any(not alone.possible_pools(alone.index[id_]) for id_ in certificate.buffers)


def _live_together(alone: Alone, certificate: PlanCertificate) -> str | None:
    if certificate.time is None:
        return "it names no time"
    for id_ in certificate.buffers:
        if not _live_at(alone.problem.buffers[alone.index[id_]], certificate.time):
            return f"buffer {echo(id_)} is not live at {certificate.time}"
    chosen = {alone.index[id_] for id_ in certificate.buffers}
    for a, b in alone.problem.constraints.exclusions:
        if (
            alone.index[a] in chosen
            and alone.index[b] in chosen
            and not _one_group(alone, alone.index[a], alone.index[b])
        ):
            return f"buffers {echo(a)} and {echo(b)} never coexist"
    return _side_by_side(alone, certificate)


def _conflict_clique(alone: Alone, certificate: PlanCertificate) -> str | None:
    chosen = [alone.index[id_] for id_ in certificate.buffers]
    buffers = alone.problem.buffers
    constraints = alone.problem.constraints
    conflicts = {frozenset((alone.index[a], alone.index[b])) for a, b in constraints.conflicts}
    exclusions = {frozenset((alone.index[a], alone.index[b])) for a, b in constraints.exclusions}
    for n, a in enumerate(chosen):
        for b in chosen[n + 1 :]:
            pair = frozenset((a, b))
            together = pair not in exclusions and _live_together_at_some_time(buffers[a], buffers[b])
            if not (together or pair in conflicts or _one_group(alone, a, b)):
                return f"buffers {echo(buffers[a].id)} and {echo(buffers[b].id)} may share addresses"
    return _side_by_side(alone, certificate)


def _side_by_side(alone: Alone, certificate: PlanCertificate) -> str | None:
    """Objections if the buffers, which must not share addresses, need not be in the pool or do not reach so high."""
    if certificate.pool is None:
        return "it names no pool"
    chosen = [alone.index[id_] for id_ in certificate.buffers]
    elsewhere = _free_to_leave(alone, chosen, certificate.pool)
    if elsewhere is not None:
        return elsewhere
    height = least_height(alone, certificate.pool, chosen)
    return None if height is None or certificate.value <= height else f"its buffers prove {height}, no more"


def _free_to_leave(alone: Alone, buffers: Iterable[int], pool: str) -> str | None:
    for buffer in buffers:
        others = [name for name in alone.possible_pools(buffer) if name != pool]
        if others:
            return f"buffer {echo(alone.problem.buffers[buffer].id)} can also be in pool {echo(others[0])}"
    return None


def _single_block(alone: Alone, certificate: PlanCertificate) -> str | None:
    chosen = [alone.index[id_] for id_ in certificate.buffers]
    if not chosen:
        return "it names no buffer"
    if certificate.pool is None:
        return "its buffer does fit into a pool"
    elsewhere = _free_to_leave(alone, chosen, certificate.pool)
    if elsewhere is not None:
        return elsewhere
    ends = [alone.end(alone.group(buffer), certificate.pool) for buffer in chosen]
    height = max((end for end in ends if end is not None), default=0)
    return None if certificate.value <= height else f"its buffer proves {height}, no more"


def _pool_sharing(alone: Alone, certificate: PlanCertificate) -> str | None:
    """Speaks of the sum of peaks, each times its pool's cost, whatever the objective is.

    With H[p] the peak of pool p and any weights y >= 0, the sum of Y[p] * H[p] is at least Z, where
    Y[p] is the sum of p's weights, and Z what the named buffers weigh at least, each set that must share a pool taking the cheapest.
    """
    totals: dict[str, Fraction] = {}
    moments: dict[int, dict[str, Fraction]] = {}
    for pool, time, numerator, denominator in certificate.weights:
        if denominator <= 0 or numerator < 0:
            return "it has a weight below zero"
        weight = Fraction(numerator, denominator)
        totals[pool] = totals.get(pool, Fraction(0)) + weight
        here = moments.setdefault(time, {})
        here[pool] = here.get(pool, Fraction(0)) + weight
    least = _least_weight(alone, certificate, moments)
    pools = {pool.name: pool for pool in alone.problem.pools}
    bound, room = least, Fraction(0)
    for name, total in totals.items():
        size = pools[name].size
        excess = max(total - pools[name].cost, Fraction(0))
        if excess and size is None:
            return f"it weighs the unlimited pool {echo(name)} above its cost"
        bound -= excess * (size or 0)
        room += total * (size or 0)
    if least > room and all(pools[name].size is not None or not total for name, total in totals.items()):
        return None  # nothing fits, so every claim about plans holds
    return None if certificate.value <= ceil(bound) else f"its weights prove {max(ceil(bound), 0)}, no more"


def _least_weight(alone: Alone, certificate: PlanCertificate, moments: dict[int, dict[str, Fraction]]) -> Fraction:
    named = set(certificate.buffers) or set(alone.index)
    weights: dict[tuple[int, ...], dict[str, Fraction]] = {}
    for time, of_pool in moments.items():
        for buffer, height in _live_heights(alone, named, time).items():
            mine = weights.setdefault(alone.tied(buffer), {})
            for pool, weight in of_pool.items():
                mine[pool] = mine.get(pool, Fraction(0)) + weight * height
    least = Fraction(0)
    for tied, mine in weights.items():
        homes = alone.possible_pools(tied[0])
        least += min((mine.get(pool, Fraction(0)) for pool in homes), default=Fraction(0))
    return least


def _live_heights(alone: Alone, named: set[int | str], time: int) -> dict[int, int]:
    """How many bytes each group takes at the time, by its first member; of an excluded pair only the larger buffer counts."""
    buffers = alone.problem.buffers
    live = {i for i, buffer in enumerate(buffers) if buffer.id in named and _live_at(buffer, time)}
    for a, b in ((alone.index[a], alone.index[b]) for a, b in alone.problem.constraints.exclusions):
        if a in live and b in live and not _one_group(alone, a, b):
            live.discard(b if buffers[a].size >= buffers[b].size else a)
    spans: dict[int, list[tuple[int, int]]] = {}
    for i in sorted(live):
        group = alone.group(i)
        low = group.offsets[group.members.index(i)]
        spans.setdefault(group.members[0], []).append((low, low + buffers[i].size))
    return {first: sum(high - low for low, high in merged(ranges)) for first, ranges in spans.items()}


def _one_group(alone: Alone, a: int, b: int) -> bool:
    return alone.group(a) is alone.group(b)


def _live_at(buffer: Buffer, time: int) -> bool:
    return any(start <= time < end for start, end in buffer.live or ())


def _live_together_at_some_time(a: Buffer, b: Buffer) -> bool:
    return any(max(s, t) < min(e, f) for s, e in a.live or () for t, f in b.live or ())


_CHECKS: dict[Proof, Callable[[Alone, PlanCertificate], str | None]] = {
    Proof.LIVE_TOGETHER: _live_together,
    Proof.CONFLICT_CLIQUE: _conflict_clique,
    Proof.SINGLE_BLOCK: _single_block,
    Proof.POOL_SHARING: _pool_sharing,
}
