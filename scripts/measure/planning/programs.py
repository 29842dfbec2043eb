"""Compares one arena for a whole program with an arena for each function within its caller's: peaks, each proven optimal.

    python -m scripts.measure.planning.programs [FILE...] [--random N]

Files are memplan-graph/2; the N random programs are those that the tests plan and run.
"""

from __future__ import annotations

from pathlib import Path
from statistics import mean

from planner import BadInput, Options, Plan, PlanStatus, Problem, plan, read_program
from planner.graph import GraphOptions, Program, nested_plan, program_problem
from planner.model.problem import Pool
from scripts.measure.arguments import Arguments
from tests.planner.graph.random_programs import random_program


def solve(problem: Problem) -> Plan:
    made = plan(problem, Options(workers=1))
    assert made.status is PlanStatus.OPTIMAL, made.status
    return made


def peaks(program: Program, pools: tuple[Pool, ...], options: GraphOptions) -> tuple[int, int]:
    whole = solve(program_problem(program, pools, options).problem).peak
    nested = nested_plan(program, pools, options, solve).peak
    assert whole is not None
    assert nested is not None
    return whole, nested


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--random", type=int, default=0)
    wanted = parser.parse_args()
    for path in wanted.files:
        file = read_program(path.read_bytes())
        whole, nested = peaks(file.program, file.pools, file.options)
        print(f"{path.name}: {whole} in one arena, {nested} nested ({1 - whole / max(nested, 1):.1%} less)")
    found: list[tuple[int, int]] = []
    for seed in range(wanted.random):
        program = random_program(seed)
        if all(operator.functions == () for function in program.functions for operator in function.operators):
            continue
        try:
            found.append(peaks(program, (Pool("sram"),), GraphOptions()))
        except (BadInput, AssertionError):  # state written while it is lent, or not proven
            continue
    if found:
        print(
            f"{len(found)} random programs that run functions: less in {sum(a < b for a, b in found)}, more in {sum(a > b for a, b in found)}, "
            f"{mean(1 - a / max(b, 1) for a, b in found):.1%} less on average, {max(1 - a / max(b, 1) for a, b in found):.0%} at most"
        )


if __name__ == "__main__":
    main()
