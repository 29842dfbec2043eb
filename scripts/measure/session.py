"""Measures a thousand calls of plan_memory on variants of one problem: fresh, within a session, and each in a process of its own.

.venv/bin/python -m scripts.measure.session [--calls 1000] [--processes 20]

A search moves through variants: each step makes another buffer a little larger or smaller, or takes a step back. `again` is how many of the calls ask
for what was asked for before. Seconds of the processor.
"""

from __future__ import annotations

import argparse
import gc
import pickle
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

from planner import Buffer, Session, plan_memory
from planner.generate import Request, generate
from planner.model.problem import Pool, Problem

FRESH = "import pickle, sys\nfrom memplan import plan_memory\nplan_memory(*pickle.load(sys.stdin.buffer))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=20)
    arguments = parser.parse_args()
    print(
        "| problem | again | fresh calls, s | in a session, s | share | a process each, s | share |\n|---|---|---|---|---|---|---|"
    )
    for kind, count in (("transformer", 60), ("transformer", 300), ("convnet", 100), ("training", 200), ("random", 20)):
        problem = generate(kind, Request(count, 1))
        calls = list(_search(problem, arguments.calls))
        plan_memory(*calls[0])  # what is loaded at first use has been loaded
        _forget_garbage()
        begun = time.process_time()
        expected = [plan_memory(*call) for call in calls]
        fresh = time.process_time() - begun
        session = Session()
        _forget_garbage()
        begun = time.process_time()
        found = [session.plan_memory(*call) for call in calls]
        kept = time.process_time() - begun
        assert found == expected
        apart = _in_processes(calls[: arguments.processes]) * len(calls) / arguments.processes
        again = session.hits / len(calls)
        print(
            f"| {kind} {count} | {again:.0%} | {fresh:.2f} | {kept:.2f} | {kept / fresh:.2f} | {apart:.0f} | {kept / apart:.3f} |",
            flush=True,
        )


def _forget_garbage() -> None:
    """What is there already costs neither side of the comparison anything."""
    gc.collect()
    gc.freeze()


def _search(problem: Problem, calls: int) -> Iterator[tuple[tuple[Pool, ...], tuple[Buffer, ...]]]:
    """A walk: half of the steps lead on, half of them back to a neighbour that was tried."""
    chance = random.Random(1)
    now = problem.buffers
    tried = [now]
    for _ in range(calls):
        if chance.random() < 0.6:
            now = tried[-chance.randint(1, min(len(tried), 12))]
        else:
            i = chance.randrange(len(now))
            size = max(now[i].size + chance.choice((-64, 64)), 1)
            now = (*now[:i], replace(now[i], size=size), *now[i + 1 :])
            tried.append(now)
        yield problem.pools, now


def _in_processes(calls: list[tuple[tuple[Pool, ...], tuple[Buffer, ...]]]) -> float:
    def used() -> float:
        times = resource.getrusage(resource.RUSAGE_CHILDREN)
        return times.ru_utime + times.ru_stime

    before = used()
    for call in calls:
        subprocess.run([sys.executable, "-c", FRESH], input=pickle.dumps(call), check=True)
    return used() - before


if __name__ == "__main__":
    main()
