"""Measures frontiers of memory and cost of generated problems: points, proofs, work and processor time, one row a seed.

    python -m scripts.measure.planning.frontiers 501-520 78 --work-limit 7500000 --workers 1

With --certificates it also says of how many points the bounds of memory and of cost are proven again by certificates, and how far below the bounds that is
at most; and the same of what prices alone prove, which are looked for at each point.

Without --time-limit nothing depends on the clock, so everything but the seconds repeats exactly. Processor seconds count solvers' processes, too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from planner import Options, Plan, Problem, pareto
from planner.generate import Request, generate
from planner.planning.placing.variants.choices import lower_choices
from planner.planning.placing.variants.proofs import Proofs
from scripts.measure import spent
from scripts.measure.arguments import Arguments
from scripts.measure.planning.ruled import KINDS, with_rules
from solvers.choice.alternatives.bounds.lines import Asked, Lines
from solvers.choice.alternatives.bounds.relaxation import Relaxation
from solvers.model.instance import Term
from solvers.sandbox import shutdown

WORK_OF_PRICES = 10_000_000


def seeds(words: list[str]) -> Iterator[int]:
    """The seeds of `7` and `501-520`."""
    for word in words:
        first, _, last = word.partition("-")
        yield from range(int(first), int(last or first) + 1)


def with_memories(problem: Problem, tcm: int) -> Problem:
    """The problem with a small memory, and one without limit at four times its price."""
    pool = problem.pools[0]
    return replace(problem, pools=(replace(pool, name="tcm", size=tcm), replace(pool, name="sram", size=None, cost=4)))


def gaps(points: tuple[Plan, ...]) -> tuple[float, float]:
    """How far, at most, the points lie above their bounds of memory and of cost, in percent."""
    of_memory = [100.0 * (each.gap or 0) for each in points]
    chosen = [each.choice for each in points if each.choice is not None]
    of_cost = [100 * (each.cost / each.cost_bound - 1) if each.cost_bound else 0.0 for each in chosen]
    return max(of_memory, default=0.0), max(of_cost, default=0.0)


def again(points: tuple[Plan, ...]) -> list[str]:
    """Of how many points the bounds of memory and cost are proven again, and by how many percent they are not, at most."""
    shown = [
        (each.choice.least_memory(), each.choice.least_cost(each.objective.value)) for each in points if each.choice
    ]
    return figures(points, shown)


def by_prices(problem: Problem, points: tuple[Plan, ...]) -> list[str]:
    """The same of what prices prove that are looked for at each point."""
    choices = lower_choices(problem)
    relaxation, proofs, lines = Relaxation(choices), Proofs(problem, choices, for_speed=False), Lines()
    for each in points:
        for_each = () if each.choice is None else (Asked(False, each.choice.cost), Asked(True, each.objective.value))
        for asked in for_each:
            prices, _ = relaxation.prices(asked, WORK_OF_PRICES)
            line = None if prices is None else proofs.prove(prices)
            lines.lines += [] if line is None else [line]
    shown = [
        (lines.least_value(each.choice.cost) or 0, lines.least_cost(each.objective.value))
        for each in points
        if each.choice
    ]
    return figures(points, shown)


def figures(points: tuple[Plan, ...], shown: list[tuple[int, int | None]]) -> list[str]:
    """Counts and percentages, of memory and then of cost."""
    both = [
        [(each.objective.bound or 0, memory) for each, (memory, _) in zip(points, shown, strict=True)],
        [
            (each.choice.cost_bound or 0, cost or 0)
            for each, (_, cost) in zip(points, shown, strict=True)
            if each.choice
        ],
    ]
    found = []
    for bounds in both:
        below = max((100 * (1 - least / bound) for bound, least in bounds if bound > 0), default=0.0)
        found += [f"{sum(least >= bound for bound, least in bounds)}", f"{max(below, 0.0):.2f}"]
    return found


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("seeds", nargs="+", help="7, or 501-520")
    parser.add_argument("-n", "--buffers", type=int, default=60)
    parser.add_argument("--groups", type=int, default=20)
    parser.add_argument("--alternatives", type=int, default=4)
    parser.add_argument(
        "--tcm", type=int, help="bytes of a first memory, beside one without limit at four times its price"
    )
    parser.add_argument("--largest", action="store_true", help="the largest peak is minimised, not their sum by price")
    parser.add_argument("--certificates", action="store_true", help="what certificates prove, and prices alone")
    parser.add_argument("--rules", nargs="+", default=[], choices=KINDS, help="kinds of rules to add, with --tcm")
    parser.add_argument("--points", type=int)
    parser.add_argument("--time-limit", type=float)
    parser.add_argument("--work-limit", type=int)
    parser.add_argument("--workers", type=int)
    asked = parser.parse_args()
    options = Options(time_limit=asked.time_limit, work_limit=asked.work_limit, workers=asked.workers)
    parameters = {"groups": asked.groups, "alternatives": asked.alternatives}
    more = (
        " memory again | below % | cost again | below % | memory by prices | below % | cost by prices | below % |"
        if asked.certificates
        else ""
    )
    print(
        "| seed | points | proven | complete | within % | above memory % | above cost % | seconds | processor |" + more
    )
    print("|---|---|---|---|---|---|---|---|---|" + "---|" * more.count(" |"))
    for seed in seeds(asked.seeds):
        problem = generate("variants", Request(asked.buffers, seed, parameters=parameters))
        if asked.tcm is not None:
            problem = with_rules(with_memories(problem, asked.tcm), asked.rules, seed)
        if asked.largest:
            problem = replace(problem, terms=(Term.LARGEST_PEAK,))
        begun, before = time.monotonic(), spent.seconds()
        found = pareto(problem, options, asked.points)
        seconds = time.monotonic() - begun
        shutdown()
        proven = sum(each.status.value == "optimal" for each in found.points)
        within = "" if found.within is None else f"{100 * found.within:.2f}"
        of_memory, of_cost = gaps(found.points)
        row: tuple[object, ...] = (seed, len(found.points), proven, "yes" if found.is_complete else "no", within, f"{of_memory:.2f}", f"{of_cost:.2f}", f"{seconds:.1f}", f"{spent.seconds() - before:.1f}")  # fmt: skip
        if asked.certificates:
            row = (*row, *again(found.points), *by_prices(problem, found.points))
        print("|", " | ".join(map(str, row)), "|", flush=True)


if __name__ == "__main__":
    main()
