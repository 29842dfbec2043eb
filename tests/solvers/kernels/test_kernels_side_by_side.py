"""Kernels that run at the same time, on several threads each, do not affect each other."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from solvers.exact.search.solver import Search
from solvers.heuristics.greedy.solver import Greedy
from solvers.heuristics.improve import Improve
from solvers.model.errors import StopReason
from solvers.model.instance import Instance
from solvers.model.outcome import Outcome
from solvers.model.solver import Limits, Silent, Task
from tests.small.instances import make_instance


class Until(Silent):
    """A control that is cancelled from outside, and signals that its kernel has begun to ask."""

    def __init__(self) -> None:
        self.has_begun, self.cancelled = threading.Event(), threading.Event()

    def stopped(self) -> StopReason | None:
        self.has_begun.set()
        return StopReason.CANCELLED if self.cancelled.is_set() else None


def rows(seed: int, count: int) -> Instance:
    r = random.Random(seed)
    return make_instance([(s := r.randrange(count), s + r.randint(1, 40), r.randint(1, 10**6)) for _ in range(count)])


def comparable(outcome: Outcome) -> tuple[object, ...]:
    offsets = None if outcome.placement is None else outcome.placement.offset.tolist()
    return outcome.stop, offsets, outcome.bound, outcome.work


def test_kernels_side_by_side_answer_as_alone() -> None:
    few, many = rows(1, 90), rows(2, 500)
    start = Greedy().solve(few, Task(), Silent()).placement
    limits = Limits(work=10_000, workers=2)
    calls: list[Callable[[], Outcome]] = [
        lambda: Search().solve(few, Task(limits, seed=3), Silent()),
        lambda: Search().solve(few, Task(limits, seed=4), Silent()),
        lambda: Improve().solve(few, Task(limits, start=start), Silent()),
        lambda: Greedy().solve(many, Task(limits), Silent()),
    ]
    alone = [comparable(call()) for call in calls]
    with ThreadPoolExecutor(len(calls)) as pool:
        assert [comparable(future.result()) for future in [pool.submit(call) for call in calls]] == alone


def test_cancelling_one_kernel_leaves_the_others_running() -> None:
    hard = rows(5, 600)
    controls = [Until(), Until()]
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(Search().solve, hard, Task(Limits(workers=2)), control) for control in controls]
        for control, run in zip(controls, runs, strict=True):
            assert control.has_begun.wait(60)
            control.cancelled.set()
            assert run.result(60).stop is StopReason.CANCELLED
