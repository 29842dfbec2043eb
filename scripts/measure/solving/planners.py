"""Compares every planner of other systems, and auto, on real and generated problems: the gap to the bound, and the time.

python -m scripts.measure.solving.planners [--time-limit 10] [--buffers 300] [--seeds 3] [--solver NAME]... [--each] [--objects] FOLDER...

The ratio is the objective's value divided by the best bound that any planner has proven, over the problems that a planner takes and solves. Seconds
are of the processor, for all solved problems together, including solvers' processes. The generated problems come last, as one group. With --objects
buffers share storage objects instead of getting offsets.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from planner import CannotSolve, Options, PlanStatus, Problem, plan, share
from planner.generate import Request, generate
from scripts.measure import spent
from scripts.measure.arguments import Arguments, seeds
from scripts.measure.corpus import problems
from solvers import sandbox
from solvers.model.registry import SolverKind, names
from solvers.sharing.solver import SHARERS

NAMED = names(SolverKind.PUBLISHED)
KINDS = ("convnet", "transformer", "unet", "recurrent", "training", "random", "packing", "pangu")
ALIGNMENT = 16
HEADINGS = ("planner", "solved", "refused", "no plan", "at the bound", "mean ratio", "worst ratio", "seconds")


@dataclass(frozen=True)
class Try:
    """One planner on one problem."""

    solver: str
    problem: str
    value: int | None
    """None: it found no plan, or the capacities allow none."""
    bound: int
    seconds: float


def main() -> int:
    parser = Arguments(__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds for each problem and planner")
    parser.add_argument("--buffers", type=int, default=300, help="of each generated problem; 0: generate none")
    parser.add_seeds(3, 0)
    parser.add_argument("--solver", action="append", help="once for each; default auto and all named planners")
    parser.add_argument("--each", action="store_true", help="a line for each problem, too")
    parser.add_argument("--objects", action="store_true", help="let buffers share storage objects")
    arguments = parser.parse_args()
    solvers = tuple(arguments.solver or (("auto", *SHARERS) if arguments.objects else ("auto", *NAMED)))
    attempt = shared if arguments.objects else planned
    for folder in arguments.folders:
        report(folder.name, read(folder), solvers, attempt, arguments.time_limit, each=arguments.each)
    if arguments.buffers:
        report(
            "generated",
            made(arguments.buffers, seeds(arguments)),
            solvers,
            attempt,
            arguments.time_limit,
            each=arguments.each,
        )
    return 0


def report(
    group: str,
    problems: Iterable[Problem],
    solvers: tuple[str, ...],
    attempt: Callable[[str, Problem, float], Try],
    limit: float,
    *,
    each: bool,
) -> None:
    """Prints a table of one group of problems."""
    tries: list[Try] = []
    refused = dict.fromkeys(solvers, 0)
    seen = list(problems)
    for problem in seen:
        for solver in solvers:
            try:
                tries.append(attempt(solver, problem, limit))
            except CannotSolve as error:
                refused[solver] += 1
                if each:
                    print(f"{problem.name}: {error}", file=sys.stderr)
                continue
            if each:
                print(tries[-1], file=sys.stderr)
    bounds: dict[str, int] = {}
    for done in tries:
        bounds[done.problem] = max(bounds.get(done.problem, 0), done.bound)
    print(f"\n{group}: {len(seen)} problems\n\n| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}")
    for solver in solvers:
        print(
            f"| {' | '.join(row(solver, [t for t in tries if t.solver == solver], refused[solver], bounds))} |",
            flush=True,
        )


def shared(solver: str, problem: Problem, limit: float) -> Try:
    """The result with storage objects. Raises CannotSolve if the planner refuses, or if the problem has offsets."""
    before = spent.seconds()
    answer = share(problem, Options(solver=solver, time_limit=limit, workers=1))
    sandbox.shutdown()  # otherwise the time of its processes would not be counted
    seconds = spent.seconds() - before
    value = None if answer.status is PlanStatus.UNKNOWN else answer.total
    return Try(solver, problem.name or "", value, answer.bound, seconds)


def planned(solver: str, problem: Problem, limit: float) -> Try:
    """The result. Raises CannotSolve if the planner refuses."""
    before = spent.seconds()
    answer = plan(problem, Options(solver=solver, time_limit=limit, workers=1))
    sandbox.shutdown()  # otherwise the time of its processes would not be counted
    seconds = spent.seconds() - before
    value = None if answer.status is PlanStatus.UNKNOWN else answer.objective.value
    return Try(solver, problem.name or "", value, answer.objective.bound or 0, seconds)


def row(solver: str, tries: list[Try], refused: int, bounds: dict[str, int]) -> list[str]:
    """One row of the table. A problem whose bound is 0 has no ratio."""
    solved = [t for t in tries if t.value is not None]
    ratios = [t.value / bounds[t.problem] for t in solved if t.value is not None and bounds[t.problem]]
    exact = sum(t.value == bounds[t.problem] for t in solved)
    mean = f"{sum(ratios) / len(ratios):.3f}" if ratios else "–"
    worst = f"{max(ratios):.3f}" if ratios else "–"
    seconds = sum(t.seconds for t in solved)
    return [
        solver,
        str(len(solved)),
        str(refused),
        str(len(tries) - len(solved)),
        str(exact),
        mean,
        worst,
        f"{seconds:.1f}",
    ]


def read(folder: Path) -> Iterator[Problem]:
    """All problems of the folder, named after their files."""
    return (replace(problem, name=path.stem) for path, problem in problems(folder))


def made(buffers: int, seeds: range) -> Iterator[Problem]:
    """Problems of every kind with a single pool."""
    for kind in KINDS:
        for seed in seeds:
            yield generate(kind, Request(buffers, seed, ALIGNMENT))


if __name__ == "__main__":
    sys.exit(main())
