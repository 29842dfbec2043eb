"""Plans made from columns of numbers equal those made from the same buffers as objects."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner import BadInput, Buffer, CannotSolve, Options, Plan, PlanStatus, Pool, Problem, plan, plan_arrays
from planner.model import deadline
from planner.planning.interfaces import arrays
from planner.verifying.arrays import most_live, wrong_in_arrays
from solvers.model.errors import StopReason
from solvers.model.instance import Instance
from solvers.model.outcome import Outcome
from solvers.model.solver import Control, Task
from solvers.portfolio.solve import solve

QUICK = Options(time_limit=None, work_limit=20_000, workers=1)
SIZE, START, END = [64, 20, 40], [0, 1, 2], [2, 3, 4]


def some(seed: int, count: int = 40) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    start = random.integers(-20, 40, count)
    return {
        "size": random.integers(0, 60, count),
        "start": start,
        "end": start + random.integers(0, 12, count),
        "alignment": random.choice([1, 1, 4, 6], count),
    }


def as_objects(columns: dict[str, Any], capacity: int | None = None) -> Plan:
    rows = zip(*(np.broadcast_to(column, len(columns["size"])).tolist() for column in columns.values()), strict=True)
    buffers = tuple(Buffer(f"{i:04}", s, a, ((b, e),)) for i, (s, b, e, a) in enumerate(rows))
    return plan(Problem(buffers, (Pool("memory", capacity),)), QUICK)


@pytest.mark.parametrize("seed", range(8))
def test_a_plan_of_columns_equals_that_of_objects(seed: int) -> None:
    columns = some(seed)
    found, expected = plan_arrays(**columns, options=QUICK), as_objects(columns)
    assert found.offset is not None
    assert found.offset.tolist() == [place.offset for place in expected.placements]
    assert (found.status, found.peak, found.bound) == (expected.status, expected.peak, expected.bound)
    assert (found.stop, found.solver, found.reproducible) == (expected.stop, expected.solver, expected.reproducible)


@pytest.mark.parametrize("seed", range(4))
def test_within_a_capacity_plans_of_columns_and_objects_agree(seed: int) -> None:
    columns = some(seed, 30)
    least = as_objects(columns).peak
    assert least is not None
    for capacity in (least, least - 1):
        found, expected = plan_arrays(**columns, capacity=capacity, options=QUICK), as_objects(columns, capacity)
        assert (found.status, found.peak) == (expected.status, expected.peak)
        assert (found.offset is None) == (not expected.placements)


def test_columns_of_several_kinds_are_accepted() -> None:
    answers = [
        plan_arrays(make(SIZE), make(START), make(END), options=QUICK)
        for make in (list, tuple, np.array, lambda column: np.array(column, dtype=np.uint8))
    ]
    assert [(found.status, found.peak, found.most_live) for found in answers] == [(PlanStatus.OPTIMAL, 84, 84)] * 4
    assert plan_arrays([], [], []).peak == 0


def test_buffers_that_do_not_fit_are_infeasible() -> None:
    found = plan_arrays(SIZE, START, END, capacity=80, options=QUICK)
    assert (found.status, found.offset, found.peak, found.bound) == (PlanStatus.INFEASIBLE, None, None, 84)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"size": [64, -1, 40]}, "/size/1"),
        ({"size": [64, 20.0, 40]}, "/size"),
        ({"size": [True, False, True]}, "/size"),
        ({"size": ["1", "2", "3"]}, "/size"),
        ({"size": [64, 20, 1 << 62]}, "/size/2"),
        ({"size": [64, 20, 1 << 70]}, "/size"),
        ({"size": np.array([1, 2, (1 << 64) - 1], dtype=np.uint64)}, "/size/2"),
        ({"size": [1 << 61, 1 << 61, 1]}, "/size"),
        ({"size": 64}, "/size"),
        ({"size": [[64, 20, 40]]}, "/size"),
        ({"start": [0, 1]}, "/start"),
        ({"end": [2, 0, 4]}, "/end/1"),
        ({"end": [2, 3, 1 << 62]}, "/end/2"),
        ({"start": [0, -(1 << 62), 0]}, "/start/1"),
        ({"alignment": 0}, "/alignment/0"),
        ({"alignment": np.array([1, 0, 1], dtype=np.uint8)}, "/alignment/1"),
        ({"alignment": [1, 2]}, "/alignment"),
        ({"alignment": 1.5}, "/alignment"),
        ({"capacity": -1}, "/capacity"),
        ({"capacity": True}, "/capacity"),
        ({"capacity": 1.0}, "/capacity"),
        ({"options": Options(explain=True)}, "/options/explain"),
        ({"options": Options(capacity=5)}, "/options/capacity"),
        ({"options": Options(time_limit=-1)}, "/options/time_limit"),
    ],
)
def test_wrong_columns_are_refused_with_their_place(changes: dict[str, Any], place: str) -> None:
    with pytest.raises(BadInput) as refusal:
        plan_arrays(**{"size": SIZE, "start": START, "end": END, **changes})
    assert refusal.value.findings[0].pointer == place


@pytest.mark.parametrize(
    ("name", "least"), [("size", "0"), ("start", str(1 - (1 << 62))), ("end", str(1 - (1 << 62))), ("alignment", "1")]
)
@pytest.mark.parametrize("value", [1 << 62, (1 << 64) - 1])
def test_the_least_is_said_of_unsigned_numbers_too(name: str, least: str, value: int) -> None:
    columns: dict[str, Any] = {"size": SIZE, "start": START, "end": END, "alignment": [1, 1, 1]}
    with pytest.raises(BadInput, match=f"it must be at least {least} and below"):
        plan_arrays(**(columns | {name: np.array([1, 1, value], dtype=np.uint64)}))


def test_masked_values_are_refused() -> None:
    size = np.ma.masked_array([64, 32, 16], [False, True, False])
    with pytest.raises(BadInput) as caught:
        plan_arrays(size, [0, 1, 2], [2, 3, 4])
    assert caught.value.findings[0].pointer == "/size/1"
    whole = np.ma.masked_array([64, 32, 16], False)
    assert plan_arrays(whole, [0, 1, 2], [2, 3, 4]).peak == 96


def test_ragged_columns_are_refused() -> None:
    with pytest.raises(BadInput):
        plan_arrays([[1], [2, 3]], START, END)


def test_an_unknown_solver_is_refused() -> None:
    with pytest.raises(CannotSolve):
        plan_arrays(SIZE, START, END, options=Options(solver="nobody"))


def wrong(
    offset: list[int], peak: int | None = None, alignment: tuple[int, ...] = (1, 4, 1), bound: int = 0
) -> str | None:
    size, start, end, multiple = (np.array(column) for column in (SIZE, START, END, alignment))
    top = max(at + length for at, length in zip(offset, SIZE, strict=False))
    return wrong_in_arrays(size, start, end, multiple, 100, np.array(offset), top if peak is None else peak, bound)


@pytest.mark.parametrize(
    ("offset", "what"),
    [
        ([0, 64, 0], None),
        ([0, 60, 0], "overlap"),
        ([0, 66, 0], "not aligned"),
        ([0, 84, 0], "above the capacity"),
        ([-1, 64, 0], "below 0"),
        ([0, 64], "2 offsets for 3"),
    ],
)
def test_verification_finds_a_breach_of_each_rule(offset: list[int], what: str | None) -> None:
    message = wrong(offset)
    assert message is None if what is None else message is not None and what in message


def test_a_wrong_peak_is_found() -> None:
    assert "the peak is 84" in (wrong([0, 64, 0], peak=80) or "")


def test_a_bound_above_the_peak_is_found() -> None:
    assert wrong([0, 64, 0], bound=84) is None
    assert "above the peak" in (wrong([0, 64, 0], bound=85) or "")


def test_a_plan_that_fails_verification_is_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    def lying(*arguments: Any) -> Outcome:
        outcome = solve(*arguments)
        assert outcome.placement is not None
        return replace(outcome, placement=replace(outcome.placement, offset=outcome.placement.offset * 0))

    monkeypatch.setattr(arrays, "solve", lying)
    found = plan_arrays(SIZE, START, END, options=QUICK)
    assert (found.status, found.offset, found.peak) == (PlanStatus.UNKNOWN, None, None)
    assert "withheld" in found.warnings[0]


def test_most_live_agrees_with_looking_at_each_time() -> None:
    columns = some(5)
    size, start, end = columns["size"], columns["start"], columns["end"]
    brute = max(int(size[(start <= now) & (now < end)].sum()) for now in range(-25, 60))
    assert most_live(size, start, end) == brute


@pytest.mark.parametrize(("limit", "is_begun"), [(5.0, True), (3.0, False)])
def test_solving_is_not_begun_if_the_plan_would_come_too_late(
    monkeypatch: pytest.MonkeyPatch, limit: float, is_begun: bool
) -> None:
    monkeypatch.setattr(arrays, "LEAST_SECONDS_PER_ROW", 1.4)
    if is_begun:
        assert plan_arrays(SIZE, START, END, options=Options(time_limit=limit)).status is PlanStatus.OPTIMAL
    else:
        with pytest.raises(deadline.OutOfTime, match="while solving the problem"):
            plan_arrays(SIZE, START, END, options=Options(time_limit=limit))


@pytest.mark.parametrize(("limit", "why"), [(None, None), (60.0, None), (1e-9, StopReason.TIME_LIMIT)])
def test_solvers_are_told_when_their_time_is_up(
    monkeypatch: pytest.MonkeyPatch, limit: float | None, why: StopReason | None
) -> None:
    told: list[StopReason | None] = []

    def asking(instance: Instance, task: Task, control: Control, solver: str) -> Outcome:
        told.append(control.stopped())
        return solve(instance, task, control, solver)

    monkeypatch.setattr(arrays, "solve", asking)
    plan_arrays(SIZE, START, END, options=Options(time_limit=limit, work_limit=20_000))
    assert told == [why]
