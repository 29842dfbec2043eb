"""Measures which part of the bounds of plans for several memories anybody can add up again, without a solver's word. A Markdown table.

python -m scripts.measure.solving.replayed [--seconds 10] [--buffers 60 300] [--prefer speed size] [--first-seed 1000] [--seeds 5] [--kinds KIND ...]

For each term: what the certificates prove without those of searches, in percent of the plan's bound; the mean over the seeds, and the least.
"""

from __future__ import annotations

import re
import statistics
from dataclasses import replace

from planner import Plan, Problem, end_solver_processes, plan, verify
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from scripts.measure import spent
from scripts.measure.arguments import Arguments, by_work, cases, seeds
from solvers.model.outcome import Proof

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
    parser = Arguments(__doc__)
    parser.add_several_memories()
    parser.add_buffers(60, 300)
    parser.add_seeds(5, 1000)
    parser.add_work(10)
    args = parser.parse_args()
    print("| problems | prefer | first term | least | second term | least | proven | work, in millions | seconds |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for kind, buffers, prefer in cases(args):
        problems = [with_preference(generate(kind, Request(buffers, seed)), prefer) for seed in seeds(args)]
        before = spent.seconds()
        plans = [plan(problem, by_work(args.seconds)) for problem in problems]
        seconds = spent.seconds() - before
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
