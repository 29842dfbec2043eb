"""Prices with crowds that are raised window by window: what they prove holds for every choice, and is more than the linear program without crowds proves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from planner import Options, Preference, plan, verify
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools import budget
from solvers.choice.pools.prices import ascent
from solvers.choice.pools.prices.ascent import Ascent
from solvers.choice.pools.prices.crowds import Crowd, Relaxed
from solvers.choice.pools.prices.fullest_rows import spread_rows
from solvers.choice.pools.prices.relaxation import Charged, bound_of
from solvers.choice.pools.program.program import Program
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Question
from solvers.geometry.presolve import scaled, unit
from solvers.model.outcome import Proof

WORK = 3_000_000


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows so short that small problems have several."""
    monkeypatch.setattr(ascent, "ENTRIES", 150)


def program_like(kind: str, buffers: int, seed: int) -> Program:
    instance = lower(with_preference(generate(kind, Request(buffers, seed)), Preference.BALANCED)).instance
    return program_of(scaled(instance, unit(instance)))


def without_crowds(program: Program, asking: Asking) -> Relaxed:
    found = asking.relax_at_once(program, (), (), WORK)
    assert found is not None
    return found


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["pools", "hot"])
def test_no_choice_costs_less_than_the_prices_prove(kind: str, seed: int, asking: Asking) -> None:
    program = program_like(kind, 40, seed)
    best = asking.ask(program, Question(0), 4 * WORK)
    assert best.stopped is None
    assert best.value is not None
    raised = Ascent(program, without_crowds(program, asking))
    raised.run(asking, WORK)
    assert raised.bound == bound_of(program, raised.best) <= best.value


def test_windows_prove_much_of_what_one_linear_program_with_crowds_does(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ascent, "ENTRIES", 1_500)
    program = program_like("pools", 300, 13)
    first, whole = without_crowds(program, asking), asking.relax(program, (), WORK)
    assert whole is not None
    least, most = bound_of(program, first), bound_of(program, whole)
    raised = Ascent(program, first)
    assert raised.bound == least
    raised.run(asking, WORK)
    assert raised.is_done
    assert raised.bound - least > 0.4 * (most - least)


class Arbitrary:
    """Solves nothing: prices of rows and crowds of a window are drawn, or there is no solution."""

    def __init__(self, seed: int) -> None:
        self.work, self._chance = 0, Random(seed)

    def is_over(self, end: int) -> bool:
        return self.work >= end

    def relax_charged(
        self, program: Program, charged: Charged, crowds: Sequence[Crowd], rounds: int, work: int
    ) -> Relaxed | None:
        assert len(charged.of_heights) == len(charged.highest) == len(program.rooms)
        assert all(height >= 0 for pool in charged.of_heights for height, _ in pool)
        self.work += 1
        if self._chance.random() < 0.1:
            return None
        rows = [n for n, row in enumerate(program.rows) if row.members]
        some = self._chance.sample(rows, len(rows) // 2)
        priced = {crowd: self._chance.random() * 900 for crowd in crowds[::2]}
        for n in some[::2]:
            members = [group for group, _ in program.rows[n].members]
            priced[Crowd(n, tuple(members), (1,) * len(members))] = self._chance.random() * 900
        return Relaxed((), tuple((n, self._chance.random()) for n in some), tuple(priced.items()), (), 0.0, 0, (), ())


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("seed", range(5))
def test_whatever_windows_answer_what_all_pay_is_the_sum_of_all_prices(seed: int, asking: Asking) -> None:
    program = program_like("pools", 40, seed)
    raised = Ascent(program, without_crowds(program, asking))
    answers = Arbitrary(seed)
    for _ in range(9):
        raised.run(answers, 7)
        raised.is_done = False
    now = replace(raised.best, of_rows=tuple(raised.of_rows.items()), of_crowds=tuple(raised.of_crowds.items()))
    again = Ascent(program, now)
    assert [sum(each) for each in raised.paid] == pytest.approx([sum(each) for each in again.paid])
    assert raised.bound >= again.bound


def test_large_problems_with_little_work_have_a_certificate_with_crowds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "ENTRIES_OF_LARGE", 2_000)
    problem = with_preference(generate("pools", Request(700, 5)), Preference.BALANCED)
    made = plan(problem, Options(solver="pools_first", work_limit=900_000, workers=1))
    assert not verify(problem, made)
    proofs = [each for each in made.certificates if each.proof is Proof.PRICED_ROOM]
    assert any(each.crowds and each.value == made.objective.terms[0].bound for each in proofs)


def test_classes_that_no_row_counts_are_in_their_cheapest_pool_and_take_no_work(asking: Asking) -> None:
    program = program_like("hot", 900, 3)
    some = spread_rows(program, 300).program
    asked = asking.work
    found = without_crowds(some, asking)
    assert asking.work - asked < 12_000
    counted = {group for row in some.rows for group, _ in row.members}
    assert len(counted) < len(program.homes) // 2
    for group, (shares, costs) in enumerate(zip(found.shares, program.terms[0].of_homes, strict=True)):
        assert sum(shares) == pytest.approx(1.0)
        assert group in counted or shares[costs.index(min(costs))] == 1.0
