"""Chrome traces (chrome://tracing, Perfetto): memory events of PyTorch's profiler, and buffers as bars, as memplan writes them.

A bar (`ph` X) whose `args` have a `size`, and perhaps an `alignment`, is a buffer from `ts` to `ts + dur`; its `pid` is the memory. So is what begins and ends
with two events (B and E, b and e). Events named `[memory]` allocate `Bytes` at `Addr`, or free them if that is negative. All others are passed over.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from decimal import Context, Decimal
from functools import partial
from math import floor
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from solvers.model.instance import Ints

from ...checks import sound_as_read
from ...checks.names import require_ids_as_texts
from ...checks.report import Place, Report, bad_input, quoted
from ...facts.intervals import merged
from ...facts.variants import as_chosen
from ...model.columns.buffers import NO_HINT, ids
from ...model.columns.gathered import Gathered
from ...model.columns.numbered import Found
from ...model.columns.pools import named_pools
from ...model.columns.rows import FEW
from ...model.deadline import in_time
from ...model.errors import Code
from ...model.problem import MAX_ADDRESS, MAX_TIME, Buffer, Interval, Lifetimes, Problem
from ..memories import with_aligned_buffers
from .chrome_pairs import BEGINS, ENDS, Pairs, name_of
from .chrome_waiting import NOTHING, Begun, Sized

if TYPE_CHECKING:
    from ...model.plan import Plan
    from ..documents import Source

MEMORY = "[memory]"
WIDTH = 4
"""The numbers of each buffer."""
_NO_START, _NO_END = 1, 2
"""What is not known of a bar."""
NEVER = ((0, 0),)
"""The bar of a buffer that is never needed."""


_EXACT = Context(prec=400)
"""Enough digits for the sum of any two times in a file."""
_SURE = 10**15
"""Numbers of at most 15 digits keep all of their decimals as floats."""


def _exact(time: float | Decimal) -> Decimal:
    """Return the number with the decimals that the file has."""
    return time if isinstance(time, Decimal) else Decimal(repr(time))


def _thousandths(time: float | Decimal) -> int | None:
    """Return the number as thousandths, as programs write times; None if it has more decimals, or too many digits."""
    found = round(time * 1000)
    return found if abs(found) < _SURE and found / 1000 == time else None


def _end(start: float, length: float) -> float | Decimal:
    """Return when something ends: at 0.3 if it begins at 0.1 and takes 0.2."""
    if isinstance(start, int) and isinstance(length, int):
        return start + length
    first, more = _thousandths(start), _thousandths(length)
    if first is None or more is None or first + more >= _SURE:
        return _EXACT.add(_exact(start), _exact(length))
    return (first + more) / 1000


class _Times:
    """Times in columns: whole parts, and the rest from the first time on that has one."""

    def __init__(self) -> None:
        self._whole, self._rest = array("q"), array("d")

    def add(self, time: float | Decimal) -> None:
        whole = floor(time)
        if self._rest or time != whole:
            self._rest.extend((0.0,) * (len(self._whole) - len(self._rest)))
            parts = _thousandths(time)
            rest = parts % 1000 / 1000 if parts is not None else float(_EXACT.subtract(_exact(time), whole))
            self._rest.append(rest)
        self._whole.append(whole)

    def ticks(self) -> Ints:
        """Return the times as whole numbers; their ranks unless they are some already."""
        whole, rest = np.frombuffer(self._whole, np.int64), np.frombuffer(self._rest)
        if not len(rest):
            return whole
        order = np.lexsort((rest, whole))
        is_later = np.diff(whole[order], prepend=whole[order[:1]]) != 0
        is_later |= np.diff(rest[order], prepend=rest[order[:1]]) != 0
        found = np.empty(len(order), dtype=np.int64)
        found[order] = np.cumsum(is_later)
        return found


class _Bars:
    """Buffers in columns, and the bars of each."""

    def __init__(self, at: Place) -> None:
        self.at = at
        self.twice = Report()
        """Names of two buffers."""
        self._names = Found()
        self._pools = Found()
        self._rows = array("q")
        """Of each buffer: size, alignment, hint and the number of the memory."""
        self._owner = array("i")
        self._times = _Times()
        """Where each bar begins and ends; twice the one that is known if it lasts from the start or until the end of all."""
        self._open = array("b")
        """Which of them is not known."""

    def __bool__(self) -> bool:
        return bool(self._owner)

    def add(self, event: int, buffer: Sized, start: float | None, end: float | Decimal | None) -> None:
        """Add a bar of a buffer; one without a beginning is there from the start of all, one without an end until the end of all."""
        name, size, pool, hint, alignment = buffer
        row = (size, alignment, NO_HINT if hint is None else hint, self._pools.of(pool))
        i = self._names.of(name)
        if WIDTH * i == len(self._rows):
            self._rows.extend(row)
        elif row != (*self._rows[WIDTH * i : WIDTH * (i + 1)],):
            text = f"{quoted(name)} was another buffer before: of another size, or in another place"
            self.twice.add(Code.DUPLICATE_ID, (*self.at, event, "name"), text)
        self._owner.append(i)
        self._open.append(_NO_START if start is None else _NO_END if end is None else 0)
        for time in (end if start is None else start, start if end is None else end):
            self._times.add(0 if time is None else time)

    def problem(self) -> Problem:
        """Return the problem of all bars; no more can be added."""
        lives = _lives(*self._spans(), len(self._names))
        buffers = Gathered()
        for i, name in enumerate(in_time(self._names, "reading", "buffer")):
            size, alignment, hint, pool = self._rows[WIDTH * i : WIDTH * (i + 1)]
            wanted = None if hint == NO_HINT else hint
            buffers.add(Buffer(name, size, alignment, live=next(lives), pools=(self._pools[pool],), hint=wanted))
        self._names.clear()
        pools = named_pools(self._pools)
        every = buffers.all(pools)
        return Problem(every, pools, lifetimes=Lifetimes.HALF_OPEN)

    def _spans(self) -> tuple[Ints, Ints, Ints]:
        """Return owner, start and end of each bar, in the order of owners; those of an owner that meet are one."""
        start, end = self._times.ticks().reshape(-1, 2).T
        open_ = np.frombuffer(self._open, np.int8)
        begin, last = start.min(), max(start.max(), end.max())
        if (end[open_ == _NO_START] == begin).any():
            begin -= 1  # so that what ends first of all was there, too
        start = np.where(open_ == _NO_START, begin, start)
        end = np.where(open_ == _NO_END, last + 1, end)
        bars = np.flatnonzero(end > start)
        owner = cast(Ints, np.frombuffer(self._owner, np.int32)[bars])
        start, end = start[bars], end[bars]
        if (owner[1:] > owner[:-1]).all():
            return owner, start, end
        start, end = start[np.lexsort((start, owner))], end[np.lexsort((end, owner))]
        owner.sort()
        # what begins behind as many ends as beginnings is apart from all before
        begins = np.append(True, (owner[1:] != owner[:-1]) | (start[1:] > end[:-1]))
        return owner[begins], start[begins], end[np.append(begins[1:], True)]


def _lives(owner: Ints, start: Ints, end: Ints, count: int) -> Iterator[tuple[Interval, ...]]:
    """Yield the lifetimes of each of so many buffers."""
    until = np.cumsum(np.bincount(owner, minlength=count))
    begin = 0
    for first in range(0, count, FEW):
        stops = until[first : first + FEW].tolist()
        some = slice(begin, stops[-1])
        pairs = (*zip(start[some].tolist(), end[some].tolist(), strict=True),)
        at = 0
        for stop in stops:
            yield pairs[at : stop - begin]
            at = stop - begin
        begin = stops[-1]


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem of the trace's buffers. Times that are not whole numbers are replaced by their ranks."""
    document = source.loaded((), ("traceEvents",))
    events = document.get("traceEvents") if isinstance(document, dict) else document
    at: Place = ("traceEvents",) if isinstance(document, dict) else ()
    if not isinstance(events, list):
        raise bad_input(Code.WRONG_TYPE, at, "must be a list of events")
    report = Report()
    bars = _bars(events, at, report)
    report.raise_if_any()
    if not bars:
        text = f"there is no bar and no pair of events with a size, and no event {MEMORY}, in it"
        raise bad_input(Code.MISSING_FIELD, at, text)
    bars.twice.raise_if_any()
    return sound_as_read(bars.problem()), ()


def _bars(events: list[Any], at: Place, report: Report) -> _Bars:
    found, changes = _Bars(at), _Changes()
    pairs = Pairs(lambda begun, buffer, end: found.add(begun.event, buffer, begun.start, end), at, report)
    for i, event in enumerate(in_time(events, "reading", "event")):
        place: Place = (*at, i)
        if not isinstance(event, dict):
            continue
        name, kind = name_of(event), event.get("ph")
        args = event["args"] if isinstance(event.get("args"), dict) else {}
        if kind in ENDS:
            pairs.end(i, event, partial(_time, event, "ts", place, report))
        elif kind in BEGINS or (kind == "X" and "size" in args):
            buffer = _buffer(event, args, place, report) if "size" in args else None
            start = 0.0 if buffer is None else _time(event, "ts", place, report)
            if kind in BEGINS:
                pairs.begin(Begun(i, name, start, buffer), event)
            elif buffer is not None:
                length = _time(event, "dur", place, report) if "dur" in event else None
                if length is not None and length < 0:
                    report.add(Code.INTERVAL_REVERSED, (*place, "dur"), f"{quoted(name)} ends before it begins")
                else:
                    found.add(i, buffer, start, None if length is None else _end(start, length))
        elif name == MEMORY and "Bytes" in args:
            if type(args["Bytes"]) is not int or abs(args["Bytes"]) > MAX_ADDRESS:
                report.add(Code.WRONG_TYPE, (*place, "args", "Bytes"), "must be a whole number")
                continue
            if "Addr" not in args:
                report.add(
                    Code.MISSING_FIELD, (*place, "args", "Addr"), "memory that is allocated or freed has an address"
                )
                continue
            changes.add(i, args, _time(event, "ts", place, report))
        if report.is_full:
            break
    changes.add_to(found, report)
    del changes
    pairs.finish()
    return found


class _Changes:
    """The events that allocate or free, in columns: a long document is read in pieces, and forgotten piece by piece."""

    def __init__(self) -> None:
        self.events, self._amounts, self._places = array("q"), array("q"), array("i")
        self.times: array[float] | list[float] = array("d")
        """A list if some are no floats."""
        self._pools = Found()
        self._known = Found()
        """The numbers of memories, with addresses."""

    def add(self, event: int, args: Mapping[str, Any], time: float) -> None:
        pool = f"{args.get('Device Type', 'device')} {args.get('Device Id', 0)}"[:64]
        number = self._pools.of(pool)
        self.events.append(event)
        self._amounts.append(args["Bytes"])
        self._places.append(self._known.of(f"{number} {args.get('Addr')}"))
        if isinstance(self.times, array) and float(time) != time:
            self.times = [*self.times]
        self.times.append(time)

    def add_to(self, found: _Bars, report: Report) -> None:
        """Add what is allocated and freed. What was allocated before the first event is there from the start."""
        held, named = (array("i", [NOTHING]) * len(self._known) for _ in range(2))
        """By memory and address: the event that allocated what is there, and the number of what was there last."""
        count = 0

        def add(k: int, place: int, start: float | None, end: float | None) -> None:
            pool = self._pools[int(self._known[place].partition(" ")[0])]
            found.add(self.events[k], Sized(str(named[place]), abs(self._amounts[k]), pool, None, 1), start, end)

        for k in in_time(self._in_order(), "reading", "event"):
            place, is_freed = self._places[k], self._amounts[k] < 0
            before = held[place]
            if before != NOTHING and is_freed:
                add(before, place, self.times[before], self.times[k])
                held[place] = NOTHING
            elif before != NOTHING:
                text = f"there is something at {quoted(self._known[place].partition(' ')[2])} already"
                report.add(Code.DUPLICATE_ID, (*found.at, self.events[k], "args", "Addr"), text)
            else:
                count += 1
                named[place] = count
                if is_freed:
                    add(k, place, None, self.times[k])
                else:
                    held[place] = k
        for place in np.argsort(np.frombuffer(named, np.int32)):
            if (k := held[place]) != NOTHING:
                add(k, place, self.times[k], None)

    def _in_order(self) -> Sequence[int]:
        """Return the events in the order of time."""
        if isinstance(self.times, list):
            return sorted(range(len(self.times)), key=self.times.__getitem__)
        return array("q", np.argsort(np.frombuffer(self.times), kind="stable").tobytes())


def _buffer(event: dict[str, Any], args: dict[str, Any], place: Place, report: Report) -> Sized | None:
    """Return what an event with a size says of its buffer; None, with a finding, if it has no name."""
    name = event.get("name")
    size = _whole(args, "size", (*place, "args"), report)
    hint = _whole(args, "offset", (*place, "args"), report) if "offset" in args else None
    alignment = max(_whole(args, "alignment", (*place, "args"), report), 1) if "alignment" in args else 1
    if not isinstance(name, str) or not name:
        report.add(Code.MISSING_FIELD, (*place, "name"), "a buffer has a name")
        return None
    return Sized(name, size, str(args.get("pool", event.get("pid", "memory"))), hint, alignment)


def _whole(args: dict[str, Any], name: str, place: Place, report: Report) -> int:
    value = args[name]
    if type(value) is not int or not 0 <= value <= MAX_ADDRESS:
        code = Code.OUT_OF_RANGE if type(value) is int else Code.WRONG_TYPE
        report.add(code, (*place, name), f"{name} must be a whole number from 0 to 2^62, not {quoted(value)}")
        return 0
    return value


def _time(event: dict[str, Any], name: str, place: Place, report: Report) -> float:
    if name not in event:
        report.add(Code.MISSING_FIELD, (*place, name), f"{name} is missing: an event of a buffer has a time")
        return 0
    value = event[name]
    if type(value) not in (int, float) or not -MAX_TIME < value < MAX_TIME - 1:
        report.add(Code.WRONG_TYPE, (*place, name), f"{name} must be a time, not {quoted(value)}")
        return 0
    time: float = value
    return time


def write_plan(problem: Problem, plan: Plan, _source: bytes) -> bytes:
    """Return the plan as bars at the offsets of their buffers."""
    return write(as_chosen(problem, plan), plan)


def check_times(problem: Problem, _source: bytes = b"") -> None:
    """Raise BadInput if a buffer has no lifetime."""
    if any(buffer.live is None for buffer in problem.buffers):
        raise bad_input(Code.LIFETIMES_MISSING, ("buffers",), "a trace needs times, and a buffer has none")


def write(problem: Problem, plan: Plan | None = None) -> bytes:
    """Return the buffers as bars, with a process for each memory; with a plan also their places, where each row of the picture is an address."""
    where = {} if plan is None else {place.id: place for place in plan.placements}
    check_times(problem)
    require_ids_as_texts(problem, ids(problem.buffers))
    problem = with_aligned_buffers(problem)
    rows = []
    names = [pool.name for pool in problem.pools]
    numbers = {name: number for number, name in enumerate(names)}
    for name, number in numbers.items():
        rows.append({"ph": "M", "name": "process_name", "pid": number, "args": {"name": name}})
    for buffer in problem.buffers:
        place = where.get(buffer.id)
        home = place or buffer.fixed
        pool = (buffer.pools or names)[0] if home is None else home.pool
        args: dict[str, Any] = {"size": buffer.size, "pool": pool}
        if buffer.alignment > 1:
            args["alignment"] = buffer.alignment
        offset = buffer.hint if place is None else place.offset
        if offset is not None:
            args["offset"] = offset
        for start, end in merged(buffer.live or ()) or NEVER:
            row = {"ph": "X", "name": str(buffer.id), "pid": numbers[pool], "tid": args.get("offset", 0)}
            rows.append({**row, "ts": start, "dur": end - start, "args": args})
    head = json.dumps({"displayTimeUnit": "ms"})[:-1]
    lines = ",\n".join(json.dumps(row) for row in rows)
    return f'{head}, "traceEvents": [\n{lines}\n]}}\n'.encode()
