"""Finds the best order of greedy's passes on generated problems: each next pass is the one that lowers the mean gap most after those before it.

    python -m scripts.measure.solving.passes [--seeds 6] [--first-seed 5001] [--buffers 300 3000]

All kinds have equal weight. PASSES in solvers/fitting/orders.py was found this way; its first pass is fixed.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from planner.generate import Request, generate
from planner.planning.placing.lowering import lower
from scripts.measure.arguments import Arguments, seeds
from solvers.bounds.one_pool import pool_bound
from solvers.fitting.orders import ORDERS, PASSES, Fit
from solvers.kernels.columns import columns
from solvers.kernels.selection import select

KINDS = ("random", "packing", "transformer", "convnet", "unet", "recurrent", "training", "pangu")
TRIED = list(dict.fromkeys([*PASSES, *product(ORDERS, Fit)]))


def gaps(kind: str, buffers: int, seed: int) -> list[float]:
    """The gap of each pass's peak to the bound."""
    instance = lower(generate(kind, Request(buffers, seed))).instance
    kernels, bound = select("native").kernels, pool_bound(instance, 0)
    assert bound is not None
    table = columns(instance)
    found = []
    for name, fit in TRIED:
        order = kernels.greedy_order(instance.sections, table, name)
        offset = kernels.greedy_place(instance.sections, table, order, fit)
        assert offset is not None
        found.append(int((offset + instance.block_high).max()) / bound.value - 1)
    return found


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_seeds(6, 5001)
    parser.add_buffers(300, 3000)
    given = parser.parse_args()
    table = {
        kind: np.array([gaps(kind, size, seed) for seed in seeds(given) for size in given.buffers]) for kind in KINDS
    }

    def mean(passes: list[int]) -> Any:
        return np.mean([rows[:, passes].min(axis=1).mean() for rows in table.values()])

    print("| pass | best of it and those before it, above the bound |\n|---|---|")
    chosen = [0]
    while True:
        name, fit = TRIED[chosen[-1]]
        print(f"| {name}, {fit} | {mean(chosen):.2%} |")
        rest = [i for i in range(len(TRIED)) if i not in chosen]
        if not rest:
            break
        chosen.append(min(rest, key=lambda i: mean([*chosen, i])))


if __name__ == "__main__":
    main()
