"""Loads count parts that no choice ties in full: bounds of problems with ties in their alternatives are right."""

from __future__ import annotations

import random

from planner import Options, PlanStatus, plan, verify
from planner.checks import check
from planner.model.problem import (
    Alternative,
    Buffer,
    Colocation,
    Constraints,
    CostTerm,
    MoreLife,
    Pick,
    Pool,
    Problem,
    VariantGroup,
    Variants,
)
from tests.planner.planning.placing.variants.random_variants import every_choice

ENOUGH = Options(time_limit=None, work_limit=1_000_000)


def tied_problem(seed: int) -> Problem:
    """Return buffers of which alternatives tie some to each other, and prolong some."""
    chance = random.Random(seed)
    count = chance.randint(3, 6)
    buffers = []
    for i in range(count):
        start = chance.randrange(7)
        buffers.append(Buffer(f"b{i}", chance.randint(1, 9), live=((start, start + chance.randint(1, 4)),)))
    groups: list[VariantGroup] = []
    for g in range(chance.randint(1, 3)):
        alternatives = []
        for a in range(chance.randint(1, 3)):
            pairs = [sorted(chance.sample(range(count), 2)) for _ in range(chance.choice((0, 1, 1, 2)))]
            ties = tuple(Colocation(f"b{high}", f"b{low}", chance.choice((0, 0, 0, 2))) for low, high in pairs)
            longer = (MoreLife(f"b{chance.randrange(count)}", ((chance.randrange(7), 9),)),)
            more = longer if chance.random() < 0.4 else ()
            alternatives.append(Alternative(f"a{a}", (chance.randint(0, 9),), (), Constraints(colocations=ties), more))
        groups.append(VariantGroup(f"g{g}", tuple(alternatives)))
    picks: list[Pick] = [(group.name, each.name) for group in groups for each in group.alternatives]
    rules = [(chance.choice(picks), chance.choice(picks)) for _ in range(4)]
    forbids = tuple(pair for pair in rules[1:] if pair[0][0] != pair[1][0])
    requires = tuple(pair for pair in rules[:1] if pair[0][0] != pair[1][0])
    return Problem(tuple(buffers), variants=Variants(tuple(groups), (CostTerm("cycles"),), requires, forbids))


def test_peaks_are_the_least_of_all_choices() -> None:
    tried = proven = 0
    for seed in range(40):
        problem = tied_problem(seed)
        if check(problem):
            continue
        every = every_choice(problem)
        found = plan(problem, ENOUGH)
        if not every:
            assert not found.status.has_plan, seed
            continue
        tried += 1
        proven += found.status is PlanStatus.OPTIMAL
        assert not verify(problem, found), seed
        assert found.peak is not None
        assert found.bound <= min(value for _, value in every) <= found.peak, seed
    assert proven > 0.8 * tried > 10


def bridged_problem(seed: int) -> Problem:
    """Return buffers in two memories, of which alternatives tie some by buffers of their own between them."""
    chance = random.Random(seed)
    shared = [Buffer(f"b{i}", chance.randint(2, 9), live=((0, 2),)) for i in range(chance.randint(2, 4))]
    groups = []
    for g in range(chance.randint(1, 2)):
        alternatives = [Alternative("none", (chance.randint(0, 9),))]
        for a in range(chance.randint(1, 2)):
            low, high = chance.sample([buffer.id for buffer in shared], 2)
            between = Buffer(f"own{g}{a}", chance.randint(1, 9), live=((0, 2),))
            ties = (Colocation(between.id, low, 0), Colocation(high, between.id, chance.choice((0, between.size))))
            rules = Constraints(colocations=ties)
            alternatives.append(Alternative(f"a{a}", (chance.randint(0, 9),), (between,), rules))
        groups.append(VariantGroup(f"g{g}", tuple(alternatives)))
    size = chance.randint(8, 14)
    pools = (Pool("one", size), Pool("two", size if chance.random() < 0.5 else None))
    return Problem(tuple(shared), pools, variants=Variants(tuple(groups), (CostTerm("cycles"),)))


def test_what_only_an_alternative_ties_may_be_in_two_memories_without_it() -> None:
    """Two buffers that must be in one memory do not fit; with another alternative each has a memory of its own."""
    between = Buffer("between", 16, live=((0, 2),))
    ties = Constraints(colocations=(Colocation("between", "a", 0), Colocation("b", "between", 8)))
    group = VariantGroup("g", (Alternative("tied", (0,), (between,), ties), Alternative("free", (1,))))
    buffers = (Buffer("a", 8, live=((0, 2),)), Buffer("b", 8, live=((0, 2),)))
    variants = Variants((group,), (CostTerm("cycles"),))
    found = plan(Problem(buffers, (Pool("one", 8), Pool("two", 8)), variants=variants), ENOUGH)
    assert (found.status, found.peak) == (PlanStatus.OPTIMAL, 16)


def test_peaks_of_several_memories_are_the_least_of_all_choices(nightly: bool) -> None:
    tried = 0
    for seed in range(300 if nightly else 15):
        problem = bridged_problem(seed)
        if check(problem):
            continue
        every = every_choice(problem)
        found = plan(problem, ENOUGH)
        assert found.status.has_plan == bool(every), seed
        if every:
            tried += 1
            assert not verify(problem, found), seed
            assert found.peak is not None
            assert found.bound <= min(value for _, value in every) <= found.peak, seed
    assert tried > 10
