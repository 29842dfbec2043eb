"""What is not found for a shape is said, with its reason; what is found for none is an error of its own code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from planner import Buffer, CannotSolve, Code, NoPlan, Options, Plan, PlannerError, PlanStatus, Problem, plan
from planner.formats import read_shapes_plan, write_shapes_plan
from planner.model.deadline import OutOfTime
from planner.model.errors import Finding, PlanWithheld
from planner.planning.placing import shared_limits
from planner.planning.shapes import Mode, modes, plan_shapes, require_right, shaped, zero_sizes
from solvers.model.errors import StopReason
from tests.planner.planning.shapes.shaped_problems import OPTIONS, TWO

SHAPES = [{"n": n} for n in (1, 20, 50, 100)]


def without_plan(made: Plan, stop: StopReason, *warnings: str) -> Plan:
    pools = tuple(replace(use, peak=None) for use in made.pools)
    return replace(made, status=PlanStatus.UNKNOWN, stop=stop, placements=(), pools=pools, peak=None, warnings=warnings)


def failing(on: Callable[[int], bool], stop: StopReason, *warnings: str) -> Callable[..., Plan]:
    """Return a planner that finds nothing for the calls that `on` names."""
    calls: list[int] = []

    def planned(problem: Problem, options: Options, **more: object) -> Plan:
        calls.append(0)
        made = plan(problem, options)
        return without_plan(made, stop, *warnings) if on(len(calls)) else made

    return planned


@pytest.mark.parametrize("mode", Mode)
def test_a_solver_that_failed_on_one_shape_is_named(mode: Mode, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = failing(lambda call: call in (2, 3), StopReason.SOLVER_FAILED, "the solver ended with signal 11")
    monkeypatch.setattr(shared_limits, "plan", planned)
    found = plan_shapes(TWO, mode, SHAPES, OPTIONS)
    assert [row.optimum is None for row in found.rows] == [False, True, True, False]
    assert found.notes == (
        "the shape n=20 alone (and 1 more): no plan was found (solver_failed)",
        "the shape n=20 alone (and 1 more): the solver ended with signal 11",
    )
    written = write_shapes_plan(found, ("a note of the reader",))
    assert read_shapes_plan(written).notes == ("a note of the reader", *found.notes)


@pytest.mark.parametrize("mode", [Mode.EXPRESSIONS, Mode.BUCKETS])
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CannotSolve(Finding(Code.SOLVER_FAILED, "/options/solver", "it broke")), "solver_failed"),
        (OutOfTime(Finding(Code.OUT_OF_TIME, "", "no time")), "out_of_time"),
    ],
)
def test_an_error_about_one_shape_is_a_note(
    mode: Mode, error: PlannerError, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = 0

    def planned(problem: Problem, options: Options, **more: object) -> Plan:
        nonlocal shares
        shares += 1
        if shares == 1:
            raise error
        return plan(problem, options)

    monkeypatch.setattr(shared_limits, "plan", planned)
    found = plan_shapes(TWO, mode, SHAPES, OPTIONS)
    assert [row.optimum is None for row in found.rows] == [True, False, False, False]
    assert found.notes[0].startswith(f"the shape n=1 alone: no plan was found ({code})")


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize(
    ("stop", "code"),
    [
        (StopReason.TIME_LIMIT, Code.OUT_OF_TIME),
        (StopReason.SOLVER_FAILED, Code.SOLVER_FAILED),
        (StopReason.WORK_LIMIT, Code.NO_PLAN_FOUND),
    ],
)
def test_without_any_plan_the_code_is_the_reason(
    mode: Mode, stop: StopReason, code: Code, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_limits, "plan", failing(lambda _: True, stop, "as it is"))
    with pytest.raises(NoPlan) as caught:
        plan_shapes(TWO, mode, SHAPES, OPTIONS)
    [found] = caught.value.findings
    assert found.code is code
    assert f"({stop.value}: as it is)" in found.message
    assert ("the shape n=1 alone" in found.message) == (mode is Mode.EXPRESSIONS)


def test_another_plan_than_the_one_that_failed_is_not_given_silently(monkeypatch: pytest.MonkeyPatch) -> None:
    buffers = (Buffer("a", 0, live=((0, 2),)), Buffer("b", 0, live=((0, 2),)))
    problem = shaped(Problem(buffers), {"n": (0, 1)}, {"a": "8*n", "b": "8 - 8*n"})
    monkeypatch.setattr(zero_sizes, "plan", failing(lambda _: True, StopReason.SOLVER_FAILED, "it broke"))
    found = plan_shapes(problem, Mode.BUCKETS, [{"n": 0}, {"n": 1}], OPTIONS)
    assert not found.exact
    assert found.plan is not None
    assert found.notes == (f"{modes.TOGETHER}: no plan was found (solver_failed)", f"{modes.TOGETHER}: it broke")


def test_a_shape_without_time_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_limits.SharedLimits, "is_overrun", lambda _: True)
    found = plan_shapes(TWO, Mode.EXPRESSIONS, SHAPES, OPTIONS)
    assert found.notes == ("there was no time for plans of 3 of the 4 shapes alone (time_limit)",)


def test_a_wrong_plan_is_withheld() -> None:
    found = plan_shapes(TWO, Mode.EXPRESSIONS, SHAPES, OPTIONS)
    require_right(TWO, found)
    wrong = replace(found, behind=tuple(replace(each, after=()) for each in found.behind))
    with pytest.raises(PlanWithheld) as caught:
        require_right(TWO, wrong)
    assert caught.value.findings[0].code is Code.PLAN_WITHHELD
