"""Measures how soon the native kernels end after a request to stop, and how often they ask: a Markdown table.

python -m scripts.measure.solving.stopping [--after 0.3] [--repeats 5]

By the clock, in milliseconds: the longest of all repeats. The longest silence is the longest time between two questions, the first one not counted.
"""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np

from planner.generate import Request, generate
from planner.planning.placing.lowering import lower
from scripts.measure.arguments import Arguments
from solvers.geometry.presolve import by_pool
from solvers.model.errors import StopReason
from solvers.model.instance import Placement
from solvers.model.outcome import Value
from solvers.model.solver import Limits, Task
from solvers.portfolio.execute import execute
from solvers.portfolio.single_pool import SinglePool

CASES = (
    ("greedy", "packing", 100_000),
    ("greedy", "random", 1_000_000),
    ("improve", "packing", 20_000),
    ("improve", "packing", 100_000),
    ("search", "packing", 1_000),
    ("beam", "packing", 1_000),
    ("beam", "random", 20_000),
)


class Impatient:
    """Tells a solver to stop after a while, and records when it asked."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self.looks: list[float] = []
        self.told_at: float | None = None

    def incumbent(self, placement: Placement) -> None: ...

    def bound(self, bound: Value) -> None: ...

    def log(self, line: str) -> None: ...

    def stopped(self) -> StopReason | None:
        now = time.monotonic()
        self.looks.append(now)
        if now < self._until:
            return None
        self.told_at = self.told_at or now
        return StopReason.CANCELLED


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("--after", type=float, default=0.3)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    print("| kernel | problem | from told to ended | longest silence |\n|---|---|---|---|")
    for name, kind, buffers in CASES:
        instance = lower(generate(kind, Request(buffers, 1))).instance
        single = SinglePool(next(iter(by_pool(instance, np.zeros(instance.blocks, dtype=np.int64)))))
        limits = Limits(workers=1)
        start = None
        if name in ("improve", "beam"):
            start = execute("greedy", single.instance, Task(limits=limits), Impatient(0)).placement
        ends, silences = [], []
        for _ in range(arguments.repeats):
            control = Impatient(arguments.after)
            task = Task(limits=limits, start=start, bound=(single.bound,), target=(single.bound,))
            execute(name, single.instance, task, control)
            if control.told_at is not None:
                before = [at for at in control.looks if at <= control.told_at]
                ends.append(control.looks[-1] - control.told_at)
                silences += [later - earlier for earlier, later in pairwise(before)]
        if not ends:
            print(f"| {name} | {kind}, {buffers} buffers | it ended before | |")
            continue
        print(f"| {name} | {kind}, {buffers} buffers | {1e3 * max(ends):.1f} | {1e3 * max(silences, default=0):.1f} |")


if __name__ == "__main__":
    main()
