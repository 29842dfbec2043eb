"""Measures the warm starts of the integer program: `python -m scripts.measure.solving.milp cbc --corpus ../shared/corpus`.

Prints one row per set of instances and warm start. Runs in one process, where HiGHS and OR-Tools must not both be loaded: nothing imports OR-Tools.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from planner.formats import read_problem
from planner.planning.placing.lowering import lower
from planner.planning.placing.pipeline import WORK_PER_SECOND
from scripts.measure.arguments import Arguments
from solvers.exact.milp import tries
from solvers.exact.milp.program import build
from solvers.exact.milp.program.terms import floors
from solvers.geometry.presolve import scaled, unit
from solvers.model.instance import Instance, Placement, PoolSpec, Term
from solvers.model.registry import get
from solvers.model.solver import Limits, Silent, Solver, Task, Warm

EACH = 8
Case = tuple[Instance, Placement | None]


def plain_instance(rows: list[tuple[int, int, int]]) -> Instance:
    """Buffers of (start, end, size) in one unlimited pool."""
    n = len(rows)
    start, end, size = np.array(rows, dtype=np.int64).T
    index = np.arange(n, dtype=np.int64)
    column = np.zeros((n, 1), dtype=np.int64)
    none = np.zeros((0, 2), dtype=np.int64)
    return Instance(
        (PoolSpec(),), (Term.SUM_OF_PEAKS,), int(end.max()), index, np.zeros(n, dtype=np.int64), size, index, start, end,
        np.ones((n, 1), dtype=np.bool_), column + 1, column, column, column + (1 << 40), column, index, column,
        none, none, none, np.zeros((0, 3), dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.bool_),
        index, index,
    )  # fmt: skip


def greedy(instance: Instance) -> Placement | None:
    return get("greedy").solve(instance, Task(), Silent()).placement


def random_cases(count: int, part: int, first: int, each: int = EACH) -> Iterator[Case]:
    """Instances, by seeds from the first on, on which greedy does not meet the bound; each buffer lives for up to this part of the time."""
    found = 0
    for seed in range(first, first + 100_000):
        rng = random.Random(f"{count}/{seed}")
        starts = [rng.randrange(count) for _ in range(count)]
        rows = [(s, s + 1 + rng.randrange(count // part), rng.choice((1, 2, 3, 5, 8, 13, 20, 33))) for s in starts]
        instance = plain_instance(rows)
        start = greedy(instance)
        if start is not None and int((start.offset + instance.block_high).max()) > floors(instance, ())[0]:
            yield instance, start
            found += 1
            if found == each:
                return


def corpus_cases(folder: Path) -> Iterator[Case]:
    """The kernels of the pypto corpus, each as a whole."""
    for path in sorted(folder.glob("pypto/*_n*.json")):
        instance = lower(read_problem(path.read_bytes())[0]).instance
        instance = scaled(instance, unit(instance))
        yield instance, greedy(instance)


def measure(solver: Solver, cases: list[Case], warm: Warm, seconds: float, *, by_work: bool) -> str:
    """A row of a Markdown table: proofs, mean gap of the values, total processor seconds."""
    proved, gaps, spent = 0, 0.0, 0.0
    for instance, start in cases:
        begun = sum(os.times()[:4])
        limits = Limits(work=int(seconds * WORK_PER_SECOND)) if by_work else Limits(time.monotonic() + seconds)
        outcome = solver.solve(instance, Task(limits, start=start, warm=warm), Silent(limits))
        took = sum(os.times()[:4]) - begun
        spent += took
        proved += (outcome.is_optimal or outcome.infeasible) and (took <= seconds or not by_work)
        if outcome.value is not None:
            gaps += outcome.value[0] / max(outcome.bound[0], 1) - 1 if outcome.value[0] else 0
    return f"{warm.value} | {proved}/{len(cases)} | {gaps / len(cases):.2%} | {spent:.1f} |"


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("solver", choices=("cbc", "highs"))
    parser.add_argument("--seconds", type=float, default=3.0, help="time limit of one run")
    parser.add_argument(
        "--by-work",
        action="store_true",
        help="the work of so many seconds, without a clock; a proof counts if the processor took no longer",
    )
    parser.add_argument("--corpus", type=Path, help="folder with pypto/, measured too")
    parser.add_argument("--plain", action="store_true", help="without the rows that only help solvers")
    parser.add_argument("--alone", action="store_true", help="without the local search before the programs")
    parser.add_buffers(24, 28, 32, 40)
    parser.add_seeds(EACH, 0, "random instances")
    parser.add_argument(
        "--part", type=int, default=3, help="buffers live for up to this part of the time: 1 is all of it"
    )
    parser.add_argument("--warm", type=Warm, nargs="+", default=list(Warm))
    options = parser.parse_args()
    if options.plain:
        build.__dict__["add_stacks"] = lambda program: None
    if options.alone:
        tries.__dict__["TRIES"] = 0
    solver = get(options.solver)
    sets = {
        f"random, {count} buffers": list(random_cases(count, options.part, options.first_seed, options.seeds))
        for count in options.buffers
    }
    if options.corpus is not None:
        sets["pypto"] = list(corpus_cases(options.corpus))
    print("| instances | warm start | proved | mean gap | processor seconds in total |")
    print("|---|---|---|---|---|")
    for name, cases in sets.items():
        for warm in options.warm:
            print(f"| {name} | {measure(solver, cases, warm, options.seconds, by_work=options.by_work)}", flush=True)


if __name__ == "__main__":
    main()
