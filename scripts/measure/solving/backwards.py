"""Plans generated problems as they are and with time reversed, by equal work, and prints a Markdown table: gaps each way, and which way is lower how often.

python -m scripts.measure.solving.backwards --kinds recurrent training --buffers 300 1000 --seeds 10 --first-seed 9001 [--solver beam] [--each]

All plans are verified. What fits with time reversed fits at the same addresses as it is, so gaps are above the better of the two bounds.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from statistics import fmean

from planner import Options, Problem, end_solver_processes, plan, verify
from planner.generate import Request, generate
from scripts.measure.arguments import Arguments, seeds

KINDS = ("recurrent", "training", "unet", "transformer", "convnet", "random", "packing", "pangu")


def main() -> None:
    """Read the command line and print a row for each kind and number of buffers."""
    parser = Arguments(__doc__)
    parser.add_argument("--kinds", nargs="+", default=KINDS)
    parser.add_buffers(300, 1000, 3000)
    parser.add_seeds(10, 9001)
    parser.add_argument("--work", type=int, default=1_000_000, help="units for each plan")
    parser.add_argument("--solver", default="auto")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--each", action="store_true", help="print each problem's gaps")
    given = parser.parse_args()
    options = Options(time_limit=None, work_limit=given.work, workers=given.workers, solver=given.solver)
    print(
        "| buffers | at the bound, there and back | mean gap (highest) | with time reversed | lower, higher reversed |"
    )
    print("|---|---|---|---|---|")
    for kind, count in product(given.kinds, given.buffers):
        both = [gaps(generate(kind, Request(count, seed)), options) for seed in seeds(given)]
        if given.each:
            for seed, (there, back) in zip(seeds(given), both, strict=True):
                print(f"{kind} {count} seed {seed}: {there:.3%} {back:.3%}", flush=True)
        as_it_is, reverse = [there for there, _ in both], [back for _, back in both]
        met = f"{as_it_is.count(0)}, {reverse.count(0)} of {len(both)}"
        lower, higher = sum(back < there for there, back in both), sum(back > there for there, back in both)
        print(f"| {kind} {count} | {met} | {shown(as_it_is)} | {shown(reverse)} | {lower}, {higher} |", flush=True)
    end_solver_processes()


def gaps(problem: Problem, options: Options) -> tuple[float, float]:
    """How far above the bound the plan ends, and that of the problem with time reversed."""
    reverse = backwards(problem)
    there, back = plan(problem, options), plan(reverse, options)
    for each, of in ((there, problem), (back, reverse)):
        faults = verify(of, each)
        assert not faults, faults
    first, second = there.objective.terms[0], back.objective.terms[0]
    assert first.value is not None
    assert second.value is not None
    bound = max(first.bound or 0, second.bound or 0, 1)
    return max(first.value / bound - 1, 0), max(second.value / bound - 1, 0)


def backwards(problem: Problem) -> Problem:
    """The problem with time reversed."""
    buffers = tuple(
        replace(each, live=each.live and tuple((-end, -start) for start, end in reversed(each.live)))
        for each in problem.buffers
    )
    return replace(problem, buffers=buffers)


def shown(gaps: list[float]) -> str:
    """Their mean, and the highest."""
    return f"{fmean(gaps):.3%} ({max(gaps):.2%})"


if __name__ == "__main__":
    main()
