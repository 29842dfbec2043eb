"""What is found at one address has no conflict and is heavier than asked for; where nothing is found, nothing is."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from solvers.bounds.conflicts.together import grown_together, heavier_together


def a_graph(seed: int) -> tuple[list[int], list[int]]:
    draw = np.random.default_rng(seed)
    count = int(draw.integers(1, 11))
    apart = [0] * count
    for a, b in combinations(range(count), 2):
        if draw.random() < draw.choice([0.2, 0.5, 0.8]):
            apart[a] |= 1 << b
            apart[b] |= 1 << a
    return draw.integers(0, 20, count).tolist(), apart


def may_lie_together(parts: tuple[int, ...], apart: list[int]) -> bool:
    return not any(apart[a] >> b & 1 for a, b in combinations(parts, 2))


@pytest.mark.parametrize("seed", range(60))
def test_the_heaviest_are_found_and_nothing_heavier(seed: int) -> None:
    weights, apart = a_graph(seed)
    every = (parts for size in range(len(weights) + 1) for parts in combinations(range(len(weights)), size))
    most = max(sum(weights[part] for part in parts) for parts in every if may_lie_together(parts, apart))
    assert heavier_together(weights, apart, most, 10_000).parts is None
    found = heavier_together(weights, apart, most - 1, 10_000).parts
    if most:
        assert found is not None
        assert may_lie_together(found, apart)
        assert sum(weights[part] for part in found) == most
    grown = tuple(grown_together(weights, apart))
    assert may_lie_together(grown, apart)
    assert sum(weights[part] for part in grown) <= most


def test_too_few_steps_are_told() -> None:
    weights, apart = [2] * 8, [0b11 << (part & ~1) & ~(1 << part) for part in range(8)]  # four pairs
    assert heavier_together(weights, apart, 8, 0) == (None, 0, False)
    assert heavier_together(weights, apart, 8, 10).is_sure
