"""XLA's text dump of a buffer assignment (`*-buffer-assignment.txt`), with the times of `*-live-range.txt` appended if available.

Offsets count from the begin of each allocation. The temporary allocations of a colour are one memory, one behind the other.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...checks import sound_as_read
from ...checks.report import Report, quoted
from ...model.columns.gathered import Gathered
from ...model.columns.numbered import Numbered
from ...model.columns.texts import GatheredTexts
from ...model.errors import Code
from ...model.problem import MAX_ADDRESS, Buffer, Lifetimes, Pool, Problem
from ..text.lines import lines, require_any, times, whole
from .buffer_assignment import ALIGNMENT
from .shared_places import OwnPlan, tied

if TYPE_CHECKING:
    from ..documents import Source

ASSIGNMENT, RANGES = "BufferAssignment:", "BufferLiveRange:"
SAMPLE = "allocation 0: size 64, preallocated-temp:"
VALUE = "value: <0 a @0> (size=64,offset=0): s8[64]{0}"
RANGE = "a{}:0-1"
OTHER_PARTS = ("HloLiveRange", "Total bytes", "Used values")
UNTIMED = "there are no times in it, so that each allocation is one buffer; put the file that ends in -live-range.txt behind it"
_ALLOCATION = re.compile(r"allocation (?P<id>[0-9]{1,19}): .{0,100}?\bsize (?P<size>[0-9]{1,40})(?P<rest>.*):")
_VALUE = re.compile(
    r" value: <(?P<id>[0-9]{1,19}) (?P<name>.+) @[0-9]{1,19}> \(size=(?P<size>[0-9]{1,40}),offset=(?P<offset>[0-9]{1,40})\)"
)
_RANGE = re.compile(r" {4}(?P<name>\S+): ?(?P<first>[0-9]{1,40})-(?P<last>[0-9]{1,40})")
_COLOR = re.compile(r", color ([0-9]{1,19})")
JOINED = " (phi)"
"""After the names of values that come from several places: a loop's start or its body, one branch or another."""
TEMPORARY = "preallocated-temp"
"""The allocations within which XLA's planner places values."""


class _Values:
    """The values of temporary allocations, and their places in these, in columns."""

    def __init__(self) -> None:
        self._ids, self._names = GatheredTexts(), GatheredTexts()
        self._sizes, self._offsets, self._pools = (array("q") for _ in range(3))
        self._joined = array("b")
        self.lines = array("i")
        self._numbers: dict[str, int] = {}
        """By memory."""

    def add(self, line: int, id_: str, name: str, size: int, offset: int, pool: str) -> None:
        self.lines.append(line)
        self._ids.append(id_)
        self._names.append(name)
        self._sizes.append(size)
        self._offsets.append(offset)
        self._pools.append(self._numbers.setdefault(pool, len(self._numbers)))
        self._joined.append(name.endswith(JOINED))

    def taken_out(self) -> Iterator[tuple[str, str, int, int, str]]:
        """Yield them, in their order, and forget them."""
        pools = [*self._numbers]
        ids, names = self._ids.all(), self._names.all()
        self._ids, self._names = GatheredTexts(), GatheredTexts()
        for id_, name, size, offset, pool in zip(ids, names, self._sizes, self._offsets, self._pools, strict=True):
            yield str(id_), str(name), size, offset, pools[pool]

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield values at one place and of one size, if one of them is joined of others: those must lie there, too, and which they are is not said."""
        if not any(self._joined):
            return
        columns = np.array([self._pools, self._offsets, self._sizes], np.int64)
        order = np.lexsort(columns)
        columns = columns[:, order]
        begins = np.flatnonzero(np.r_[True, (columns[:, 1:] != columns[:, :-1]).any(axis=0)])
        ends = np.r_[begins[1:], len(order)]
        is_joined = np.logical_or.reduceat(np.array(self._joined, bool)[order], begins)
        for begin, end in zip(begins[is_joined], ends[is_joined], strict=True):
            first, *others = order[begin:end].tolist()
            yield from ((first, other) for other in others)


class _Dump:
    """What has been read so far."""

    def __init__(self) -> None:
        self.report = Report()
        self.allocations = Gathered()
        self._allocated = Numbered()
        self.pools: dict[str, None] = {}
        """The memories of the allocations, in their order."""
        self.values = _Values()
        self.spans = Numbered()
        """The names of values with times."""
        self.times = array("q")
        """Begin and end of each."""
        self._seen: set[int | str] = set()
        """The ids of all values; those without leading zeros as numbers, which are smaller."""
        self._pool: str | None = None
        """The memory of the temporary allocation being read; None: not a temporary one."""
        self._begin = 0
        """Where that allocation begins in its memory."""
        self._ends: dict[str, int] = {}
        """Where the temporary allocations of each memory end so far."""

    def add_allocation(self, number: int, line: str) -> None:
        """Read a line with an allocation."""
        match = _ALLOCATION.fullmatch(line)
        if match is None:
            self._wrong(number, SAMPLE)
            return
        id_, rest = match["id"], match["rest"]
        is_new = id_ not in self._allocated
        if not is_new:
            self._twice(number, f"allocation {id_}")
        color = _COLOR.search(rest)
        pool = "memory" if color is None or color[1] == "0" else f"memory {color[1]}"
        self._pool = pool if TEMPORARY in rest else None
        kind = rest.lstrip(", ").partition(", shape ")[0].rpartition("|, ")[2][:64]
        size = whole(match["size"], number, "the size", self.report)
        if self._pool is not None:
            self._begin = self._ends.get(pool, 0)
            self._reach(pool, self._begin + size, number)
        self.pools[pool] = None
        if is_new:
            self._allocated.append(id_)
            self.allocations.add(Buffer(f"allocation {id_}", size, live=((0, 1),), pools=(pool,), kind=kind or None))

    def add_value(self, number: int, line: str) -> None:
        """Read a line with a value of the last allocation."""
        match = _VALUE.match(line)
        if match is None:
            self._wrong(number, VALUE)
            return
        id_, name = match["id"], match["name"]
        size = whole(match["size"], number, "the size", self.report)
        offset = whole(match["offset"], number, "the offset", self.report)
        key = int(id_) if not id_.startswith("0") else id_
        if key in self._seen:
            self._twice(number, f"value {id_}")
        elif self._pool is not None and self._reach(self._pool, self._begin + offset + size, number):
            self.values.add(number, id_, name, size, self._begin + offset, self._pool)
        self._seen.add(key)

    def add_range(self, number: int, line: str) -> None:
        """Read a line with the time of a value."""
        match = _RANGE.fullmatch(line)
        if match is None:
            self._wrong(number, RANGE)
        elif match["name"] in self.spans:
            self._twice(number, quoted(match["name"]))
        else:
            self.spans.append(match["name"])
            self.times.extend(times(match["first"], match["last"], number, self.report))

    def _reach(self, pool: str, end: int, number: int) -> bool:
        """Record that temporary allocations need the memory up to there; False, with a finding, if none is so large."""
        if end > MAX_ADDRESS:
            text = f"line {number}: the temporary allocations take more than 2^62 bytes"
            self.report.add(Code.OUT_OF_RANGE, ("lines", number), text)
            return False
        self._ends[pool] = max(self._ends.get(pool, 0), end)
        return True

    def read_values(self) -> _Values:
        """Return the values; nothing more is read."""
        self._seen.clear()
        return self.values

    def _wrong(self, number: int, sample: str) -> None:
        self.report.add(Code.INVALID_VALUE, ("lines", number), f"line {number} does not look like {sample}")

    def _twice(self, number: int, what: str) -> None:
        self.report.add(Code.DUPLICATE_ID, ("lines", number), f"line {number}: {what} appears twice")


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem. With times: values of the temporary allocations, with their offsets as hints. Without: all allocations, at one time."""
    dump = _Dump()
    section = ""
    for number, line in lines(source.data):
        if line.strip() in (ASSIGNMENT, RANGES):
            section = line.strip()
        elif not line or line.startswith(OTHER_PARTS) or (section == RANGES and not line.startswith("    ")):
            section = ""
        elif section == RANGES:
            dump.add_range(number, line)
        elif section == ASSIGNMENT and line.startswith("allocation "):
            dump.add_allocation(number, line)
        elif section == ASSIGNMENT:
            dump.add_value(number, line)
        if dump.report.is_full:
            break
    dump.report.raise_if_any()
    require_any(dump.allocations, SAMPLE)
    if not dump.spans:
        pools = tuple(map(Pool, dump.pools))
        problem = Problem(dump.allocations.all(), pools, lifetimes=Lifetimes.HALF_OPEN)
        del dump
        return sound_as_read(problem), (UNTIMED,)
    return _timed(dump.read_values(), dump.spans, dump.times)


def _timed(values: _Values, spans: Numbered, at: array[int]) -> tuple[Problem, tuple[str, ...]]:
    """Return the values with their times; those without are needed throughout. A separate position `name{}` is listed without the braces."""
    always = min(at), max(at)
    buffers, own = Gathered(), OwnPlan()
    taken = Numbered()
    unknown = 0
    for id_, long, size, offset, pool in values.taken_out():
        position = long.removesuffix(JOINED)
        position = position if position.endswith("}") else position + "{}"
        number = spans.number(position)
        unknown += number is None
        name = long[:1000] if long[:1000] not in taken else f"{long[:1000]}#{id_}"
        taken.append(name)
        live = always if number is None else (at[2 * number], at[2 * number + 1])
        buffers.add(Buffer(name, size, live=(live,), pools=(pool,), hint=offset))
        own.add(pool, offset, size)
    del taken
    spans.clear()
    pools = own.pools(ALIGNMENT)
    every, rules = tied(buffers.all(pools), lambda i: ("lines", values.lines[i]), values.pairs())
    problem = Problem(every, pools, rules, name=f"XLA's own plan: {own}", lifetimes=Lifetimes.HALF_OPEN)
    text = f"{unknown} values have no live range, and are needed throughout"
    return sound_as_read(problem), (text,) if unknown else ()
