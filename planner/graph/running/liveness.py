"""When each tensor is needed, in a program with branches and loops.

Time is a line of ticks: one for each operator in the order of a run, a function's once for each place that runs it, the arms of a branch in
turn. As in compilers, the analysis goes backwards in time: a tensor is needed before a tick if it is read there, or needed after it and not
written there; before a branch if any arm needs it; and after a loop's turn if the next turn does.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, overload

from ...facts.intervals import merged
from ...model.deadline import PREPARING, tick
from ...model.problem import Interval


class Event(NamedTuple):
    """What happens to a tensor at a tick."""

    tick: int
    is_read: bool
    is_written: bool
    """As a whole: its earlier value is irrelevant unless it is read too."""


@dataclass(frozen=True, slots=True)
class EventColumns(Sequence[Event]):
    """Very many events of a tensor."""

    ticks: Sequence[int]
    reads: bytes
    writes: bytes

    def __len__(self) -> int:
        return len(self.ticks)

    @overload
    def __getitem__(self, at: int) -> Event: ...
    @overload
    def __getitem__(self, at: slice) -> EventColumns: ...
    def __getitem__(self, at: int | slice) -> Event | EventColumns:
        if isinstance(at, slice):
            return EventColumns(self.ticks[at], self.reads[at], self.writes[at])
        return Event(self.ticks[at], bool(self.reads[at]), bool(self.writes[at]))


@dataclass(slots=True)
class Part:
    """A range of ticks, with the branches and loops in it."""

    start: int
    end: int = 0
    inside: list[Region] = field(default_factory=list)
    """In order of time; between them are plain ticks."""


@dataclass(slots=True)
class Region:
    """A branch or a loop: parts in sequence on the line of ticks, though not always in a run."""

    is_loop: bool
    parts: list[Part]
    """For a branch its arms, one of which runs. For a loop the condition, which may be empty, and the turn."""

    @property
    def start(self) -> int:
        return self.parts[0].start

    @property
    def end(self) -> int:
        return self.parts[-1].end


class Life(NamedTuple):
    """When a tensor is needed."""

    spans: tuple[Interval, ...] = ()
    """Half-open, in order, none touching another."""
    ends: tuple[int, ...] = ()
    """The last ticks of need, in order."""

    def is_needed_at(self, tick: int) -> bool:
        at = bisect_right(self.spans, (tick, 1 << 63)) - 1
        return at >= 0 and tick < self.spans[at][1]

    def is_needed_after(self, tick: int) -> bool:
        """True if a run that has passed the tick may still need it."""
        at = bisect_left(self.ends, tick)
        return self.is_needed_at(tick) and self.ends[at : at + 1] != (tick,)

    def and_throughout(self, start: int, end: int) -> Life:
        """Return the life of what is needed from `start` until `end`, too."""
        spans = merged((*self.spans, (start, end)))
        return Life(spans, tuple(tick for tick in self.ends if not start <= tick < end))

    def meets(self, other: Life, but_for: Sequence[int] = ()) -> bool:
        """True if both are needed at some tick that is not in `but_for`, which is in order."""
        i = j = 0
        while i < len(self.spans) and j < len(other.spans):
            (a, b), (c, d) = self.spans[i], other.spans[j]
            low, high = max(a, c), min(b, d)
            if low < high and bisect_left(but_for, high) - bisect_left(but_for, low) < high - low:
                return True
            if b < d:
                i += 1
            else:
                j += 1
        return False


def life_of(whole: Part, events: Sequence[Event]) -> Life:
    """Return when a tensor with these events is needed; events are in order, at most one per tick. Read before written means needed from the start."""
    return _Walk(events).life(whole)


class _Walk:
    """Goes back through the program for one tensor."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events
        self._ticks = events.ticks if isinstance(events, EventColumns) else [event.tick for event in events]
        self._known: dict[tuple[int, bool], bool] = {}
        """By region (by identity) and whether it is needed afterwards: is it needed before?"""
        self._spans: list[Interval] = []
        self._ends: set[int] = set()

    def life(self, whole: Part) -> Life:
        self._part(whole, False, True)
        return Life(merged(self._spans), tuple(sorted(self._ends)))

    def _part(self, part: Part, needed: bool, is_last_pass: bool) -> bool:
        """Return whether it is needed before the part, given whether it is afterwards. The last pass records its spans."""
        tick(PREPARING)
        first = bisect_left(self._ticks, part.start)
        at, i = part.end, bisect_left(self._ticks, part.end) - 1
        while i >= first:
            tick(PREPARING)
            event = self._events[i]
            region = _around(part.inside, event.tick)
            begin, end = (event.tick, event.tick + 1) if region is None else (region.start, region.end)
            if needed and is_last_pass:
                self._note(end, at)
            if region is not None:
                needed = self._region(region, needed, is_last_pass)
                i = bisect_left(self._ticks, begin) - 1
            else:
                if is_last_pass:
                    self._note(begin, end)
                    if not needed:
                        self._ends.add(event.tick)
                needed = event.is_read or (needed and not event.is_written)
                i -= 1
            at = begin
        if needed and is_last_pass:
            self._note(part.start, at)
        return needed

    def _region(self, region: Region, needed: bool, is_last_pass: bool) -> bool:
        key = (id(region), needed)
        before = self._known.get(key)
        if before is None:
            before = self._known[key] = self._before(region, needed)
        if is_last_pass:
            if region.is_loop:
                question, turn = region.parts
                after_question = self._part(turn, before, True) or needed
                self._part(question, after_question, True)
            else:
                self._arms(region.parts, needed, True)
        return before

    def _before(self, region: Region, needed: bool) -> bool:
        if not region.is_loop:
            return self._arms(region.parts, needed, False)
        # A need before a turn because of a later turn is also a need of that turn itself.
        question, turn = region.parts
        return self._part(question, self._part(turn, False, False) or needed, False)

    def _arms(self, arms: Sequence[Part], needed: bool, is_last_pass: bool) -> bool:
        """Return whether it is needed before any arm. Only arms in which something happens are gone through: the others change nothing."""
        before, busy, seen = False, 0, 0
        i = bisect_left(self._ticks, arms[0].start)
        while i < len(self._ticks) and self._ticks[i] < arms[-1].end:
            at = bisect_right(arms, self._ticks[i], key=lambda arm: arm.start) - 1
            if needed and is_last_pass:
                self._note(arms[seen].start, arms[at].start)
            before = self._part(arms[at], needed, is_last_pass) or before
            i = bisect_left(self._ticks, arms[at].end)
            busy, seen = busy + 1, at + 1
        if needed and is_last_pass and seen < len(arms):
            self._note(arms[seen].start, arms[-1].end)
        return before or (needed and busy < len(arms))

    def _note(self, start: int, end: int) -> None:
        if start < end:
            self._spans.append((start, end))


def _around(regions: Sequence[Region], tick: int) -> Region | None:
    """Return the region that contains the tick."""
    at = bisect_right(regions, tick, key=lambda region: region.start) - 1
    return regions[at] if at >= 0 and tick < regions[at].end else None
