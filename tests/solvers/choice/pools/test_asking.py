"""What a second process works out ahead is what would be answered later: the same answers, and the same work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from planner import Preference
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools import budget
from solvers.choice.pools.placing.windows import far_apart
from solvers.choice.pools.questions.asking import Asking, Wish
from solvers.choice.pools.questions.lines import Line
from solvers.choice.pools.questions.question import Question
from solvers.geometry.presolve import scaled, unit
from solvers.model.errors import StopReason
from solvers.model.outcome import Outcome
from solvers.model.registry import get
from solvers.model.solver import Limits, Silent, Task
from tests.small.strategies import NIGHTLY

from .searches.test_floors import small

WORK = 200_000
PROGRAMS = [small("pools", 1), small("hot", 2)]
FIRST, LATER = (Wish(program, Question(0), WORK) for program in PROGRAMS)
OTHER = Wish(PROGRAMS[1], Question(0, stretch=(1,) * len(PROGRAMS[1].rooms)), WORK)


def foreseeing(wish: Wish | None) -> Callable[[], Wish | None]:
    return lambda: wish


def told(use: Callable[[Asking], list[Any]], workers: int) -> tuple[list[Any], int, int]:
    """What a use of an Asking hears, the work that it counts, and how many requests were made for it."""
    requests, said = list[object](), Line.said

    def count(line: Line, *request: Any) -> Any:
        requests.append(request)
        return said(line, *request)

    asking = Asking(Limits(workers=workers), 0, Silent())
    try:
        with patch.object(Line, "said", count):
            return use(asking), asking.work, len(requests)
    finally:
        asking.close()


@pytest.mark.parametrize("then", [LATER, OTHER, None])
def test_a_question_that_was_foreseen_is_not_asked_again(then: Wish | None) -> None:
    def use(asking: Asking) -> list[Any]:
        return [asking.ask(*FIRST, foreseeing(then)), asking.ask(*LATER), asking.ask(*LATER)]

    heard, work, requests = told(use, 1)
    assert requests == 3
    for workers in (2, 3):
        again, its_work, its_requests = told(use, workers)
        assert (again, its_work) == (heard, work)
        assert its_requests == (4 if then is OTHER else 3)


def test_linear_programs_that_were_foreseen_are_not_solved_again() -> None:
    program = PROGRAMS[0]

    def use(asking: Asking) -> list[Any]:
        asking.foresee_relaxed(program, (), WORK)
        asking.foresee_relaxed(program, (10**12,), WORK)
        answer = asking.ask(*FIRST)
        relaxed = [asking.relax(program, (), 2 * WORK), asking.relax(program, (10**12,), WORK)]
        return [answer, *relaxed, asking.ask(*FIRST), asking.relax(program, (10**12,), WORK)]

    (heard, work, requests), (again, its_work, its_requests) = told(use, 1), told(use, 2)
    assert (again, its_work, its_requests) == (heard, work, requests)


@pytest.mark.parametrize("seed", range(40 if NIGHTLY else 4))
def test_whatever_is_foreseen_answers_and_work_are_the_same(seed: int) -> None:
    def use(asking: Asking) -> list[Any]:
        chance, heard = Random(seed), list[Any]()
        for _ in range(12):
            program = chance.choice(PROGRAMS)
            held = chance.choice([(), (10**12,)])
            box = tuple((0, program.highest(pool) // chance.choice([1, 2])) for pool in range(len(program.rooms)))
            match chance.randrange(7):
                case 0:
                    asking.foresee_relaxed(program, held, chance.choice([1, WORK]))
                case 1:
                    heard.append(asking.relax(program, held, chance.choice([1, WORK]), chance.choice([None, None, 1])))
                case 2:
                    heard.append(asking.relax_narrow(program, box, (), 1 << 60, WORK))
                case 3:
                    heard.append(
                        asking.relax_box(program, box, (), 1 << 60, WORK, is_wide=chance.choice([False, True]))
                    )
                case _:
                    work = chance.choice([1_000, WORK])
                    heard.append(
                        asking.ask(
                            program,
                            Question(len(held), held),
                            work,
                            foreseeing(chance.choice([FIRST, LATER, OTHER, None])),
                        )
                    )
        return heard

    heard, work, _ = told(use, 1)
    assert [told(use, workers)[:2] for workers in (2, 3)] == [(heard, work)] * 2


@pytest.mark.parametrize("prefer", [Preference.SPEED, Preference.SIZE])
@pytest.mark.parametrize(("kind", "buffers", "seed"), [("hot", 60, 1), ("pools", 200, 2)])
def test_placements_and_proofs_do_not_depend_on_the_workers(
    kind: str, buffers: int, seed: int, prefer: Preference
) -> None:
    instance = lower(with_preference(generate(kind, Request(buffers, seed)), prefer)).instance
    instance = scaled(instance, unit(instance))
    start = get("greedy").solve(instance, Task(Limits(work=20_000)), Silent()).placement

    def found(workers: int) -> Outcome:
        return get("pools_first").solve(instance, Task(Limits(work=400_000, workers=workers), start=start), Silent())

    alone = found(1)
    assert alone.placement is not None
    for workers in (2, 3):
        other = found(workers)
        assert other.placement is not None
        assert (alone.placement.pool == other.placement.pool).all()
        assert (alone.placement.offset == other.placement.offset).all()
        assert replace(other, placement=None) == replace(alone, placement=None)


def test_windows_that_follow_each_other_are_far_apart() -> None:
    windows = [[n] for n in range(9)]
    assert far_apart(windows) == [[0], [5], [1], [6], [2], [7], [3], [8], [4]]
    assert far_apart(windows[:1]) == [[0]]


def test_what_cannot_be_written_with_what_is_left_is_not_begun() -> None:
    """It was, and took several times what was left."""
    program = PROGRAMS[0]

    def use(asking: Asking) -> list[Any]:
        asking.left = lambda: budget.A_QUESTION
        question = asking.ask(program, Question(0), WORK)
        assert (question.pools, question.stopped) == (None, StopReason.WORK_LIMIT)
        return [asking.relax(program, (), WORK), asking.relax_box(program, (), (), 1, WORK)]

    heard, work, requests = told(use, 1)
    assert heard == [None, None]
    assert (work, requests) == (3 * budget.REFUSED, 0)


def test_a_question_may_take_no_more_than_is_left_once_it_is_written() -> None:
    program, given = PROGRAMS[0], list[int]()
    said = Line.said

    def noted(line: Line, asked: Any, request: dict[str, Any]) -> Any:
        given.append(request["work"])
        return said(line, asked, request)

    asking = Asking(Limits(), 0, Silent())
    asking.left = lambda: 50_000
    with patch.object(Line, "said", noted):
        asking.ask(program, Question(0), WORK)
    asking.close()
    assert given == [50_000 - budget.A_QUESTION - budget.MODEL_PER_ENTRY * program.entries]
