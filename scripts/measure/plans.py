"""Digests of plans: shows that a change of the code changed no plan.

python -m scripts.measure.plans ../shared/corpus > before.txt    # then change something, run it again, and compare with diff

One line for every problem and solver: the SHA-256 of the plan without the fields that depend on the clock (`run`), its status and its peak. Runs
without a proof are ended by work, never the clock.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import planner
from planner import Goal, Options, Problem
from planner.formats import write_plan, write_sharing
from planner.generate import Request, generate
from planner.model.plan import Run
from scripts.measure.arguments import Arguments
from scripts.measure.corpus import problems as problems_of

FOLDERS = ("minimalloc", "nets", "pypto", "usmp")
KINDS = (
    "training",
    "recurrent",
    "packing",
    "pools",
    "memories",
    "offload",
    "pool_packing",
    "random",
)
NAMED = (
    "greedy",
    "search",
    "cpsat",
    "cbc",
    "cadence_position",
    "tflm_greedy",
    "usmp_hill_climb",
    "xla_heap",
    "exir_greedy",
)
USUAL = Options(workers=1, time_limit=None, work_limit=300_000, solver="auto")


def main() -> None:
    """Reads the command line and prints a line for each plan."""
    parser = Arguments(__doc__)
    parser.add_argument("corpus", type=Path)
    corpus = parser.parse_args().corpus
    for name, problem in problems(corpus):
        show(name, "auto", problem, USUAL)
    for name, problem in generated(60):
        show(name, "auto, two workers", problem, replace(USUAL, workers=2, seed=1))
        show(name, "auto, to fit", problem, replace(USUAL, goal=Goal.FIT))
        for solver in NAMED:
            show(name, solver, problem, replace(USUAL, solver=solver))
        try:
            shared = planner.share(problem, replace(USUAL, work_limit=50_000))
        except planner.PlannerError as refusal:
            print(f"{name}  share  {type(refusal).__name__}")
        else:
            print(f"{name}  share  {digest(write_sharing(replace(shared, run=Run(0.0), versions={})))}", flush=True)


def problems(corpus: Path) -> Iterator[tuple[str, Problem]]:
    """The problems of the corpus, and generated ones."""
    for folder in FOLDERS:
        yield from ((path.name, problem) for path, problem in problems_of(corpus / folder))
    yield from generated(300)


def generated(buffers: int) -> Iterator[tuple[str, Problem]]:
    """One problem of each kind."""
    for kind in KINDS:
        yield f"{kind} {buffers}", generate(kind, Request(buffers, 77))


def show(name: str, what: str, problem: Problem, options: Options) -> None:
    """Prints one line."""
    try:
        plan = planner.plan(problem, options)
    except planner.PlannerError as refusal:
        print(f"{name}  {what}  {type(refusal).__name__}", flush=True)
        return
    plain = write_plan(replace(plan, run=Run(0.0), versions={}))
    print(f"{name}  {what}  {digest(plain)}  {plan.status}  {plan.peak}  {plan.reproducible}", flush=True)


def digest(data: bytes) -> str:
    """A digest short enough for a line."""
    return hashlib.sha256(data).hexdigest()[:16]


if __name__ == "__main__":
    main()
