"""Bounds of a later term, found pool by pool, agree with trying all choices."""

from __future__ import annotations

import pytest

from planner import Options, Preference, Problem, plan
from planner.generate import Request, generate
from solvers.choice.pools.floors import FINEST, FloorSearch
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Question
from solvers.model.outcome import Proof

from .test_limits import choices, small

WORK = 3_000_000


@pytest.mark.parametrize("is_least", [True, False])
@pytest.mark.parametrize("kind", ["pools", "hot", "memories"])
def test_no_choice_is_below_the_bound(kind: str, is_least: bool, asking: Asking) -> None:
    for seed in range(5):
        program = small(kind, seed)
        everything = choices(program)
        held = min(everything)[0]
        if not is_least:
            held = min((first for first, _, _ in everything if first > held), default=held)
        allowed = [(second, pools) for first, second, pools in everything if first <= held]
        for value, pools in (min(allowed), max(allowed)):
            tops = program.least_tops(pools)
            search = FloorSearch(program, asking, Question(1, held=(held,), near=pools), value, tops, WORK)
            bound = search.run()
            assert bound <= min(allowed)[0]
            for choice in search.found:
                assert (choice.value, choice.pools) in allowed
            lowest = [min(program.least_tops(each)[p] for _, each in allowed) for p in range(len(tops))]
            if lowest == list(tops):  # no pool can be lower than it is, and no choice is better
                assert value - bound <= len(tops) * (value // FINEST + 2)


def problem_of(seed: int) -> Problem:
    return generate("hot", Request(300, seed))


def test_a_second_term_too_hard_to_ask_for_is_bounded_pool_by_pool() -> None:
    """And the first is proven sooner, since limits on its value are not among CP-SAT's constraints."""
    made = plan(problem_of(73), Options(time_limit=None, work_limit=525_000, workers=1, prefer=Preference.SPEED))
    first, second = made.objective.terms
    assert first.value == first.bound
    others = [c.value for c in made.certificates if c.term == second.name and str(c.proof) != Proof.SEARCH]
    assert second.bound is not None
    assert second.bound > max(others, default=0)
