"""Plans buffers of which any pairs conflict, without lifetimes, and compares with orders changed at random for as long on the processor.

Random pairs conflict; sizes are uniform, have a heavy tail, or come with alignments of up to 128. Changed at random is the order by size: one buffer gets
another turn, all are placed again as low as those before them let them, and the order is kept if it is no higher. What is proven is not compared.

python -m scripts.measure.planning.graphs [--buffers 100 200 300] [--pairs 5 15 40] [--seconds 1.4] [--seeds 2] [--first-seed 0] [--alone]
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations, product

import numpy as np

from planner import Buffer, Constraints, Pool, Problem, plan
from planner.planning.placing.lowering import lower
from scripts.measure import spent
from scripts.measure.arguments import Arguments, by_work, seeds
from solvers.fitting.orders import Fit
from solvers.kernels import active_for
from solvers.kernels.columns import columns

SIZES = ("uniform", "tailed", "aligned")
LARGEST, LARGEST_IN_TAIL = 1_000, 100_000


def graph(count: int, percent: int, sizes: str, seed: int) -> Problem:
    """So many buffers, so many per cent of whose pairs conflict."""
    rng = random.Random(f"{count} {percent} {sizes} {seed}")
    buffers = tuple(
        Buffer(
            number,
            min(int(20 * rng.paretovariate(1.1)), LARGEST_IN_TAIL) if sizes == "tailed" else rng.randint(1, LARGEST),
            alignment=1 << rng.randrange(8) if sizes == "aligned" else 1,
        )
        for number in range(count)
    )
    pairs = tuple(pair for pair in combinations(range(count), 2) if 100 * rng.random() < percent)
    return Problem(buffers, (Pool("arena"),), constraints=Constraints(conflicts=pairs))


def changed_at_random(problem: Problem, seconds: float, seed: int) -> tuple[int, int]:
    """The lowest peak of orders changed at random for so long on the processor, and how many there were."""
    instance = lower(problem).instance
    given, kernels, rng = columns(instance), active_for(instance).kernels, random.Random(seed)

    def peak_of(order: Sequence[int]) -> int:
        offset = kernels.greedy_place(instance.sections, given, np.array(order, dtype=np.int64), Fit.LOWEST)
        assert offset is not None
        return instance.end_of(offset)

    order = np.argsort(-instance.block_high, kind="stable").tolist()
    best, tries, until = peak_of(order), 0, spent.seconds() + seconds
    while spent.seconds() < until:
        changed = order.copy()
        changed.insert(rng.randrange(len(order)), changed.pop(rng.randrange(len(order))))
        peak = peak_of(changed)
        tries += 1
        if peak <= best:
            best, order = peak, changed
    return best, tries


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_buffers(100, 200, 300)
    parser.add_argument("--pairs", type=int, nargs="+", default=(5, 15, 40), help="per cent of all pairs that conflict")
    parser.add_work(1.4)
    parser.add_seeds(2, 0)
    parser.add_argument("--alone", action="store_true", help="without comparison")
    given = parser.parse_args()
    for seed, count, percent, sizes in product(seeds(given), given.buffers, given.pairs, SIZES):
        problem = graph(count, percent, sizes, seed)
        before = spent.seconds()
        found = plan(problem, by_work(given.seconds))
        used, peak = spent.seconds() - before, found.peak or 0
        told = (
            f"{count:>4} {percent:>3} % {sizes:7} seed {seed}: {peak}, {found.status}, by {found.solver}, {used:.1f} s"
        )
        if not given.alone and found.status != "optimal":
            other, tries = changed_at_random(problem, used, seed)
            told += f"; {tries} random changes: {other}, so {100 * (peak / other - 1):+.2f} %"
        print(told, flush=True)


if __name__ == "__main__":
    main()
