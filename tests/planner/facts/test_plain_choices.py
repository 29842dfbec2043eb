"""Without a search, the smallest or the cheapest alternatives that the rules allow are chosen."""

from __future__ import annotations

import random
from itertools import pairwise, product

import pytest

from planner.facts.plain_choices import plain_choices
from planner.facts.variants import broken_rules
from planner.model.problem import Alternative, Buffer, CostTerm, Pool, Problem, VariantGroup, Variants


def problem(sizes: list[list[int]], *rules: list[tuple[tuple[int, int], tuple[int, int]]]) -> Problem:
    groups = tuple(
        VariantGroup(
            f"{g}",
            tuple(
                Alternative(f"{a}", (-size,), (Buffer(f"{g}.{a}", size, live=((0, 1),)),)) for a, size in enumerate(of)
            ),
        )
        for g, of in enumerate(sizes)
    )
    named = [tuple(((f"{g}", f"{a}"), (f"{h}", f"{b}")) for (g, a), (h, b) in pairs) for pairs in rules]
    return Problem((), (Pool("p"),), variants=Variants(groups, (CostTerm("cycles"),), *named))


def test_rules_lead_from_one_group_to_the_next() -> None:
    """Taking the smallest alternative of each group would break every rule."""
    chain = [((g, 0), (h, 1)) for g, h in pairwise(range(6))]
    sizes = [[1 + g % 2, 2 - g % 2] for g in range(6)]
    found = plain_choices(problem(sizes, chain, [((g, 1), (h, 0)) for g, h in pairwise(range(6))]))
    assert (0, 1, 1, 1, 1, 1) in found


@pytest.mark.parametrize("seed", range(60))
def test_plain_choices_break_no_rule(seed: int) -> None:
    dice = random.Random(seed)
    sizes = [[dice.randrange(9) for _ in range(dice.randrange(1, 4))] for _ in range(5)]
    picks = [(g, a) for g, of in enumerate(sizes) for a in range(len(of))]
    drawn = [(one, other) for one, other in (dice.sample(picks, 2) for _ in range(6)) if one[0] != other[0]]
    random_problem = problem(sizes, drawn[:3], drawn[3:])
    assert random_problem.variants is not None
    found = plain_choices(random_problem)
    assert not any(list(broken_rules(random_problem.variants, choice)) for choice in found)
    if not drawn:
        assert found
    every = product(*(range(len(of)) for of in sizes))
    possible = any(not list(broken_rules(random_problem.variants, choice)) for choice in every)
    assert possible or not found
