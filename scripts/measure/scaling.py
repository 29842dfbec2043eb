"""Measures the time of a cluster's scheduler and client for each cell, without any planning: the limit for many cells.

    python -m scripts.measure.scaling [--cells N] [--workers N] [--ahead N]
    python -m scripts.measure.scaling --plans N [--buffers N] [--workers N]

Starts its own scheduler and workers on this machine. The first form submits empty cells, as far ahead of their results as `plan-many` does. It prints
the processor time of scheduler and client for each cell, and their memory as cells add up. The second plans N random problems twice in one run, in a
process here and on a cluster with this number of workers, and prints what the cluster adds to each.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

from planner import Options
from planner.many import Farm, collect, plan_many
from planner.many.cluster import AHEAD
from scripts.measure.arguments import Arguments
from scripts.measure.many import write_problems

SIZE_OF_A_PROBLEM = 3_000
"""Bytes of a problem, as for a kernel with thirty buffers."""


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("--cells", type=int, default=100_000)
    parser.add_argument("--plans", type=int, default=0)
    parser.add_argument("--buffers", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--ahead", type=int, help="cells under way; by default as many as plan-many has")
    wanted = parser.parse_args()
    from distributed.deploy.subprocess import SubprocessCluster

    with SubprocessCluster(
        n_workers=wanted.workers, threads_per_worker=1, silence_logs=50, scheduler_kwargs={"dashboard": False}
    ) as cluster:
        if wanted.plans:
            added_to_each_plan(cluster, wanted.plans, wanted.buffers, wanted.workers)
        else:
            cells(cluster, wanted.cells, wanted.ahead or AHEAD * wanted.workers)


def nothing(data: bytes) -> bytes:
    """A cell without work."""
    return data


def cells(cluster: Any, count: int, ahead: int) -> None:
    """Runs empty cells, a few ahead of their results."""
    from distributed import Client

    with Client(cluster) as client:  # type: ignore[no-untyped-call]
        client.wait_for_workers(len(cluster.workers))
        found = client.run_on_scheduler(os.getpid)
        scheduler, here = psutil.Process(found), psutil.Process()
        workers = [psutil.Process(each) for each in client.run(os.getpid).values()]
        series = (times * 10**power for power in range(3, 9) for times in (1, 2, 5))
        marks = sorted({count, *(each for each in series if each < count)})
        before = [seconds(each) for each in (scheduler, here, *workers)]
        begun = time.monotonic()
        waiting: deque[Any] = deque()
        print("| cells | a second | scheduler, ms of processor each | client | workers | scheduler, MiB | client |")
        print("|---|---|---|---|---|---|---|")
        for done in range(1, count + 1):
            waiting.append(client.submit(nothing, os.urandom(SIZE_OF_A_PROBLEM), pure=False))
            if len(waiting) >= ahead or done == count:
                waiting.popleft().result()
            if done in marks:
                spent = [seconds(each) for each in (scheduler, here, *workers)]
                each = [1e3 * (now - then) / done for now, then in zip(spent, before, strict=True)]
                memory = [process.memory_info().rss >> 20 for process in (scheduler, here)]
                rate = done / (time.monotonic() - begun)
                print(
                    f"| {done:,} | {rate:.0f} | {each[0]:.2f} | {each[1]:.2f} | {sum(each[2:]):.2f} | {memory[0]} | {memory[1]} |".replace(
                        ",", " "
                    ),
                    flush=True,
                )


def seconds(process: psutil.Process) -> float:
    """Processor seconds of the process, with its ended children."""
    times = process.cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)


def added_to_each_plan(cluster: Any, count: int, buffers: int, workers: int) -> None:
    """Plans the same problems here and on the cluster, by turns, so that other load affects both; by the processor's clock, all processes together."""
    from distributed import Client

    with Client(cluster) as client:  # type: ignore[no-untyped-call]
        client.wait_for_workers(workers)
        found = [client.run_on_scheduler(os.getpid), *client.run(os.getpid).values()]
    others = [psutil.Process(each) for each in found]
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        write_problems(count, buffers)
        spent: dict[str, list[float]] = {"here": [], "there": []}
        for turn in range(3):
            for where, each in spent.items():
                out = Path(f"{where}{turn}")
                out.mkdir()
                farm = Farm(Options(workers=1), workers, cluster.scheduler_address if where == "there" else None)
                before = together(others)
                assert plan_many(collect(["problems"], out), out, farm)
                each.append(1e3 * (together(others) - before) / count)
        here, there = (min(each) for each in spent.values())
        print(
            f"{count} problems of {buffers} buffers, the least of 3, ms of processor for each: {here:.2f} here, {there:.2f} with Dask, so {there - here:.2f} more; "
            f"all: {[round(each, 2) for each in spent['here']]}, {[round(each, 2) for each in spent['there']]}"
        )


def together(others: list[psutil.Process]) -> float:
    """Processor seconds of these processes, their children, and this process with its ended children."""
    trees = [process for each in others for process in (each, *each.children(recursive=True))]
    return sum(map(seconds, (psutil.Process(), *trees)))


if __name__ == "__main__":
    main()
