"""Small random problems with variants in which buffers are pinned, of the problem and of alternatives; some are tied, exclude each other, or live longer."""

from __future__ import annotations

import random
from dataclasses import replace

from planner.checks import check
from planner.generate import Request, generate
from planner.model.problem import (
    Alternative,
    Buffer,
    Colocation,
    Constraints,
    CostTerm,
    Fixed,
    MoreLife,
    Pool,
    Problem,
    ReusePenalty,
    VariantGroup,
    Variants,
)

STEPS = 5


def pinned_problem(seed: int) -> Problem | None:
    """None where it contradicts itself."""
    chance = random.Random(seed)

    def size() -> int:
        return chance.randint(1, 9)

    def live() -> tuple[tuple[int, int], ...]:
        start = chance.randrange(STEPS)
        return ((start, start + chance.randint(1, 3)),)

    def maybe_fixed(buffer: Buffer, share: float) -> Buffer:
        return replace(buffer, fixed=Fixed("p", chance.randrange(16))) if chance.random() < share else buffer

    base = [maybe_fixed(Buffer(f"b{i}", size(), live=live()), 0.5) for i in range(chance.randint(2, 4))]
    groups = []
    for g in range(chance.randint(1, 3)):
        alternatives = []
        for a in range(chance.randint(2, 3)):
            own = tuple(
                maybe_fixed(Buffer(f"g{g}.{i}", size(), live=live()), 0.25) for i in range(chance.randint(0, 2))
            )
            given = Constraints()
            kind = chance.random()
            if kind < 0.15 and own:
                given = Constraints(colocations=(Colocation(own[0].id, "b0", chance.randint(0, 3)),))
            elif kind < 0.25:
                given = Constraints(colocations=(Colocation("b1", "b0", 0),))
            elif kind < 0.4 and own:
                given = Constraints(exclusions=((own[0].id, "b0"),))
            elif kind < 0.55 and own:
                given = Constraints(conflicts=((own[0].id, "b1"),))
            elif kind < 0.65 and own:
                given = Constraints(reuse_penalties=(ReusePenalty(own[0].id, "b1", 3),))
            more = (MoreLife(f"b{chance.randrange(2)}", live()),) if chance.random() < 0.3 else ()
            alternatives.append(Alternative(f"a{a}", (chance.randint(0, 9),), own, given, more))
        groups.append(VariantGroup(f"g{g}", tuple(alternatives)))
    pool = Pool("p", chance.choice((None, 40)), chance.choice((1, 1, 2)))
    problem = Problem(tuple(base), (pool,), variants=Variants(tuple(groups), (CostTerm("cycles"),)))
    return None if check(problem) else problem


def larger_pinned_problem(pins: int, seed: int) -> Problem:
    """24 buffers in a choice, of which some of the problem's own are pinned somewhere."""
    problem = generate("variants", Request(24, seed, parameters={"groups": 6, "alternatives": 3}))
    chance = random.Random(seed)
    buffers = list(problem.buffers)
    for i in chance.sample(range(len(buffers)), pins):
        buffers[i] = replace(buffers[i], fixed=Fixed(problem.pools[0].name, 16 * chance.randrange(600)))
    return replace(problem, buffers=tuple(buffers))
