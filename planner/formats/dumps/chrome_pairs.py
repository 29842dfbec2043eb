"""Chrome traces: buffers between two events. B and E of a thread lie inside each other, b and e belong together by category, id and name."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable
from itertools import chain
from typing import Any

from ...checks.report import Place, Report, quoted
from ...model.columns.numbered import Found
from ...model.errors import Code
from .chrome_waiting import NOTHING, Begun, Sized, Threads, Waiting

BEGINS, ENDS = ("B", "b"), ("E", "e")


class Pairs:
    """Takes the events in turn. Where there are no buffers, nothing is refused; what does not end lasts until the end of all."""

    def __init__(self, add: Callable[[Begun, Sized, float | None], None], at: Place, report: Report) -> None:
        """`add` takes each buffer, and when it ended."""
        self._add, self._at, self._report = add, at, report
        self._waiting = Waiting()
        self._threads = Threads(self._waiting)
        self._spans, self._open = Found(), array("q")
        """By category, id and name: what has begun; NOTHING once it has ended."""
        self._ids, self._named, self._first_ids = Found(), Found(), array("q")
        """All ids, names of buffers, and the first id with each of these."""
        self._with_buffers = Found()
        self._lost, self._lost_events = Found(), array("q")
        """The first end without a beginning of each thread and category."""
        self._lost_names: list[Hashable] = []
        """Their names; None: it has none."""

    def begin(self, begun: Begun, event: dict[str, Any]) -> None:
        in_thread = event["ph"] == "B"
        if begun.buffer is None and not in_thread and not self._spans:
            return
        group = _group(event)
        if begun.buffer is not None:
            self._with_buffers.of(group)
        if in_thread:
            if not self._threads.begin(begun, group):
                self._wrong(Code.DUPLICATE_ID, begun.event, "name", f"{quoted(begun.name)} has begun already")
            return
        id_, shown = _id(event)
        if begun.buffer is None and not self._has_spans(group, id_):
            return
        number = self._spans.of(self._key(group, id_, begun.name))
        if number == len(self._open):
            self._open.append(NOTHING)
        if self._open[number] != NOTHING:
            text = f"{quoted(begun.name)} of the id {quoted(shown)} has begun already"
            self._wrong(Code.DUPLICATE_ID, begun.event, "id", text)
        elif begun.buffer is not None:
            renamed = self._renamed(begun.buffer, id_, shown)
            self._open[number] = self._waiting.put(begun._replace(buffer=renamed))

    def end(self, event: int, row: dict[str, Any], time: Callable[[], float]) -> None:
        """End what began last in the thread, or under that id."""
        group, name = _group(row), name_of(row)
        found = self._end_of_span(group, name, row) if row["ph"] == "e" else self._end_in_thread(group, name, event)
        if found is None:
            if self._lost.of(group) == len(self._lost_events):
                self._lost_events.append(event)
                self._lost_names.append(name)
            return
        if found == NOTHING:
            return
        begun = self._waiting.take(found)
        if begun.buffer is not None and (stop := time()) < begun.start:
            text = f"{quoted(name if row['ph'] == 'e' else begun.name)} ends before it begins"
            self._wrong(Code.INTERVAL_REVERSED, event, "ts", text)
        elif begun.buffer is not None:
            self._add(begun, begun.buffer, stop)

    def _end_of_span(self, group: str, name: Hashable, row: dict[str, Any]) -> int | None:
        """Return what has ended; None if it had not begun."""
        id_, _ = _id(row)
        if not self._has_spans(group, id_) or (key := self._key(group, id_, name)) not in self._spans:
            return None
        number = self._spans.of(key)
        found, self._open[number] = self._open[number], NOTHING
        return None if found == NOTHING else found

    def _end_in_thread(self, group: str, name: Hashable, event: int) -> int | None:
        """Return what has ended; NOTHING if it is below all buffers, None if it had not begun."""
        found = self._threads.end(group)
        if found is None or found == NOTHING or name is None:
            return found
        last = self._waiting.name(found)
        if name != last:
            self._wrong(Code.CONTRADICTION, event, "name", f"{quoted(name)} ends, and {quoted(last)} inside it has not")
        return found

    def finish(self) -> None:
        """Report ends without a beginning among buffers, and add what has not ended. No more can begin or end."""
        for group, event, name in zip(self._lost, self._lost_events, self._lost_names, strict=True):
            if group in self._with_buffers:
                what = "something" if name is None else quoted(name)
                self._wrong(Code.CONTRADICTION, event, "ph", f"{what} ends, and has not begun")
        spans = sorted((here for here in self._open if here != NOTHING), key=self._waiting.event)
        left = array("q", chain(spans, self._threads.left()))
        for known in (self._lost, self._with_buffers, self._ids, self._named, self._spans):
            known.clear()
        del spans, self._open, self._threads, self._lost_names, self._lost_events, self._first_ids
        for here in left:
            begun = self._waiting.row(here)
            if begun.buffer is not None:
                self._add(begun, begun.buffer, None)

    def _has_spans(self, group: str, id_: str) -> bool:
        return group in self._with_buffers and id_ in self._ids

    def _key(self, group: str, id_: str, name: Hashable) -> str:
        """Return what tells pairs of events apart. A name may be a number, and 1 is 1.0."""
        if isinstance(name, int | float) and name == int(name):
            name = int(name)
        return f"{self._with_buffers.of(group)} {self._ids.of(id_)} {type(name).__name__} {name}"

    def _renamed(self, buffer: Sized, id_: str, shown: str) -> Sized:
        """Return the buffer, named after its id too if another id had that name before."""
        number = self._ids.of(id_)
        named = self._named.of(buffer.name)
        if named == len(self._first_ids):
            self._first_ids.append(number)
        return buffer if self._first_ids[named] == number else buffer._replace(name=f"{buffer.name}#{shown}")

    def _wrong(self, code: Code, event: int, field: str, text: str) -> None:
        self._report.add(code, (*self._at, event, field), text)


def name_of(event: dict[str, Any]) -> Hashable:
    """Return the event's name; None if it has none, or a list or an object for one."""
    name = event.get("name")
    return name if isinstance(name, Hashable) else None


def _group(event: dict[str, Any]) -> str:
    """Return what names the thread of a B or E, and the category of others."""
    if event["ph"] in ("B", "E"):
        process = str(event.get("pid"))
        return f"{len(process)} {process}{event.get('tid')}"
    return f"category {event.get('cat')}"


def _id(event: dict[str, Any]) -> tuple[str, str]:
    """Return the id within a category, and how it is shown; one that is local belongs to its process."""
    scope, both = str(event.get("scope", "")), event.get("id2")
    shown = str(event.get("id"))
    if isinstance(both, dict):
        if "local" in both:
            process, shown = str(event.get("pid")), str(both["local"])
            return f"{len(scope)} {scope}{len(process)} {process}{shown}", shown
        shown = str(both.get("global"))
    return f"{len(scope)} {scope}+{shown}", shown
