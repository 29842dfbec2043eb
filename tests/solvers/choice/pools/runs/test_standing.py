"""What is proven of a later term is kept where the earlier ones become better."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from planner import Preference
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools.program.writing import pools_of_classes, program_of
from solvers.choice.pools.runs.whole import Whole
from solvers.heuristics.greedy.solver import Greedy
from solvers.model.solver import Limits, Silent, Task

WORK = 1_000_000


@pytest.fixture
def run() -> Iterator[Whole]:
    """A run that has nothing but greedy's placement: of the cost of choices, and then of peaks."""
    instance = lower(with_preference(generate("hot", Request(60, 1)), Preference.SPEED)).instance
    start = Greedy().solve(instance, Task(Limits(work=1)), Silent()).placement
    begun = Whole(instance, program_of(instance), Task(Limits(work=WORK), start=start), Silent())
    yield begun
    begun.asking.close()


def test_what_is_proven_with_more_of_the_first_term_holds_with_less(run: Whole) -> None:
    """It was forgotten as soon as anything, however weak, was proven with less."""
    assert run.value is not None
    first, second = run.value[:2]
    run._learn_bound(1, second - 10)
    run.value = first - 1, second
    run._learn_bound(1, second - 20)
    assert run._known(1) == second - 10
    run._learn_bound(1, second - 5)
    assert run._known(1) == second - 5
    run.value = first, second
    assert run._known(1) is None


def test_a_choice_becomes_better_around_what_costs_more_than_at_prices(run: Whole) -> None:
    assert run.best is not None
    question = run._question(0, (), is_exact=True)
    begun = run._choice(0, pools_of_classes(run.number, run.best))
    assert run._improved_by_core(question, begun) == begun  # there are no prices yet
    run._find_covers(0)
    better = run._improved_by_core(question, begun)
    assert better.value < begun.value
    assert better.value >= (run._known(0) or 0) > 0
    assert run._improved_by_core(question, better) == better
