"""When the time for an answer is over, for whatever goes through long lists before and after the solvers.

Solvers have a line of their own and end with the best they know. Reading, checking, lowering and verifying have nothing to show before they are
through: they look at the clock as they go along, and are given up with OutOfTime soon after the end.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import TypeVar

from .errors import Code, Finding, PlannerError

GRACE_SECONDS = 0.2
"""So much beyond the limit is allowed, so that what is nearly done is not lost, and small problems have their plan whatever the limit is."""
FINISH_SECONDS = 0.3
"""So much, once there is a plan, which is then only written out and verified."""
LEAST_SECONDS = 0.05
"""Of the processor, after that: what has not had so much of it is small, and the machine is busy with others."""
LOOK_EVERY = 2048
"""Entries: some milliseconds."""
CHECKING = "checking"
PREPARING = "preparing"
"""What is done with a problem before it is solved."""

Item = TypeVar("Item")


class OutOfTime(PlannerError):
    """The time limit was over before there was an answer."""


class _Deadline:
    """When the time is over, on time.monotonic()."""

    __slots__ = ("_late", "end", "grace", "limit", "ticks")

    def __init__(self, limit: float, end: float) -> None:
        self.limit, self.end, self.ticks, self.grace = limit, end, 0, GRACE_SECONDS
        self._late: float | None = None
        """What this thread had had of the processor when it was first seen that the time is over."""

    def is_over(self, ahead: float = 0.0) -> bool:
        """Is it, with what takes so many seconds more?"""
        if time.monotonic() + ahead <= self.end + self.grace:
            return False
        spent = time.thread_time()
        if self._late is None:
            self._late = spent
        return ahead + spent - self._late >= LEAST_SECONDS


_current: ContextVar[_Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def time_limit(seconds: float | None, begun: float | None = None) -> Iterator[None]:
    """What is done within takes so long at most, counted from `begun` (on time.monotonic(); default: now), and a fifth of a second;
    where there is a plan to be lost, three tenths.

    After that it raises OutOfTime. None: there is no limit. Within another one it changes nothing: what is asked for as a whole has its time
    as a whole, however that is divided.
    """
    if seconds is None or _current.get() is not None:
        yield
        return
    token = _current.set(_Deadline(seconds, (time.monotonic() if begun is None else begun) + seconds))
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def until(end: float) -> Iterator[None]:
    """What is done within, and is not needed for an answer, is given up with OutOfTime at this moment already, on time.monotonic()."""
    deadline = _current.get()
    if deadline is None:
        yield
        return
    sooner = _Deadline(deadline.limit, min(end, deadline.end))
    sooner.grace = 0.0
    token = _current.set(sooner)
    try:
        yield
    finally:
        _current.reset(token)


def finish() -> None:
    """There is a plan: what is left to do may take a little longer, so that it is not lost."""
    deadline = _current.get()
    if deadline is not None:
        deadline.grace = FINISH_SECONDS


def look(deed: str) -> None:
    """Raises OutOfTime if the time is over; `deed` says what is going on: "reading"."""
    deadline = _current.get()
    if deadline is not None and deadline.is_over():
        raise _out_of_time(deadline, f"while {deed} the problem")


def expect(seconds: float, deed: str, what: str | None = None) -> None:
    """Raises OutOfTime if the time is over, or will be before something is done that takes so long and cannot look at the clock."""
    deadline = _current.get()
    if deadline is not None and deadline.is_over(seconds):
        raise _out_of_time(deadline, f"while {deed} the problem" + ("" if what is None else f" ({what})"))


def tick(deed: str) -> None:
    """Looks at the clock every LOOK_EVERY times."""
    deadline = _current.get()
    if deadline is not None:
        deadline.ticks += 1
        if deadline.ticks % LOOK_EVERY == 0:
            look(deed)


def in_time(items: Collection[Item], deed: str, what: str = "entry") -> Iterable[Item]:
    """The items, with a look at the clock every now and then; where that ends them, it is said how many of them were left."""
    deadline = _current.get()
    return items if deadline is None or len(items) <= LOOK_EVERY else _looking(items, deadline, deed, what)


def _looking(items: Collection[Item], deadline: _Deadline, deed: str, what: str) -> Iterator[Item]:
    each = iter(items)
    for done in range(0, len(items), LOOK_EVERY):
        if deadline.is_over():
            raise _out_of_time(deadline, f"while {deed} the problem, at {what} {done} of {len(items)}")
        yield from islice(each, LOOK_EVERY)


def _out_of_time(deadline: _Deadline, where: str) -> OutOfTime:
    text = f"the time limit of {deadline.limit:g} s was over {where}, before there was an answer; allow more time (time_limit) for a problem of this size"
    return OutOfTime(Finding(Code.OUT_OF_TIME, "", text))
