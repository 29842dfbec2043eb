"""Which tensors lie where relative to each other, as far as rules have decided: groups that move as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property

from ...model.problem import BufferId, Colocation, Interval
from ..operators import Tensor
from ..running.liveness import Life

FEW = 16
"""Members of a group that are looked at one by one."""
LEAST_BLOCK = 32
MOST_BLOCKS = 512
"""Of ticks."""


@dataclass(slots=True, eq=False)
class _Group:
    """Tensors that move as one."""

    members: list[BufferId]
    written: list[BufferId]
    """Those of them that something new may be put into."""
    lowest: int
    pools: tuple[str, ...] | None
    """Where all of them may be; None: anywhere."""
    by_block: dict[int, list[BufferId]] = field(default_factory=dict)
    """Who is needed in each block of ticks, so that not all have to be looked at."""


class Places:
    """Groups of tensors with their offsets; at first each tensor is a group of its own."""

    def __init__(self, tensors: Mapping[BufferId, Tensor], lives: Mapping[BufferId, Life]) -> None:
        self.tensor = tensors
        self._lives = lives
        end = max((life.spans[-1][1] for life in lives.values() if life.spans), default=0)
        self._block = max(LEAST_BLOCK, end // MOST_BLOCKS)
        self._groups: dict[BufferId, _Group] = {}
        """Of the tensors that somebody has asked about: of most of a large program nobody does."""
        self._offset: dict[BufferId, int] = defaultdict(int)

    def _group(self, tensor: BufferId) -> _Group:
        found = self._groups.get(tensor)
        if found is None:
            found = self._groups[tensor] = _Group([tensor], [tensor], 0, self.tensor[tensor].pools)
        return found

    @cached_property
    def _order(self) -> dict[BufferId, int]:
        return {id_: i for i, id_ in enumerate(self.tensor)}

    def group(self, tensor: BufferId) -> tuple[BufferId, ...]:
        """The tensors that move as one with it, itself among them."""
        return tuple(self._group(tensor).members)

    def together(self, first: BufferId, second: BufferId) -> bool:
        """True if they move as one already."""
        return self._group(first) is self._group(second)

    def range(self, tensor: BufferId) -> Interval:
        """Its bytes, counted from wherever its group counts."""
        low = self._offset[tensor]
        return low, low + self.tensor[tensor].bytes

    def fills_its_group(self, tensor: BufferId) -> bool:
        """True if nothing in its group reaches beyond it: it is the source of all, or an alias of that."""
        low, high = self.range(tensor)
        return all(low <= start and end <= high for start, end in map(self.range, self._group(tensor).members))

    def meeting(self, tensor: BufferId, ticks: Iterable[int]) -> Iterator[BufferId]:
        """The members of its group that have bytes in common with it and may be needed at one of the ticks, itself among them."""
        mine = self.range(tensor)
        for other in self._about(self._group(tensor), ((tick, tick + 1) for tick in ticks)):
            if _meet(mine, self.range(other)):
                yield other

    def _about(self, group: _Group, spans: Iterable[Interval]) -> Iterable[BufferId]:
        """Members that may be needed within the spans, and a few more."""
        if len(group.members) <= FEW:
            return group.members
        if not group.by_block:
            self._enter(group, group.members)
        blocks = {block for start, end in spans for block in range(start // self._block, (end - 1) // self._block + 1)}
        return dict.fromkeys(id_ for block in sorted(blocks) for id_ in group.by_block.get(block, ()))

    def _enter(self, group: _Group, members: Iterable[BufferId]) -> None:
        for id_ in members:
            for start, end in self._lives[id_].spans:
                for block in range(start // self._block, (end - 1) // self._block + 1):
                    there = group.by_block.setdefault(block, [])
                    if not there or there[-1] != id_:
                        there.append(id_)

    def offset(self, tensor: BufferId, source: BufferId) -> int:
        """How far the tensor lies from another one of its group."""
        return self._offset[tensor] - self._offset[source]

    def forget_unwritten(self, tensor: BufferId, is_written: Callable[[BufferId], bool]) -> None:
        """Members of its group that nothing is put into any more need not be looked at as such."""
        group = self._group(tensor)
        group.written = [id_ for id_ in group.written if is_written(id_)]

    def written_together(
        self, tensor: BufferId, source: BufferId, offset: int, is_written: Callable[[BufferId], bool]
    ) -> Iterator[tuple[BufferId, BufferId]]:
        """Pairs, one of each group, that would share bytes if the tensor lay at the source plus offset, and of which one is written at least."""
        first, second = self._group(tensor), self._group(source)
        ours, theirs = (list(filter(is_written, group.written)) for group in (first, second))
        rest = [id_ for id_ in first.members if id_ not in ours] if theirs else []
        yield from self._overlapping(ours, second.members, tensor, source, offset)
        yield from self._overlapping(rest, theirs, tensor, source, offset)

    def _overlapping(
        self, ours: Iterable[BufferId], others: Iterable[BufferId], tensor: BufferId, source: BufferId, offset: int
    ) -> Iterator[tuple[BufferId, BufferId]]:
        shift = self._offset[source] + offset - self._offset[tensor]
        for mine in ours:
            low, high = self.range(mine)
            for theirs in others:
                if _meet((low + shift, high + shift), self.range(theirs)):
                    yield mine, theirs

    def clashes(
        self, tensor: BufferId, source: BufferId, but_for: Sequence[int]
    ) -> Iterator[tuple[BufferId, BufferId]]:
        """Pairs that would share bytes while both are needed if the tensor lay at the source's place; the two themselves, and what lies exactly
        where the source does, may meet at those ticks."""
        lives = self._lives
        for one in self._group(tensor).members:
            others = self._about(self._group(source), lives[one].spans)
            for mine, theirs in self._overlapping((one,), others, tensor, source, 0):
                is_exact = mine == tensor and self.range(theirs) == self.range(source)
                if lives[mine].meets(lives[theirs], but_for if is_exact else ()):
                    yield mine, theirs

    def misplaced(self, joins: Iterable[tuple[BufferId, BufferId, int]]) -> BufferId | None:
        """A tensor that would not be aligned if these (tensor, source, offset) lay so; the joins are of different groups to one."""
        joins = tuple(joins)
        shifts = {
            tensor: self._offset[source] + offset - self._offset[tensor]
            for tensor, source, offset in joins
            if not self.together(tensor, source)
        }
        if not shifts:
            return None
        whole = self._group(joins[0][1])
        lowest = min(whole.lowest, *(self._group(tensor).lowest + shift for tensor, shift in shifts.items()))
        moved = [(self._group(tensor), shift) for tensor, shift in shifts.items()]
        if lowest != whole.lowest:
            moved.append((whole, 0))
        for group, shift in moved:
            for id_ in group.members:
                if (self._offset[id_] + shift - lowest) % self.tensor[id_].alignment:
                    return id_
        return None

    def without_common_pool(self, joins: Iterable[tuple[BufferId, BufferId, int]]) -> BufferId | None:
        """A tensor that would be in a group which no pool may hold."""
        allowed: tuple[str, ...] | None = None
        for tensor, source, _ in joins:
            for pools in (allowed, self._group(tensor).pools, self._group(source).pools):
                allowed = _common(allowed, pools)
            if allowed == ():
                return tensor
        return None

    def join(self, tensor: BufferId, source: BufferId, offset: int) -> None:
        """From now on the tensor lies at the source plus offset, and all that move with either move as one."""
        if self.together(tensor, source):
            return
        shift = self._offset[source] + offset - self._offset[tensor]
        larger, smaller = self._group(source), self._group(tensor)
        if len(smaller.members) > len(larger.members):
            larger, smaller, shift = smaller, larger, -shift
        for id_ in smaller.members:
            self._offset[id_] += shift
            self._groups[id_] = larger
        larger.members += smaller.members
        larger.written += smaller.written
        if larger.by_block:
            self._enter(larger, smaller.members)
        larger.lowest = min(larger.lowest, smaller.lowest + shift)
        larger.pools = _common(larger.pools, smaller.pools)

    def colocations(self, outside: Set[BufferId]) -> tuple[Colocation, ...]:
        """The tensors of every group that is planned relative to the one that begins first (of several the largest, then the first in the graph)."""
        found: list[Colocation] = []
        bases: dict[int, BufferId] = {}
        for id_ in self.tensor:
            group = self._groups.get(id_)
            if group is None or len(group.members) == 1 or id_ in outside:
                continue
            if id(group) not in bases:
                bases[id(group)] = self.base(id_)
            base = bases[id(group)]
            if base != id_:
                found.append(Colocation(id_, base, self.offset(id_, base)))
        return tuple(found)

    def base(self, tensor: BufferId) -> BufferId:
        """The tensor that its group is placed by."""
        return min(
            self._group(tensor).members, key=lambda id_: (self._offset[id_], -self.tensor[id_].bytes, self._order[id_])
        )


def _common(first: tuple[str, ...] | None, second: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Pools that both allow."""
    if first is None or second is None:
        return second if first is None else first
    return tuple(pool for pool in first if pool in second)


def _meet(first: Interval, second: Interval) -> bool:
    return max(first[0], second[0]) < min(first[1], second[1])
