"""Plans several problems at a time, each in a process. The answers do not depend on the process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from solvers.sandbox.companion import Companion

from ...model.deadline import OutOfTime, time_limit
from ...model.errors import Code, Finding, PlannerError
from ...model.plan import Plan
from ...model.problem import Problem
from ..options.options import Options
from ..placing.solving import plan
from ..placing.watching import Cancelled

Request: TypeAlias = tuple[Problem, Options, Plan | None]
"""A problem, how to plan it, and a known plan to begin with."""

SERVING = "planner.planning.sweeping.side_by_side:plan_request"
QUICK = 0.05
"""In seconds: as long as no plan took longer, no process is started for the next."""


@dataclass(frozen=True, slots=True)
class Span:
    """The time for all plans together."""

    limit: float | None
    begun: float
    """On time.monotonic(), which is the same in all processes."""

    def part(self, share: float) -> Span:
        """Return the first part of it."""
        return Span(None if self.limit is None else self.limit * share, self.begun)

    @property
    def left(self) -> float:
        return max((inf if self.limit is None else self.limit) + self.begun - time.monotonic(), 0.0)


class ProcessEnded(RuntimeError):
    """A process was ended, or ended by itself, before its plan was made."""


def plan_request(asked: tuple[Request, Span], send: Callable[[object], None]) -> None:
    """In such a process: send the plan, or the fault of the request."""
    (problem, options, start), span = asked
    limit = inf if span.limit is None else span.limit  # the plan's share is internal; that of all is promised
    try:
        with time_limit(limit, span.begun):
            send(plan(problem, options, start=start))
    except PlannerError as error:
        send(error)


def _ask(planner: Companion, request: Request, span: Span) -> Plan:
    try:
        planner.send((request, span))
        answer = planner.receive()
    except (OSError, EOFError) as error:
        raise ProcessEnded("a process of the sweep ended before its plan was made") from error
    if isinstance(answer, PlannerError):
        raise answer
    assert isinstance(answer, Plan)
    return answer


class SideBySide:
    """Plans batches, at most `processes` at a time."""

    def __init__(self, processes: int, cancelled: Cancelled | None, span: Span) -> None:
        self.processes, self.span, self._cancelled = processes, span, cancelled
        self._planners: list[Companion] = []
        self._is_quick = True

    def plan_all(self, requests: Sequence[Request]) -> list[Plan | OutOfTime]:
        """Return plans in the order of the requests, or why there was no time for one (also: it was cancelled meanwhile).

        Raises BadInput and CannotSolve of the first request that fails so.
        """
        here = list(requests)
        done: list[Plan | OutOfTime] = []
        while here and (self._is_quick or self.processes == 1 or len(here) == 1):
            problem, options, start = here.pop(0)
            begun = time.monotonic()
            try:
                done.append(plan(problem, options, cancelled=self._cancelled, start=start))
            except OutOfTime as late:
                done.append(late)
            self._is_quick = self._is_quick and time.monotonic() - begun < QUICK
        return [*done, *self._in_processes(here)] if here else done

    def _in_processes(self, requests: Sequence[Request]) -> list[Plan | OutOfTime]:
        while len(self._planners) < min(self.processes, len(requests)):
            self._planners.append(Companion(SERVING))
        free = list(self._planners)

        def one(request: Request) -> Plan | OutOfTime:
            planner = free.pop()
            try:
                return _ask(planner, request, self.span)
            except OutOfTime as late:
                return late
            except ProcessEnded:
                if self._cancelled is None or not self._cancelled():
                    raise
                return OutOfTime(Finding(Code.OUT_OF_TIME, "", "cancelled while it was planned"))
            finally:
                free.append(planner)

        with ThreadPoolExecutor(len(free)) as executor:
            waiting = [executor.submit(one, request) for request in requests]
            if self._cancelled is not None:
                while not all(each.done() for each in waiting):
                    if self._cancelled():
                        for planner in self._planners:  # they are closed once no thread asks them any more
                            planner.kill()
                    time.sleep(0.02)
            return [each.result() for each in waiting]

    def close(self) -> None:
        """End the processes and their work."""
        for planner in self._planners:
            planner.end()
        self._planners = []


@contextmanager
def side_by_side(processes: int, cancelled: Cancelled | None, span: Span) -> Iterator[SideBySide]:
    """Provide processes that end with the block."""
    planners = SideBySide(processes, cancelled, span)
    try:
        yield planners
    finally:
        planners.close()
