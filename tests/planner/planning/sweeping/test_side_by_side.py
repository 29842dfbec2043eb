"""Plans that other processes make keep to the time of the whole sweep, and no more are asked for once it is over."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from planner import Buffer, Options, Plan, PlanStatus, Pool, Problem, plan, sweep
from planner.model.deadline import OutOfTime, look
from planner.model.errors import Code, Finding
from planner.planning.placing.watching import Cancelled
from planner.planning.sweeping import side_by_side
from planner.planning.sweeping.side_by_side import Request, SideBySide, Span, plan_request

PROBLEM = Problem(tuple(Buffer(i, 8, live=((0, 9),)) for i in range(4)), (Pool("m", 99),))


def test_a_plan_of_another_process_ends_with_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    def long_work(problem: Problem, options: Options, start: Plan | None = None) -> Plan:
        worked = time.thread_time
        with monkeypatch.context() as patch:
            for seconds in (0.0, 1e6):  # more than is ever allowed after the end
                patch.setattr(time, "thread_time", lambda more=seconds: worked() + more)
                look("planning")
        return plan(problem, options)

    monkeypatch.setattr(side_by_side, "plan", long_work)
    answers: list[object] = []
    long_ago = time.monotonic() - 1e6
    plan_request(((PROBLEM, Options(), None), Span(3.0, long_ago)), answers.append)
    plan_request(((PROBLEM, Options(), None), Span(None, long_ago)), answers.append)
    assert [type(each) for each in answers] == [OutOfTime, Plan]


@pytest.mark.parametrize(("kept", "left"), [(0.0, 7.0), (2.0, 5.25), (60.0, 3.5)])
def test_time_is_left_for_writing(monkeypatch: pytest.MonkeyPatch, kept: float, left: float) -> None:
    limits: list[float | None] = []

    def noted(processes: int, cancelled: Cancelled | None, span: Span) -> SideBySide:
        limits.append(span.limit)
        return SideBySide(processes, cancelled, span)

    monkeypatch.setattr(side_by_side, "SideBySide", noted)
    found = sweep(PROBLEM, {"m": (32, 64)}, Options(time_limit=8.0), kept=kept)
    assert limits == [left]
    assert [point.status for point in found.points] == [PlanStatus.OPTIMAL] * 2


LATE = OutOfTime(Finding(Code.OUT_OF_TIME, "", "late"))


def test_a_plan_is_kept_where_another_of_its_wave_has_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first wave has the smallest and the largest size."""
    usual = SideBySide.plan_all
    waves = []

    def one_is_late(self: SideBySide, requests: Sequence[Request]) -> list[Plan | OutOfTime]:
        made = usual(self, requests)
        waves.append(len(made))
        return made if len(waves) == 1 else [LATE, *made[1:]]

    monkeypatch.setattr(SideBySide, "plan_all", one_is_late)
    found = sweep(PROBLEM, {"m": range(33, 64, 10)}, Options(time_limit=60), processes=1)
    assert waves == [1, 2]
    assert found.points[-1].plan is not None
    assert found.points[-1].plan.status.has_plan


@pytest.mark.parametrize("where", ["here", "elsewhere"])
def test_plans_of_a_wave_come_with_why_others_have_none(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def late_once(*_: object, **__: object) -> Plan:
        if not waited:
            waited.append(True)
            raise LATE
        return made

    waited: list[bool] = []
    made = plan(PROBLEM)
    monkeypatch.setattr(side_by_side, "plan", late_once)
    monkeypatch.setattr(side_by_side, "_ask", late_once)
    planners = SideBySide(1 if where == "here" else 2, None, Span(None, 0.0))
    planners._is_quick = where == "here"
    try:
        answers = planners.plan_all([(PROBLEM, Options(), None)] * 3)
    finally:
        planners.close()
    assert sorted(type(each).__name__ for each in answers) == ["OutOfTime", "Plan", "Plan"]


def test_nothing_is_asked_for_once_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    waves: list[int] = []
    usual, now = SideBySide.plan_all, time.monotonic

    def slow(self: SideBySide, requests: Sequence[Request]) -> list[Plan | OutOfTime]:
        waves.append(len(requests))
        made = usual(self, requests)
        monkeypatch.setattr(time, "monotonic", lambda: now() + 1e6)  # others worked, this thread did not
        return made

    monkeypatch.setattr(SideBySide, "plan_all", slow)
    found = sweep(PROBLEM, {"m": range(8, 64, 8)}, Options(time_limit=60), processes=1)
    assert waves == [1]
    assert len(found.points) == 7


def test_what_is_cancelled_in_other_processes_is_no_fault() -> None:
    """Their end was once taken for a crash: Ctrl-C in a sweep was reported as a fault in memplan."""
    with side_by_side.side_by_side(2, lambda: True, Span(None, 0.0)) as planners:
        planners._is_quick = False
        answers = planners.plan_all([(PROBLEM, Options(), None)] * 3)
    assert [type(each) for each in answers] == [OutOfTime] * 3
