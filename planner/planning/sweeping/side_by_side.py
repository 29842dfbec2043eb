"""Several problems planned at a time, each in a process. The answers are the same wherever they are made."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from solvers.sandbox.parent_death import kill_group

from ...model.errors import PlannerError
from ...model.plan import Plan
from ...model.problem import Problem
from ...options.options import Options
from ..placing.solving import plan
from ..placing.watching import Cancelled
from .planner_process import receive, send

Request: TypeAlias = tuple[Problem, Options]
"""What to plan, and how."""

COMMAND = (sys.executable, "-P", "-c", "from planner.planning.sweeping.planner_process import main; main()")
ROOT = Path(__file__).resolve().parents[3]
QUICK = 0.05
"""Seconds: while no plan took longer, no process is started for the next."""


class ProcessEnded(RuntimeError):
    """A process was ended, or ended by itself, before its plan was made."""


@dataclass(slots=True)
class _Planner:
    """A process that plans one problem after the other."""

    process: subprocess.Popen[bytes]

    @classmethod
    def started(cls) -> _Planner:
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        process = subprocess.Popen(
            [*COMMAND, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        return cls(process)

    def plan(self, request: Request) -> Plan:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            send(self.process.stdin, request)
            answer = receive(self.process.stdout)
        except (OSError, EOFError) as error:
            raise ProcessEnded("a process of the sweep ended before its plan was made") from error
        if isinstance(answer, PlannerError):
            raise answer
        assert isinstance(answer, Plan)
        return answer

    def end(self) -> None:
        kill_group(self.process.pid)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()


class SideBySide:
    """Plans batches, at most so many at a time."""

    def __init__(self, processes: int, cancelled: Cancelled | None = None) -> None:
        self._most, self._cancelled = processes, cancelled
        self._planners: list[_Planner] = []
        self._is_quick = True

    def plan_all(self, requests: Sequence[Request]) -> list[Plan]:
        """In the order of the requests. Raises BadInput and CannotSolve, of the first request that has it."""
        here = list(requests)
        done: list[Plan] = []
        while here and (self._is_quick or self._most == 1 or len(here) == 1):
            problem, options = here.pop(0)
            begun = time.monotonic()
            done.append(plan(problem, options, cancelled=self._cancelled))
            self._is_quick = self._is_quick and time.monotonic() - begun < QUICK
        return [*done, *self._in_processes(here)] if here else done

    def _in_processes(self, requests: Sequence[Request]) -> list[Plan]:
        while len(self._planners) < min(self._most, len(requests)):
            self._planners.append(_Planner.started())
        free = list(self._planners)

        def one(request: Request) -> Plan:
            planner = free.pop()
            try:
                return planner.plan(request)
            finally:
                free.append(planner)

        with ThreadPoolExecutor(len(free)) as executor:
            waiting = [executor.submit(one, request) for request in requests]
            if self._cancelled is not None:
                while not all(each.done() for each in waiting):
                    if self._cancelled():
                        self.close()
                    time.sleep(0.02)
            return [each.result() for each in waiting]

    def close(self) -> None:
        """End the processes, and what they are at."""
        for planner in self._planners:
            planner.end()
        self._planners = []


@contextmanager
def side_by_side(processes: int, cancelled: Cancelled | None = None) -> Iterator[SideBySide]:
    """Processes that end with the block."""
    planners = SideBySide(processes, cancelled)
    try:
        yield planners
    finally:
        planners.close()
