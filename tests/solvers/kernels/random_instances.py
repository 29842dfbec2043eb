"""Random instances of one pool with all features on which greedy's kernel and its reference must agree."""

from __future__ import annotations

import numpy as np

from solvers.model.instance import Instance, Ints, PoolSpec
from tests.small.instances import Block, make_instance


def random_block(rng: np.random.Generator, times: int, many: bool, life: int, scale: int) -> Block:
    parts = []
    for number in range(int(rng.integers(2, 4)) if many and rng.random() < 0.5 else 1):
        low = int(rng.integers(0, 12)) if number else 0
        size = int(rng.integers(0, 9)) if rng.random() < 0.9 else 0
        rects: list[tuple[int, int]] = []
        end = 0
        for _ in range(int(rng.integers(1, 4)) if many else 1):
            start = int(rng.integers(0, times)) if not rects else end + int(rng.integers(1, times))
            end = start + int(rng.integers(1, max(2, life // 2)))
            rects.append((start, end))
        parts.append((low, low + size, rects))
    if rng.random() < 0.04 / scale**2:
        return Block(parts, fixed=int(rng.integers(0, 90)))
    alignment = int(rng.integers(1, 7)) if rng.random() < 0.5 else 1
    bounded = int(rng.integers(40, 90)) if rng.random() < 0.06 / scale**2 else None
    return Block(parts, alignment, int(rng.integers(0, alignment)), max_offset=bounded)


def random_instance(seed: int, scale: int = 1) -> Instance:
    """A random instance with every kind of constraint now and then; some have no solution."""
    rng = np.random.default_rng(seed)
    times, many = scale * int(rng.integers(3, 40)), bool(rng.random() < 0.6)
    # Among many blocks, most are short-lived.
    lives = [times if scale == 1 or rng.random() < 0.1 else 12 for _ in range(scale * int(rng.integers(1, 30)))]
    blocks = [random_block(rng, times, many, life, scale) for life in lives]
    owner = [number for number, block in enumerate(blocks) for _ in block.parts]

    def some_pairs() -> list[tuple[int, int]]:
        rows = rng.integers(0, len(owner), (int(rng.integers(1, 8)) if rng.random() < 0.5 else 0, 2)).tolist()
        return [(a, b) for a, b in rows if owner[a] != owner[b]]

    walls: list[tuple[int, int]] = []
    while rng.random() < 0.3:
        begin = (walls[-1][1] if walls else 0) + int(rng.integers(1, 20))
        walls.append((begin, begin + int(rng.integers(1, 8))))
    capacity = scale**2 * int(rng.integers(60, 200)) if rng.random() < 0.2 else None
    pools = [PoolSpec(capacity, tuple(walls))]
    return make_instance(blocks, pools=pools, conflicts=some_pairs(), exclusions=some_pairs())


def fixed_first(instance: Instance, order: Ints) -> Ints:
    movable = (instance.lowest != instance.highest)[:, 0]
    return order[np.argsort(movable[order], kind="stable")]
