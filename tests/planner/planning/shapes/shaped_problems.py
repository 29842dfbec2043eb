"""Problems whose sizes depend on symbols."""

from __future__ import annotations

import random

from planner import (
    Buffer,
    Constraints,
    Options,
    Pool,
    Problem,
)
from planner.planning.shapes import (
    ShapedProblem,
    shaped,
)

OPTIONS = Options(time_limit=60, workers=1)


FORMS = (
    "{a}*n", "{a}*n*m", "{a}*m + {b}", "max({a}*n, {b}*m)", "min({a}*n, {b}*m) + 1", "{a}*ceildiv(n, {c})", "{b}", "n*n", "({a}+n)*({b}-m)",
)  # fmt: skip


SYMBOLS = {"n": (1, 6), "m": (0, 4)}


SHAPES = [{"n": n, "m": m} for n in range(1, 7) for m in range(5)]


def random_problem(seed: int, count: int = 8) -> ShapedProblem:
    chance = random.Random(seed)
    buffers, sizes = [], {}
    for i in range(count):
        start = chance.randrange(8)
        buffers.append(Buffer(i, 0, chance.choice((1, 1, 4, 6)), ((start, start + chance.randint(1, 4)),)))
        sizes[i] = chance.choice(FORMS).format(a=chance.randint(1, 9), b=chance.randint(10, 20), c=chance.randint(2, 4))
    excluded = [(a, b) for a, b in (chance.sample(range(count), 2) for _ in range(2))]
    constraints = Constraints(
        exclusions=tuple(excluded),
        conflicts=((0, count - 1),) if (0, count - 1) not in excluded and (count - 1, 0) not in excluded else (),
    )
    problem = Problem(tuple(buffers), (Pool("arena", alignment=chance.choice((1, 2))),), constraints)
    return shaped(problem, SYMBOLS, sizes)  # type: ignore[arg-type]


TWO = shaped(
    Problem((Buffer("a", 0, live=((0, 2),)), Buffer("b", 0, 8, live=((1, 3),)), Buffer("c", 8, live=((2, 4),)))),
    {"n": (1, 100)},
    {"a": "3*n", "b": "max(n, 40)"},
)
