"""Chrome traces: buffers between two events. B and E of a thread lie inside each other, b and e belong together by category, id and name."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from ...checks.report import Place, Report, quoted
from ...model.errors import Code

BEGINS, ENDS = ("B", "b"), ("E", "e")


class Sized(NamedTuple):
    """What an event says of a buffer."""

    name: str
    size: int
    pool: str
    hint: int | None
    alignment: int


class Begun(NamedTuple):
    """What has begun, and has not ended yet."""

    event: int
    name: Hashable
    start: float
    buffer: Sized | None
    """None: it is no buffer, but others lie inside it."""


class _Thread:
    """What has begun in a thread since a buffer did, each inside the one before."""

    __slots__ = ("begun", "below", "names")

    def __init__(self, below: int) -> None:
        self.below = below
        """How many that are no buffers began before, and have not ended yet."""
        self.begun: list[Begun] = []
        self.names: dict[Hashable, int] = {}
        """How many buffers of each name there are among them."""

    def begin(self, begun: Begun) -> None:
        self.begun.append(begun)
        if begun.buffer is not None:
            self.names[begun.name] = self.names.get(begun.name, 0) + 1

    def end(self) -> Begun:
        begun = self.begun.pop()
        if begun.buffer is not None:
            self.names[begun.name] -= 1
            if not self.names[begun.name]:
                del self.names[begun.name]
        return begun


class Pairs:
    """Takes the events in turn. Where there are no buffers, nothing is refused; what does not end lasts until the end of all."""

    def __init__(self, add: Callable[[Begun, Sized, float | None], None], at: Place, report: Report) -> None:
        """`add` takes each buffer, and when it ended."""
        self._add, self._at, self._report = add, at, report
        self._threads: dict[str, _Thread | int] = {}
        """The number of what has begun in a thread, and has not ended, instead of each if there is no buffer among them."""
        self._spans: dict[Hashable, Begun] = {}
        self._ids: dict[str, Hashable] = {}
        """The first id with each buffer's name."""
        self._with_buffers: set[str] = set()
        """Threads and categories."""
        self._lost: dict[str, int | tuple[int, object]] = {}
        """The first end without a beginning of each; with its name if it has one."""

    def begin(self, begun: Begun, event: dict[str, Any]) -> None:
        group = _group(event)
        if begun.buffer is not None:
            self._with_buffers.add(group)
        if event["ph"] == "B":
            self._begin_in_thread(begun, group)
            return
        id_ = _id(event)
        if (group, id_, begun.name) in self._spans:
            text = f"{quoted(begun.name)} of the id {quoted(id_[-1])} has begun already"
            self._wrong(Code.DUPLICATE_ID, begun.event, "id", text)
        elif begun.buffer is not None:
            self._spans[group, id_, begun.name] = begun._replace(buffer=self._renamed(begun.buffer, id_))

    def _begin_in_thread(self, begun: Begun, group: str) -> None:
        thread = self._threads.get(group, 0)
        if isinstance(thread, int):
            if begun.buffer is None:
                self._threads[group] = thread + 1
                return
            thread = self._threads[group] = _Thread(thread)
        elif begun.buffer is not None and begun.name in thread.names:
            self._wrong(Code.DUPLICATE_ID, begun.event, "name", f"{quoted(begun.name)} has begun already")
        thread.begin(begun)

    def end(self, event: int, row: dict[str, Any], time: Callable[[], float]) -> None:
        """End what began last in the thread, or under that id."""
        group, name = _group(row), name_of(row)
        if row["ph"] == "e":
            begun = self._spans.pop((group, _id(row), name), None)
        else:
            thread = self._threads.get(group, 0)
            if isinstance(thread, int):
                begun = None
                if thread:
                    self._threads[group] = thread - 1
                    return
            else:
                last = thread.begun[-1]
                if name is not None and name != last.name:
                    text = f"{quoted(name)} ends, and {quoted(last.name)} inside it has not"
                    self._wrong(Code.CONTRADICTION, event, "name", text)
                begun = thread.end()
                if not thread.begun:
                    self._threads[group] = thread.below
        if begun is None:
            self._lost.setdefault(group, event if name is None else (event, name))
        elif begun.buffer is not None and (stop := time()) < begun.start:
            self._wrong(Code.INTERVAL_REVERSED, event, "ts", f"{quoted(begun.name)} ends before it begins")
        elif begun.buffer is not None:
            self._add(begun, begun.buffer, stop)

    def finish(self) -> None:
        """Report ends without a beginning among buffers, and add what has not ended. No more can begin or end."""
        for group, lost in self._lost.items():
            if group in self._with_buffers:
                event, name = (lost, None) if isinstance(lost, int) else lost
                what = "something" if name is None else quoted(name)
                self._wrong(Code.CONTRADICTION, event, "ph", f"{what} ends, and has not begun")
        threads = (thread for thread in self._threads.values() if not isinstance(thread, int))
        left = [*self._spans.values(), *(begun for thread in threads for begun in thread.begun)]
        for known in (self._lost, self._with_buffers, self._ids, self._spans, self._threads):
            known.clear()
        left.reverse()
        while left:
            each = left.pop()
            if each.buffer is not None:
                self._add(each, each.buffer, None)

    def _renamed(self, buffer: Sized, id_: tuple[str, ...]) -> Sized:
        """Return the buffer, named after its id too if another id had that name before."""
        if self._ids.setdefault(buffer.name, id_) == id_:
            return buffer
        return buffer._replace(name=f"{buffer.name}#{id_[-1]}")

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


def _id(event: dict[str, Any]) -> tuple[str, ...]:
    """Return the id within a category; one that is local belongs to its process."""
    scope, both = str(event.get("scope", "")), event.get("id2")
    if isinstance(both, dict):
        if "local" in both:
            return scope, str(event.get("pid")), str(both["local"])
        return scope, str(both.get("global"))
    return scope, str(event.get("id"))
