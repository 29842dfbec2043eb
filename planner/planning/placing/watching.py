"""Time and progress of a run: when it must stop, and what it found when."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Placement
from solvers.model.interruption import GivenUp, interrupted_by
from solvers.model.objective import evaluate
from solvers.model.outcome import Value

from ...model.deadline import look, time_limit
from ...model.plan import Plan, TracePoint
from ...model.storage import Sharing


@dataclass(frozen=True, slots=True)
class Progress:
    """The best value and bound so far of the objective's first term; None: none yet."""

    seconds: float
    value: int | None
    bound: int | None
    answer: Callable[[], Plan | Sharing] | None = field(default=None, compare=False, repr=False)
    """Writes out the best plan or sharing so far; None: there is none yet. Costs nothing until called, from any thread at any time."""


OnProgress: TypeAlias = Callable[[Progress], None]
Cancelled: TypeAlias = Callable[[], bool]
OnLog: TypeAlias = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Caller:
    """What the caller of a run hears of it, and how it ends the run early."""

    on_progress: OnProgress | None = None
    cancelled: Cancelled | None = None
    on_log: OnLog | None = None


MOST_IN_A_HURRY = 1000
"""This many buffers are placed in a few hundredths of a second, by solvers or by birth, whether there is time or not."""
RESERVED_AT_LEAST = 0.02
RESERVED_SHARE = 3
"""At most 1/RESERVED_SHARE of the time is reserved for what follows solving, unless more was counted."""
STEPS_PER_SECOND = 6.0
"""Solvers look at the clock between steps, which are longer in larger problems: they may end late by this many times the time of lowering."""
FIRST_PASS = 2.0
"""A hasty first placement, if pools are chosen, takes about this many times as long as everything after it; it begins when the solvers' time is over."""
ENDING_SECONDS = 0.1
"""Processor time that solvers may take to end, if there is a placement."""
PLACING = "placing the buffers of"
MEASURABLE_SECONDS = 0.02
"""Processor time; with less, nothing can be told about how busy the machine is."""


class Clock:
    """Measures the time since a run began and until its solvers must have ended. Created when planning begins, whenever it was requested."""

    def __init__(self, time_limit: float | None, begun: float | None = None) -> None:
        self.begun = time.monotonic() if begun is None else begun
        self._lowering = 0.0
        self._busy = 1.0
        """How many times longer everything takes than on an idle machine."""
        self._limit = time_limit
        self.end = None if time_limit is None else self.begun + time_limit

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun

    @property
    def is_over(self) -> bool:
        """True if all the time is used."""
        return self.end is not None and time.monotonic() >= self.end

    @contextmanager
    def holds(self) -> Iterator[None]:
        """Inside the block, everything that looks at the time, including solvers' long loops, raises OutOfTime soon after the end."""
        with time_limit(self._limit, self.begun), interrupted_by(lambda: look(PLACING)):
            yield

    def reason_to_stop(self, cancelled: Cancelled | None) -> StopReason | None:
        """Return why nothing more should be done before solving, if so: preparation may take at most a third of the time."""
        if cancelled is not None and cancelled():
            return StopReason.CANCELLED
        over = self.end is not None and self._limit is not None and time.monotonic() >= self.end - self._limit / 3
        return StopReason.TIME_LIMIT if over else None

    def has_time(self, counted: float) -> bool:
        """True if solvers have any time, when what follows them takes this much processor time."""
        deadline = self.deadline(counted)
        return deadline is None or time.monotonic() < deadline

    @contextmanager
    def while_lowering(self) -> Iterator[None]:
        """Time lowering, which only computes and so shows how busy the machine is."""
        before, had = time.monotonic(), time.thread_time()
        yield
        spent, self._lowering = time.thread_time() - had, time.monotonic() - before
        if spent >= MEASURABLE_SECONDS:
            self._busy = max(self._lowering / spent, 1.0)

    def deadline(self, counted: float = 0.0, *, chooses_pools: bool = False) -> float | None:
        """Return the end less the time needed after solving, which was counted as this much processor time."""
        if self.end is None or self._limit is None:
            return None
        needed = self._busy * counted + STEPS_PER_SECOND * self._lowering
        if chooses_pools:
            needed *= FIRST_PASS
        most = self._limit / RESERVED_SHARE
        return self.end - max(min(RESERVED_AT_LEAST + needed, most), self._busy * counted)


class Watch:
    """The connection from solvers to the caller: keeps the trace, reports progress, tells when to stop."""

    def __init__(
        self,
        clock: Clock,
        deadline: float | None,
        instance: Instance,
        write: Callable[[Placement], Plan | Sharing],
        caller: Caller,
    ) -> None:
        self._clock = clock
        self._deadline = deadline
        self._instance = instance
        self._write = write
        self._caller = caller
        self._best: Placement | None = None
        self._value: Value | None = None
        self._bound: Value = ()
        self._ended: float | None = None
        """The thread's processor time when there was a placement and the solvers' time was over."""
        self.trace: list[TracePoint] = []

    @property
    def best(self) -> Placement | None:
        """Return the best placement so far."""
        return self._best

    @contextmanager
    def ends_solvers(self) -> Iterator[None]:
        """Inside the block, long loops of solvers that go on when they should stop raise GivenUp once there is a placement, which needs the time left."""

        def check() -> None:
            look(PLACING)
            if self._best is None or self.stopped() is None:
                return
            spent = time.thread_time()
            if self._ended is None:
                self._ended = spent
            if spent - self._ended > ENDING_SECONDS:
                raise GivenUp

        with interrupted_by(check):
            yield

    def incumbent(self, placement: Placement) -> None:
        value = evaluate(self._instance, placement)
        if self._value is None or value < self._value:
            self._value, self._best = value, placement
            self._record()

    def bound(self, bound: Value) -> None:
        if bound > self._bound:
            self._bound = bound
            self._record()

    def log(self, line: str) -> None:
        if self._caller.on_log is not None:
            self._caller.on_log(line)

    def stopped(self) -> StopReason | None:
        if self._caller.cancelled is not None and self._caller.cancelled():
            return StopReason.CANCELLED
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return StopReason.TIME_LIMIT
        return None

    def _record(self) -> None:
        value = None if self._value is None else self._value[0]
        bound = self._bound[0] if self._bound else None
        seconds = self._clock.seconds
        self.trace.append(TracePoint(round(seconds, 6), value, bound))
        if self._caller.on_progress is not None:
            answer = None if self._best is None else partial(self._write, self._best)
            self._caller.on_progress(Progress(seconds, value, bound, answer))
