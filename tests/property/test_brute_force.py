"""Every solver against the truth: no plan, no bound and no claim of infeasibility may contradict exhaustion."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from planner import Options, Plan, PlanStatus, plan
from planner.model.problem import Problem
from tests.small.judge import judge
from tests.small.oracle import solve
from tests.small.strategies import effort, problems

LIMITS = Options(time_limit=60.0, work_limit=1_000_000, workers=1)


def check(problem: Problem, solver: str) -> Plan:
    """Plan it, and compare with exhaustion."""
    made = plan(problem, replace(LIMITS, solver=solver))
    assert judge(problem, made, solve(problem)) == []
    return made


@effort(40, 10_000)
@given(problems())
def test_greedy(problem: Problem) -> None:
    check(problem, "greedy")


@effort(20, 10_000)
@given(problems())
def test_auto(problem: Problem) -> None:
    made = check(problem, "auto")
    assert made.status in (PlanStatus.OPTIMAL, PlanStatus.INFEASIBLE), "six buffers are settled, one way or the other"
