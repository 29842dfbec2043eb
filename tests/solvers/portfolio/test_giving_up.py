"""An engine that is still preparing when time is over is given up; the answer is the best that was found before."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

from solvers.bounds.prices.priced_room import priced_value
from solvers.bounds.short_weights import shortened
from solvers.bounds.weighted_sections import Weights
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Placement, PoolSpec, Term
from solvers.model.interruption import GivenUp, check_interrupted, interruptible
from solvers.model.objective import evaluate
from solvers.model.outcome import Outcome
from solvers.model.solver import Control, Limits, Silent, Task
from solvers.portfolio import execute
from solvers.portfolio.execute import Answer
from solvers.portfolio.joint import joint, proven
from tests.small.instances import make_instance, plain

INSTANCE = make_instance(
    [plain(i, i + 4, 3 + i % 5) for i in range(30)], pools=[PoolSpec(14, cost=1), PoolSpec(None, cost=3)]
)


class Clock(Silent):
    """A control whose time is over when a test says so."""

    over = False

    def stopped(self) -> StopReason | None:
        return StopReason.TIME_LIMIT if self.over else None


def test_giving_up_an_engine_keeps_the_best_answer() -> None:
    clock, engines = Clock(), list[str]()

    def ask(name: str, instance: Instance, task: Task, control: Control) -> Answer:
        engines.append(name)
        if name == "greedy":
            return execute.ask(name, instance, task, control)
        clock.over = True
        for _ in interruptible([0] * 5000):
            pass
        raise AssertionError("the engine went on")

    with patch.object(joint, "ask", ask):
        found = joint.solve_joint(INSTANCE, Task(), clock, ("local_search",), by_name=False)
    assert engines[0] == "greedy"
    assert len(engines) == 2
    assert found.placement is not None
    assert found.stop is StopReason.TIME_LIMIT
    assert not found.reproducible


def test_no_engine_is_given_up_before_there_is_a_placement() -> None:
    clock, engines = Clock(), list[str]()
    clock.over = True

    def ask(name: str, *_: object) -> Answer:
        engines.append(name)
        check_interrupted()
        return Outcome(StopReason.TIME_LIMIT)

    with patch.object(joint, "ask", ask):
        joint.solve_joint(INSTANCE, Task(), clock, ("local_search",), by_name=False)
    assert engines == ["greedy"]


def test_what_a_bounder_proved_is_not_worked_out_without_time() -> None:
    clock, worked_out = Clock(), list[Weights]()

    def ask(name: str, instance: Instance, task: Task, control: Control) -> Answer:
        found = execute.ask(name, instance, task, control)
        clock.over = name != "greedy"
        return found

    def long(instance: Instance, weights: Weights) -> int:
        worked_out.append(weights)
        for _ in interruptible([0] * 5000):
            pass
        raise AssertionError("it went on")

    with patch.object(joint, "ask", ask), patch.object(proven, "priced_value", long):
        found = joint.solve_joint(INSTANCE, Task(), clock, ("pool_sharing", "assign"), by_name=False)
    assert worked_out
    assert found.placement is not None
    assert found.stop is StopReason.TIME_LIMIT


def test_short_weights_found_in_time_are_not_needed() -> None:
    weights: Weights = ((0, 5, 10**10 + 1, 10**10),)
    worth = {"calls": 0}

    def late(instance: Instance, some: Weights) -> int:
        worth["calls"] += 1
        if worth["calls"] > 1:
            raise GivenUp
        return priced_value(instance, some)

    assert shortened(INSTANCE, weights, late) == (priced_value(INSTANCE, weights), weights)


def test_weights_are_not_shortened_without_time() -> None:
    weights: Weights = ((0, 5, 10**10 + 1, 10**10),)
    worth = {"calls": 0}

    def counted(instance: Instance, some: Weights) -> int:
        worth["calls"] += 1
        return priced_value(instance, some)

    assert shortened(INSTANCE, weights, counted, lambda: True)[1] == weights
    assert worth["calls"] == 1
    assert shortened(INSTANCE, weights, counted)[1] != weights


def test_an_optimum_found_just_before_the_end_is_called_proven() -> None:
    """What is proven of the second term alone counts once the first is at its least; nobody had looked at that again when time was over."""
    blocks = [plain(i, i + 2, 4) for i in range(10)]
    instance = make_instance(
        blocks, pools=[PoolSpec(None, cost=1), PoolSpec(None, cost=3)], terms=(Term.ACCESS_COST, Term.SUM_OF_PEAKS)
    )
    clock, nowhere_else = Clock(), np.zeros(10, dtype=np.int64)

    def ask(name: str, instance: Instance, task: Task, control: Control) -> Answer:
        if name == "greedy":
            stacked = Placement(nowhere_else, 4 * np.arange(10))
            return Outcome(StopReason.WORK_LIMIT, stacked, evaluate(instance, stacked), solver=name)
        control.incumbent(Placement(nowhere_else, 4 * (np.arange(10) % 2)))
        clock.over = True
        check_interrupted()
        raise AssertionError("the engine went on")

    with patch.object(joint, "ask", ask):
        found = joint.solve_joint(instance, Task(), clock, ("local_search",), by_name=False)
    assert found.value == found.bound == (0, 8)
    assert found.stop is StopReason.PROVED
    assert not found.reproducible


@pytest.mark.parametrize(
    ("answer", "stop"),
    [
        (Outcome(StopReason.TIME_LIMIT, reproducible=False), StopReason.TIME_LIMIT),
        (Outcome(StopReason.WORK_LIMIT, reproducible=False), StopReason.WORK_LIMIT),
    ],
)
def test_a_run_is_as_repeatable_as_its_engines(answer: Outcome, stop: StopReason) -> None:
    """An engine that stops a little before the clock does was ended by the clock."""

    def ask(name: str, instance: Instance, task: Task, control: Control) -> Answer:
        return execute.ask(name, instance, task, control) if name == "greedy" else answer

    with patch.object(joint, "ask", ask):
        outcome = joint.solve_joint(INSTANCE, Task(Limits(work=100_000)), Silent(), ("pools_first",), by_name=True)
    assert (outcome.stop, outcome.reproducible) == (stop, False)
