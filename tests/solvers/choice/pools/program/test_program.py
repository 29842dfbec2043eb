"""The 0-1 program of a choice of pools: every placement satisfies its rows and has the cost that it states."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from planner import Preference, with_preference
from planner.generate import Request, generate
from planner.model.problem import Buffer, Pool, Problem
from planner.planning.placing.lowering import lower
from solvers.choice.pools import budget
from solvers.choice.pools.program.program import Program
from solvers.choice.pools.program.writing import pools_of_classes, program_of
from solvers.choice.pools.questions import answering
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Question
from solvers.exact.cpsat import engine
from solvers.heuristics.greedy.solver import Greedy
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Placement, Term
from solvers.model.objective import evaluate, peaks
from solvers.model.solver import Limits, Silent, Task
from tests.small.strategies import effort, problems


def value(program: Program, pools: tuple[int, ...], tops: tuple[int, ...]) -> tuple[int, ...]:
    found = []
    for term in program.terms:
        if term.is_largest:
            found.append(max(tops))
            continue
        costs = zip(program.homes, term.of_homes, pools, strict=True)
        chosen = sum(of_homes[homes.index(pool)] for homes, of_homes, pool in costs)
        found.append(chosen + sum(price * top for price, top in zip(term.of_peaks, tops, strict=True)))
    return tuple(found)


def check(instance: Instance, placement: Placement) -> None:
    program = program_of(instance)
    pools = pools_of_classes(instance.class_number, placement)
    tops = peaks(instance, placement)
    assert all(pool in homes for pool, homes in zip(pools, program.homes, strict=True))
    assert value(program, pools, tops) == evaluate(instance, placement)[: len(program.terms)]
    assert all(pools[a] != pools[b] for a, b in program.apart)
    for row in program.rows:
        room, top = program.rooms[row.pool], tops[row.pool]
        assert top >= room.lowest
        taken = row.always + sum(units for group, units in row.members if pools[group] == row.pool)
        assert taken <= room.below(top) + room.spare


@effort(20, 20_000)
@given(problems(max_buffers=6))
def test_every_placement_keeps_the_rows(problem: Problem) -> None:
    instance = lower(problem).instance
    placement = Greedy().solve(instance, Task(limits=Limits(work=1)), Silent()).placement
    if placement is not None and instance.blocks:
        check(instance, placement)


def test_a_reserved_range_may_lie_in_the_unfilled_part_of_a_step() -> None:
    """Buffers of one byte lie at 0 and at 3; the rest of the pool's first step of three bytes is reserved."""
    buffers = (Buffer("a", 1, live=((0, 1),)), Buffer("b", 1, 4, ((0, 1),)))
    pools = (Pool("p", 5, 3, reserved=((1, 3),)), Pool("q", 8))
    terms = (Term.SPILLED_BYTES, Term.SUM_OF_PEAKS)
    instance = lower(Problem(buffers, pools, terms=terms)).instance
    check(instance, Placement(np.array([0, 0]), np.array([3, 0])))
    program = program_of(instance)
    assert program.least_tops((0, 0)) == (4, 0)


def test_who_has_one_home_ends_above_the_ranges_it_cannot_lie_beside() -> None:
    pools = (Pool("a", 100, alignment=4, reserved=((10, 18), (21, 30))), Pool("b", 100))
    program = program_of(
        lower(Problem((Buffer("large", 15, live=((0, 1),), pools=("a",)), Buffer("free", 1)), pools)).instance
    )
    assert program.rooms[0].lowest == 32 + 15


def test_a_program_ends_before_the_first_unknown_term() -> None:
    """As a cost, an unknown term would count 0, and that would be proven at once."""
    instance = lower(generate("hot", Request(20, 5))).instance
    new: Any = "a_new_term"
    assert len(program_of(replace(instance, terms=(Term.LARGEST_PEAK, new, Term.SUM_OF_PEAKS))).terms) == 1


def test_each_pool_and_maximal_live_set_has_a_row() -> None:
    instance = lower(generate("hot", Request(80, 5))).instance
    program = program_of(instance)
    everybody = {(row.pool, row.section): {group for group, _ in row.members} for row in program.rows}
    assert len(everybody) == len(program.rows)
    for (pool, _), members in everybody.items():
        assert not any(members < other for (p, _), other in everybody.items() if p == pool)
    for group, (start, end) in enumerate(zip(instance.rect_start.tolist(), instance.rect_end.tolist(), strict=True)):
        rows = [row for row in program.rows if start <= row.section < end and row.pool in program.homes[group]]
        assert {row.pool for row in rows} == set(program.homes[group])
        assert all(group in dict(row.members) for row in rows)


def test_a_question_that_would_not_be_searched_is_not_asked(asking: Asking) -> None:
    """Where peaks are weighed, CP-SAT prepares for longer than it searches: so little work would be exceeded, for nothing."""
    instance = lower(with_preference(generate("hot", Request(300, 1)), Preference.SIZE)).instance
    program = program_of(instance)
    work = 8 * program.entries
    answer = asking.ask(program, Question(1, held=(10**9,)), work)
    assert answer.stopped is StopReason.WORK_LIMIT
    assert asking.work <= work


def test_a_large_question_has_dearer_later_seconds_and_with_peaks_held_no_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such cuts would take most of the time, uncounted; the model is simplified once."""
    instance = lower(with_preference(generate("hot", Request(20, 5)), Preference.SIZE)).instance
    program, asked = program_of(instance), list[tuple[bool, bool, bool, int | None]]()

    def solve(model: object, limits: engine.Budget, *_: object, **__: object) -> engine.Reply:
        cuts = limits.rounding_cuts, limits.tableau_cuts
        asked.append((*cuts, limits.is_soon_simplified, limits.later_rate))
        return engine.Reply(engine.Answer.UNKNOWN, None, 0, StopReason.WORK_LIMIT)

    monkeypatch.setattr(engine, "solve", solve)
    for most, question in ((0, Question(1)), (program.entries, Question(1)), (0, Question(0))):
        monkeypatch.setattr(budget, "MOST_ENTRIES_OF_SMALL", most)
        message = {"program": program, "question": question}
        limits = {"work": 1_000, "deadline": None, "seed": 0, "goes_on": False}
        answering.Answering(None).answer(message | limits, Silent())
    small, large = budget.LATER_SECOND, budget.LATER_SECOND_OF_LARGE
    assert asked == [(False, False, True, large), (False, False, True, small), (True, True, False, large)]


def test_a_program_is_written_once_as_long_as_its_instance_is_in_use() -> None:
    instance = lower(generate("hot", Request(20, 5))).instance
    assert program_of(instance) is program_of(instance)
    assert program_of(replace(instance)) == program_of(instance)
