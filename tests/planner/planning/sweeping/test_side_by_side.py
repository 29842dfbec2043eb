"""Plans that other processes make keep to the time of the whole sweep, and no more are asked for once it is over."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from planner import Buffer, Options, Plan, Pool, Problem, plan, sweep
from planner.model.deadline import OutOfTime, look
from planner.planning.sweeping import side_by_side
from planner.planning.sweeping.side_by_side import Request, SideBySide, plan_request

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
    plan_request(((PROBLEM, Options(), None), (3.0, long_ago)), answers.append)
    plan_request(((PROBLEM, Options(), None), (None, long_ago)), answers.append)
    assert [type(each) for each in answers] == [OutOfTime, Plan]


def test_nothing_is_asked_for_once_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    waves: list[int] = []
    usual, now = SideBySide.plan_all, time.monotonic

    def slow(self: SideBySide, requests: Sequence[Request]) -> list[Plan]:
        waves.append(len(requests))
        made = usual(self, requests)
        monkeypatch.setattr(time, "monotonic", lambda: now() + 1e6)  # others worked, this thread did not
        return made

    monkeypatch.setattr(SideBySide, "plan_all", slow)
    found = sweep(PROBLEM, {"m": range(8, 64, 8)}, Options(time_limit=60), processes=1)
    assert waves == [1]
    assert len(found.points) == 7
