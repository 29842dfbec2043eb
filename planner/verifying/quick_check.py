"""The fast verification of a simple plan: buffers related by views and conflicts only, with bounds by those live at one time, or in conflict.
It works in arrays, in a fifth of the time.

It accepts nothing to which `verify` objects, and knows just as little of how plans are made. A plan that it does not accept may still be right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import gcd, lcm

import numpy as np

from solvers.model.errors import StopReason
from solvers.model.instance import LINEAR_TERMS, Term
from solvers.model.outcome import Proof

from ..facts.figures import amounts, conflicts_in_numbers, homes, said, tied_groups
from ..facts.intervals import merged
from ..facts.partners import Partners
from ..facts.sweep import SUMMABLE, Integers, Piece, Pieces, all_apart, exact_array
from ..model.columns.buffers import BufferColumns, ids, restricted
from ..model.columns.placements import PlacementColumns, offsets_of, pool_numbers, pools_of, sizes_of
from ..model.columns.placements import ids_of as ids_of_places
from ..model.plan import Objective, Placement, Plan, PlanCertificate, PlanStatus, PoolUse, TermValue, gap_to
from ..model.problem import (
    DEFAULT_TERMS,
    Buffer,
    BufferId,
    Colocation,
    Constraints,
    Figures,
    Pool,
    Problem,
    has_only_peaks,
    is_of_peaks,
)
from .arguments.height import MOST_STACKED, least_height, places_of
from .objective import costs_of_choice, has_choice, price_of_peaks
from .placements import is_where_it_may_be

MOST_OF_A_GROUP = 64
"""Members of larger groups would each have to be compared with all others."""


def is_plainly_right(problem: Problem, plan: Plan, digest: str) -> bool:
    """True if the plan keeps every rule of the problem and all its claims hold. `digest` is the problem's."""
    colocations, conflicts = problem.constraints.colocations, problem.constraints.conflicts
    if (
        plan.problem_digest != digest
        or not _is_of_peaks_and_pools(problem)
        or problem.constraints != Constraints(conflicts, colocations=colocations)
    ):
        return False
    known = amounts(problem)
    found = _placed(problem, known, plan.placements)
    if found is None:
        return False
    low, pool = found
    high = low + known.size
    peaks = [int(high[pool == p].max(initial=0)) for p in range(len(problem.pools))]
    if any(each.size is not None and peak > each.size for each, peak in zip(problem.pools, peaks, strict=True)):
        return False
    if not known.is_free and not _are_where_they_may_be(problem, low, pool):
        return False
    if not _are_outside(problem.pools, low, high, pool):
        return False
    there = (known.size[known.owner] > 0).nonzero()[0]
    owner = known.owner[there]
    pieces = Pieces(low[owner], high[owner], known.start[there], known.end[there], owner)
    group = None
    used = pieces
    index = {id_: i for i, id_ in enumerate(ids(problem.buffers))} if colocations or conflicts else {}
    if conflicts and not _are_apart(conflicts_in_numbers(problem, index), low, high, pool):
        return False
    if colocations:
        if not _are_tied(index, colocations, low, pool):
            return False
        group = _groups(problem, index)
        used = _without_views(pieces, group)
    if not (len(owner) or conflicts) or not all(
        all_apart(each) for each in _by_pool(used, pool[used.owner], len(peaks))
    ):
        return False
    if (
        group is None
        and len(peaks) > 1
        and (least := _proven_of_all(problem, known, pieces, plan.certificates)) is not None
    ):
        return _claims_exactly(problem, plan, pool, peaks, [0] * len(peaks), least)
    bounds = _proven(problem, known, pieces, pool, group, index, plan.certificates)
    return bounds is not None and _claims_exactly(problem, plan, pool, peaks, bounds, sum(bounds))


def _is_of_peaks_and_pools(problem: Problem) -> bool:
    """True if no term counts anything but the sum of peaks, each byte alike, and what buffers cost in their pools."""
    if problem.terms == DEFAULT_TERMS:
        return is_of_peaks(problem)
    if isinstance(problem.buffers, BufferColumns) or not has_only_peaks(problem):
        return False
    adds = [LINEAR_TERMS.get(term) for term in problem.terms]
    return all(each is not None and each.moved is None for each in adds)


def _are_where_they_may_be(problem: Problem, low: Integers, number: Integers) -> bool:
    """True if each buffer with a restricted place keeps it."""
    if problem.facts.neighbour is None:
        some: Iterable[int] = (i for i, _ in restricted(problem.buffers))
    else:
        if not homes(problem)[np.arange(len(number)), number].all():
            return False
        is_said = said(problem)
        some = (is_said[:, 1] | is_said[:, 2]).nonzero()[0].tolist()
    offsets, pools = low.tolist(), number.tolist()
    return all(is_where_it_may_be(problem.buffers[i], problem.pools[pools[i]].name, offsets[i]) for i in some)


def _are_outside(pools: Sequence[Pool], low: Integers, high: Integers, number: Integers) -> bool:
    """True if no buffer reaches into a reserved range."""
    for p, ranges in enumerate(merged(pool.reserved) for pool in pools):
        if ranges:
            start, end = (exact_array(column) for column in zip(*ranges, strict=True))
            here = number == p
            first = np.searchsorted(end, low[here], side="right")  # the first range that ends above the offset
            is_below = first < len(end)
            if (start[first[is_below]] < high[here][is_below]).any():
                return False
    return True


def _by_pool(pieces: Pieces, pool: Integers, pools: int) -> Iterator[Pieces]:
    if pools == 1:
        yield pieces
        return
    for p in range(pools):
        here = (pool == p).nonzero()[0]
        yield Pieces(*(column[here] for column in pieces))


def _are_apart(
    conflicts: Integers,
    low: Integers,
    high: Integers,
    pool: Integers,
) -> bool:
    """True if no two that are in conflict share addresses."""
    one, other = conflicts.T
    meet = (pool[one] == pool[other]) & (np.minimum(high[one], high[other]) > np.maximum(low[one], low[other]))
    return not meet.any()


def _are_tied(index: Mapping[BufferId, int], colocations: Sequence[Colocation], low: Integers, pool: Integers) -> bool:
    """True if all tied buffers have the required distances, in one pool."""
    one, other = (
        [index[id_] for id_ in ids] for ids in zip(*((tie.buffer, tie.base) for tie in colocations), strict=True)
    )
    distance = exact_array([tie.offset for tie in colocations])
    return bool((pool[one] == pool[other]).all() and (low[one] == low[other] + distance).all())


def _groups(problem: Problem, index: Mapping[BufferId, int]) -> Integers:
    """Return the first buffer of each buffer's group."""
    first = np.arange(len(index))
    for group in tied_groups(problem, index):
        first[list(group.members)] = group.members[0]
    return first


def _without_views(pieces: Pieces, group: Integers) -> Pieces:
    """Return the same memory without what lies inside another buffer of its group at that time; large groups stay as they are."""
    of_group = group[pieces.owner]
    count = np.bincount(of_group, minlength=len(group))[of_group]
    is_shared = (count > 1) & (count <= MOST_OF_A_GROUP)
    if not is_shared.any():
        return pieces
    inside: dict[int, list[Piece]] = {}
    for piece in Pieces(*(column[is_shared] for column in pieces)).rows():
        inside.setdefault(int(group[piece[-1]]), []).append(piece)
    left = [piece for some in inside.values() for piece in _outlines(some)]
    separate = (column[~is_shared] for column in pieces)
    return Pieces(*(np.concatenate(pair) for pair in zip(separate, Pieces.of(left), strict=True)))


def _outlines(pieces: list[Piece]) -> Iterator[Piece]:
    """Return the pieces, larger first, without the times at which one lies inside an earlier one."""
    before: list[Piece] = []
    for piece in sorted(pieces, key=lambda each: each[0] - each[1]):
        low, high, start, end, owner = piece
        over = merged((begin, stop) for bottom, top, begin, stop, _ in before if bottom <= low and high <= top)
        before.append(piece)
        for begin, stop in over:
            if begin >= end:
                break
            if start < begin:
                yield low, high, start, begin, owner
            start = max(start, stop)
        if start < end:
            yield low, high, start, end, owner


def _placed(problem: Problem, known: Figures, places: Sequence[Placement]) -> tuple[Integers, Integers] | None:
    """Return each buffer's offset and pool number; None if one is not allowed there."""
    names = [pool.name for pool in problem.pools]
    if isinstance(places, PlacementColumns):
        is_of_problem = places.ids == ids(problem.buffers) and not (places.size != known.size).any()
    else:
        is_of_problem = ids_of_places(places) == [*ids(problem.buffers)] and sizes_of(places) == known.size.tolist()
    if not is_of_problem or not pools_of(places) <= {*names}:
        return None
    low = exact_array(offsets_of(places))
    number = pool_numbers(places, names)
    if (low < 0).any() or (low >= SUMMABLE).any():  # columns of int64 would wrap around in sums
        return None
    address = low
    if any(pool.base or pool.alignment != 1 for pool in problem.pools):
        address = low + exact_array([pool.base or 0 for pool in problem.pools])[number]
        alignment = exact_array([pool.alignment for pool in problem.pools])[number]
        if (address % alignment).any():
            return None
    return None if (address % known.alignment).any() else (low, number)


def _proven(
    problem: Problem,
    known: Figures,
    pieces: Pieces,
    pool: Integers,
    group: Integers | None,
    index: Mapping[BufferId, int],
    certificates: Sequence[PlanCertificate],
) -> list[int] | None:
    """Return what the certificates prove about each pool; None if one is not simple."""
    bounds = [0] * len(problem.pools)
    names = [each.name for each in problem.pools]
    known_ids = ids(problem.buffers)
    partners = Partners(problem, index)
    for certificate in certificates:
        if certificate.pool not in names or bounds[names.index(certificate.pool)]:
            return None
        p = names.index(certificate.pool)
        if certificate.proof is Proof.CONFLICT_CLIQUE:
            rows = _in_conflict(partners, problem.constraints.conflicts, index, group, certificate)
        else:
            rows = _live_then(known_ids, problem.pools[p].name, p, pieces, pool, certificate)
        if rows is None:
            if not any(_ends_there(buffer, problem.pools[p], certificate) for _, buffer in restricted(problem.buffers)):
                return None
        elif not _cannot_end_lower(problem, known, p, rows, group, certificate.value):
            return None
        bounds[p] = certificate.value
    return bounds


def _proven_of_all(
    problem: Problem, known: Figures, pieces: Pieces, certificates: Sequence[PlanCertificate]
) -> int | None:
    """Return the bound of the sum of peaks if all that is claimed is what lives at one time, wherever it is; None otherwise."""
    if len(certificates) != 1 or certificates[0].time is None:
        return None
    claimed, time = certificates[0], certificates[0].time
    weights = tuple((each.name, time, 1, 1) for each in problem.pools)
    proof = PlanCertificate(Proof.POOL_SHARING, claimed.value, None, time, (), weights, term=Term.SUM_OF_PEAKS)
    here = np.unique(pieces.owner[(pieces.start <= time) & (time < pieces.end)])
    return claimed.value if claimed == proof and 0 < claimed.value <= int(known.size[here].sum()) else None


def _live_then(
    known_ids: Sequence[BufferId], pool: str, p: int, pieces: Pieces, number: Integers, certificate: PlanCertificate
) -> list[int] | None:
    """Return the buffers that are live in the pool at the certificate's time, if it says nothing but that."""
    if certificate.time is None:
        return None
    here = pieces.owner[(pieces.start <= certificate.time) & (certificate.time < pieces.end)]
    rows: list[int] = here[number[here] == p].tolist()
    buffers = tuple(map(known_ids.__getitem__, rows))
    proof = PlanCertificate(Proof.LIVE_TOGETHER, certificate.value, pool, certificate.time, buffers)
    return rows if certificate == proof else None


def _in_conflict(
    partners: Partners,
    conflicts: Sequence[tuple[BufferId, BufferId]],
    index: Mapping[BufferId, int],
    group: Integers | None,
    certificate: PlanCertificate,
) -> list[int] | None:
    """Return the certificate's buffers, if it says nothing but that no two of them may share addresses, and none of them is a view of another."""
    proof = PlanCertificate(Proof.CONFLICT_CLIQUE, certificate.value, certificate.pool, buffers=certificate.buffers)
    if certificate != proof or not index.keys() >= {*certificate.buffers}:
        return None
    rows = [index[id_] for id_ in certificate.buffers]
    if len({*(rows if group is None else group[rows].tolist())}) < len(rows):
        return None
    pairs, named = {*conflicts}, combinations(certificate.buffers, 2)
    others = [(one, other) for one, other in named if not {(one, other), (other, one)} & pairs]
    return rows if all(partners.must_be_apart(index[one], index[other]) for one, other in others) else None


def _cannot_end_lower(
    problem: Problem, known: Figures, p: int, rows: list[int], group: Integers | None, value: int
) -> bool:
    """True if these buffers cannot be elsewhere than in the pool, and cannot end lower: stacked, or beside what is in the way.

    Only the largest of each group counts.
    """
    pool = problem.pools[p]
    if not rows:
        return False
    if len(problem.pools) > 1 and (known.is_free or not _are_at_home(problem, rows, p)):
        return False
    live = rows
    if group is not None:
        live = [*{int(group[i]): i for i in sorted(rows, key=known.size.__getitem__)}.values()]
    size = known.size[live].tolist()
    grain = gcd(pool.base or 0, *(lcm(pool.alignment, each) for each in {*known.alignment[live].tolist()}))
    padding = [-each % grain for each in size]
    least = sum(size) + sum(padding) - max(padding)
    if value <= least:
        return True
    is_alike = len(live) > MOST_STACKED or len({*known.alignment[live].tolist()}) == 1
    if is_alike and not pool.reserved and (known.is_free or not any(problem.buffers[i].fixed for i in live)):
        return False
    return value <= least_height(places_of(problem), pool.name, rows)


def _ends_there(buffer: Buffer, pool: Pool, certificate: PlanCertificate) -> bool:
    """True if the certificate says only that a fixed buffer ends where it is fixed."""
    fixed = buffer.fixed
    if fixed is None or fixed.pool != pool.name or fixed.offset is None:
        return False
    proof = PlanCertificate(Proof.SINGLE_BLOCK, certificate.value, pool.name, buffers=(buffer.id,))
    return certificate == proof and certificate.value <= fixed.offset + buffer.size


def _are_at_home(problem: Problem, rows: list[int], p: int) -> bool:
    """True if these buffers can be in no other pool."""
    may_be = homes(problem)[rows]
    return bool(may_be[:, p].all() and (may_be.sum(axis=1) == 1).all())


def _claims_exactly(
    problem: Problem, plan: Plan, pool: Integers, peaks: Sequence[int], bounds: Sequence[int], bound: int
) -> bool:
    """True if the plan claims exactly these peaks and bounds of the pools and of all, and optimality if each term is as low as its bound."""
    peak = sum(peaks)
    values, proven = _values(problem, pool, peak, bound)
    if values == proven:
        is_known = plan.status is PlanStatus.OPTIMAL and plan.stop is StopReason.PROVED
    else:
        is_known = plan.status is PlanStatus.FEASIBLE and plan.stop is not StopReason.PROVED and len(values) == 1
    uses = tuple(PoolUse(pool.name, pool.size, *each) for pool, *each in zip(problem.pools, peaks, bounds, strict=True))
    # Without proofs nothing needs to be said.
    said = [
        None if not low and each.bound is None else low for low, each in zip(proven, plan.objective.terms, strict=False)
    ]
    terms = tuple(map(TermValue, problem.terms, values, said))
    return (
        is_known
        and (plan.stop.is_repeatable or not plan.reproducible)
        and (plan.peak, plan.bound) == (peak, bound)
        and plan.gap == (gap_to(proven[0], values[0]) if len(values) == 1 else None)
        and len(said) == len(values)
        and plan.objective == Objective(values[0], said[0], terms)
        and plan.pools == uses
        and plan.seed >= 0
        and plan.shortage is None
        and plan.choice is None
    )


def _values(problem: Problem, number: Integers, peak: int, bound: int) -> tuple[list[int], list[int]]:
    """Return each term's value with the buffers in these pools, and what it is at least if the sum of peaks is at least `bound`."""
    values, proven = [], []
    for term in problem.terms:
        price = price_of_peaks(problem, term)
        value, least = price * peak, price * bound
        if has_choice(term):
            costs = costs_of_choice(problem, term)
            value += sum(costs[np.arange(len(number)), number].tolist())
            least += sum(costs[:, -1].tolist())
        values.append(value)
        proven.append(least)
    return values, proven
