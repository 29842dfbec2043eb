"""A problem's name that states the optimum exposes answers that cannot be true."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner import Options, Plan, PlanStatus, plan
from planner.bench.running.known import Known, capacity_from_name
from planner.generate import Request, generate


@pytest.fixture(scope="module")
def right() -> Plan:
    return plan(generate("packing", Request(6, 1, parameters={"height": 100})), Options())


def test_optima_and_bounds_are_read_from_names() -> None:
    assert Known.of("packing n=6 seed=1 height=100 optimum=100") == Known(100, None)
    assert Known.of("random n=6 seed=1 bound=77") == Known(None, 77)
    for name in (None, "", "resnet", "suboptimum=5", "optimum=5x"):
        assert Known.of(name) == Known()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, None),
        ({"status": PlanStatus.FEASIBLE, "peak": 120, "bound": 90}, None),
        ({"peak": 99, "bound": 99}, "the peak 99 is below 100"),
        ({"status": PlanStatus.FEASIBLE, "peak": 120, "bound": 110}, "the bound 110 is above 100"),
        ({"peak": 120, "bound": 100}, "called optimal at 120"),
        ({"status": PlanStatus.INFEASIBLE, "peak": None}, "called infeasible"),
    ],
)
def test_answers_that_contradict_the_name_are_found(
    right: Plan, changes: dict[str, object], message: str | None
) -> None:
    found = Known(optimum=100).contradiction(replace(right, **changes), None)  # type: ignore[arg-type]
    assert (found is None) if message is None else (found or "").startswith(message)


def test_too_little_room_is_no_contradiction(right: Plan) -> None:
    infeasible = replace(right, status=PlanStatus.INFEASIBLE, peak=None)
    assert Known(optimum=100).contradiction(infeasible, 99) is None
    assert Known(optimum=100).contradiction(infeasible, 100) is not None


def test_a_bound_in_the_name_is_no_optimum(right: Plan) -> None:
    assert Known(bound=100).contradiction(right, None) is None
    assert Known(bound=101).contradiction(right, None) is not None


def test_a_capacity_is_read_from_the_name() -> None:
    assert capacity_from_name("some.7/A.1048576.csv", Known()) == 1048576
    assert capacity_from_name("input.12.csv", Known(5)) == 12
    assert capacity_from_name("packing.json", Known(5)) == 5
    assert capacity_from_name("net.v2.json", Known()) is None
