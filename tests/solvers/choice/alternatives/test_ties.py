"""Parts that some choice ties are found, whatever the rules."""

from __future__ import annotations

import itertools
import random

import pytest

from solvers.choice.alternatives.instance import Choices
from solvers.choice.alternatives.ties import Picks, Ties
from solvers.choice.alternatives.together import Link

PARTS = 6


@pytest.mark.parametrize("seed", range(60))
def test_what_a_choice_ties_is_reached(seed: int) -> None:
    chance = random.Random(seed)
    alternatives = [chance.randint(1, 3) for _ in range(4)]
    picks = [(g, a) for g, count in enumerate(alternatives) for a in range(count)]
    there = [chance.choice([None, None, *picks]) for _ in range(PARTS)]
    links = [
        Link(part, (part + chance.randrange(1, PARTS)) % PARTS, 0, chance.choice([None, *picks, *picks]))
        for part in chance.choices(range(PARTS), k=chance.randint(1, 8))
    ]
    rules = [[(chance.choice(picks), chance.choice(picks)) for _ in range(chance.randrange(4))] for _ in range(2)]
    ties = Ties(links, Picks(alternatives, *rules))
    reached = [ties.reached(part, there[part]) for part in range(PARTS)]
    choices = Choices(tuple((0,) * count for count in alternatives), requires=tuple(rules[0]), forbids=tuple(rules[1]))
    for choice in itertools.product(*map(range, alternatives)):
        if not choices.keeps_rules(choice):
            continue
        held = {None, *enumerate(choice)}
        tied = {part: {part} for part in range(PARTS)}
        for link in links:
            if link.pick in held:
                both = tied[link.part] | tied[link.base]
                tied |= dict.fromkeys(both, both)
        for part in range(PARTS):
            if there[part] in held:
                assert tied[part] - {part} <= reached[part]


def test_alternatives_that_exclude_each_other_tie_nothing() -> None:
    """Two guests of one host that must not both be there, and a host that is a guest itself."""
    links = [Link(1, 0, 0, (1, 1)), Link(2, 0, 0, (2, 1)), Link(2, 1, 0, (2, 2))]
    forbids = [((1, 1), (2, 1))]
    requires = [((2, 2), (1, 0))]
    ties = Ties(links, Picks([1, 2, 3], requires, forbids))
    assert ties.reached(0, None) == {1, 2}
    assert ties.reached(1, None) == {0, 2}
    assert Ties(links[:2], Picks([1, 2, 3], requires, forbids)).reached(1, None) == {0}
    assert ties.reached(0, (2, 2)) == set()
