"""Rules on a twentieth of the buffers of a generated problem, or on its pools: what a search leaves out is not seen in problems without any."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import cycle

from planner.model.problem import Buffer, BufferId, Colocation, Constraints, Pair, Problem

SHARE = 20
"""One buffer in SHARE has a rule."""
NEAR = 5
"""The other of a pair is at most so many buffers before or after it."""
ALIGNMENTS = (64, 256, 1024)
UNIT = 16
"""A buffer inside of another begins at a multiple of it."""
OF_POOLS = (16, 64, 256)
"""Alignments of the pools in turn."""


def with_rules(problem: Problem, kinds: Sequence[str], seed: int) -> Problem:
    """Return the problem with rules of these kinds."""
    for kind in kinds:
        problem = RULES[kind](problem, random.Random(f"{kind} {seed}"))
    return problem


def _aligned(problem: Problem, draw: random.Random) -> Problem:
    return _some(problem, draw, lambda each: replace(each, alignment=draw.choice(ALIGNMENTS)))


def _listed(problem: Problem, draw: random.Random) -> Problem:
    names = [pool.name for pool in problem.pools if pool.size is None or not draw.randrange(2)]
    return _some(problem, draw, lambda each: replace(each, pools=tuple(names)))


def _some(problem: Problem, draw: random.Random, change: Callable[[Buffer], Buffer]) -> Problem:
    """Change one buffer in SHARE."""
    return replace(problem, buffers=tuple(each if draw.randrange(SHARE) else change(each) for each in problem.buffers))


def _together(problem: Problem, draw: random.Random) -> Problem:
    return replace(problem, constraints=Constraints(same_pool=_pairs(problem, draw)))


def _apart(problem: Problem, draw: random.Random) -> Problem:
    return replace(problem, constraints=Constraints(different_pool=_pairs(problem, draw)))


def _aligned_by_pool(problem: Problem, _: random.Random) -> Problem:
    each = zip(problem.pools, cycle(OF_POOLS), strict=False)
    pools = (replace(p, alignment=a, size=None if p.size is None else -(-p.size // a) * a) for p, a in each)
    return replace(problem, pools=tuple(pools))


def _tied(problem: Problem, draw: random.Random) -> Problem:
    """Half of them side by side, half inside of each other."""
    size = {each.id: each.size for each in problem.buffers}
    ties = [
        Colocation(a, b, size[b] if draw.randrange(2) else max(0, size[b] - size[a]) // UNIT * UNIT)
        for a, b in _pairs(problem, draw)
    ]
    return replace(problem, constraints=Constraints(colocations=tuple(ties)))


def _pairs(problem: Problem, draw: random.Random) -> tuple[Pair, ...]:
    """Draw pairs of buffers near each other, each in one pair at most."""
    ids, seen = [each.id for each in problem.buffers], set[BufferId]()
    pairs: list[Pair] = []
    for number, one in enumerate(ids):
        if draw.randrange(SHARE):
            continue
        other = ids[(number + draw.choice([n for n in range(-NEAR, NEAR + 1) if n])) % len(ids)]
        if one not in seen and other not in seen:
            seen |= {one, other}
            pairs.append((one, other))
    return tuple(pairs)


RULES: dict[str, Callable[[Problem, random.Random], Problem]] = {
    "alignments": _aligned,
    "lists": _listed,
    "same_pool": _together,
    "different_pool": _apart,
    "colocations": _tied,
    "pool_alignments": _aligned_by_pool,
}
