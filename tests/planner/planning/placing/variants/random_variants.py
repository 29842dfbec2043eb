"""Small random problems with variants, and their frontiers found by trying every choice."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import replace

from planner.checks import check
from planner.facts.variants import broken_rules, costs_of_choice, weighted_cost, with_choice
from planner.generate import Request, generate
from planner.model.errors import BadInput
from planner.model.plan import PlanStatus
from planner.model.problem import (
    Alternative,
    Buffer,
    Colocation,
    Constraints,
    CostTerm,
    Fixed,
    Interval,
    MoreLife,
    Pool,
    Problem,
    ReusePenalty,
    VariantGroup,
    Variants,
)
from planner.planning.options.options import Options
from planner.planning.placing.solving import plan
from solvers.model.instance import Term

STEPS = 6
PINNED_STEPS = 5


def _live(chance: random.Random, steps: int) -> tuple[Interval, ...]:
    start = chance.randrange(steps)
    return ((start, start + chance.randint(1, 3)),)


def _groups(
    chance: random.Random, fewest: int, alternative: Callable[[str, str], Alternative]
) -> tuple[VariantGroup, ...]:
    """Return up to three groups of up to three alternatives, which are made from the group's name and their own."""
    return tuple(
        VariantGroup(f"g{g}", tuple(alternative(f"g{g}", f"a{a}") for a in range(chance.randint(fewest, 3))))
        for g in range(chance.randint(1, 3))
    )


def random_problem(seed: int) -> Problem | None:
    """Return a random problem that uses all fields of variants; None if it contradicts itself."""
    chance = random.Random(seed)

    base = [
        Buffer(f"b{i}", chance.randint(1, 12), live=_live(chance, STEPS), alignment=chance.choice([1, 1, 4]))
        for i in range(chance.randint(1, 3))
    ]

    def alternative(group: str, name: str) -> Alternative:
        buffers = tuple(
            Buffer(f"{group}.{i}", chance.randint(1, 12), live=_live(chance, STEPS))
            for i in range(chance.randint(0, 2))
        )
        constraints = Constraints()
        if buffers and chance.random() < 0.3:
            constraints = Constraints(colocations=(Colocation(buffers[0].id, "b0", chance.randint(0, 4)),))
        elif buffers and chance.random() < 0.2:
            constraints = Constraints(exclusions=((buffers[0].id, "b0"),))
        more = (MoreLife("b0", _live(chance, STEPS)),) if chance.random() < 0.3 else ()
        costs = (chance.randint(-3, 9), chance.randint(0, 2))
        return Alternative(name, costs, buffers, constraints, more)

    groups = _groups(chance, 1, alternative)
    picks = [(group.name, each.name) for group in groups for each in group.alternatives]
    requires = tuple((chance.choice(picks), chance.choice(picks)) for _ in range(chance.randint(0, 1)))
    forbids = tuple((chance.choice(picks), chance.choice(picks)) for _ in range(chance.randint(0, 2)))
    pool = Pool("p", size=chance.choice([None, None, 20, 30]), alignment=chance.choice([1, 1, 3]))
    terms = (CostTerm("cycles"), CostTerm("energy", 2))
    problem = Problem(tuple(base), (pool,), variants=Variants(groups, terms, requires, forbids))
    return None if check(problem) else problem


KINDS = ("plain", "pools", "largest", "pins", "conflicts", "exclusions", "same_pool", "different_pool")


def random_problem_of_kind(kind: str, seed: int) -> Problem | None:
    """Return a random problem with several pools, pins or constraints; None if it contradicts itself."""
    problem = random_problem(seed)
    if problem is None or kind == "plain":
        return problem
    chance = random.Random(seed)
    first, *others = problem.buffers
    several = (Pool("a", chance.choice([10, 16, 25]), cost=2, alignment=chance.choice([1, 1, 3])), Pool("b", 25))
    if kind == "pools":
        reserved = chance.choice([(), ((3, 5),)])
        problem = replace(problem, pools=(several[0], Pool("b", chance.choice([16, 25, None]), reserved=reserved)))
    elif kind == "largest":
        problem = replace(problem, pools=several, terms=(Term.LARGEST_PEAK,))
    elif kind == "taken":
        problem = _with_taken_addresses(problem, chance)
    elif kind == "pins":
        pinned = replace(first, alignment=1, fixed=Fixed("p", chance.choice([0, 6, 12])))
        pools = (Pool("p", reserved=chance.choice([(), ((3, 5),), ((20, 24),)])),)
        problem = replace(problem, buffers=(pinned, *others), pools=pools)
    elif others:
        pair = ((first.id, others[0].id),)
        related = {
            "conflicts": Constraints(conflicts=pair),
            "exclusions": Constraints(exclusions=pair),
            "same_pool": Constraints(same_pool=pair),
            "different_pool": Constraints(different_pool=pair),
        }[kind]
        problem = replace(problem, constraints=related, pools=chance.choice([problem.pools, several]))
    return None if check(problem) else problem


def _with_taken_addresses(problem: Problem, chance: random.Random) -> Problem:
    """Return the problem with two memories, ranges reserved in each, and often a pinned buffer, a second lifetime, and lists of memories."""
    first, *others = problem.buffers
    size = chance.choice([12, 20, 30])
    spots: tuple[tuple[Interval, ...], ...] = ((), ((4, 6),), ((0, 3),), ((5, 9), (14, 16)), ((size - 2, size),))
    reserved = tuple((low, min(high, size)) for low, high in chance.choice(spots) if low < size)
    pools = (
        Pool("a", size, cost=chance.choice([1, 2]), reserved=reserved),
        Pool("b", chance.choice([None, 25]), cost=chance.choice([1, 3]), reserved=chance.choice([(), ((7, 10),)])),
    )
    if chance.random() < 0.5:
        first = replace(first, alignment=1, fixed=Fixed(chance.choice("ab"), chance.randrange(10)))
    elif chance.random() < 0.5:
        first = replace(first, pools=(chance.choice("ab"),))
    others = [
        replace(each, live=(*(each.live or ()), (STEPS + 3, STEPS + 4))) if chance.random() < 0.3 else each
        for each in others
    ]
    return replace(problem, buffers=(first, *others), pools=pools)


def pinned_problem(seed: int) -> Problem | None:
    """Return a random problem in which buffers of the problem and of alternatives are pinned.

    Some alternatives colocate buffers, exclude or extend them. None if the problem contradicts itself.
    """
    chance = random.Random(seed)

    def buffer(name: str, pinned: float) -> Buffer:
        made = Buffer(name, chance.randint(1, 9), live=_live(chance, PINNED_STEPS))
        return replace(made, fixed=Fixed("p", chance.randrange(16))) if chance.random() < pinned else made

    base = [buffer(f"b{i}", 0.5) for i in range(chance.randint(2, 4))]

    def alternative(group: str, name: str) -> Alternative:
        own = tuple(buffer(f"{group}.{i}", 0.25) for i in range(chance.randint(0, 2)))
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
        more = (MoreLife(f"b{chance.randrange(2)}", _live(chance, PINNED_STEPS)),) if chance.random() < 0.3 else ()
        return Alternative(name, (chance.randint(0, 9),), own, given, more)

    groups = _groups(chance, 2, alternative)
    pool = Pool("p", chance.choice((None, 40)), chance.choice((1, 1, 2)))
    problem = Problem(tuple(base), (pool,), variants=Variants(groups, (CostTerm("cycles"),)))
    return None if check(problem) else problem


def larger_pinned_problem(pins: int, seed: int) -> Problem:
    """Return a problem of 24 buffers with variants; so many of its own are pinned at random offsets."""
    problem = generate("variants", Request(24, seed, parameters={"groups": 6, "alternatives": 3}))
    chance = random.Random(seed)
    buffers = list(problem.buffers)
    for i in chance.sample(range(len(buffers)), pins):
        buffers[i] = replace(buffers[i], fixed=Fixed(problem.pools[0].name, 16 * chance.randrange(600)))
    return replace(problem, buffers=tuple(buffers))


def sound_seeds(make: Callable[[int], Problem | None], count: int) -> list[int]:
    """Return the first seeds of which a problem is made that does not contradict itself; only of these do tests see anything."""
    return list(itertools.islice((seed for seed in itertools.count() if make(seed) is not None), count))


def every_choice(problem: Problem) -> list[tuple[int, int]]:
    """Return cost and memory of each choice that the rules allow and that can be placed."""
    variants = problem.variants
    assert variants is not None
    found = []
    for choice in itertools.product(*(range(len(group.alternatives)) for group in variants.groups)):
        if any(broken_rules(variants, choice)):
            continue
        try:
            made = plan(with_choice(problem, choice), Options(workers=1, time_limit=600, work_limit=7_500_000))
        except BadInput:  # alternatives may contradict each other
            continue
        assert made.status in (PlanStatus.OPTIMAL, PlanStatus.INFEASIBLE)
        if made.objective.value is not None:
            found.append((weighted_cost(variants, costs_of_choice(variants, choice)), made.objective.value))
    return found


def best_of(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the pairs of cost and memory that no other pair beats in both, the cheapest first."""
    return sorted({x for x in found if not any(y != x and y[0] <= x[0] and y[1] <= x[1] for y in found)})
