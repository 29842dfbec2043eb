"""Small random problems with variants, and their frontier by trying every choice."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

from planner.checks import check
from planner.facts.variants import broken_rules, costs_of_choice, weighted_cost, with_choice
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
    VariantGroup,
    Variants,
)
from planner.options.options import Options
from planner.planning.placing.solving import plan
from solvers.model.instance import Term

STEPS = 6


def random_problem(seed: int) -> Problem | None:
    """One with everything that variants may say; None where it contradicts itself."""
    chance = random.Random(seed)

    def live() -> tuple[Interval, ...]:
        start = chance.randrange(STEPS)
        return ((start, start + chance.randint(1, 3)),)

    base = [
        Buffer(f"b{i}", chance.randint(1, 12), live=live(), alignment=chance.choice([1, 1, 4]))
        for i in range(chance.randint(1, 3))
    ]
    groups = []
    for g in range(chance.randint(1, 3)):
        alternatives = []
        for a in range(chance.randint(1, 3)):
            buffers = tuple(
                Buffer(f"g{g}.{i}", chance.randint(1, 12), live=live()) for i in range(chance.randint(0, 2))
            )
            constraints = Constraints()
            if buffers and chance.random() < 0.3:
                constraints = Constraints(colocations=(Colocation(buffers[0].id, "b0", chance.randint(0, 4)),))
            elif buffers and chance.random() < 0.2:
                constraints = Constraints(exclusions=((buffers[0].id, "b0"),))
            more = (MoreLife("b0", live()),) if chance.random() < 0.3 else ()
            costs = (chance.randint(-3, 9), chance.randint(0, 2))
            alternatives.append(Alternative(f"a{a}", costs, buffers, constraints, more))
        groups.append(VariantGroup(f"g{g}", tuple(alternatives)))
    picks = [(group.name, each.name) for group in groups for each in group.alternatives]
    requires = tuple((chance.choice(picks), chance.choice(picks)) for _ in range(chance.randint(0, 1)))
    forbids = tuple((chance.choice(picks), chance.choice(picks)) for _ in range(chance.randint(0, 2)))
    pool = Pool("p", size=chance.choice([None, None, 20, 30]), alignment=chance.choice([1, 1, 3]))
    terms = (CostTerm("cycles"), CostTerm("energy", 2))
    problem = Problem(tuple(base), (pool,), variants=Variants(tuple(groups), terms, requires, forbids))
    return None if check(problem) else problem


KINDS = ("plain", "pools", "largest", "pins", "conflicts", "exclusions", "same_pool", "different_pool")


def random_problem_of_kind(kind: str, seed: int) -> Problem | None:
    """The same with several memories, or with what makes choices need more than is live; None where it contradicts itself."""
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


def every_choice(problem: Problem) -> list[tuple[int, int]]:
    """Cost and memory of each choice that the rules allow and that can be placed."""
    variants = problem.variants
    assert variants is not None
    found = []
    for choice in itertools.product(*(range(len(group.alternatives)) for group in variants.groups)):
        if any(broken_rules(variants, choice)):
            continue
        try:
            made = plan(with_choice(problem, choice), Options(workers=1))
        except BadInput:  # alternatives that contradict each other only together
            continue
        assert made.status in (PlanStatus.OPTIMAL, PlanStatus.INFEASIBLE)
        if made.objective.value is not None:
            found.append((weighted_cost(variants, costs_of_choice(variants, choice)), made.objective.value))
    return found


def best_of(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those that none beats in both, the cheapest first."""
    return sorted({x for x in found if not any(y != x and y[0] <= x[0] and y[1] <= x[1] for y in found)})
