"""Plans every problem of the given folders and prints, as a Markdown table, how many were proven optimal.

python -m scripts.measure.corpus [--time-limit 10] [--solver auto]... [--each] FOLDER...
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from planner import BadInput, CannotSolve, Options, Plan, PlanStatus, Problem, plan
from planner.formats import read_problem
from scripts.measure.arguments import Arguments

HEADINGS = (
    "folder", "solver", "problems", *(str(status) for status in PlanStatus), "refused", "mean gap of the feasible", "seconds",
)  # fmt: skip


def main() -> int:
    parser = Arguments(__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds for each problem")
    parser.add_argument("--solver", action="append", help="once for each solver; default auto")
    parser.add_argument("--each", action="store_true", help="a line for each problem, too")
    arguments = parser.parse_args()
    print(f"| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}")
    for folder in arguments.folders:
        for solver in arguments.solver or ["auto"]:
            cells = row(folder, Options(time_limit=arguments.time_limit, solver=solver), each=arguments.each)
            print(f"| {' | '.join(cells)} |", flush=True)
    return 0


def row(folder: Path, options: Options, *, each: bool) -> list[str]:
    """One row of the table."""
    plans: list[Plan] = []
    refused = 0
    begun = time.monotonic()
    for path, problem in problems(folder):
        try:
            answer = plan(problem, options)
        except CannotSolve as error:
            print(f"{path.name}: refused: {error}", file=sys.stderr)
            refused += 1
            continue
        plans.append(answer)
        if each:
            found = f"{answer.objective.value} (bound {answer.objective.bound}) by {answer.solver}"
            print(f"{path.name}: {answer.status}, {found}, {answer.run.seconds:.2f} s", file=sys.stderr)
    seconds = time.monotonic() - begun
    counts = Counter(answer.status for answer in plans)
    numbers = [refused + len(plans), *(counts[status] for status in PlanStatus), refused]
    return [folder.name, options.solver, *map(str, numbers), mean_gap(plans), f"{seconds:.1f}"]


def mean_gap(plans: list[Plan]) -> str:
    """The mean gap of feasible plans whose bound is not 0."""
    ends = [(p.objective.value, p.objective.bound) for p in plans if p.status is PlanStatus.FEASIBLE]
    gaps = [value / bound - 1 for value, bound in ends if value is not None and bound]
    return f"{sum(gaps) / len(gaps):.2%}" if gaps else "–"


def problems(folder: Path, pattern: str = "*") -> Iterator[tuple[Path, Problem]]:
    """The files of the folder that hold a problem; the others, such as schemas and manifests, are named on stderr."""
    for path in sorted(path for path in folder.glob(pattern) if path.is_file()):
        try:
            yield path, read_problem(path.read_bytes(), name=path.name)[0]
        except BadInput as error:
            print(f"{path.name}: no problem: {error.findings[0].message}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
