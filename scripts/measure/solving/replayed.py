"""Measures which part of the bounds of plans for several memories anybody can add up again, without a solver's word. A Markdown table.

.venv/bin/python -m scripts.measure.solving.replayed [--seconds 10] [--buffers 60 300] [--prefer speed size] [--first-seed 1000] [--seeds 5] [KIND]...

For each term: what the certificates prove without those of searches, in percent of the plan's bound; the mean over the seeds, and the least.
"""

from __future__ import annotations

import argparse
import re
import statistics
from dataclasses import replace

from planner import Options, Plan, Preference, Problem, end_solver_processes, plan, verify
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.pipeline import WORK_PER_SECOND
from scripts.measure.engine import used
from solvers.model.outcome import Proof

KINDS = ("pools", "hot", "memories")
UNPROVEN = re.compile(r"the bound of (\w+) is \d+, but the certificates prove (\d+)")


def shares(problem: Problem, made: Plan) -> list[float]:
    """By term: the part of its bound that is proven without searches, in percent."""
    proven = tuple(each for each in made.certificates if each.proof is not Proof.SEARCH)
    findings = verify(problem, replace(made, certificates=proven))
    matches = (UNPROVEN.search(str(finding)) for finding in findings)
    known = {match[1]: int(match[2]) for match in matches if match}
    return [
        100 * known.get(term.name, term.bound) / term.bound if term.bound else 100.0 for term in made.objective.terms
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", default=KINDS)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--buffers", type=int, nargs="+", default=[60, 300])
    parser.add_argument("--prefer", nargs="+", type=Preference, default=[Preference.SPEED, Preference.SIZE])
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    options = Options(time_limit=None, work_limit=int(args.seconds * WORK_PER_SECOND), workers=1)
    print("| problems | prefer | first term | least | second term | least | proven | work, in millions | seconds |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for kind in args.kinds:
        for buffers in args.buffers:
            for prefer in args.prefer:
                problems = [generate(kind, Request(buffers, args.first_seed + n)) for n in range(args.seeds)]
                problems = [with_preference(problem, prefer) for problem in problems]
                before = sum(used())
                plans = [plan(problem, options) for problem in problems]
                seconds = sum(used()) - before
                found = [*zip(*map(shares, problems, plans), strict=True)]
                cells = [cell for each in found for cell in (f"{statistics.mean(each):.2f} %", f"{min(each):.2f} %")]
                proven = f"{sum(each.status == 'optimal' for each in plans)} of {len(plans)}"
                work = sum(each.run.work or 0 for each in plans) / 1e6 / len(plans)
                print(
                    f"| {kind}, {buffers} | {prefer} | {' | '.join(cells)} | {proven} | {work:.2f} | {seconds / len(plans):.2f} |",
                    flush=True,
                )
    end_solver_processes()


if __name__ == "__main__":
    main()
