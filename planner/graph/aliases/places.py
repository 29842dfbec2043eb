"""The relative places of tensors decided so far: groups that move as one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from math import lcm

from ...model.deadline import PREPARING, tick
from ...model.problem import BufferId, Colocation, Interval
from ..operators import Tensor, TensorKind
from ..running.liveness import Life

FEW = 16
"""Up to this many members of a group are examined one by one."""
LEAST_BLOCK = 5
"""Blocks of ticks are 2 to the power of this, or longer."""
LARGEST_MULTIPLE = 1 << 62
"""Common multiples of alignments beyond this are not kept."""
THERE_FIRST = (TensorKind.INPUT, TensorKind.MUTABLE)
"""Written by something other than a step."""


@dataclass(slots=True, eq=False)
class _Group:
    """Tensors that move as one."""

    members: list[BufferId]
    written: dict[BufferId, None]
    """Those into which something new may be written."""
    given: list[BufferId]
    """Those that are there before the first step."""
    lowest: int
    highest: int
    alignment: int
    """A common multiple of its members' alignments; 0: it is too large, or some are misaligned."""
    pools: tuple[str, ...] | None
    """The pools that all of them may use; None: any."""
    needed: _ByTime | None = None
    """When its members are needed, if they are not few."""


class _ByTime:
    """Tensors by the time at which they are needed, so that not all have to be examined.

    Each is entered in blocks of ticks that are at least as long as it is needed: two for each time, at most.
    """

    def __init__(self) -> None:
        self._blocks: dict[int, dict[int, list[BufferId]]] = {}
        """By the length of the blocks, as a power of 2, and by block."""

    def enter(self, tensor: BufferId, spans: Iterable[Interval]) -> None:
        for start, end in spans:
            power = max((end - start - 1).bit_length(), LEAST_BLOCK)
            blocks = self._blocks.setdefault(power, {})
            for block in {start >> power, (end - 1) >> power}:
                there = blocks.setdefault(block, [])
                if not there or there[-1] != tensor:
                    there.append(tensor)

    def within(self, spans: Iterable[Interval]) -> Collection[BufferId]:
        """Return those that are needed within the spans, and possibly a few more."""
        found: dict[BufferId, None] = {}
        for start, end in spans:
            for power, blocks in self._blocks.items():
                first, last = start >> power, (end - 1) >> power
                some = range(first, last + 1) if last - first < len(blocks) else blocks
                for block in some:
                    if first <= block <= last and block in blocks:
                        found.update(dict.fromkeys(blocks[block]))
        return found


class Places:
    """Groups of tensors with their offsets; at first each tensor is its own group."""

    def __init__(self, tensors: Mapping[BufferId, Tensor], lives: Mapping[BufferId, Life]) -> None:
        self.tensor = tensors
        self._lives = lives
        self._groups: dict[BufferId, _Group] = {}
        """The groups of requested tensors; most of a large program is never requested."""
        self._offsets: dict[BufferId, int] = {}
        """From the origin of its group, where that is not 0."""

    def _group(self, tensor: BufferId) -> _Group:
        found = self._groups.get(tensor)
        if found is None:
            form = self.tensor[tensor]
            given = [tensor] if form.kind in THERE_FIRST else []
            found = _Group([tensor], {tensor: None}, given, 0, form.bytes, form.alignment, form.pools)
            self._groups[tensor] = found
        return found

    def _offset(self, tensor: BufferId) -> int:
        return self._offsets.get(tensor, 0)

    def group(self, tensor: BufferId) -> tuple[BufferId, ...]:
        """Return the group that moves with the tensor, including it."""
        return tuple(self._group(tensor).members)

    def group_of(self, tensor: BufferId) -> object:
        """Return what is the same for all that move as one with the tensor, and for no others."""
        return self._group(tensor)

    def together(self, first: BufferId, second: BufferId) -> bool:
        """True if they already move as one."""
        return self._group(first) is self._group(second)

    def range(self, tensor: BufferId) -> Interval:
        """Return its bytes, counted from its group's origin."""
        low = self._offset(tensor)
        return low, low + self.tensor[tensor].bytes

    def fills_its_group(self, tensor: BufferId) -> bool:
        """True if nothing in its group extends beyond it: it is the source of all, or an alias of that."""
        group = self._group(tensor)
        return self.range(tensor) == (group.lowest, group.highest)

    def meeting(self, tensor: BufferId, ticks: Iterable[int]) -> Iterator[BufferId]:
        """Return the members of its group, including itself, that share bytes with it and may be needed at one of the ticks."""
        mine = self.range(tensor)
        for other in self._about(self._group(tensor), ((at, at + 1) for at in ticks)):
            if _meet(mine, self.range(other)):
                yield other

    def _about(self, group: _Group, spans: Iterable[Interval]) -> Collection[BufferId]:
        """Return the members that may be needed within the spans, and possibly a few more."""
        if len(group.members) <= FEW:
            return group.members
        if group.needed is None:
            group.needed = _ByTime()
            self._enter(group.needed, group.members)
        return group.needed.within(spans)

    def _enter(self, needed: _ByTime, members: Iterable[BufferId]) -> None:
        for id_ in members:
            needed.enter(id_, self._lives[id_].spans)

    def offset(self, tensor: BufferId, source: BufferId) -> int:
        """Return the tensor's offset from another one of its group."""
        return self._offset(tensor) - self._offset(source)

    def forget_written(self, tensor: BufferId) -> None:
        """Nothing writes into this tensor any more."""
        self._group(tensor).written.pop(tensor, None)

    def given_together(self, tensor: BufferId, source: BufferId, offset: int) -> Iterator[tuple[BufferId, BufferId]]:
        """Yield pairs, one of each group, that would share bytes if the tensor lay at the source plus offset, and are there before the first step."""
        yield from self._overlapping(self._group(tensor).given, self._group(source).given, tensor, source, offset)

    def written_while_needed(
        self, tensor: BufferId, source: BufferId, offset: int, ticks: Callable[[BufferId], tuple[int, ...]]
    ) -> Iterator[tuple[BufferId, BufferId]]:
        """Yield what is written and what may be needed at one of the `ticks` at which it is, one of each group, where they would share bytes
        if the tensor lay at the source plus offset.
        """
        shift = self._offset(source) + offset - self._offset(tensor)
        first, second = self._group(tensor), self._group(source)
        for writing, other, moved in (first, second, shift), (second, first, -shift):
            for written, kept in self._meeting_in_time(writing, other, ticks):
                low, high = self.range(written)
                if _meet((low + moved, high + moved), self.range(kept)):
                    yield written, kept

    def _meeting_in_time(
        self, writing: _Group, other: _Group, ticks: Callable[[BufferId], tuple[int, ...]]
    ) -> Iterator[tuple[BufferId, BufferId]]:
        """Yield what is written in one group, and what may be needed then in the other. Whatever is written counts as needed at that tick."""
        if len(writing.written) <= max(len(other.members), FEW):
            for written in writing.written:
                times = ticks(written)
                beside = self._about(other, ((at, at + 1) for at in times)) if times else ()
                tick(PREPARING, len(beside) + 1)
                for kept in beside:
                    yield written, kept
            return
        for kept in other.members:
            beside = self._about(writing, self._lives[kept].spans)
            tick(PREPARING, len(beside) + 1)
            for written in beside:
                if ticks(written):
                    yield written, kept

    def _overlapping(
        self, ours: Iterable[BufferId], others: Collection[BufferId], tensor: BufferId, source: BufferId, offset: int
    ) -> Iterator[tuple[BufferId, BufferId]]:
        shift = self._offset(source) + offset - self._offset(tensor)
        for mine in ours:
            low, high = self.range(mine)
            tick(PREPARING, len(others) + 1)
            for theirs in others:
                if _meet((low + shift, high + shift), self.range(theirs)):
                    yield mine, theirs

    def clashes(
        self, tensor: BufferId, source: BufferId, but_for: Sequence[int]
    ) -> Iterator[tuple[BufferId, BufferId]]:
        """Yield pairs that would share bytes while both are needed if the tensor lay at the source's place. The two themselves, and what lies
        exactly at the source, may meet at these ticks, unless both are there before the first step: then they have met before.
        """
        lives, is_there_first = self._lives, self.tensor[tensor].kind in THERE_FIRST
        for one in self._group(tensor).members:
            others = self._about(self._group(source), lives[one].spans)
            for mine, theirs in self._overlapping((one,), others, tensor, source, 0):
                is_exact = mine == tensor and self.range(theirs) == self.range(source)
                met_before = is_there_first and self.tensor[theirs].kind in THERE_FIRST
                if lives[mine].meets(lives[theirs], but_for if is_exact and not met_before else ()):
                    yield mine, theirs

    def misplaced(self, joins: Iterable[tuple[BufferId, BufferId, int]]) -> BufferId | None:
        """Return a tensor that these (tensor, source, offset) would misalign; the joins connect different groups to one."""
        joins = tuple(joins)
        shifts = {
            tensor: self._offset(source) + offset - self._offset(tensor)
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
            if group.alignment and (group.lowest + shift - lowest) % group.alignment == 0:
                continue
            for id_ in group.members:
                if (self._offset(id_) + shift - lowest) % self.tensor[id_].alignment:
                    return id_
        return None

    def without_common_pool(self, joins: Iterable[tuple[BufferId, BufferId, int]]) -> BufferId | None:
        """Return a tensor that would be in a group without a common pool."""
        allowed: tuple[str, ...] | None = None
        for tensor, source, _ in joins:
            for pools in (allowed, self._group(tensor).pools, self._group(source).pools):
                allowed = _common(allowed, pools)
            if allowed == ():
                return tensor
        return None

    def join(self, tensor: BufferId, source: BufferId, offset: int, *, is_aligned: bool) -> None:
        """Put the tensor at the source plus offset, and merge their groups. `is_aligned`: `misplaced` has found nothing."""
        if self.together(tensor, source):
            return
        shift = self._offset(source) + offset - self._offset(tensor)
        larger, smaller = self._group(source), self._group(tensor)
        if len(smaller.members) > len(larger.members):
            larger, smaller, shift = smaller, larger, -shift
        for id_ in smaller.members:
            if shift:
                self._offsets[id_] = self._offset(id_) + shift
            self._groups[id_] = larger
        larger.members += smaller.members
        larger.written |= smaller.written
        if larger.needed is not None:
            self._enter(larger.needed, smaller.members)
        larger.given += smaller.given
        larger.lowest = min(larger.lowest, smaller.lowest + shift)
        larger.highest = max(larger.highest, smaller.highest + shift)
        is_aligned &= bool(larger.alignment and smaller.alignment)
        common = lcm(larger.alignment, smaller.alignment) if is_aligned else 0
        larger.alignment = common if common <= LARGEST_MULTIPLE else 0
        larger.pools = _common(larger.pools, smaller.pools)

    def colocations(self, outside: Set[BufferId]) -> tuple[Colocation, ...]:
        """Return the tensors of every planned group relative to the one that begins first (then the largest, then the first in the graph)."""
        found: list[Colocation] = []
        bases: dict[int, BufferId] = {}
        for id_ in self.tensor:
            group = self._groups.get(id_)
            if group is not None and len(group.members) > 1:
                base = bases.setdefault(id(group), id_)
                if self._rank(id_) < self._rank(base):
                    bases[id(group)] = id_
        for id_ in self.tensor:
            group = self._groups.get(id_)
            if group is None or len(group.members) == 1 or id_ in outside:
                continue
            base = bases[id(group)]
            if base != id_:
                found.append(Colocation(id_, base, self.offset(id_, base)))
        return tuple(found)

    def _rank(self, tensor: BufferId) -> tuple[int, int]:
        return self._offset(tensor), -self.tensor[tensor].bytes


def _common(first: tuple[str, ...] | None, second: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return the pools that both allow."""
    if first is None or second is None:
        return second if first is None else first
    return tuple(pool for pool in first if pool in second)


def _meet(first: Interval, second: Interval) -> bool:
    return max(first[0], second[0]) < min(first[1], second[1])
