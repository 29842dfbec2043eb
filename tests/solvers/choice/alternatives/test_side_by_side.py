"""Questions asked two at a time get the answers and counted work of one after the other, and proven facts are kept."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from solvers.choice.alternatives.instance import Choices, Cut, Load
from solvers.choice.alternatives.known import Known
from solvers.choice.alternatives.master import Master
from solvers.choice.alternatives.points import Placed
from solvers.model.solver import Limits, Silent

GROUPS, ALTERNATIVES, TIMES = 5, 3, 6


class Bytes:
    """A measure by which a value is a load."""

    def most_load(self, value: int) -> int:
        return value

    def least_value(self, load: int) -> int:
        return load


def made_up(seed: int) -> Choices:
    chance = random.Random(seed)
    costs = tuple(tuple(chance.randrange(50) for _ in range(ALTERNATIVES)) for _ in range(GROUPS))
    loads = tuple(
        Load(
            chance.randrange(9),
            tuple((chance.randrange(1, 30), ((g, a),)) for g in range(GROUPS) for a in range(ALTERNATIVES)),
        )
        for _ in range(TIMES)
    )
    return Choices(costs, loads, tuple(range(TIMES)))


@contextmanager
def knowing(choices: Choices, workers: int) -> Iterator[Known]:
    master = Master(choices, Limits(workers=workers), 0, Silent(), 1_000_000)
    try:
        yield Known(master, lambda: None, Bytes(), lambda *_: Placed(None, 0), lambda: None)
    finally:
        master.close()


def cheapest(choices: Choices, most_load: int, but: tuple[Cut, ...] = ()) -> int | None:
    """Return the least cost of a choice within the load that no cut forbids, found by trying all choices."""
    every = itertools.product(range(ALTERNATIVES), repeat=GROUPS)
    return min(
        (
            choices.cost(each)
            for each in every
            if choices.load(each) <= most_load and not any(cut.forbids(each, most_load) for cut in but)
        ),
        default=None,
    )


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_questions_side_by_side_get_the_answers_of_one_by_one(workers: int) -> None:
    choices = made_up(1)
    top = choices.load((0,) * GROUPS)
    with knowing(choices, workers) as known, knowing(choices, 1) as other:
        known.foresee([top, top, top - 7, top - 11])
        counted = known.master.work
        assert known.answered(top) is not None
        assert known.answered(top - 11) is None
        for load in (top, top - 7):
            assert known.cheapest(load) == other.cheapest(load)
        assert known.master.work == counted == other.master.work


def test_answers_hold_until_a_new_cut_contradicts_them() -> None:
    choices = made_up(2)
    top = choices.load((0,) * GROUPS)
    with knowing(choices, 1) as known:
        first = known.cheapest(top)
        assert first is not None
        assert first.choice is not None
        other = tuple((g, (a + 1) % ALTERNATIVES) for g, a in enumerate(first.choice))
        known.master.know(Cut(other, None))
        known.master.know(Cut(tuple(enumerate(first.choice)), top))
        before = known.master.work
        assert known.cheapest(top) == first
        assert known.master.work == before
        cuts = (Cut(tuple(enumerate(first.choice))[:2], top + 1),)
        known.master.know(cuts[0])
        assert known.answered(top) is None
        again = known.cheapest(top)
        assert again is not None
        assert again.bound == cheapest(choices, top, cuts)
        assert again.choice is not None
        known.master.left_aside[again.choice] = top
        assert known.answered(top) is None
        dearer = known.cheapest(top)
        assert dearer is not None
        assert dearer.bound == again.bound
        assert dearer.choice != again.choice
        known.reopen()
        final = known.cheapest(top)
        assert final is not None
        assert final.bound == again.bound == choices.cost(final.choice or ())


def test_an_answer_apart_from_one_choice_holds_for_all_once_that_one_is_excluded() -> None:
    choices = made_up(4)
    top = choices.load((0,) * GROUPS)
    with knowing(choices, 1) as known:
        first = known.cheapest(top)
        assert first is not None
        assert first.choice is not None
        following = known.next_cheapest(top, first.choice)
        assert following is not None
        assert following.choice not in (None, first.choice)
        known.remember_next(top, following, first.choice, 0)
        assert known.answered(top) == first
        cut = Cut(tuple(enumerate(first.choice)), top + 1)
        known.master.know(cut)
        assert known.answered(top) is None
        known.remember_next(top, following, first.choice, 0)
        answer = known.answered(top)
        assert answer is not None
        assert answer.choice == following.choice
        assert answer.bound == cheapest(choices, top, (cut,))


def test_no_question_is_asked_ahead_of_a_known_or_only_one() -> None:
    choices = made_up(3)
    top = choices.load((0,) * GROUPS)
    with knowing(choices, 2) as known:
        known.foresee([top])
        assert known.master.work == 0
        known.cheapest(top)
        before = known.master.work
        known.foresee([top, top - 5])
        assert known.master.work == before
