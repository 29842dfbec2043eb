"""Questions whose numbers are near or beyond 64 bits are answered rightly, or not at all; none is a fault of the engine."""

from __future__ import annotations

import random

import pytest

from planner import Options, Preference, plan, verify
from planner.model.problem import Buffer, Pool, Problem
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Question
from solvers.model.errors import StopReason


def large(seed: int, prefer: Preference) -> Problem:
    """Return buffers of up to 2^59 bytes, of odd sizes, with pools of up to 2^62 bytes that round up to 2^18."""
    chance = random.Random(seed)
    buffers = tuple(
        Buffer(
            f"b{i}", chance.randint(1, 1 << 59), live=((i, i + chance.randint(1, 5)),), accesses=chance.randint(0, 9)
        )
        for i in range(8)
    )
    pools = tuple(Pool(name, 1 << bits, 1 << 18, rank=rank) for rank, (name, bits) in enumerate((("a", 60), ("b", 62))))
    return with_preference(Problem(buffers, pools), prefer)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("prefer", [Preference.SIZE, Preference.SPEED, Preference.BALANCED])
def test_pools_of_2_to_the_62_bytes_are_planned(prefer: Preference, seed: int) -> None:
    problem = large(seed, prefer)
    made = plan(problem, Options(time_limit=None, work_limit=3_000_000, workers=1, solver="pools_first"))
    assert verify(problem, made) == ()
    assert made.warnings == (), "the engine has not failed"
    assert prefer is Preference.BALANCED or made.status == "optimal"


def test_a_question_in_larger_numbers_than_it_can_be_asked_in_has_no_answer(asking: Asking) -> None:
    program = program_of(lower(large(0, Preference.SIZE)).instance)
    answer = asking.ask(program, Question(0, stretch=(3, 3)), None)
    assert (answer.pools, answer.stopped, answer.is_impossible) == (None, StopReason.WORK_LIMIT, False)
    answer = asking.ask(program, Question(0), None)
    assert answer.pools is not None
    assert answer.bound is not None
    assert answer.value is not None
    assert answer.bound <= answer.value <= answer.bound + 100, "floating point tells no more"
