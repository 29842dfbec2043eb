"""An engine's share of a round follows its results and the work it took, both counted."""

from __future__ import annotations

import pytest

from planner.generate import Request, generate
from planner.planning.placing.lowering import lower
from solvers.model.errors import StopReason
from solvers.model.instance import Instance
from solvers.model.outcome import Outcome
from solvers.model.solver import Control, Limits, Silent, Task
from solvers.portfolio import joint
from solvers.portfolio.execute import FULL, Earnings


def test_who_finds_nothing_while_others_do_gets_less_until_it_finds_something() -> None:
    earnings = Earnings()
    for wanted in (FULL, FULL // 2, FULL // 4, FULL // 4):
        assert earnings.parts("idle") == wanted
        assert earnings.parts("busy") == FULL
        earnings.end_round(["idle", "busy"], {"busy"})
    earnings.end_round(["idle", "busy"], {"idle", "busy"})
    assert earnings.parts("idle") == FULL


def test_where_nobody_finds_anything_all_shares_stay() -> None:
    earnings = Earnings()
    earnings.end_round(["a", "b"], set())
    assert earnings.parts("a") == earnings.parts("b") == FULL


def test_what_was_taken_too_much_of_comes_off_later_shares() -> None:
    earnings = Earnings()
    assert earnings.grant("a", 100) == 100
    earnings.took("a", 100, 350)
    assert [earnings.grant("a", 100) for _ in range(4)] == [0, 0, 50, 100]
    assert earnings.grant("b", 100) == 100


def test_who_takes_more_than_it_is_given_gets_no_more_than_others_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """One engine takes ten times its share; the other keeps to its own, and gets as much in total."""
    taken = dict.fromkeys(("assign", "cpsat"), 0)

    def ask(name: str, instance: Instance, task: Task, control: Control) -> Outcome:
        granted = task.limits.work or 0
        work = 10 * granted if name == "cpsat" else granted
        if name in taken:
            taken[name] += work
        return Outcome(StopReason.WORK_LIMIT, task.start, None, work=work)

    instance = lower(generate("pools", Request(60, 1))).instance
    run = joint.Joint(instance, Task(limits=Limits(work=50_000_000)), Silent(), tuple(taken), by_name=True)
    run.begin()
    monkeypatch.setattr(joint, "ask", ask)
    for _ in range(200):
        run.round(1_000)
    assert taken["assign"] == 200 * 1_000 * FULL
    assert taken["cpsat"] <= taken["assign"] + 10 * 1_000 * FULL
