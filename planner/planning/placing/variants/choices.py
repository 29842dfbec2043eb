"""A problem with variants in the solvers' numbers: each alternative's cost, and what is live together if it is chosen."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import gcd

from solvers.choice.alternatives.instance import Choices, Load, Memories, Pick, Taken, Tie
from solvers.choice.alternatives.loads import Piece, Times, live_together
from solvers.choice.alternatives.together import MOST_PARTS, Joint, Relation
from solvers.choice.alternatives.walls import rows
from solvers.model.instance import Term

from ....facts.colocation import groups as colocated
from ....facts.constants import spell_out_constants
from ....facts.intervals import merged
from ....facts.variants import rules, weighted_cost
from ....model.columns.buffers import sizes
from ....model.deadline import PREPARING, in_time, look, tick
from ....model.plan import Placement
from ....model.problem import Buffer, Colocation, Constraints, Fixed, Interval, Pool, Problem
from ..lowering import lower
from .apart import pieces_apart
from .parts import Parts

MOST_TIES = 100_000
MOST_RANGES = 100
"""The number of reserved ranges of a memory that are looked at where there are several, the longest."""
MOST_TAKEN = 16
"""What is taken of a memory counts as no more than MOST_TAKEN times what may be live, so that other numbers stay exact."""


@dataclass(frozen=True, slots=True)
class BytesLive:
    """How the objective depends on the load: each live byte of a memory costs its price, and lies beside reserved ranges."""

    price: int
    reserved: tuple[Interval, ...] = ()
    """Sorted and disjoint."""

    def most_load(self, value: int) -> int:
        return Taken(self.reserved).free(value // self.price) if self.price else 1 << 62

    def least_value(self, load: int) -> int:
        return Taken(self.reserved).top(load) * self.price


def is_largest(problem: Problem) -> bool:
    """True if the largest peak is minimised instead of the sum."""
    return problem.terms == (Term.LARGEST_PEAK,)


def measure_of(problem: Problem) -> BytesLive:
    """Return the objective's function of a load; with several memories, the load itself."""
    if len(problem.pools) > 1:
        return BytesLive(1)
    (pool,) = problem.pools
    price = 1 if is_largest(problem) else pool.cost
    # Buffers without bytes may end in a reserved range or with it. Others never do, so that their peaks tell how many free bytes are below.
    return BytesLive(price, () if _any_empty(problem) else merged(pool.reserved))


def _any_empty(problem: Problem) -> bool:
    """True if a buffer, or one of an alternative, has no bytes."""
    groups = () if problem.variants is None else problem.variants.groups
    owned = (each.buffers for group in groups for each in group.alternatives)
    return any(0 in sizes(buffers) for buffers in (problem.buffers, *owned))


def most_value(problem: Problem) -> int | None:
    """Return the greatest objective within the capacities; None if some pool has none."""
    sizes = [pool.size for pool in problem.pools if pool.size is not None]
    if len(sizes) < len(problem.pools):
        return None
    if is_largest(problem):
        return max(sizes)
    return sum(size * pool.cost for size, pool in zip(sizes, problem.pools, strict=True))


def lower_choices(problem: Problem) -> Choices:
    """Return what there is to choose. Conflicts without lifetimes and reserved ranges only make a choice need more than its load."""
    variants = problem.variants
    assert variants is not None
    alternatives = [len(group.alternatives) for group in variants.groups]
    requires, forbids = rules(variants)
    unit = _unit(problem.pools)
    parts = Parts(spell_out_constants(problem))
    look(PREPARING)
    block, low = blocks_of(parts)
    several = len(problem.pools) > 1
    homes = _homes(problem, parts, block) if several else None
    look(PREPARING)
    owned = list(_pieces(parts, block, low, several=several))
    pieces = [piece for _, piece in owned]
    look(PREPARING)
    found = live_together(pieces, alternatives, unit, homes, lambda: tick(PREPARING))
    look(PREPARING)
    loads, times = found.loads, found.times
    if not several:
        apart = pieces_apart(parts, pieces, [i for i, _ in owned], alternatives, (requires, forbids))
        loads, times = _with_more(found, apart, alternatives, unit)
    whole = {} if several or problem.pools[0].reserved else _unbound(parts, block)
    pins = {i: at.offset for i, at in whole.items() if at is not None and at.offset is not None}
    return Choices(
        costs=tuple(
            tuple(weighted_cost(variants, each.costs) for each in group.alternatives) for group in variants.groups
        ),
        loads=loads,
        times=times,
        memories=_memories(problem, parts, block, found) if several else None,
        rows=rows([piece for piece in pieces if piece.block in whole], alternatives, pins),
        requires=tuple(requires),
        forbids=tuple(forbids),
    )


def _unit(pools: Sequence[Pool]) -> int:
    """Return what every address is a multiple of; reserved ranges may lie in the unused part of a unit."""
    return gcd(*(1 if pool.reserved else pool.alignment for pool in pools))


def blocks_of(parts: Parts) -> tuple[dict[int, int], dict[int, int]]:
    """Return the block of each part and its place there, with the links of all alternatives."""
    ids = range(len(parts.buffers))
    block, low = {i: i for i in ids}, dict.fromkeys(ids, 0)
    for group in colocated(ids, (Colocation(*link[:3]) for link in parts.links)):
        tick(PREPARING)
        for member, offset in zip(group.members, group.offsets, strict=True):
            block[member], low[member] = group.members[0], offset
    return block, low


def _with_more(
    found: Times, selections: Iterable[list[Piece]], alternatives: Sequence[int], unit: int
) -> tuple[tuple[Load, ...], tuple[int, ...]]:
    """Return the loads of what was found and of other selections of the pieces, each once, and the time of each."""
    times = dict(zip(found.loads, found.times, strict=True))
    for pieces in selections:
        more = live_together(pieces, alternatives, unit, look=lambda: tick(PREPARING))
        times = dict(zip(more.loads, more.times, strict=True)) | times
    loads = tuple(sorted(times, key=times.__getitem__))
    return loads, tuple(times[load] for load in loads)


def tops_at(times: Sequence[int], buffers: Sequence[Buffer], placements: Sequence[Placement]) -> tuple[int, ...]:
    """Return how high a plan's buffers reach at each of the times."""
    tops = [0] * len(times)
    free = [*range(len(times) + 1)]
    """For each time a later one, or itself, before which all are settled."""

    def next_free(k: int) -> int:
        while free[k] != k:
            free[k] = k = free[free[k]]
        return k

    ends = [(place.offset + place.size, buffer) for buffer, place in zip(buffers, placements, strict=True)]
    for top, buffer in sorted(
        ends, key=lambda each: -each[0]
    ):  # so whoever comes first at a time reaches highest there
        for start, end in buffer.live or ():
            k, stop = next_free(bisect_left(times, start)), bisect_left(times, end)
            while k < stop:
                tops[k], free[k] = top, k + 1
                k = next_free(k)
    return tuple(tops)


def lower_joint(problem: Problem, choices: Choices) -> Joint | None:
    """Return the choices with all that is known about addresses; None if that is too large for an exact engine."""
    parts = Parts(spell_out_constants(problem))
    if len(parts.buffers) > MOST_PARTS:
        return None
    every = tuple(replace(buffer, id=i, live=live) for i, (buffer, _, live) in enumerate(parts.buffers))
    joint = Joint(
        instance=lower(replace(problem, buffers=every, constraints=Constraints(), variants=None)).instance,
        choices=choices,
        picks=tuple(pick for _, pick, _ in parts.buffers),
        links=tuple(parts.links),
        exclusions=tuple(
            Relation(one, other, pick)
            for a, b, pick in parts.exclusions
            for one in (a, *parts.longer.get(a, ()))
            for other in (b, *parts.longer.get(b, ()))
        ),
        conflicts=tuple(parts.conflicts),
        same_pool=tuple(parts.same_pool),
        different_pool=tuple(
            Relation(a, b, pick) for group, pick in parts.different_pool for a, b in combinations(group, 2)
        ),
    )
    return joint if joint.is_small() else None


def _memories(problem: Problem, parts: Parts, block: Mapping[int, int], found: Times) -> Memories:
    limit = MOST_TAKEN * max((sum(share.size for share in shares) for shares in found.shares), default=0)
    pinned = _pinned(parts, block, limit)
    taken = tuple(_taken(pool, pinned.get(pool.name, ()), limit) for pool in problem.pools)
    return Memories(
        prices=tuple(pool.cost for pool in problem.pools),
        room=tuple(_room(pool) for pool in problem.pools),
        is_largest=is_largest(problem),
        live=found.shares,
        spare=found.spare,
        ties=tuple(_ties(parts, block)),
        taken=taken if any(each.reserved or each.pinned for each in taken) else (),
    )


def _ties(parts: Parts, block: Mapping[int, int]) -> Iterator[Tie]:
    """Yield what relates two blocks' memories; of very long lists of memories that must differ, nothing."""
    for one, other, pick in parts.same_pool:
        if block[one] != block[other]:
            yield Tie(block[one], block[other], pick, is_same=True)
    if sum(len(group) ** 2 for group, _ in parts.different_pool) <= MOST_TIES:
        for group, pick in parts.different_pool:
            for one, other in combinations(group, 2):
                yield Tie(block[one], block[other], pick, is_same=False)


def _pinned(parts: Parts, block: Mapping[int, int], limit: int) -> dict[str, list[tuple[int, Pick | None, int]]]:
    """Return how high fixed buffers reach in each pool, up to the limit, with what they depend on and their blocks."""
    found: dict[str, list[tuple[int, Pick | None, int]]] = {}
    for i, (buffer, pick, lives) in enumerate(in_time(parts.buffers, PREPARING, "buffer")):
        fixed = buffer.fixed
        if fixed is not None and fixed.offset is not None and buffer.size and any(start < end for start, end in lives):
            found.setdefault(fixed.pool, []).append((min(fixed.offset + buffer.size, limit), pick, block[i]))
    return found


def _taken(pool: Pool, pinned: Sequence[tuple[int, Pick | None, int]], limit: int) -> Taken:
    """Return what is taken in a pool, in numbers up to the limit."""
    longest = sorted(sorted(merged(pool.reserved), key=lambda each: each[0] - each[1])[:MOST_RANGES])
    return Taken(tuple((start, min(end, start + limit)) for start, end in longest), tuple(pinned))


def _room(pool: Pool) -> int | None:
    """Return the bytes of a pool that are not reserved."""
    if pool.size is None:
        return None
    return pool.size - sum(min(end, pool.size) - start for start, end in merged(pool.reserved) if start < pool.size)


def _homes(problem: Problem, parts: Parts, block: Mapping[int, int]) -> dict[int, tuple[int, ...]]:
    """Return the pools in which some member of each block may be."""
    position = {pool.name: p for p, pool in enumerate(problem.pools)}
    every = tuple(sorted(position.values()))
    found: dict[int, set[int]] = {}
    anywhere: set[int] = set()
    for i, (buffer, _, _) in enumerate(in_time(parts.buffers, PREPARING, "buffer")):
        names = buffer.pools if buffer.fixed is None else (buffer.fixed.pool,)
        if names is None:
            anywhere.add(block[i])
        else:
            found.setdefault(block[i], set()).update(position[name] for name in names)
    homes = {root: tuple(sorted(pools)) for root, pools in found.items()}
    return homes | dict.fromkeys(anywhere, every)


def _unbound(parts: Parts, block: Mapping[int, int]) -> dict[int, Fixed | None]:
    """Return the blocks of one buffer whatever is chosen, and where each is fixed."""
    bound = {root for i, root in block.items() if i != root and i not in parts.longer.get(root, ())}
    return {i: parts.buffers[i][0].fixed for i, root in block.items() if i == root and i not in bound}


def _pieces(
    parts: Parts, block: Mapping[int, int], low: Mapping[int, int], *, several: bool
) -> Iterator[tuple[int, Piece]]:
    """Return all parts that may be live, and their pieces, in blocks; of two exclusive ones only the larger. `several`: there are several memories."""
    left_out = _of_exclusive_pairs(parts, block) | _of_tornblocks_of(parts, block, low, several=several)
    for i, (buffer, pick, lives) in enumerate(in_time(parts.buffers, PREPARING, "buffer")):
        if i not in left_out:
            for start, end in lives:
                yield i, Piece(block[i], start, end, low[i], low[i] + buffer.size, pick)


def _of_tornblocks_of(parts: Parts, block: Mapping[int, int], low: Mapping[int, int], *, several: bool) -> set[int]:
    """Return all members but the largest of blocks that alternatives tie differently: which bytes they share depends on the choice.

    With several memories this includes blocks whose members may be there without a tie: each may then be in another memory.
    """
    torn = {block[link.part] for link in parts.links if low[link.part] - low[link.base] != link.offset}
    if several:
        torn |= _of_looseblocks_of(parts, block)
    if not torn:
        return set()
    largest: dict[int, int] = {}
    for i, root in block.items():
        if root in torn and (root not in largest or parts.buffers[i][0].size > parts.buffers[largest[root]][0].size):
            largest[root] = i
    return {i for i, root in block.items() if root in torn and largest[root] != i}


def _of_looseblocks_of(parts: Parts, block: Mapping[int, int]) -> set[int]:
    """Return the blocks in which only some alternative ties two members that are always there, be it by a buffer of its own between them."""
    firm = _firm_groups(parts)
    first: dict[int, int] = {}
    return {
        root
        for i, root in block.items()
        if parts.buffers[i][1] is None and first.setdefault(root, firm.get(i, i)) != firm.get(i, i)
    }


def _firm_groups(parts: Parts) -> dict[int, int]:
    """Return the first member of the group of each buffer that the problem itself ties."""
    firm = (Colocation(*link[:3]) for link in parts.links if link.pick is None)
    return {i: group.members[0] for group in colocated(range(len(parts.buffers)), firm) for i in group.members}


def _of_exclusive_pairs(parts: Parts, block: Mapping[int, int]) -> set[int]:
    """Return buffers to leave out so that no two of the rest may share addresses at one time."""
    if not parts.exclusions:
        return set()
    members: dict[int, list[int]] = {}
    for i, root in block.items():
        members.setdefault(root, []).append(i)
    partners: dict[int, set[int]] = {}
    for a, b, _ in parts.exclusions:
        partners.setdefault(block[a], set()).add(block[b])
        partners.setdefault(block[b], set()).add(block[a])
    counted: set[int] = set()
    left_out = _of_exclusive_members(parts, block)
    for root in sorted(partners, key=lambda each: (-sum(parts.buffers[i][0].size for i in members[each]), each)):
        if counted.isdisjoint(partners[root] - {root}):
            counted.add(root)
        else:
            left_out.update(members[root])
    return left_out


def _of_exclusive_members(parts: Parts, block: Mapping[int, int]) -> set[int]:
    """Return the smaller of two exclusive members of one block, if they may exist without being tied together."""
    within = [(a, b) for a, b, _ in parts.exclusions if block[a] == block[b]]
    if not within:
        return set()
    root = _firm_groups(parts)
    smaller = {min(a, b, key=lambda i: parts.buffers[i][0].size) for a, b in within if root.get(a, a) != root.get(b, b)}
    return smaller.union(*(parts.longer.get(i, ()) for i in smaller))
