"""Bounds of a later term, found pool by pool, agree with trying all choices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from planner import Options, Preference, Problem, plan, verify
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools import budget
from solvers.choice.pools.program.program import Costs, Pools, Program, Room, Row
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Answer, Question
from solvers.choice.pools.searches.floors import FINEST, FIRST_STEP, LAST, LONG, SHORT, FloorSearch
from solvers.choice.pools.searches.peaks import Tops
from solvers.model.errors import StopReason
from solvers.model.outcome import Proof

WORK = 3_000_000


def small(kind: str, seed: int, prefer: Preference = Preference.SPEED) -> Program:
    return program_of(lower(with_preference(generate(kind, Request(8, seed)), prefer)).instance)


def fitting(program: Program) -> Iterator[tuple[Pools, Tops]]:
    """Yield every choice that fits, with the heights of its pools."""
    for pools in product(*program.homes):
        tops = program.least_tops(pools)
        fits = all(room.capacity is None or top <= room.capacity for room, top in zip(program.rooms, tops, strict=True))
        if fits and all(pools[a] != pools[b] for a, b in program.apart):
            yield pools, tops


def choices(program: Program) -> list[tuple[int, int, Pools]]:
    """Return both terms of every choice that fits, with its pools."""
    return [(program.value(0, pools, tops), program.value(1, pools, tops), pools) for pools, tops in fitting(program)]


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


TOP = 1 << 20
ONE_POOL = Program(
    homes=((0,),),
    rooms=(Room(None, (), 0, 0),),
    rows=(Row(0, 0, 0, ((0, TOP),)),),
    terms=(Costs(((0,),), (0,)), Costs(((0,),), (1,))),
    apart=(),
)
SOON = budget.SOON_PER_ENTRY * ONE_POOL.entries


class Refusing(Asking):
    """Proves within so much work that the pool can't be lower by a step, unless the step is less than the least that it can prove."""

    def __init__(self, takes: int, least: int) -> None:
        self.work, self.stop = 0, None
        self.steps = list[int]()
        self._takes, self._least = takes, least

    def ask(self, program: Program, question: Question, work: int | None, then: object = None) -> Answer:
        top = question.tops[0]
        assert top is not None
        assert work is not None
        step = TOP - top - 1
        self.steps.append(step)
        self.work += self._takes
        is_proven = self._takes <= work and step >= self._least
        return Answer(None, None, None, None if is_proven else StopReason.WORK_LIMIT)


def steps_of(takes: int, least: int = 0, proof: int | None = None) -> list[int]:
    """By how much a pool was asked to be lower, question by question."""
    asking = Refusing(takes, least)
    FloorSearch(ONE_POOL, asking, Question(1, held=(0,), near=(0,)), TOP, (TOP,), WORK, proof).run()
    return asking.steps


def test_steps_down_are_long_where_questions_end_soon() -> None:
    first = TOP // FIRST_STEP
    assert steps_of(SOON) == [first, first // LONG, TOP // FINEST]
    assert steps_of(SOON + 1) == [first, first // SHORT, first // SHORT**2, TOP // FINEST]


def test_a_step_down_that_is_too_hard_is_followed_by_shorter_ones() -> None:
    first = TOP // FIRST_STEP
    assert steps_of(SOON, least=first // LAST) == [first, first // LONG, first // SHORT, first // LAST]
    assert steps_of(SOON, least=first + 1) == [first]


def test_a_pool_is_asked_for_just_below_where_it_is_if_that_is_likely_to_be_proven() -> None:
    first = TOP // FIRST_STEP
    assert steps_of(SOON, proof=WORK // 2) == [0]
    assert steps_of(SOON, least=first, proof=WORK // 2)[:2] == [0, first]
    assert steps_of(SOON, proof=WORK) == [first, first // LONG, TOP // FINEST]


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


def test_both_terms_of_many_buffers_are_proven() -> None:
    """The search gave up on the fast pool, and windows then ended above the least access cost, so that little was known of the peaks."""
    problem = generate("hot", Request(1000, 610_002))
    made = plan(problem, Options(time_limit=None, work_limit=7_500_000, workers=1, prefer=Preference.SPEED))
    assert not verify(with_preference(problem, Preference.SPEED), made)
    assert made.status == "optimal"


def test_both_terms_of_few_buffers_are_proven_with_little_work() -> None:
    """A question without covers was asked first, in vain, and then the dearest classes were chosen."""
    options = Options(time_limit=None, work_limit=600_000, workers=1, prefer=Preference.SPEED)
    assert plan(generate("hot", Request(300, 3)), options).status == "optimal"
