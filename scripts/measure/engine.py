"""Measures planning, from the problem to the verified plan, on one thread: a Markdown table of processor seconds, seed by seed.

The time of solvers' own processes (CP-SAT) is added after a plus.

python -m scripts.measure.engine ../shared/corpus [--seeds 5] [--first-seed 1000] [--only minimalloc|nets|scale|generated|workers]
MEMPLAN_KERNELS=reference python -m scripts.measure.engine ../shared/corpus --seeds 1 --most 5    without native kernels

Reading the files is not counted. Runs without a proof are ended by work, not the clock: the default work of the time limits given below.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from planner import Goal, Options, Plan, PlanStatus, Problem, plan
from planner.formats import read_problem
from planner.generate import Request, generate
from planner.planning.placing.pipeline import WORK_PER_SECOND
from scripts.measure.arguments import Arguments
from scripts.measure.spent import used, used_since

MIB = 1 << 20
SIZES = (2_000, 7_000)
FIRST_SEED = 1000
"""First seed of generated instances; neither it nor later ones were used for tuning."""
INSTANCES = 12
HARD = 0.02
"""An instance counts only if greedy's best is this far above its bound; others say nothing about the engine."""


class Scope(NamedTuple):
    """What is measured, and how."""

    corpus: Path
    seeds: range
    """Seeds of the plans."""
    options: Options
    instances: range
    """Seeds of generated problems."""


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED, help="of generated instances")
    parser.add_argument("--only", choices=tuple(PARTS))
    parser.add_argument(
        "--most",
        type=float,
        default=120.0,
        help="seconds by the clock; so many that work ends the runs on a busy machine",
    )
    arguments = parser.parse_args()
    options, first = Options(workers=1, time_limit=arguments.most), arguments.first_seed
    print("| what | processor seconds, seed by seed | what came of it |\n|---|---|---|")
    for name, measure in PARTS.items():
        if arguments.only in (None, name):
            measure(Scope(arguments.corpus, range(arguments.seeds), options, range(first, first + INSTANCES)))


def minimalloc(scope: Scope) -> None:
    corpus, seeds, options, _ = scope
    hard = {path.name[0]: read(path) for path in sorted((corpus / "minimalloc").glob("?.1048576.csv"))}
    fit = replace(options, goal=Goal.FIT, capacity=MIB)
    row("A C D F H K at 1 MiB, `--goal fit`, all six", hard.values(), seeds, fit, 10)
    row("A C F H K, proven minimal, all five", [p for n, p in hard.items() if n != "D"], seeds, options, 10)
    row("D, proven minimal", [hard["D"]], seeds, options, 10)


def nets(scope: Scope) -> None:
    corpus, seeds, options, _ = scope
    row("30 networks, all together", map(read, sorted((corpus / "nets").glob("*.json"))), seeds, options, 5)


def scale(scope: Scope) -> None:
    corpus, seeds, options, _ = scope
    row("resnet50 (1 042 buffers)", [read(corpus / "scale" / "resnet50.csv")], seeds, options, 5)
    large = read(corpus / "scale" / "S_1.csv")
    for seconds in (1, 5, 10):
        row(f"S_1 (28 526 buffers), the work of {seconds} s", [large], list(seeds)[:1], options, seconds)
    for seconds in (1, 5):
        begun = time.monotonic()
        made = plan(large, replace(options, time_limit=seconds))
        print(
            f"| S_1, `time_limit={seconds}`, by the clock | {time.monotonic() - begun:.2f} | {outcome([made])} |",
            flush=True,
        )


def generated(scope: Scope) -> None:
    _, seeds, options, instances = scope
    for kind in ("training", "recurrent"):
        for size in SIZES:
            problems = [generate(kind, Request(size, seed)) for seed in instances]
            hard = [problem for problem in problems if (plan(problem, Options(solver="greedy")).gap or 0) >= HARD]
            what = f"{kind}, {size} buffers: the {len(hard)} of {len(problems)} that greedy leaves 2 % or more above their bounds, the work of 5 s each"
            row(what, hard, list(seeds)[:1], options, 5)
    for size in (10_000, 20_000):
        request = Request(size, instances[0])
        row(f"pangu, {size} buffers, the work of 5 s", [generate("pangu", request)], list(seeds)[:1], options, 5)


def workers(scope: Scope) -> None:
    """Plans the same packings with one worker and with two, by the clock."""
    packings = [generate("packing", Request(size, seed)) for size in (300, 400) for seed in range(8)]
    for count in (1, 2):
        options = replace(scope.options, solver="search", workers=count, work_limit=10 * WORK_PER_SECOND)
        begun = time.monotonic()
        plans = [plan(packing, options) for packing in packings]
        spent = time.monotonic() - begun
        print(f"| 16 packings, workers: {count}, seconds by the clock | {spent:.1f} | {outcome(plans)} |", flush=True)


PARTS: dict[str, Callable[[Scope], None]] = {
    "minimalloc": minimalloc,
    "nets": nets,
    "scale": scale,
    "generated": generated,
    "workers": workers,
}


def read(path: Path) -> Problem:
    return read_problem(path.read_bytes(), name=path.name)[0]


def row(what: str, problems: Iterable[Problem], seeds: Iterable[int], options: Options, seconds: int) -> None:
    """One row of the table: all problems, one after the other, with each seed."""
    problems = list(problems)
    options = replace(options, work_limit=seconds * WORK_PER_SECOND)
    spent: list[str] = []
    plans: list[Plan] = []
    for seed in seeds:
        before = used()
        plans += [plan(problem, replace(options, seed=seed)) for problem in problems]
        ours, others = used_since(before)
        spent.append(f"{ours:.2f}" + (f" + {others:.2f}" if others >= 0.1 else ""))
    print(f"| {what} | {', '.join(spent)} | {outcome(plans)} |", flush=True)


def outcome(plans: list[Plan]) -> str:
    proven = sum(p.status is PlanStatus.OPTIMAL for p in plans)
    placed = sum(bool(p.placements) for p in plans)
    gaps = [p.gap for p in plans if p.gap is not None]
    worst = f", worst gap {max(gaps):.2%}" if gaps and proven < len(plans) else ""
    return f"{placed} of {len(plans)} placed, {proven} proven optimal{worst}"


if __name__ == "__main__":
    main()
