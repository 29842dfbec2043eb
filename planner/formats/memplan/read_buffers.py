"""Buffers of memplan/1: from what a document says to half-open lifetimes. Those of long documents are kept in columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...checks.report import Place, Report
from ...facts.intervals import merged
from ...model.columns.gathered import Gathered, narrow
from ...model.columns.ranges import GatheredRanges
from ...model.columns.varied import VariedColumns
from ...model.deadline import in_time
from ...model.errors import Code
from ...model.problem import MAX_TIME, Buffer, Fixed, Interval, Lifetimes
from ..memories import read_data
from .wire import BufferWire


class Written(Collection[tuple[Buffer, str | None]]):
    """The buffers of a long document. Ends of lifetimes are kept as if these were inclusive, since inclusive ones may have one moment."""

    def __init__(self, wires: Iterable[BufferWire]) -> None:
        self.clear()
        self.extend(wires)

    def clear(self) -> None:
        self._gathered = Gathered()
        self._data: dict[int, str] = {}

    def extend(self, wires: Iterable[BufferWire]) -> None:
        for wire in wires:
            text = wire.get("data")
            if text is not None:
                self._data[len(self._gathered)] = text
            self._gathered.add(_as_written(wire, 1))

    def __len__(self) -> int:
        return len(self._gathered)

    def __contains__(self, item: object) -> bool:
        return any(each == item for each in self)

    def __iter__(self) -> Iterator[tuple[Buffer, str | None]]:
        for i, buffer in enumerate(self._gathered.rows()):
            if buffer.live is not None:
                object.__setattr__(buffer, "live", tuple([(start, end - 1) for start, end in buffer.live]))
            yield buffer, self._data.get(i)

    def columns(self, lifetimes: Lifetimes | None) -> Sequence[Buffer] | None:
        """Return the buffers in columns, if they fit there and all of their lifetimes are in order. Then there is nothing left here."""
        columns = None if self._data or lifetimes is None else self._gathered.columns()
        if columns is None:
            return None
        less = 0 if lifetimes is Lifetimes.INCLUSIVE else 1
        has_life = columns.start != columns.end
        end = columns.end - less * has_life
        if end.max() > MAX_TIME or not (columns.start < end)[has_life].all():
            return None
        if isinstance(columns, VariedColumns) and len(columns.further):
            start, until = columns.further[::2], columns.further[1::2].astype(np.int64) - less
            first = np.diff(columns.until, prepend=0) > 0
            begin = (columns.until[first] - np.diff(columns.until, prepend=0)[first]) // 2
            are_apart = np.append(True, start[1:] > until[:-1])
            are_apart[begin] = True  # compared below with the buffer's own first
            if until.max() > MAX_TIME or not (start < until).all() or not are_apart.all():
                return None
            if not (end[first] < start[begin]).all():
                return None
            further = columns.further.astype(until.dtype)
            further[1::2] = until
            columns = replace(columns, further=narrow(further))
        self.clear()
        return replace(columns, end=end)


def _as_written(wire: BufferWire, longer: int = 0) -> Buffer:
    """Return the buffer with its lifetimes as written, or longer, and without its data."""
    ranges, pools, fixed = wire.get("live"), wire.get("pools"), wire.get("fixed")
    return Buffer(
        wire["id"],
        wire["size"],
        wire.get("alignment", 1),
        None if ranges is None else tuple([(start, end + longer) for start, end in ranges]),
        None if pools is None else tuple(pools),
        None if fixed is None else Fixed(fixed["pool"], fixed.get("offset")),
        wire.get("hint"),
        wire.get("max_offset"),
        wire.get("kind"),
        wire.get("accesses", 0),
        wire.get("device"),
        wire.get("dtype"),
        wire.get("reads", 0),
        wire.get("writes", 0),
    )


def read_buffers(
    wires: Sequence[BufferWire] | Written, lifetimes: Lifetimes | None, place: Place, report: Report
) -> Sequence[Buffer]:
    """Return the buffers at this place of a document; those of a long one in columns."""
    if isinstance(wires, Written):
        columns = wires.columns(lifetimes)
        if columns is not None:
            return columns
        made = Gathered()
        for buffer in _made(in_time(wires, "reading", "buffer"), lifetimes, place, report):
            made.add(buffer)
        wires.clear()
        return made.all()
    written = ((_as_written(wire), wire.get("data")) for wire in in_time(wires, "reading", "buffer"))
    return (*_made(written, lifetimes, place, report),)


def _made(
    written: Iterable[tuple[Buffer, str | None]], lifetimes: Lifetimes | None, place: Place, report: Report
) -> Iterator[Buffer]:
    """Yield the buffers with half-open lifetimes and with their data. They are still nobody else's, and so are changed in place."""
    extra = 1 if lifetimes is Lifetimes.INCLUSIVE else 0
    undefined = False
    for i, (buffer, data) in enumerate(written):
        ranges = buffer.live
        if ranges is not None:
            undefined = undefined or lifetimes is None
            if len(ranges) != 1 or not ranges[0][0] < ranges[0][1] < MAX_TIME:
                live = read_lifetimes(ranges, lifetimes, (*place, i, "live"), report)
                object.__setattr__(buffer, "live", live)
            elif extra:
                object.__setattr__(buffer, "live", ((ranges[0][0], ranges[0][1] + 1),))
        if data is not None:
            object.__setattr__(buffer, "data", read_data(data, (*place, i, "data"), report))
        yield buffer
    if undefined:
        say_lifetimes_missing(report)


def say_lifetimes_missing(report: Report) -> None:
    text = "say whether live intervals are 'half_open' (not needed at their end any more) or 'inclusive' (still needed then)"
    report.add(Code.LIFETIMES_MISSING, ("lifetimes",), text)


def reserved_ranges(ranges: Iterable[Sequence[int]], place: Place, report: Report) -> Sequence[Interval]:
    """Return half-open ranges of addresses, merged; those of a long document in columns."""
    found = ranges.all() if isinstance(ranges, GatheredRanges) else None
    return in_order(ranges, place, report) if found is None else found


def in_order(ranges: Iterable[Sequence[int]], place: Place, report: Report) -> tuple[Interval, ...]:
    """Return half-open ranges, merged."""
    given = tuple((start, end) for start, end in ranges)
    for j, (start, end) in enumerate(given):
        if end < start:
            report.add(Code.INTERVAL_REVERSED, (*place, j), f"the end {end} comes before the start {start}")
    return merged(given)


def read_lifetimes(
    ranges: Iterable[Sequence[int]], lifetimes: Lifetimes | None, place: Place, report: Report
) -> tuple[Interval, ...]:
    """Return half-open intervals, whatever the file uses, merged."""
    if lifetimes is not Lifetimes.INCLUSIVE:
        return in_order(ranges, place, report)
    given = tuple((start, end) for start, end in ranges)
    for j, (start, end) in enumerate(given):
        if end < start:
            text = f"the end {end} comes before the start {start}; an inclusive interval holds its end, so it is never empty"
            report.add(Code.INTERVAL_REVERSED, (*place, j), text)
        elif end == MAX_TIME:
            report.add(Code.OUT_OF_RANGE, (*place, j, 1), "must be below 2^62, because the interval includes it")
    return merged((start, end + 1) for start, end in given)
