"""Runs generated problems beside busy loops, and prints what ended each run: its work, as intended, or the clock. A Markdown table.

python -m scripts.measure.solving.clock [--time-limit 10] [--busy 2] [--buffers 300 2000] [--seed 1] [--processor] [--kinds KIND ...]

A run that ends by work gives the same plan on every machine: each run without a proof is made twice, and compared.

With `--processor` no clock ends a run, and the figure is the processor time of its work, in all its processes: of two cores with two busy loops, one
worker gets two thirds of one. That can be measured on a busy machine, though a unit of work takes longer there.
"""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace

from planner import Options, Plan, Problem, StopReason, end_solver_processes, plan
from planner.generate import Request, generate
from planner.generate.kinds import KINDS
from scripts.measure.arguments import Arguments, by_work
from scripts.measure.spent import used, used_since

BUSY = "while True: pass"
PART = 2 / 3
"""Share of a core for one worker beside two busy loops on two cores."""
DONE = {StopReason.PROVED, StopReason.GOAL_MET}


def run(problem: Problem, limit: float) -> tuple[Plan, float]:
    """The plan, and its time by the clock."""
    begun = time.monotonic()
    found = plan(problem, Options(time_limit=limit, workers=1))
    return found, time.monotonic() - begun


def row(kind: str, buffers: int, seed: int, limit: float) -> str:
    """How two runs of one problem ended."""
    problem = generate(kind, Request(buffers, seed))
    first, seconds = run(problem, limit)
    if first.stop in DONE:
        alike = ""
    else:
        second, _ = run(problem, limit)
        alike = "alike" if replace(first, run=second.run) == second else "not alike"
    gap = "" if first.gap is None else f"{100 * first.gap:.2f} %"
    return f"| {kind} | {buffers} | {first.stop} | {seconds:.1f} | {gap} | {alike} |"


def processor_row(kind: str, buffers: int, seed: int, limit: float) -> str:
    """The processor time of one run's work."""
    problem = generate(kind, Request(buffers, seed))
    before = used()
    found = plan(problem, by_work(limit))
    ours, others = used_since(before)
    gap = "" if found.gap is None else f"{100 * found.gap:.2f} %"
    ended_by = "work" if ours + others <= limit * PART or found.stop in DONE else "clock"
    return f"| {kind} | {buffers} | {found.stop} | {ours:.1f} + {others:.1f} | {gap} | {ended_by} |"


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("--time-limit", type=float, default=10.0)
    parser.add_argument("--busy", type=int, default=2, help="busy loops beside")
    parser.add_buffers(300, 2000)
    parser.add_argument("--kinds", nargs="+", default=sorted(KINDS.keys() - {"variants"}))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processor", action="store_true", help="the processor's time instead of the clock's")
    arguments = parser.parse_args()
    if arguments.processor:
        print("| kind | buffers | ended by | processor seconds, and of other processes | gap | would end by |")
        print("|---|---|---|---|---|---|", flush=True)
        for kind in arguments.kinds:
            for buffers in arguments.buffers:
                print(processor_row(kind, buffers, arguments.seed, arguments.time_limit), flush=True)
        end_solver_processes()
        return
    print("| kind | buffers | ended by | seconds | gap | twice |\n|---|---|---|---|---|---|", flush=True)
    loops = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(arguments.busy)]
    try:
        for kind in arguments.kinds:
            for buffers in arguments.buffers:
                print(row(kind, buffers, arguments.seed, arguments.time_limit), flush=True)
    finally:
        for loop in loops:
            loop.kill()
        end_solver_processes()


if __name__ == "__main__":
    main()
