"""Users' own planners are found as entry points, run only where MEMPLAN_SOLVERS names them, and are always checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from planner import Buffer, CannotSolve, Code, Constraints, Options, PlanStatus, Pool, Problem, StopReason, plan, verify
from planner.planning.options.solver_list import solver_list
from solvers import sandbox
from solvers.model import registry

MODULE = '''
from solvers.model.errors import StopReason
from solvers.model.instance import Placement
from solvers.model.outcome import Outcome
from solvers.model.solver import Feature

import numpy as np


def stacked(buffers, memory_pressure):
    """Place the buffers one above the other."""
    places, top = {}, 0
    for buffer in sorted(buffers, key=lambda b: -b.name_rank):
        top += (buffer.residue - top) % buffer.alignment
        places[buffer.index] = top
        top += buffer.size_bytes
    return places


def pressed(buffers, memory_pressure):
    """Place all buffers at the memory pressure, so that the plan shows what it was."""
    return [memory_pressure] * len(buffers)


def second_pool(buffers, memory_pressure):
    return [(buffer.pool_candidates[-1].index, 5 * buffer.index) for buffer in buffers]


def overlapping(buffers, memory_pressure):
    return [0 for _ in buffers]


def raising(buffers, memory_pressure):
    raise RuntimeError("it fell over")


def talking(buffers, memory_pressure):
    return "somewhere"


def half(buffers, memory_pressure):
    return {0: 0}


def endless(buffers, memory_pressure):
    while True:
        pass


class Whole:
    features = frozenset({Feature.CAPACITY})

    def solve(self, instance, task, control):
        ends = np.cumsum(instance.block_high)
        placement = Placement.in_one_pool(ends - instance.block_high)
        return Outcome(StopReason.WORK_LIMIT, placement)


class Shapeless:
    pass


number = 7
'''
NAMES = ("stacked", "pressed", "second_pool", "overlapping", "raising", "talking", "half", "endless", "Whole", "Shapeless", "number")  # fmt: skip

TWO = Problem((Buffer("b", 5, live=((0, 2),)), Buffer("a", 7, live=((1, 3),))))


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make a package of planners look installed, and allow all of them to run."""
    (tmp_path / "own_planners.py").write_text(MODULE, encoding="utf-8")
    info = tmp_path / "own_planners-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-planners\nVersion: 1.0\n", encoding="utf-8")
    points = [f"{name} = own_planners:{name}" for name in NAMES] + [
        "broken = own_planners_absent:f",
        "greedy = own_planners:raising",
    ]
    (info / "entry_points.txt").write_text("[memplan.solvers]\n" + "\n".join(points) + "\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("MEMPLAN_SOLVERS", ", ".join((*NAMES, "broken", "absent", "greedy", "auto")))
    yield
    sandbox.shutdown()


def options(solver: str) -> Options:
    return Options(solver=solver, time_limit=20.0, workers=1)


def test_a_function_places_buffers() -> None:
    made = plan(TWO, options("stacked"))
    assert made.status is PlanStatus.OPTIMAL
    assert made.solver == "stacked"
    assert {place.id: place.offset for place in made.placements} == {"b": 0, "a": 5}
    assert verify(TWO, made) == ()


def test_conflicts_and_pools_reach_a_function() -> None:
    buffers = tuple(replace(buffer, live=None) for buffer in TWO.buffers)
    problem = Problem(buffers, (Pool("fast", 6), Pool("slow", rank=1)), Constraints(conflicts=(("a", "b"),)))
    made = plan(problem, options("second_pool"))
    assert [(place.pool, place.offset) for place in made.placements] == [("slow", 0), ("slow", 5)]


def test_the_memory_pressure_is_the_largest_live_sum() -> None:
    alone = Problem((Buffer("a", 5, live=((0, 1),)), Buffer("b", 7, live=((1, 2),))))
    made = plan(alone, options("pressed"))
    assert [place.offset for place in made.placements] == [7, 7]


def test_a_class_declares_the_features_it_takes() -> None:
    assert plan(TWO, options("Whole")).peak == 12
    with pytest.raises(CannotSolve) as refusal:
        plan(replace(TWO, constraints=Constraints(conflicts=(("a", "b"),))), options("Whole"))
    assert [f.code for f in refusal.value.findings] == [Code.UNSUPPORTED]


@pytest.mark.parametrize("solver", ["overlapping", "raising", "talking", "half", "Shapeless"])
def test_an_invalid_answer_is_not_believed(solver: str) -> None:
    made = plan(TWO, options(solver))
    assert made.status is PlanStatus.UNKNOWN
    assert made.stop is StopReason.SOLVER_FAILED
    assert made.bound == 12
    assert any(solver in warning for warning in made.warnings)


def test_a_planner_that_never_ends_is_ended() -> None:
    made = plan(TWO, replace(options("endless"), time_limit=0.8))
    assert made.status is PlanStatus.UNKNOWN
    assert made.stop is StopReason.TIME_LIMIT


@pytest.mark.parametrize(
    ("solver", "why"),
    [("absent", "no installed package"), ("broken", "cannot be loaded"), ("number", "neither a function")],
)
def test_a_planner_that_cannot_be_loaded_is_refused_with_the_reason(solver: str, why: str) -> None:
    with pytest.raises(CannotSolve, match=why) as refusal:
        plan(TWO, options(solver))
    assert [f.code for f in refusal.value.findings] == [Code.UNAVAILABLE]


def test_only_planners_named_in_the_setting_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMPLAN_SOLVERS", "pressed")
    with pytest.raises(CannotSolve) as refusal:
        plan(TWO, options("stacked"))
    assert [f.code for f in refusal.value.findings] == [Code.UNKNOWN_SOLVER]
    assert "pressed" in registry.names()


def test_a_built_in_solver_is_never_replaced() -> None:
    assert plan(TWO, options("greedy")).status is PlanStatus.OPTIMAL
    assert registry.names().count("greedy") == 1
    assert registry.names().count("auto") == 1


def test_planners_are_listed_without_being_imported() -> None:
    listed = {solver.name: solver for solver in solver_list()}
    assert listed["stacked"].available
    assert listed["absent"].reason is not None
    assert "MEMPLAN_SOLVERS" in listed["absent"].reason
