"""What the integer program is asked, in which order, and what follows from the answers; no program is built, no solver runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from solvers.exact.milp import stages, tries
from solvers.exact.milp.answer import Answer, Budget, Listener
from solvers.exact.milp.program.build import Question
from solvers.geometry.rules import violation
from solvers.kernels import Origin, active
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Placement, PoolSpec, Term
from solvers.model.objective import evaluate
from solvers.model.outcome import Outcome
from solvers.model.solver import Limits, Silent, Task, Warm
from tests.small.instances import make_instance, plain

BLOCKS = [(0, 2, 4), (1, 3, 4), (2, 4, 4)]
"""Eight bytes are live at once, and suffice."""

native = pytest.mark.skipif(
    active().origin is not Origin.NATIVE, reason="without native kernels, programs begin at once"
)


@dataclass
class Solver:
    """Answers as told, and records what was asked."""

    answers: list[Answer]
    name: str = "told"
    questions: list[Question] = field(default_factory=list)
    budgets: list[Budget] = field(default_factory=list)

    def run(self, problem: Question, start: object, budget: Budget, listener: Listener) -> Answer:
        self.questions.append(problem)
        self.budgets.append(budget)
        return self.answers.pop(0)


@pytest.fixture(autouse=True)
def _no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(instance: Instance, choices: Any, names: Any, question: Question) -> SimpleNamespace:
        program = SimpleNamespace(problem=question, binaries=90)
        return SimpleNamespace(program=program, question=question, settled=False, is_certain=True, constant=0)

    monkeypatch.setattr(stages, "build", build)
    monkeypatch.setattr(tries, "TRIES", 0)


def ring_of_five() -> Instance:
    return make_instance([plain(i, i + 1, 4) for i in range(5)], conflicts=[(i, (i + 1) % 5) for i in range(5)])


def run(solver: Solver, start: Placement, instance: Instance | None = None, work: int | None = None) -> Outcome:
    task = Task(Limits(work=work), start=start)
    return stages.Stages(solver, instance or make_instance(BLOCKS), task, Silent(), Warm.BOUND).run()


def at(*offsets: int) -> Placement:
    return Placement.in_one_pool(offsets)


EMPTY = Answer(StopReason.PROVED)
OUT_OF_NODES = Answer(StopReason.WORK_LIMIT, nodes=10)


def test_a_placement_at_the_bound_near_the_start_is_asked_for_first() -> None:
    solver = Solver([EMPTY, EMPTY])
    start = at(0, 4, 8)
    outcome = run(solver, start)
    first, second = solver.questions
    assert (first.term, first.limits, first.near) == (None, {Term.SUM_OF_PEAKS: 8}, start)
    assert (second.term, second.limits, second.least, second.near) == (
        Term.SUM_OF_PEAKS, {Term.SUM_OF_PEAKS: 11}, {Term.SUM_OF_PEAKS: 9}, None,
    )  # fmt: skip
    assert [budget.first_only for budget in solver.budgets] == [True, False]
    assert outcome.bound == outcome.value == (12,), "nothing lies below the start"


def test_it_is_asked_with_part_of_the_budget_and_no_answer_proves_nothing() -> None:
    solver = Solver([OUT_OF_NODES, OUT_OF_NODES])
    outcome = run(solver, at(0, 4, 8), work=250_000)
    assert [budget.nodes for budget in solver.budgets] == [150, 140]
    assert outcome.bound == (8,)
    assert outcome.stop is StopReason.WORK_LIMIT


def test_one_step_above_the_bound_nothing_else_is_asked() -> None:
    solver = Solver([EMPTY])
    outcome = run(solver, at(0, 4, 8, 8), make_instance([*BLOCKS, (1, 2, 3)]))
    assert [question.term for question in solver.questions] == [None]
    assert outcome.bound == (12,)


def test_where_more_than_the_peak_is_to_be_decided_it_is_not_asked() -> None:
    solver = Solver([OUT_OF_NODES])
    run(solver, at(0, 4, 8), make_instance(BLOCKS, pools=[PoolSpec(), PoolSpec()]))
    assert [question.term for question in solver.questions] == [Term.SUM_OF_PEAKS]


@native
def test_what_local_search_brings_to_the_bound_is_asked_of_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tries, "TRIES", 1)
    solver = Solver([])
    outcome = run(solver, at(0, 4, 8))
    assert outcome.value == outcome.bound == (8,)
    assert outcome.stop is StopReason.PROVED
    assert outcome.placement is not None
    assert violation(make_instance(BLOCKS), outcome.placement) is None


@native
def test_what_local_search_lowers_is_where_programs_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a ring of five, each of 4 units conflicts with its neighbours: that takes 12, and two neighbours alone 8."""
    monkeypatch.setattr(tries, "TRIES", 2)
    solver = Solver([EMPTY, EMPTY])
    instance = ring_of_five()
    outcome = run(solver, at(0, 4, 8, 12, 16), instance)
    assert outcome.value == outcome.bound == (12,)
    near = solver.questions[0].near
    assert near is not None
    assert evaluate(instance, near) == (12,)


@native
def test_local_search_counts_as_work_and_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tries, "TRIES", 1_000)
    outcome = run(Solver([]), at(0, 4, 8, 12, 16), ring_of_five(), work=3_000)
    assert outcome.stop is StopReason.WORK_LIMIT
    assert 3_000 <= outcome.work < 4_000
