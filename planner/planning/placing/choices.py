"""A problem with variants in the solvers' numbers: what each alternative costs, and what is live together if it is chosen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import gcd

from solvers.choice.instance import Choices, Pick
from solvers.choice.loads import Piece, live_together
from solvers.model.instance import Term

from ...facts.colocation import groups as colocated
from ...facts.constants import spell_out_constants
from ...facts.variants import rules, weighted_cost
from ...model.problem import Buffer, BufferId, Colocation, Interval, Pair, Problem


@dataclass(frozen=True, slots=True)
class BytesLive:
    """How the objective's first term follows from the bytes that are live together: each needs room in some pool."""

    least_price: int
    """Of the sum of peaks, what a byte costs where it is cheapest."""
    pools: int
    """Over so many the largest peak is spread at best."""

    def most_load(self, value: int) -> int:
        return value * self.pools if self.pools else value // self.least_price if self.least_price else 1 << 62

    def least_value(self, load: int) -> int:
        return -(-load // self.pools) if self.pools else load * self.least_price


def measure_of(problem: Problem) -> BytesLive:
    """What the objective makes of bytes."""
    if problem.terms == (Term.LARGEST_PEAK,):
        return BytesLive(1, len(problem.pools))
    return BytesLive(min(pool.cost for pool in problem.pools), 0)


def room(problem: Problem) -> int | None:
    """What the pools hold together; None: one of them has no limit."""
    sizes = [pool.size for pool in problem.pools]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def lower_choices(problem: Problem) -> Choices:
    """What there is to choose. Conflicts without lifetimes, reserved ranges and pins only make a choice need more than its load."""
    variants = problem.variants
    assert variants is not None
    alternatives = [len(group.alternatives) for group in variants.groups]
    requires, forbids = rules(variants)
    unit = 0
    for pool in problem.pools:
        unit = gcd(unit, pool.alignment)
    return Choices(
        costs=tuple(
            tuple(weighted_cost(variants, each.costs) for each in group.alternatives) for group in variants.groups
        ),
        loads=live_together(_pieces(problem), alternatives, unit),
        requires=tuple(requires),
        forbids=tuple(forbids),
    )


def _pieces(problem: Problem) -> Iterator[Piece]:
    """All that may be live, in blocks; of two that exclude each other the larger one alone."""
    parts = _Parts(spell_out_constants(problem))
    ids = range(len(parts.buffers))
    block, low = {i: i for i in ids}, dict.fromkeys(ids, 0)
    for group in colocated(ids, parts.colocations):
        for member, offset in zip(group.members, group.offsets, strict=True):
            block[member], low[member] = group.members[0], offset
    left_out = _of_exclusive_pairs(parts, block)
    for i, (buffer, pick, lives) in enumerate(parts.buffers):
        if i not in left_out:
            for start, end in lives:
                yield Piece(block[i], start, end, low[i], low[i] + buffer.size, pick)


class _Parts:
    """All buffers of all alternatives at once; where an alternative makes one of the problem's live longer, that is a buffer in its place."""

    def __init__(self, problem: Problem) -> None:
        assert problem.variants is not None
        self.buffers: list[tuple[Buffer, Pick | None, tuple[Interval, ...]]] = []
        self.colocations: list[Colocation] = []
        self.exclusions: list[tuple[int, int]] = []
        shared: dict[BufferId, int] = {}
        for buffer in problem.buffers:
            shared[buffer.id] = self._add(buffer, None, buffer.live or ())
        self._relate(shared, problem.constraints.colocations, problem.constraints.exclusions)
        for g, group in enumerate(problem.variants.groups):
            for a, alternative in enumerate(group.alternatives):
                index = dict(shared)
                for buffer in alternative.buffers:
                    index[buffer.id] = self._add(buffer, (g, a), buffer.live or ())
                self._relate(index, alternative.constraints.colocations, alternative.constraints.exclusions)
                for more in alternative.live:
                    longer = self._add(self.buffers[shared[more.buffer]][0], (g, a), more.live)
                    self.colocations.append(Colocation(longer, shared[more.buffer], 0))

    def _add(self, buffer: Buffer, pick: Pick | None, live: tuple[Interval, ...]) -> int:
        self.buffers.append((buffer, pick, live))
        return len(self.buffers) - 1

    def _relate(self, index: dict[BufferId, int], ties: Iterable[Colocation], exclusions: Iterable[Pair]) -> None:
        self.colocations += [Colocation(index[c.buffer], index[c.base], c.offset) for c in ties]
        self.exclusions += [(index[a], index[b]) for a, b in exclusions]


def _of_exclusive_pairs(parts: _Parts, block: dict[int, int]) -> set[int]:
    """Buffers that are not counted, so that no two are left that may share addresses at one time."""
    if not parts.exclusions:
        return set()
    members: dict[int, list[int]] = {}
    for i, root in block.items():
        members.setdefault(root, []).append(i)
    partners: dict[int, set[int]] = {}
    for a, b in parts.exclusions:
        partners.setdefault(block[a], set()).add(block[b])
        partners.setdefault(block[b], set()).add(block[a])
    counted: set[int] = set()
    left_out: set[int] = set()
    for root in sorted(partners, key=lambda each: (-sum(parts.buffers[i][0].size for i in members[each]), each)):
        if counted.isdisjoint(partners[root] - {root}):
            counted.add(root)
        else:
            left_out.update(members[root])
    return left_out
