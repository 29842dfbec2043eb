"""Runs generated problems beside busy loops, and says what ended each run: its work, as it should, or the clock. A Markdown table.

.venv/bin/python scripts/measure/solving/clock.py [--time-limit 10] [--busy 2] [--buffers 300,2000] [--seed 1] [KIND]...

A run that ends by work ends alike on every machine: each one that is left open is made twice, and compared.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from dataclasses import replace

from planner import Options, Plan, Problem, StopReason, end_solver_processes, plan
from planner.generate import Request, generate
from planner.generate.kinds import KINDS

BUSY = "while True: pass"


def run(problem: Problem, limit: float) -> tuple[Plan, float]:
    """The plan, and how long it took by the clock."""
    begun = time.monotonic()
    found = plan(problem, Options(time_limit=limit, workers=1))
    return found, time.monotonic() - begun


def row(kind: str, buffers: int, seed: int, limit: float) -> str:
    """How two runs of one problem ended."""
    problem = generate(kind, Request(buffers, seed))
    first, seconds = run(problem, limit)
    if first.stop in {StopReason.PROVED, StopReason.GOAL_MET}:
        alike = ""
    else:
        second, _ = run(problem, limit)
        alike = "alike" if replace(first, run=second.run) == second else "not alike"
    gap = "" if first.gap is None else f"{100 * first.gap:.2f} %"
    return f"| {kind} | {buffers} | {first.stop} | {seconds:.1f} | {gap} | {alike} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", default=sorted(KINDS.keys() - {"variants"}))
    parser.add_argument("--time-limit", type=float, default=10.0)
    parser.add_argument("--busy", type=int, default=2, help="busy loops beside")
    parser.add_argument("--buffers", default="300,2000")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print("| kind | buffers | ended by | seconds | gap | twice |\n|---|---|---|---|---|---|", flush=True)
    loops = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(arguments.busy)]
    try:
        for kind in arguments.kinds:
            for buffers in map(int, arguments.buffers.split(",")):
                print(row(kind, buffers, arguments.seed, arguments.time_limit), flush=True)
    finally:
        for loop in loops:
            loop.kill()
        end_solver_processes()


if __name__ == "__main__":
    main()
