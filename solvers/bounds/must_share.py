"""A lower bound on the cost of sharing addresses, where there is no room to lie side by side.

Take parts that pairwise must keep apart or pay for sharing, at most k of which fit side by side into all their pools. Ranges of addresses of which no
k + 1 are disjoint can be stabbed by k points: the parts form k heaps, and in a heap each two share an address. The number of pairs within heaps is
least if the heaps are as even as possible, and each such pair pays. Different lengths give more pairs (`fewest_pairs`).

Give each such set an amount y >= 0 so that no pair is in sets of more than its cost together. Then the cost is at least the sum of y times the pairs.
A linear program chooses the sets and amounts; the bound is computed exactly from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, combinations
from math import ceil, gcd
from typing import ClassVar, NamedTuple, TypeAlias

from ..model.conflicts import part_pairs, sets_of_partners
from ..model.errors import StopReason
from ..model.instance import Instance, Term
from ..model.outcome import Certificate, Outcome, Proof
from ..model.solver import Control, Feature, Solver, Task
from .packing import Column, pack

MOST_PARTS = 600
"""With more parts there are too many pairs."""
MOST_PENALTIES = 2_000
"""With more, the table of the linear program would be too large."""
MOST_TOGETHER = 64
"""Most parts in one set: the verifier checks each pair of them."""
MOST_SETS = 3_000
MOST_ENTRIES = 500_000
"""Most pairs of parts in all sets together."""
MOST_LOOKS = 300_000
"""Most parts examined as candidates: once for growing large sets, once for listing small ones."""
MOST_WORK = 400_000
"""Work for the amounts; they are valid whenever it ends."""
MOST_KINDS_OF_HOMES = 16
WORK_PER_SET = 20

Sets: TypeAlias = tuple[tuple[tuple[int, ...], int, int], ...]
"""(parts, numerator, denominator), as in a certificate."""


class Crowd(NamedTuple):
    """Parts, and the least number of pairs of them that share addresses."""

    parts: tuple[int, ...]
    pairs: int


class MustShare(Solver):
    """Proves a bound on the cost of reuse; gives no placement."""

    name: ClassVar[str] = "must_share"
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """The best bound that the sets found prove."""
        found = list(crowds(instance))
        if not found:
            return Outcome(StopReason.WORK_LIMIT)
        costs = _costs(instance)
        rows = {pair: number for number, pair in enumerate(costs)}
        columns = [
            Column(crowd.pairs, tuple(rows[pair] for pair in combinations(crowd.parts, 2) if pair in rows))
            for crowd in found
        ]
        if not all(column.rows for column in columns):
            return Outcome(StopReason.WORK_LIMIT)  # nothing fits, which other bounds prove
        most = MOST_WORK if task.limits.work is None else min(task.limits.work, MOST_WORK)
        packed = pack(columns, list(costs.values()), most)
        work = packed.work + WORK_PER_SET * len(found)
        sets = tuple(
            (crowd.parts, fraction.numerator, fraction.denominator)
            for crowd, amount in zip(found, packed.amounts, strict=True)
            if (fraction := Fraction(amount, packed.denominator))
        )
        value = shared_value(instance, sets)
        if value <= 0:
            return Outcome(StopReason.WORK_LIMIT, work=work)
        proof = Certificate(Proof.MUST_SHARE, value, sets=sets, term=Term.REUSE_COST)
        return Outcome(StopReason.WORK_LIMIT, certificates=(proof,), work=work)


def shared_value(instance: Instance, sets: Sets) -> int:
    """The lower bound on the cost of reuse that these amounts of these sets prove; 0 if they exceed the pairs' costs."""
    costs = _costs(instance)
    apart = _apart(instance)
    taken: dict[tuple[int, int], Fraction] = {}
    total = Fraction(0)
    for parts, numerator, denominator in sets:
        amount = Fraction(numerator, denominator)
        total += amount * _pairs_of(instance, parts)
        for pair in combinations(sorted(parts), 2):
            if pair in apart:
                continue
            taken[pair] = taken.get(pair, Fraction(0)) + amount
            if taken[pair] > costs.get(pair, 0):
                return 0
    return ceil(total)


def crowds(instance: Instance) -> Iterator[Crowd]:
    """Sets of parts that cannot all lie side by side: small ones, and large ones in which many pairs must share."""
    if len(instance.part_block) > MOST_PARTS or not 0 < len(instance.penalties) <= MOST_PENALTIES:
        return
    friends = sets_of_partners((*_apart(instance), *_costs(instance)))
    size = (instance.part_high - instance.part_low).tolist()
    homes = [frozenset(row.nonzero()[0].tolist()) for row in instance.allowed[instance.part_block]]
    seen, entries = set[tuple[int, ...]](), 0
    for pools in sorted(set(homes), key=sorted)[:MOST_KINDS_OF_HOMES]:
        if any(instance.pools[pool].capacity is None for pool in pools):
            continue
        members = sorted((part for part in friends if homes[part] <= pools), key=lambda part: (-size[part], part))
        for parts in _candidates(instance, members, friends, pools):
            key = tuple(sorted(parts))
            entries += len(key) * len(key) // 2
            if key not in seen and (pairs := _pairs_of(instance, key)):
                seen.add(key)
                yield Crowd(key, pairs)
            if len(seen) >= MOST_SETS or entries > MOST_ENTRIES:
                return


def _candidates(
    instance: Instance, members: Sequence[int], friends: dict[int, set[int]], pools: Iterable[int]
) -> Iterator[Sequence[int]]:
    """Cliques grown from each part as far as possible; then the smallest ones that may not fit side by side, largest parts first."""
    room = sum(instance.pools[pool].capacity or 0 for pool in pools)
    size = (instance.part_high - instance.part_low).tolist()
    rank = {part: place for place, part in enumerate(members)}
    looks = 0
    for first in members:
        clique, joining = [first], friends[first] & rank.keys()
        while joining and len(clique) < MOST_TOGETHER and looks < MOST_LOOKS:
            looks += len(joining)
            best = max(joining, key=lambda part: (len(friends[part]), -rank[part]))
            clique.append(best)
            joining = joining & friends[best]
        clique.sort(key=rank.__getitem__)
        if sum(size[part] for part in clique) > room:
            yield from (clique[:at] + clique[at + 1 :] for at in range(len(clique)))
        for end, total in enumerate(accumulate(size[part] for part in clique), 1):
            if total > room:
                yield clique[:end]
    for first in members:
        after = sorted(
            (part for part in friends[first] & rank.keys() if rank[part] > rank[first]), key=rank.__getitem__
        )
        looks = 0
        # The chosen parts, their total size, the candidates, and how many of these were skipped.
        stack = [([first], size[first], after, 0)]
        while stack and looks < MOST_LOOKS // len(members):
            chosen, total, others, passed = stack.pop()
            looks += 1 + len(others)
            if total > room:
                yield chosen
            elif passed < len(others):
                part = others[passed]
                stack.append((chosen, total, others, passed + 1))
                follow = [other for other in others[passed + 1 :] if other in friends[part]]
                stack.append(([*chosen, part], total + size[part], follow, 0))


def _pairs_of(instance: Instance, parts: Sequence[int]) -> int:
    """The least number of pairs of these parts that share addresses."""
    pools = {int(pool) for part in parts for pool in instance.allowed[instance.part_block[part]].nonzero()[0]}
    heaps, fewest = 0, 0
    for pool in pools:
        place = _room(instance, pool, parts)
        if place is None:
            return 0
        heaps += _fit(*place)
        fewest = fewest_pairs(*place) if len(pools) == 1 else 0
    return max(pairs_in_heaps(len(parts), heaps), fewest) if heaps else 0


def pairs_in_heaps(count: int, heaps: int) -> int:
    """The least number of pairs within heaps if `count` things are in `heaps` heaps: they are as even as possible."""
    each, more = divmod(count, heaps)
    return heaps * each * (each - 1) // 2 + more * each


def fewest_pairs(lengths: Sequence[int], room: int) -> int:
    """The least number of pairs of parts of these lengths, ascending, that share addresses: the best result over all ways to call the longest ones
    large.

    Let exactly k large parts lie side by side. Then the large ones form k heaps. Of the small ones, only those that fit into the room beside the k
    share with no large one, unless they share with each other.
    """
    most = 0
    for begin in range(1, len(lengths)):
        if lengths[begin - 1] < lengths[begin]:
            small, large = lengths[:begin], lengths[begin:]
            ways = [
                pairs_in_heaps(len(large), heaps) + begin - _fit(small, room - taken)
                for heaps, taken in enumerate(accumulate(large), 1)
                if taken <= room
            ]
            most = max(most, min(ways, default=0))
    return most


def _fit(lengths: Sequence[int], room: int) -> int:
    """The number of these lengths, in ascending order, that fit into the room together."""
    return sum(taken <= room for taken in accumulate(lengths))


def _room(instance: Instance, pool: int, parts: Sequence[int]) -> tuple[list[int], int] | None:
    """The parts' lengths, ascending, and a room that holds all those side by side in the pool; None if any number fits.

    All starts are congruent modulo a common grain, so in each free range every part but the topmost takes a multiple of it.
    """
    capacity = instance.pools[pool].capacity
    if capacity is None:
        return None
    lengths, starts, grain = [], [], 0
    for part in parts:
        block = int(instance.part_block[part])
        if not instance.allowed[block, pool]:
            continue
        lengths.append(int(instance.part_high[part] - instance.part_low[part]))
        starts.append(int(instance.lowest[block, pool] + instance.part_low[part]))
        if instance.lowest[block, pool] != instance.highest[block, pool]:
            grain = gcd(grain, int(instance.modulus[block, pool]))
    if not lengths:
        return [], 0
    grain = gcd(grain, *(start - starts[0] for start in starts))
    if not grain:
        return [1] * len(lengths), 1  # all of them begin at one address
    padding = max(-length % grain for length in lengths)
    lengths = sorted(length + -length % grain for length in lengths)
    whole = gcd(*lengths)
    room, here = 0, min(starts)
    for begin, end in (*instance.pools[pool].reserved, (capacity, capacity)):
        if min(begin, capacity) > here:
            room += (min(begin, capacity) - here + padding) // whole * whole
        if end > here:
            here = end + (starts[0] - end) % grain
    return lengths, room


def _costs(instance: Instance) -> dict[tuple[int, int], int]:
    """The cost of sharing for each pair of parts that need not keep apart."""
    apart = _apart(instance)
    found: dict[tuple[int, int], int] = {}
    solid = (instance.part_high > instance.part_low).tolist()
    block = instance.part_block.tolist()
    for one, other, cost in instance.penalties.tolist():
        pair = (min(one, other), max(one, other))
        if cost > 0 and solid[one] and solid[other] and block[one] != block[other] and pair not in apart:
            found[pair] = found.get(pair, 0) + cost
    return found


def _apart(instance: Instance) -> set[tuple[int, int]]:
    return {(a, b) for a, b in part_pairs(instance).tolist()}
