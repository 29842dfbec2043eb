"""Measures plans for several memories: gap to the bound and processor time, with `auto`, without one of its engines, or with another solver.

    python scripts/measure/solving/memories.py --seconds 10 --compare greedy assign without:pools_first auto

For each kind of random problem, size and preset: the gap of each solver, means over the seeds, in percent of the first term; the number of fully
proven plans of the last solver, and its processor time, with all its processes. The bound is the best that any of them proved. Work is limited to
what this many seconds stand for, and nothing by the clock, so everything but the processor time repeats exactly. `without:NAME` is `auto` without
that engine.
"""

from __future__ import annotations

import argparse
import resource
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from planner import Options, Plan, Preference, Problem, plan
from planner.generate import Request, generate
from planner.planning.placing.pipeline import WORK_PER_SECOND
from solvers.portfolio.roster import ROSTER
from solvers.sandbox import shutdown

KINDS = ("pools", "hot", "memories")
WITHOUT = "without:"


def gap(made: Plan, bound: int, term: int = 0) -> float:
    """The gap to the bound in percent."""
    value = made.objective.terms[term].value
    assert value is not None
    return 100 * (value / bound - 1) if bound else 0.0


@contextmanager
def planner_named(name: str) -> Iterator[str]:
    """The solver's name to use within this context."""
    if not name.startswith(WITHOUT):
        yield name
        return
    everybody = dict(ROSTER)
    del ROSTER[name.removeprefix(WITHOUT)]
    try:
        yield "auto"
    finally:
        ROSTER.clear()
        ROSTER.update(everybody)


def processor_seconds() -> float:
    """Processor seconds of this process and of its ended children."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in spent)


def measured(problem: Problem, name: str, options: Options) -> tuple[Plan, float]:
    """The plan, and the processor time of all its processes, including the loading of libraries."""
    before = processor_seconds()
    with planner_named(name) as solver:
        made = plan(problem, replace(options, solver=solver))
    shutdown()
    return made, processor_seconds() - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--buffers", type=int, nargs="+", default=[60, 300, 1000])
    parser.add_argument("--prefer", nargs="+", type=Preference, default=list(Preference))
    parser.add_argument("--kinds", nargs="+", default=list(KINDS))
    parser.add_argument("--compare", nargs="+", default=["greedy", "assign", WITHOUT + "pools_first", "auto"])
    args = parser.parse_args()
    options = Options(time_limit=None, work_limit=int(args.seconds * WORK_PER_SECOND), workers=1)
    shown = " | ".join(args.compare)
    print(f"| instances | preset | {shown} | worst | later terms | proven | processor |")
    print("|---|---|" + "---|" * (len(args.compare) + 4))
    for count in args.buffers:
        for kind in args.kinds:
            for prefer in args.prefer:
                print(row(kind, count, replace(options, prefer=prefer), args), flush=True)


def row(kind: str, count: int, options: Options, args: argparse.Namespace) -> str:
    """A row of the table."""
    gaps: dict[str, list[float]] = {name: [] for name in args.compare}
    later, seconds, proven = list[float](), list[float](), 0
    for seed in range(args.first_seed, args.first_seed + args.seeds):
        problem = generate(kind, Request(count, seed))
        made = {name: measured(problem, name, options) for name in args.compare}
        bound = max(one.objective.bound or 0 for one, _ in made.values())
        for name, (one, _) in made.items():
            gaps[name].append(gap(one, bound))
        last, spent = made[args.compare[-1]]
        proven += last.status == "optimal"
        seconds.append(spent)
        later += [gap(last, term.bound or 0, n) for n, term in enumerate(last.objective.terms) if n]
    means = " | ".join(f"{statistics.mean(of_one):.2f} %" for of_one in gaps.values())
    after = f"{statistics.mean(later):.2f} %" if later else ""
    worst = f"{max(gaps[args.compare[-1]]):.2f} %"
    took = f"{statistics.median(seconds):.1f} s"
    return f"| {kind}, {count} | {options.prefer} | {means} | {worst} | {after} | {proven} of {args.seeds} | {took} |"


if __name__ == "__main__":
    main()
