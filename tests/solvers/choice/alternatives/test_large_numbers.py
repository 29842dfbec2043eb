"""Answers about sizes of any magnitude are right: OR-Tools proves what is wrong where numbers are large, so they are counted in larger units."""

from __future__ import annotations

import random
from itertools import combinations, product

import pytest

from solvers.choice.alternatives.instance import Beside, Choice, Choices, Cut, Load, Pick, Question, Row, Wall
from solvers.choice.alternatives.questions.without_addresses import Questions, unit_of
from solvers.exact.cpsat import engine
from solvers.model.solver import Silent

BUDGET = engine.Budget(2_000_000, None, relaxations=engine.Relaxations.ALL)
WIDTH = 7


def random_question(seed: int, scale: int) -> tuple[Choices, Question]:
    """Return choices with loads and walls, and a question about the least load; sizes are a few times the scale, some of them a little more."""
    chance = random.Random(seed)
    groups = [chance.randint(2, 3) for _ in range(chance.randint(2, 4))]
    picks = [(g, a) for g, count in enumerate(groups) for a in range(count)]

    def size() -> int:
        return chance.randint(1, WIDTH) * scale + (chance.randint(0, 3) if chance.random() < 0.3 else 0)

    def some() -> list[Pick]:
        return chance.sample(picks, chance.randint(1, len(picks)))

    loads = tuple(
        Load(chance.choice([0, size()]), tuple((size(), (pick,)) for pick in some()))
        for _ in range(chance.randint(1, 3))
    )
    rows = []
    for number in range(chance.randint(0, 3)):
        low, beside = size(), chance.sample(picks, chance.randint(1, 3))
        wall = Wall(low, low + size(), 100 + number, chance.choice(picks))
        rows.append(Row((wall,), tuple(Beside(size(), 10 * number + k, (pick,)) for k, pick in enumerate(beside))))
    chosen = chance.sample(range(len(groups)), chance.randint(1, len(groups)))
    cut = Cut(tuple((g, chance.randrange(groups[g])) for g in chosen), size())
    choices = Choices(tuple((0,) * count for count in groups), loads, tuple(range(len(loads))), rows=tuple(rows))
    return choices, Question(False, most_load=chance.choice([None, 20 * scale]), cuts=(cut,))


def least_load(choices: Choices, question: Question) -> int | None:
    """Return the least load of all choices within the limit, by trying each; None if there is none."""
    every = product(*(range(len(of_group)) for of_group in choices.costs))
    found = min(load_of(choices, question, choice) for choice in every)
    return found if question.most_load is None or found <= question.most_load else None


def load_of(choices: Choices, question: Question, choice: Choice) -> int:
    load = max([choices.load(choice), *(cut.least or 0 for cut in question.cuts if cut.holds_for(choice))])
    for row in choices.rows:
        (wall,) = row.walls
        assert wall.pick is not None
        if choice[wall.pick[0]] == wall.pick[1]:
            there = [each.size for each in row.beside if choice[each.picks[0][0]] == each.picks[0][1]]
            below = (sum(those) for count in range(len(there) + 1) for those in combinations(there, count))
            load = max(load, wall.high + sum(there) - max(each for each in below if each <= wall.low))
    return load


@pytest.mark.parametrize("scale", [1, 200_000_000, 10**9, 10**15])
def test_the_least_load_is_that_of_all_choices(scale: int, nightly: bool) -> None:
    """In larger units a bound may be lower than the least load, by a unit for each number at most, and never higher."""
    for seed in range(400 if nightly else 40):
        choices, question = random_question(seed, scale)
        least, unit = least_load(choices, question), unit_of(choices)
        found = Questions(choices).ask(question, BUDGET, Silent())
        if least is None:
            assert found.choice is None or load_of(choices, question, found.choice) > (question.most_load or 0)
            continue
        assert found.choice is not None
        assert found.bound is not None
        assert least - 20 * (unit - 1) <= found.bound <= least, seed
        assert unit > 1 or load_of(choices, question, found.choice) == least
