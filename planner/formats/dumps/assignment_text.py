"""XLA's text dump of a buffer assignment (`*-buffer-assignment.txt`), with the times of `*-live-range.txt` appended if available."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ...checks import sound_as_read
from ...checks.report import Report, quoted
from ...model.errors import Code
from ...model.problem import Buffer, Constraints, Interval, Lifetimes, Pool, Problem
from ..text.lines import lines, require_any, times, whole
from .shared_places import colocations

if TYPE_CHECKING:
    from ..documents import Source

ASSIGNMENT, RANGES = "BufferAssignment:", "BufferLiveRange:"
SAMPLE = "allocation 0: size 64, preallocated-temp:"
VALUE = "value: <0 a @0> (size=64,offset=0): s8[64]{0}"
RANGE = "a{}:0-1"
OTHER_PARTS = ("HloLiveRange", "Total bytes", "Used values")
UNTIMED = "there are no times in it, so that each allocation is one buffer; put the file that ends in -live-range.txt behind it"
_ALLOCATION = re.compile(r"allocation (?P<id>\d{1,19}): .{0,100}?\bsize (?P<size>\d{1,40})(?P<rest>.*):")
_VALUE = re.compile(
    r" value: <(?P<id>\d{1,19}) (?P<name>.+) @\d{1,19}> \(size=(?P<size>\d{1,40}),offset=(?P<offset>\d{1,40})\)"
)
_RANGE = re.compile(r" {4}(?P<name>\S+): ?(?P<first>\d{1,40})-(?P<last>\d{1,40})")
_COLOR = re.compile(r", color (\d{1,19})")
TEMPORARY = "preallocated-temp"
"""The allocations within which XLA's planner places values."""


class _Value(NamedTuple):
    """A value, and its place within the allocation."""

    id: str
    name: str
    size: int
    offset: int
    pool: str


class _Dump:
    """What has been read so far."""

    def __init__(self) -> None:
        self.report = Report()
        self.allocations: dict[str, Buffer] = {}
        self.values: dict[str, _Value] = {}
        """The values of temporary allocations."""
        self.spans: dict[str, Interval] = {}
        self._others: set[str] = set()
        self._pool: str | None = None
        """The memory of the temporary allocation being read; None: not a temporary one."""

    def add_allocation(self, number: int, line: str) -> None:
        """Read a line with an allocation."""
        match = _ALLOCATION.fullmatch(line)
        if match is None:
            self._wrong(number, SAMPLE)
            return
        id_, rest = match["id"], match["rest"]
        if id_ in self.allocations:
            self._twice(number, f"allocation {id_}")
        color = _COLOR.search(rest)
        pool = "memory" if color is None or color[1] == "0" else f"memory {color[1]}"
        self._pool = pool if TEMPORARY in rest else None
        kind = rest.lstrip(", ").partition(", shape ")[0].rpartition("|, ")[2][:64]
        size = whole(match["size"], number, "the size", self.report)
        self.allocations[id_] = Buffer(f"allocation {id_}", size, live=((0, 1),), pools=(pool,), kind=kind or None)

    def add_value(self, number: int, line: str) -> None:
        """Read a line with a value of the last allocation."""
        match = _VALUE.match(line)
        if match is None:
            self._wrong(number, VALUE)
            return
        id_, name = match["id"], match["name"]
        size = whole(match["size"], number, "the size", self.report)
        offset = whole(match["offset"], number, "the offset", self.report)
        if id_ in self.values or id_ in self._others:
            self._twice(number, f"value {id_}")
        elif self._pool is None:
            self._others.add(id_)
        else:
            self.values[id_] = _Value(id_, name, size, offset, self._pool)

    def add_range(self, number: int, line: str) -> None:
        """Read a line with the time of a value."""
        match = _RANGE.fullmatch(line)
        if match is None:
            self._wrong(number, RANGE)
        elif match["name"] in self.spans:
            self._twice(number, quoted(match["name"]))
        else:
            self.spans[match["name"]] = times(match["first"], match["last"], number, self.report)

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
    return _timed(dump.values, dump.spans) if dump.spans else _untimed(list(dump.allocations.values()))


def _untimed(buffers: list[Buffer]) -> tuple[Problem, tuple[str, ...]]:
    pools = tuple(Pool(name) for name in dict.fromkeys(pool for buffer in buffers for pool in buffer.pools or ()))
    return sound_as_read(Problem(tuple(buffers), pools, lifetimes=Lifetimes.HALF_OPEN)), (UNTIMED,)


def _timed(values: dict[str, _Value], spans: dict[str, Interval]) -> tuple[Problem, tuple[str, ...]]:
    """Return the values with their times; those without are needed throughout. A separate position `name{}` is listed without the braces."""
    always = min(first for first, _ in spans.values()), max(end for _, end in spans.values())
    buffers: list[Buffer] = []
    taken: set[str] = set()
    unknown = 0
    ends: dict[str, int] = {}
    """The end of XLA's own plan in each memory."""
    left = [*values.values()]
    left.reverse()
    values.clear()
    while left:
        value = left.pop()  # frees what has become a buffer
        position = value.name.removesuffix(" (phi)")
        position = position if position.endswith("}") else position + "{}"
        unknown += position not in spans
        name = value.name[:1000] if value.name[:1000] not in taken else f"{value.name[:1000]}#{value.id}"
        taken.add(name)
        live = (spans.get(position, always),)
        buffers.append(Buffer(name, value.size, live=live, pools=(value.pool,), hint=value.offset))
        end = value.offset + value.size
        if end > ends.get(value.pool, -1):
            ends[value.pool] = end
    del taken
    problem = Problem(
        tuple(buffers),
        tuple(Pool(name) for name in ends or ("memory",)),
        Constraints(colocations=tuple(colocations(buffers, ("lines",)))),
        name=f"XLA's own plan: {sum(ends.values())} bytes",
        lifetimes=Lifetimes.HALF_OPEN,
    )
    text = f"{unknown} values have no live range, and are needed throughout"
    return sound_as_read(problem), (text,) if unknown else ()
