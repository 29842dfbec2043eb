"""Chrome traces (chrome://tracing, Perfetto): memory events of PyTorch's profiler, and buffers as bars, as memplan writes them.

A bar (`ph` X) whose `args` have a `size`, and perhaps an `alignment`, is a buffer from `ts` to `ts + dur`; its `pid` is the memory. Events named `[memory]` allocate `Bytes` at
`Addr`, or free them if that is negative. All others are passed over.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, NamedTuple

from ...checks import sound_as_read
from ...checks.report import Place, Report, bad_input, quoted
from ...facts.intervals import merged
from ...facts.variants import as_chosen
from ...model.deadline import in_time
from ...model.errors import Code
from ...model.gathered import Gathered
from ...model.problem import MAX_ADDRESS, MAX_TIME, Buffer, Lifetimes, Pool, Problem

if TYPE_CHECKING:
    from ...model.plan import Plan
    from ..documents import Source

MEMORY = "[memory]"
NEVER = ((0, 0),)
"""The bar of a buffer that is never needed."""


class _Bar(NamedTuple):
    id: str
    size: int
    start: float
    end: float | None
    """None: until the end."""
    pool: str
    hint: int | None
    at: int
    """The index of the event."""
    alignment: int = 1


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
        text = f"there is no bar with a size, and no event {MEMORY}, in it"
        raise bad_input(Code.MISSING_FIELD, at, text)
    problem = _problem(bars, at, report)
    report.raise_if_any()
    return sound_as_read(problem), ()


def _bars(events: list[Any], at: Place, report: Report) -> list[_Bar]:
    found: list[_Bar] = []
    held: dict[tuple[str, str], _Bar] = {}
    count = 0
    for i, event in enumerate(in_time(events, "reading", "event")):
        place: Place = (*at, i)
        if not isinstance(event, dict) or not isinstance(event.get("args"), dict):
            continue
        args, name = event["args"], event.get("name")
        if event.get("ph") == "X" and "size" in args:
            size = _whole(args, "size", (*place, "args"), report)
            hint = _whole(args, "offset", (*place, "args"), report) if "offset" in args else None
            alignment = max(_whole(args, "alignment", (*place, "args"), report), 1) if "alignment" in args else 1
            start, length = (_time(event, key, place, report) for key in ("ts", "dur"))
            pool = args.get("pool", event.get("pid", "memory"))
            if not isinstance(name, str) or not name:
                report.add(Code.MISSING_FIELD, (*place, "name"), "a buffer has a name")
            else:
                found.append(_Bar(name, size, start, start + max(length, 0), str(pool), hint, i, alignment))
        elif name == MEMORY and "Bytes" in args:
            amount, address = args["Bytes"], args.get("Addr")
            if type(amount) is not int or abs(amount) > MAX_ADDRESS:
                report.add(Code.WRONG_TYPE, (*place, "args", "Bytes"), "must be a whole number")
                continue
            pool = f"{args.get('Device Type', 'device')} {args.get('Device Id', 0)}"[:64]
            key = (pool, str(address))
            start = _time(event, "ts", place, report)
            if amount < 0:
                if key in held:
                    found.append(held.pop(key)._replace(end=start))
            elif key in held:
                report.add(
                    Code.DUPLICATE_ID, (*place, "args", "Addr"), f"there is something at {quoted(address)} already"
                )
            else:
                count += 1
                held[key] = _Bar(str(count), amount, start, None, pool, None, i)
        if report.is_full:
            break
    return [*found, *held.values()]


def _problem(bars: list[_Bar], at: Place, report: Report) -> Problem:
    """Return the problem; frees the bars on the way."""
    times = sorted({time for bar in bars for time in (bar.start, bar.end) if time is not None})
    whole = all(float(time).is_integer() for time in times)
    last = times[-1] + 1

    def tick(time: float) -> int:
        return int(time) if whole else bisect_left(times, time)

    first: dict[str, _Bar] = {}
    live: dict[str, list[tuple[int, int]]] = {}
    for bar in in_time(bars, "reading", "bar"):
        known = first.setdefault(bar.id, bar)
        if known._replace(start=bar.start, end=bar.end, at=bar.at) != bar:
            text = f"{quoted(bar.id)} was another buffer before: of another size, or in another place"
            report.add(Code.DUPLICATE_ID, (*at, bar.at, "name"), text)
        start = tick(bar.start)
        end = (int(last) if whole else len(times)) if bar.end is None else tick(bar.end)
        if end > start:
            live.setdefault(bar.id, []).append((start, end))
    bars.clear()
    only = {bar.pool: (bar.pool,) for bar in first.values()}
    buffers = Gathered()
    for id_ in [*first]:
        bar, spans = first.pop(id_), merged(live.pop(id_, ()))
        buffers.add(Buffer(id_, bar.size, bar.alignment, live=spans, pools=only[bar.pool], hint=bar.hint))
    pools = tuple(Pool(name) for name in only)
    return Problem(buffers.all(only=pools[0].name if len(pools) == 1 else None), pools, lifetimes=Lifetimes.HALF_OPEN)


def _whole(args: dict[str, Any], name: str, place: Place, report: Report) -> int:
    value = args[name]
    if type(value) is not int or not 0 <= value <= MAX_ADDRESS:
        code = Code.OUT_OF_RANGE if type(value) is int else Code.WRONG_TYPE
        report.add(code, (*place, name), f"{name} must be a whole number from 0 to 2^62, not {quoted(value)}")
        return 0
    return value


def _time(event: dict[str, Any], name: str, place: Place, report: Report) -> float:
    value = event.get(name, 0)
    if type(value) not in (int, float) or not -MAX_TIME < value < MAX_TIME - 1:
        report.add(Code.WRONG_TYPE, (*place, name), f"{name} must be a time, not {quoted(value)}")
        return 0
    time: float = value
    return time


def write_plan(problem: Problem, plan: Plan, _source: bytes) -> bytes:
    """Return the plan as bars at the offsets of their buffers."""
    return write(as_chosen(problem, plan), plan)


def write(problem: Problem, plan: Plan | None = None) -> bytes:
    """Return the buffers as bars, with a process for each memory; with a plan also their places, where each row of the picture is an address."""
    where = {} if plan is None else {place.id: place for place in plan.placements}
    if any(buffer.live is None for buffer in problem.buffers):
        raise bad_input(Code.LIFETIMES_MISSING, ("buffers",), "a trace needs times, and a buffer has none")
    rows = []
    names = [pool.name for pool in problem.pools]
    for number, name in enumerate(names):
        rows.append({"ph": "M", "name": "process_name", "pid": number, "args": {"name": name}})
    for buffer in problem.buffers:
        place = where.get(buffer.id)
        pool = place.pool if place is not None else (buffer.pools or names)[0]
        args: dict[str, Any] = {"size": buffer.size, "pool": pool}
        if buffer.alignment > 1:
            args["alignment"] = buffer.alignment
        if place is not None:
            args["offset"] = place.offset
        for start, end in merged(buffer.live or ()) or NEVER:
            row = {"ph": "X", "name": str(buffer.id), "pid": names.index(pool), "tid": args.get("offset", 0)}
            rows.append({**row, "ts": start, "dur": end - start, "args": args})
    head = json.dumps({"displayTimeUnit": "ms"})[:-1]
    lines = ",\n".join(json.dumps(row) for row in rows)
    return f'{head}, "traceEvents": [\n{lines}\n]}}\n'.encode()
