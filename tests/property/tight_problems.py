"""Small problems of one memory whose proofs often need a search, as the live bytes are a poor bound."""

from __future__ import annotations

from random import Random

from planner.checks import check
from planner.model.problem import Buffer, Colocation, Constraints, Pool, Problem


def tight_problem(seed: int) -> Problem | None:
    """Return a random problem of few buffers; None if the numbers drawn contradict each other."""
    draw = Random(seed)
    count, times = draw.randint(4, 7), draw.randint(3, 6)
    buffers = []
    for number in range(count):
        starts = [draw.randrange(times) for _ in range(draw.choice((1, 1, 2)))]
        buffers.append(
            Buffer(
                number,
                draw.randint(1, 6),
                alignment=draw.choice((1, 1, 1, 2, 3, 4)),
                live=tuple((start, start + draw.randint(1, 3)) for start in starts),
                max_offset=draw.randint(0, 8) if draw.random() < 0.1 else None,
            )
        )
    pairs = [(a, b) for a in range(count) for b in range(a)]
    conflicts = tuple(draw.sample(pairs, draw.choice((0, 0, 1, 3))))
    exclusions = tuple(pair for pair in draw.sample(pairs, draw.choice((0, 0, 1, 2))) if pair not in conflicts)
    ties = tuple(Colocation(n, 0, draw.choice((0, 1, 2, 4))) for n in range(1, count) if draw.random() < 0.08)
    holes = [draw.randint(1, 14) for _ in range(draw.choice((0, 0, 1, 2)))]
    pool = Pool(
        "p",
        draw.choice((None, None, draw.randint(8, 24))),
        alignment=draw.choice((1, 1, 2)),
        reserved=tuple((start, start + draw.randint(1, 3)) for start in holes),
    )
    problem = Problem(tuple(buffers), (pool,), Constraints(conflicts, exclusions, ties))
    return None if check(problem) else problem


def uneven_problem(seed: int, count: int = 16) -> Problem:
    """Return a random problem with more buffers and large alignments, so that its search remembers much."""
    draw = Random(seed)
    buffers = []
    for number in range(count):
        start = draw.randrange(12)
        size, alignment = draw.randint(1, 60), draw.choice((1, 2, 4, 8, 16, 32))
        buffers.append(Buffer(number, size, alignment=alignment, live=((start, start + draw.randint(1, 9)),)))
    return Problem(tuple(buffers))
