"""What local search over assignments gains over greedy, and how far from the bound each ends.

    python scripts/measure/memories.py --work 2000000

For each kind of made-up problem, size and preset: how far above the bound greedy ends, the local search from greedy's plan with so much
work, and the whole of memplan (`auto`) with as much; means over the seeds, in percent. The bound is the best that anybody proved.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

from planner import Options, Plan, Preference, plan
from planner.generate import Request, generate

KINDS = (
    ("pools", 60),
    ("pools", 300),
    ("hot", 300),
    ("memories", 300),
    ("pools", 1000),
    ("hot", 1000),
    ("memories", 1000),
)


def gap(made: Plan, bound: int) -> float:
    """How far above the bound, in percent."""
    assert made.objective.value is not None
    return 100 * (made.objective.value / bound - 1) if bound else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=int, default=2_000_000)
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    options = Options(time_limit=None, work_limit=args.work, workers=1)
    print("| instances | preset | greedy | assign | auto | proven by auto | seconds |")
    print("|---|---|---|---|---|---|---|")
    for kind, count in KINDS:
        for prefer in Preference:
            sums = {"greedy": 0.0, "assign": 0.0, "auto": 0.0}
            proven = 0
            begun = time.perf_counter()
            for seed in range(1000, 1000 + args.seeds):
                problem = generate(kind, Request(count, seed))
                made = {name: plan(problem, replace(options, solver=name, prefer=prefer)) for name in sums}
                bound = max(one.objective.bound or 0 for one in made.values())
                proven += made["auto"].status == "optimal"
                for name, one in made.items():
                    sums[name] += gap(one, bound) / args.seeds
            seconds = (time.perf_counter() - begun) / (3 * args.seeds)
            shown = " | ".join(f"{value:.2f} %" for value in sums.values())
            print(f"| {kind}, {count} | {prefer} | {shown} | {proven} of {args.seeds} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
