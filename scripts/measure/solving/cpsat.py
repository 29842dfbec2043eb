"""Measures the warm starts and modes of CP-SAT: `python -m scripts.measure.solving.cpsat ../shared/corpus`.

Prints one row per set of instances, mode and warm start. Budgets are counted in work, so placements and bounds do not depend on the machine.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from planner.formats import read_problem
from planner.planning.placing.lowering import lower
from scripts.measure.arguments import Arguments
from solvers import sandbox
from solvers.geometry.presolve import restrict, scaled, unit
from solvers.model.instance import Instance, Placement
from solvers.model.registry import get
from solvers.model.solver import Limits, Silent, Task, Warm

MODES = {"fixed": "cpsat", "variable": "solvers.exact.cpsat:CpSatPeak"}
NETS = ("bert_base_128_nofold", "llama_kv_prefill64", "unetpp_256")
LONGEST_SECONDS = 60.0
Case = tuple[str, Instance, Placement | None]


def cases(paths: list[Path]) -> Iterator[Case]:
    """Each problem as a whole, with greedy's placement; problems that greedy settles are left out."""
    for path in paths:
        instance = lower(read_problem(path.read_bytes(), name=path.name)[0]).instance
        instance = scaled(instance, unit(instance))
        used = np.flatnonzero(instance.allowed.any(axis=0)).tolist()
        instance = restrict(instance, np.arange(instance.blocks), used).instance
        begun = get("greedy").solve(instance, Task(), Silent())
        if not begun.is_optimal:
            yield path.name.partition(".")[0], instance, begun.placement


def measure(solver: str, chosen: list[Case], warm: Warm | None, work: int, *, verbose: bool) -> str:
    """The number of proofs, the mean gap to the bound, work in units, seconds."""
    proved, gap, spent, begun = 0, 0.0, 0, time.monotonic()
    for name, instance, start in chosen:
        limits = Limits(deadline=time.monotonic() + LONGEST_SECONDS, work=work)
        outcome = sandbox.run(solver, instance, Task(limits, start=start, warm=warm), Silent())
        is_proved = outcome.is_optimal or outcome.infeasible
        proved += is_proved
        spent += outcome.work
        if outcome.value is not None and outcome.bound and not is_proved:
            gap += outcome.value[0] / max(outcome.bound[0], 1) - 1
        if verbose:
            print(
                f"  {name} {solver} {warm} {outcome.stop} {outcome.value} {outcome.bound} {outcome.work}",
                file=sys.stderr,
            )
    seconds = time.monotonic() - begun
    return f"{proved}/{len(chosen)} | {gap / max(len(chosen), 1):.2%} | {spent / 1e6:.1f} M | {seconds:.0f} |"


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--work-limit", type=int, default=3_000_000, help="of one run")
    parser.add_argument("--only", choices=("minimalloc", "nets", "pypto"))
    parser.add_argument("--arm", choices=(*Warm, "default"))
    parser.add_argument("--mode", choices=tuple(MODES))
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    sets = {
        "minimalloc": sorted(options.corpus.glob("minimalloc/?.*.csv")),
        "nets": [options.corpus / "nets" / f"{name}.json" for name in NETS],
        "pypto": sorted(options.corpus.glob("pypto/*_n*.json")),
    }
    print("| instances | peak | warm start | proved | mean gap | work | seconds |")
    print("|---|---|---|---|---|---|---|")
    for title, paths in sets.items():
        if options.only in (None, title):
            chosen = list(cases(paths))
            for mode, solver in MODES.items():
                for warm in (*Warm, None) if options.mode in (None, mode) else ():
                    if options.arm not in (None, warm or "default"):
                        continue
                    row = measure(solver, chosen, warm, options.work_limit, verbose=options.verbose)
                    print(f"| {title} ({len(chosen)}) | {mode} | {warm or 'default'} | {row}", flush=True)


if __name__ == "__main__":
    main()
