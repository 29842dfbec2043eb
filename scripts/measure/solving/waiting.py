"""Measures how long a native engine waits for a thread that works in Python: how long both work, at usual and at quick switching. A Markdown table.

.venv/bin/python -m scripts.measure.solving.waiting [--buffers 3000] [--seed 2003]

While the engine does its work, another thread loops in Python. If neither waited, both would take as much of the processor. So no idle machine is needed.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from statistics import median
from threading import Event
from typing import Any
from unittest.mock import patch

from planner import Options, plan
from planner.generate import Request, generate
from planner.planning.placing.pipeline import WORK_PER_SECOND
from solvers.model.instance import Instance
from solvers.model.solver import Silent, Task
from solvers.portfolio import separate_pools
from solvers.portfolio.execute import Answer, ask
from solvers.portfolio.turns import QUICK_SWITCH

ENGINES = ("search", "gluing")
WORK = 600_000
LOOPS = 200
"""Between two looks at whether the engine has ended."""


def asked(buffers: int, seed: int) -> dict[str, tuple[Instance, Task]]:
    """What each engine is first asked for a packing."""
    known: dict[str, tuple[Instance, Task]] = {}

    def noted(name: str, instance: Instance, task: Task, control: Any) -> Answer:
        known.setdefault(name, (instance, task))
        return ask(name, instance, task, control)

    with patch.object(separate_pools, "ask", noted):
        plan(
            generate("packing", Request(buffers, seed)), Options(time_limit=None, workers=1, work_limit=WORK_PER_SECOND)
        )
    return known


def times_as_long(name: str, instance: Instance, task: Task) -> float:
    """How long another thread works in Python while the engine works for a second."""
    limited = replace(task, limits=replace(task.limits, work=WORK), active_threads=None)
    over = Event()

    def engine() -> float:
        begun = time.thread_time()
        try:
            ask(name, instance, limited, Silent())
        finally:
            over.set()
        return time.thread_time() - begun

    def loop() -> float:
        begun, count = time.thread_time(), 0
        while not over.is_set():
            for _ in range(LOOPS):
                count += 1
        return time.thread_time() - begun

    with ThreadPoolExecutor(2) as pool:
        looped, worked = pool.submit(loop), pool.submit(engine)
        return looped.result() / worked.result()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--buffers", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=2003)
    arguments = parser.parse_args()
    known, usual = asked(arguments.buffers, arguments.seed), sys.getswitchinterval()
    print("| engine | usual | quick |\n|---|---|---|")
    for name in ENGINES:
        cells = []
        for interval in (usual, QUICK_SWITCH):
            sys.setswitchinterval(interval)
            cells.append(f"{median(times_as_long(name, *known[name]) for _ in range(3)):.2f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
