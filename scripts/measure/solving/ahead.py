"""Estimates how much sooner a second worker that answers questions ahead ends plans for several memories: logged once, and replayed. A Markdown table.

.venv/bin/python -m scripts.measure.solving.ahead [--seconds 5] [KIND:BUFFERS:SEED]...

A plan with two workers is logged: the processor time of the planner's thread between questions, and of each answer in its process. The replay gives two
cores to what is at work; one worker would take the sum without answers that nobody asked for. So it needs no idle machine. Helpers in greedy and packing,
and what processes lose to each other through memory, are left out.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import product
from math import inf
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from planner import end_solver_processes, plan
from planner.generate import Request, generate
from scripts.measure.arguments import Arguments, by_work
from scripts.measure.spent import used
from solvers.choice.pools.questions.lines import Line
from solvers.portfolio import execute
from solvers.portfolio.joint import ahead, joint
from solvers.portfolio.roster import role_of

KINDS, BUFFERS, SEEDS = ("pools", "hot", "memories"), (300, 1000, 1500), (1000, 1001)
USUAL = [f"{kind}:{count}:{seed}" for kind, count, seed in product(KINDS, BUFFERS, SEEDS)]
CORES = 2


@dataclass(eq=False)
class Task:
    """Something that another process works at."""

    queue: object
    """Tasks of the same queue follow each other."""
    seconds: float = 0.0


class Step(NamedTuple):
    """What the planner's thread does next."""

    seconds: float
    """First it works so long;"""
    begins: Task | None = None
    waits_for: Task | None = None


class Log:
    """The steps of one run."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._since = time.thread_time()

    def add(self, begins: Task | None = None, waits_for: Task | None = None) -> None:
        now = time.thread_time()
        self.steps.append(Step(now - self._since, begins, waits_for))
        self._since = now

    def go_on(self) -> None:
        """What was done until now is no part of the run."""
        self._since = time.thread_time()

    @property
    def alone(self) -> float:
        """The seconds of one worker, who begins what he waits for."""
        return sum(step.seconds + (step.waits_for.seconds if step.waits_for else 0) for step in self.steps)

    def replayed(self, *, ahead: bool = True) -> float:
        """Those of two; without `ahead`, no question is answered before it is asked."""
        return _Replay(self.steps, ahead=ahead).now


class _Replay:
    """Gives the cores to what is at work, each an equal part."""

    def __init__(self, steps: list[Step], *, ahead: bool) -> None:
        self.now = 0.0
        self._left: dict[Task, float] = {}
        for step in steps:
            self._work(step.seconds)
            begins = step.begins
            if not ahead and any(
                task is not None and isinstance(task.queue, Line) for task in (begins, step.waits_for)
            ):
                begins = step.waits_for
            if begins is not None:
                self._left[begins] = begins.seconds
            while step.waits_for in self._left:
                self._pass(inf, 0)

    def _work(self, seconds: float) -> None:
        while seconds > 0:
            seconds -= self._pass(seconds, 1)

    def _pass(self, most: float, others: int) -> float:
        """Let time pass until a task ends, or what else is at work has done the most; how much each did."""
        at_work = list({task.queue: task for task in reversed(self._left)}.values())
        done = min([most, *(self._left[task] for task in at_work)])
        self.now += done * max(1.0, (len(at_work) + others) / CORES)
        for task in at_work:
            self._left[task] -= done
        self._left = {task: left for task, left in self._left.items() if left > 0 or task not in at_work}
        return done


def seconds_of(line: Line) -> float:
    """The processor seconds of the line's process so far."""
    remote = line._talk._remote
    total = 0
    if remote is not None and remote.fate.pid is not None:
        for each in Path(f"/proc/{remote.fate.pid}/task").glob("*/schedstat"):
            with suppress(OSError):
                total += int(each.read_text().split()[0])
    return total / 1e9


class Waited:
    """A reply that says when it is waited for."""

    def __init__(self, log: Log, task: Task, begun: Future[Any]) -> None:
        self._log, self._task, self._begun = log, task, begun

    def result(self) -> Any:
        self._log.add(waits_for=self._task)
        return self._begun.result()


def logged(kind: str, count: int, seed: int, seconds: float) -> Log:
    problem = generate(kind, Request(count, seed))
    log, tasks, early = Log(), dict[Line, list[Task]](), dict[str, Task]()
    said, begin = Line.said, Line.begin

    def said_and_timed(line: Line, *args: Any) -> Any:
        before = seconds_of(line)
        reply = said(line, *args)
        tasks[line].pop(0).seconds = seconds_of(line) - before
        return reply

    def begun(line: Line, *args: Any) -> Any:
        task = Task(line)
        tasks.setdefault(line, []).append(task)
        log.add(begins=task)
        return Waited(log, task, begin(line, *args))

    def asked(name: str, *args: Any) -> Any:
        if name == "pools_first":
            return execute.ask(name, *args)
        is_new = name not in early
        task = early.pop(name, Task(name))
        log.add(begins=task if is_new else None)
        before = sum(used())
        answer = execute.ask(name, *args)
        task.seconds = sum(used()) - before
        log.go_on()
        log.add(waits_for=task)
        return answer

    @contextmanager
    def begun_ahead(names: Iterable[str], *_: Any) -> Iterator[ahead.Answers]:
        for name in names:
            if role_of(name).works_ahead:
                early[name] = Task(name)
                log.add(begins=early[name])
        yield {}

    options = by_work(seconds, workers=2)
    with (
        patch.object(Line, "said", said_and_timed),
        patch.object(Line, "begin", begun),
        patch.object(joint, "ask", asked),
        patch.object(joint, "working_ahead", begun_ahead),
    ):
        plan(problem, options)
        log.add()
    end_solver_processes()
    return log


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("problems", nargs="*", default=USUAL)
    parser.add_work(5.0)
    args = parser.parse_args()
    print(
        "| problem | one worker | two | times as fast | with no question answered ahead |\n|---|---|---|---|---|",
        flush=True,
    )
    logged("pools", 60, 1, 1.0)  # what it imports is not counted
    for wanted in args.problems:
        kind, count, seed = wanted.split(":")
        log = logged(kind, int(count), int(seed), args.seconds)
        alone, two, before = log.alone, log.replayed(), log.replayed(ahead=False)
        print(
            f"| {kind}, {count}, {seed} | {alone:.2f} | {two:.2f} | {alone / two:.2f} | {alone / before:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
