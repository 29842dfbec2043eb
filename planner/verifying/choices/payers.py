"""What takes room if some alternative is chosen, or always: buffers and blocks, none of which may share bytes with another that is there with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from ...facts.colocation import groups as colocated
from ...facts.constants import spell_out_constants
from ...facts.intervals import covers, merged
from ...facts.sweep import VERIFYING
from ...model.deadline import in_time
from ...model.problem import Buffer, BufferId, Colocation, Constraints, Interval, Problem

Owner: TypeAlias = tuple[int, int] | None
"""A group and one of its alternatives; None: it is there whatever is chosen."""
Span: TypeAlias = tuple[int, int, int]
"""Bytes, and the time in which they are live."""


class Payer(NamedTuple):
    """What lies in one pool, and pays there for the room that it takes."""

    owner: Owner
    pools: frozenset[str]
    spans: tuple[Span, ...]
    is_single: bool = True
    """It is one buffer, not a block."""


def payers(problem: Problem) -> list[Payer]:
    """Return all that takes room in a problem with variants."""
    return [*_Payers(spell_out_constants(problem)).payers()]


class _Payers:
    """Finds what pays: buffers and blocks, none of which may share bytes with another that is there with it."""

    def __init__(self, problem: Problem) -> None:
        assert problem.variants is not None
        self._problem, self._variants = problem, problem.variants
        self._sizes = {pool.name: pool.size for pool in problem.pools}
        self._buffers: list[Buffer] = []
        self._owners: list[Owner] = []
        self._ties: list[tuple[Colocation, Owner]] = []
        """Between numbers of buffers."""
        self._apart: list[tuple[int, int]] = []
        """Buffers that are never there together."""
        self._longer: dict[int, dict[Owner, tuple[Interval, ...]]] = {}
        """By buffer of the problem: which alternatives need it at further times."""
        shared = self._add(problem.buffers, problem.constraints, None, {})
        for g, group in enumerate(in_time(self._variants.groups, VERIFYING)):
            for a, alternative in enumerate(group.alternatives):
                self._add(alternative.buffers, alternative.constraints, (g, a), shared)
                for more in alternative.live:
                    mine = self._longer.setdefault(shared[more.buffer], {})
                    mine[g, a] = merged([*mine.get((g, a), ()), *more.live])

    def _add(
        self, buffers: Iterable[Buffer], rules: Constraints, owner: Owner, shared: Mapping[BufferId, int]
    ) -> dict[BufferId, int]:
        own: dict[BufferId, int] = {}
        for buffer in buffers:
            own[buffer.id] = len(self._buffers)
            self._buffers.append(buffer)
            self._owners.append(owner)
        if rules.colocations or rules.exclusions:
            at = {**shared, **own}
            self._ties += [(Colocation(at[c.buffer], at[c.base], c.offset), owner) for c in rules.colocations]
            self._apart += [(at[one], at[other]) for one, other in rules.exclusions]
        return own

    def payers(self) -> Iterator[Payer]:
        """Yield all payers."""
        blocks, offsets = self._blocks()
        for block in self._never_together(blocks):
            yield from self._single(block[0]) if len(block) == 1 else [self._block(block, offsets)]

    def _blocks(self) -> tuple[list[tuple[int, ...]], dict[int, int]]:
        """Return what counts as one, and the offsets of those in blocks. Of what alternatives tie to other things only the largest is kept."""
        tied = colocated(range(len(self._buffers)), [tie for tie, _ in self._ties])
        ties: dict[int, list[Owner]] = {}
        for tie, owner in self._ties:
            ties.setdefault(int(tie.buffer), []).append(owner)
        inside, offsets = set[int](), dict[int, int]()
        found: list[tuple[int, ...]] = []
        for group in in_time(tied, VERIFYING):
            inside.update(group.members)
            owners = {self._owners[i] for i in group.members}
            owners.update(owner for i in group.members for owner in ties.get(i, ()))
            if len(owners) == 1:
                found.append(group.members)
                offsets.update(zip(group.members, group.offsets, strict=True))
            else:
                found.append((max(group.members, key=self._rank),))
        return [*((i,) for i in range(len(self._buffers)) if i not in inside), *found], offsets

    def _rank(self, i: int) -> tuple[bool, int, int]:
        """Which of several is kept: one that is always there, one that takes much for long."""
        return self._owners[i] is None, self._area(i), -i

    def _area(self, i: int) -> int:
        return self._buffers[i].size * sum(end - start for start, end in merged(self._buffers[i].live or ()))

    def _never_together(self, blocks: Sequence[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
        """Yield blocks of which no two are never there together."""
        if not self._apart:
            yield from blocks
            return
        block_of = {i: block for block in blocks for i in block}
        others: dict[int, list[int]] = {}
        for one, other in self._apart:
            others.setdefault(one, []).append(other)
            others.setdefault(other, []).append(one)
        gone = set[tuple[int, ...]]()
        for block in sorted(blocks, key=lambda each: max(map(self._rank, each)), reverse=True):
            if block not in gone:
                apart = {block_of[other] for i in block for other in others.get(i, ()) if other in block_of}
                gone |= apart - {block}
                yield block

    def _single(self, i: int) -> Iterator[Payer]:
        """Yield a buffer, and what of its lifetime depends on alternatives; times that two groups add are counted for one."""
        buffer, owner = self._buffers[i], self._owners[i]
        pools, own = self._pools([i]), merged(buffer.live or ())
        longer = self._longer.get(i, {})
        of_groups = dict.fromkeys(pick[0] for pick in longer if pick is not None)
        if len(of_groups) == 1:
            (g,) = of_groups
            for a in range(len(self._variants.groups[g].alternatives)):
                yield Payer((g, a), pools, _spans(buffer.size, merged([*own, *longer.get((g, a), ())])))
            return
        yield Payer(owner, pools, _spans(buffer.size, own))
        known = own
        for g in of_groups:
            mine = {pick: live for pick, live in longer.items() if pick is not None and pick[0] == g}
            for pick, live in mine.items():
                yield Payer(pick, pools, _spans(buffer.size, _without(live, known)))
            known = merged([*known, *(each for live in mine.values() for each in live)])

    def _block(self, block: tuple[int, ...], offsets: Mapping[int, int]) -> Payer:
        """Return buffers that move as one. Further times at which alternatives need some of them are left out."""
        members = [(self._buffers[i], offsets[i]) for i in block]
        ends = sorted({end for buffer, _ in members for live in buffer.live or () for end in live})
        spans = []
        for start, end in pairwise(ends):
            ranges = [(low, low + each.size) for each, low in members if covers(each.live, start)]
            spans.append((sum(high - low for low, high in merged(ranges)), start, end))
        return Payer(self._owners[block[0]], self._pools(block), tuple(span for span in spans if span[0]), False)

    def _pools(self, block: Sequence[int]) -> frozenset[str]:
        """Return the pools in which all of these may be; those that have room for each, if there are any."""
        found = frozenset(self._sizes)
        for i in block:
            buffer = self._buffers[i]
            if buffer.fixed is not None:
                found &= {buffer.fixed.pool}
            elif buffer.pools is not None:
                found &= frozenset(buffer.pools)
        height = max(self._buffers[i].size for i in block)
        roomy = frozenset(name for name in found if (size := self._sizes[name]) is None or height <= size)
        return roomy or found or frozenset(self._sizes)


def _spans(size: int, lives: Iterable[Interval]) -> tuple[Span, ...]:
    return tuple((size, start, end) for start, end in lives if start < end) if size else ()


def _without(lives: Iterable[Interval], known: Sequence[Interval]) -> tuple[Interval, ...]:
    """Return the times of the first that are not among the second, which are merged."""
    left = [*lives]
    for start, end in known:
        left = [
            part for low, high in left for part in ((low, min(high, start)), (max(low, end), high)) if part[0] < part[1]
        ]
    return tuple(left)
