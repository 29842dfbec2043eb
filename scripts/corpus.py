"""Plans every problem of the given folders and prints, as a Markdown table, how many were proven optimal.

.venv/bin/python scripts/corpus.py [--time-limit 10] [--solver auto] [--each] FOLDER...
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from planner import BadInput, CannotSolve, Options, Plan, PlanStatus, plan
from planner.formats import read_problem


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds for each problem")
    parser.add_argument("--solver", default="auto")
    parser.add_argument("--each", action="store_true", help="a line for each problem, too")
    arguments = parser.parse_args()
    options = Options(time_limit=arguments.time_limit, solver=arguments.solver)
    print(
        "| folder | problems | optimal | infeasible | feasible | unknown | mean gap of the feasible | seconds in all |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for folder in arguments.folders:
        print(row(folder, options, each=arguments.each), flush=True)
    return 0


def row(folder: Path, options: Options, *, each: bool) -> str:
    """One folder's line of the table."""
    counts: Counter[PlanStatus] = Counter()
    gaps: list[float] = []
    begun = time.monotonic()
    for path in sorted(p for p in folder.iterdir() if p.suffix in (".json", ".csv")):
        answer = attempt(path, options)
        if answer is None:
            continue
        counts[answer.status] += 1
        value, bound = answer.objective.value, answer.objective.bound
        if answer.status is PlanStatus.FEASIBLE and value is not None and bound:
            gaps.append(value / bound - 1)
        if each:
            print(
                f"{path.name}: {answer.status}, {value} (bound {bound}), {answer.solver}, {answer.run.seconds:.2f} s",
                file=sys.stderr,
            )
    cells = [
        counts[status]
        for status in (PlanStatus.OPTIMAL, PlanStatus.INFEASIBLE, PlanStatus.FEASIBLE, PlanStatus.UNKNOWN)
    ]
    mean = f"{sum(gaps) / len(gaps):.2%}" if gaps else "–"
    return f"| {folder.name} | {sum(counts.values())} | {' | '.join(map(str, cells))} | {mean} | {time.monotonic() - begun:.1f} |"


def attempt(path: Path, options: Options) -> Plan | None:
    """The plan of one file; None for files that hold no problem (schemas, manifests), which are named on stderr."""
    try:
        problem, _ = read_problem(path.read_bytes(), name=path.name)
        return plan(problem, options)
    except (BadInput, CannotSolve) as error:
        print(f"{path.name}: not planned: {error}", file=sys.stderr)
        return None


if __name__ == "__main__":
    sys.exit(main())
