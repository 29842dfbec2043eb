"""An engine's share of a round depends on what it found and on the work it took, both of which are counted."""

from __future__ import annotations

import pytest

from planner.generate import Request, generate
from planner.planning.placing.lowering import lower
from solvers.model.errors import StopReason
from solvers.model.instance import Instance
from solvers.model.outcome import Outcome
from solvers.model.solver import Control, Limits, Silent, Task
from solvers.portfolio.execute import FULL, Earnings
from solvers.portfolio.joint import joint


def test_an_engine_gets_less_while_only_others_find_something() -> None:
    earnings = Earnings()
    for wanted in (FULL, FULL // 2, FULL // 4, FULL // 4):
        assert earnings.parts("idle") == wanted
        assert earnings.parts("busy") == FULL
        earnings.end_round(["idle", "busy"], {"busy"})
    earnings.end_round(["idle", "busy"], {"idle", "busy"})
    assert earnings.parts("idle") == FULL


def test_shares_stay_where_no_engine_finds_anything() -> None:
    earnings = Earnings()
    earnings.end_round(["a", "b"], set())
    assert earnings.parts("a") == earnings.parts("b") == FULL


def test_an_engine_gets_more_while_others_find_nothing() -> None:
    earnings = Earnings(most_doublings=2)
    for wanted in (FULL, 2 * FULL, 4 * FULL, 4 * FULL):
        assert earnings.parts("busy") == wanted
        earnings.end_round(["idle", "busy"], {"busy"})
    for wanted in (2 * FULL, FULL, FULL // 2):
        earnings.end_round(["idle", "busy"], {"idle"})
        assert earnings.parts("busy") == wanted


def test_work_beyond_a_share_comes_off_later_shares() -> None:
    earnings = Earnings()
    assert earnings.grant("a", 100) == 100
    earnings.took("a", 100, 350)
    assert [earnings.grant("a", 100) for _ in range(4)] == [0, 0, 50, 100]
    assert earnings.grant("b", 100) == 100


def test_an_engine_that_exceeds_its_share_gets_no_more_in_total(monkeypatch: pytest.MonkeyPatch) -> None:
    """One engine takes ten times its share and one keeps to its share; in total both get as much."""
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
