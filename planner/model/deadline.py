"""The time limit, for whatever goes through long lists before and after the solvers.

Solvers have their own limit and end with the best answer so far. Reading, checking, lowering and verifying have no answer before they are
done: they look at the clock as they go, and raise OutOfTime soon after the limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import TypeVar

from .errors import BadInput, Code, Finding, PlannerError

GRACE_SECONDS = 0.2
"""Allowed beyond the limit, so that work that is nearly done is not lost, and small problems always get their plan."""
FINISH_SECONDS = 0.3
"""Allowed beyond the limit once there is a plan, which only has to be written and verified."""
WRITING_SECONDS = 0.2
"""Allowed for writing the plan after that. Writing does not look at the clock; the solvers' time is shorter by what it takes."""
OWED_SECONDS = 2.0
"""The most processor time granted beyond that, where a busy machine did not give it before the end and no more was counted for the rest."""
LEAST_SECONDS = 0.05
"""Processor time granted after that: work that has not had this much is small, and the machine is busy with others."""
FOR_EVER = 1 << 62
LOOK_EVERY = 2048
"""Entries between two looks at the clock: some milliseconds."""
CHECKING = "checking"
PREPARING = "preparing"
"""The name of the work on a problem before it is solved."""

Item = TypeVar("Item")


class OutOfTime(PlannerError):
    """The time limit passed before there was an answer."""


class CalledOff(PlannerError):
    """The caller does not want the answer any more."""


def _never() -> bool:
    return False


class _Deadline:
    """The end of the time, on time.monotonic()."""

    __slots__ = ("_began", "_late", "_owed", "called_off", "end", "grace", "left", "limit", "subject", "ticks")

    def __init__(self, limit: float, end: float, called_off: Callable[[], bool] = _never) -> None:
        self.limit, self.end, self.ticks, self.grace = limit, end, 0, GRACE_SECONDS
        self.called_off = called_off
        self.subject = "problem"
        self.left = 0.0
        """The seconds that are kept for what follows the current work."""
        self._began = time.monotonic(), time.thread_time()
        self._late: float | None = None
        """The thread's processor time when the end was first noticed, or when there was a plan."""
        self._owed = 0.0
        """The processor time granted from then on, whatever the time is."""

    def finish(self, counted: float) -> None:
        """Grant the rest as much of the processor as an idle machine would have given it; after the end, once."""
        now, spent = time.monotonic(), time.thread_time()
        left = self.end - now
        if self._owed and left <= 0:
            return
        if left <= 0:  # of what went beyond the end, the part that this thread had of the processor is used up
            left *= min((spent - self._began[1]) / max(now - self._began[0], 1e-9), 1.0)
        self.grace, self._late = FINISH_SECONDS, spent
        self._owed = max(FINISH_SECONDS + min(left, max(OWED_SECONDS, counted)), LEAST_SECONDS)

    def grant(self, seconds: float) -> None:
        """Grant this much of the processor from now on, whatever the time is."""
        self._late, self._owed = time.thread_time(), seconds

    def is_over(self, ahead: float = 0.0) -> bool:
        """True if the time is over, or will be after `ahead` more seconds. Raises CalledOff."""
        if self.called_off():
            raise CalledOff
        ahead += self.left
        if time.monotonic() + ahead <= self.end + self.grace:
            return False
        spent = time.thread_time()
        if self._late is None:
            self._late = spent
        return ahead + spent - self._late >= max(LEAST_SECONDS, self._owed)


_current: ContextVar[_Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def time_limit(
    seconds: float | None, begun: float | None = None, called_off: Callable[[], bool] = _never
) -> Iterator[None]:
    """Limit the time of the block to `seconds` from `begun` (on time.monotonic(); default: now), plus 0.2 s, or 0.3 s once there is a plan.

    On a busy machine a plan is still finished with the processor time that an idle machine would have given: at most OWED_SECONDS more, or what
    was counted for the rest.

    After that it raises OutOfTime, and CalledOff soon after `called_off` is true. None means no limit. Inside another limit this one has no effect: the whole request has one limit,
    however it is divided.
    """
    if seconds is not None and seconds != seconds:
        raise BadInput(Finding(Code.OUT_OF_RANGE, "/seconds", "must be a number of seconds, not nan"))
    if seconds is None or _current.get() is not None:
        yield
        return
    seconds = min(seconds, FOR_EVER)
    end = (time.monotonic() if begun is None else begun) + seconds
    with _under(_Deadline(seconds, end, called_off)):
        yield


@contextmanager
def until(end: float) -> Iterator[None]:
    """End the block, whose result is optional, with OutOfTime at this moment of time.monotonic()."""
    deadline = _current.get()
    if deadline is None:
        yield
        return
    sooner = _Deadline(deadline.limit, min(end, deadline.end), deadline.called_off)
    sooner.grace = 0.0
    with _under(sooner):
        yield


@contextmanager
def _under(deadline: _Deadline) -> Iterator[None]:
    token = _current.set(deadline)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def leaving(seconds: float) -> Iterator[None]:
    """End the block with OutOfTime so much sooner: another way to the answer, which takes this long, is open then."""
    with _changed("left", seconds):
        yield


@contextmanager
def about(subject: str) -> Iterator[None]:
    """Say of the block, or of the function that this decorates, that its work is on this and not on the problem."""
    with _changed("subject", subject):
        yield


@contextmanager
def _changed(name: str, value: object) -> Iterator[None]:
    """Give the deadline, if there is one, another value during the block."""
    deadline = _current.get()
    if deadline is None:
        yield
        return
    before = getattr(deadline, name)
    setattr(deadline, name, value)
    try:
        yield
    finally:
        setattr(deadline, name, before)


@contextmanager
def granting(seconds: float) -> Iterator[None]:
    """Grant the block this much time, of the processor if the machine is busy, whatever the time is: it takes this other way."""
    deadline = _current.get()
    if deadline is None:
        yield
        return
    other = _Deadline(deadline.limit, time.monotonic() + seconds, deadline.called_off)
    other.grace = 0.0
    other.grant(seconds)
    token = _current.set(other)
    try:
        yield
    finally:
        _current.reset(token)


def finish(counted: float = 0.0) -> None:
    """Allow a little more time: there is a plan, and it should not be lost. `counted`: the processor time that the rest is known to take."""
    deadline = _current.get()
    if deadline is not None:
        deadline.finish(counted)


def look(deed: str) -> None:
    """Raise OutOfTime if the time is over; `deed` names the current work, as in "reading"."""
    deadline = _current.get()
    if deadline is not None and deadline.is_over():
        raise _out_of_time(deadline, deed)


def expect(seconds: float, deed: str, what: str | None = None) -> None:
    """Raise OutOfTime if the time is over, or would be after work of this length that cannot look at the clock."""
    deadline = _current.get()
    if deadline is not None and deadline.is_over(seconds):
        raise _out_of_time(deadline, deed, "" if what is None else f" ({what})")


def tick(deed: str, count: int = 1) -> None:
    """Look at the clock at every LOOK_EVERY-th call, or sooner, where each counts for several."""
    deadline = _current.get()
    if deadline is not None:
        deadline.ticks += count
        if deadline.ticks % LOOK_EVERY < count:
            look(deed)


def in_time(items: Collection[Item], deed: str, what: str = "entry") -> Iterable[Item]:
    """Yield the items and look at the clock now and then; the error says how many items were left."""
    deadline = _current.get()
    return items if deadline is None or len(items) <= LOOK_EVERY else _looking(items, deadline, deed, what)


def _looking(items: Collection[Item], deadline: _Deadline, deed: str, what: str) -> Iterator[Item]:
    each = iter(items)
    for done in range(0, len(items), LOOK_EVERY):
        if deadline.is_over():
            raise _out_of_time(deadline, deed, f", at {what} {done} of {len(items)}")
        yield from islice(each, LOOK_EVERY)


def _out_of_time(deadline: _Deadline, deed: str, where: str = "") -> OutOfTime:
    over = f"the time limit of {deadline.limit:g} s was over while {deed} the {deadline.subject}{where}"
    text = f"{over}, before there was an answer; allow more time (time_limit) for a problem of this size"
    return OutOfTime(Finding(Code.OUT_OF_TIME, "", text))
