"""A run that is out of time returns the plan it has. The clocks are fakes: the machine's speed has no influence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from planner import read_problem, share, verify_sharing, write_problem
from planner.facts.variants import with_choice
from planner.generate import Request, generate
from planner.model import deadline
from planner.model.columns.placements import PlacementColumns
from planner.model.columns.rows import FEW
from planner.model.deadline import OutOfTime, look
from planner.model.plan import PlanStatus
from planner.model.problem import Alternative, Buffer, CostTerm, Pool, Problem, VariantGroup, Variants
from planner.planning.options.options import Options
from planner.planning.placing import pipeline, solving, watching
from planner.planning.placing.solving import pareto, plan
from planner.planning.placing.variants import choosing as choosing_module
from planner.planning.placing.variants import placing
from planner.planning.placing.watching import ENDING_SECONDS
from planner.planning.sharing import verify as sharing_verify
from planner.verifying import quick_check
from planner.verifying import verify as verifying
from planner.verifying.verify import verify
from solvers.model.errors import StopReason
from solvers.model.interruption import check_interrupted
from solvers.portfolio.solve import solve

SMALL = Problem(tuple(Buffer(i, 8 + i % 7, live=((i, i + 3),)) for i in range(5)), (Pool("arena"),))
SHARE = 1 / 3
"""The share of a processor that a process gets, as under a load of six on two cores."""


class Machine:
    """The clocks of a busy machine, where work takes more wall time than processor time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.had, self.now = 5.0, 100.0
        for module in (deadline, watching, solving, choosing_module, placing):
            monkeypatch.setattr(module, "time", self)
        monkeypatch.setattr(deadline, "LEAST_SECONDS", 0.0)
        self._patch = monkeypatch.setattr

    def monotonic(self) -> float:
        return self.now

    def thread_time(self) -> float:
        return self.had

    def work(self, seconds: float) -> None:
        self.had += seconds
        self.now += seconds / SHARE

    def takes(self, name: str, seconds: float, module: Any = solving) -> None:
        """Make a function of the module take this much processor time, with looks at the clock."""
        usual: Callable[..., object] = getattr(module, name)

        def slower(*given: Any, **named: Any) -> object:
            made = usual(*given, **named)
            for _ in range(10):
                self.work(seconds / 10)
                look(name)
            return made

        self._patch(module, name, slower)


def test_a_plan_of_a_million_buffers_is_verified_on_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The times are those measured with a million buffers; 5.2 s are reserved for lifting and verifying."""
    machine = Machine(monkeypatch)
    monkeypatch.setattr(pipeline, "seconds_to_finish", lambda _: 5.2)
    for name, seconds in (("require_sound", 1.2), ("lower", 1.2), ("lift", 3.3)):
        machine.takes(name, seconds)
    machine.takes("findings", 1.5, verifying.Verification)

    def until_told(instance: Any, task: Any, watch: Any, solver: str) -> object:
        found = solve(instance, task, watch, solver)
        while watch.stopped() is None:
            machine.work(0.1)
        return found

    monkeypatch.setattr(solving, "solve", until_told)
    made = plan(SMALL, Options(time_limit=30.0, workers=1), begun=machine.now)
    assert made.status.has_plan
    assert machine.now < 100.0 + 30.5


def test_a_verified_start_is_returned_where_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    start = plan(SMALL, Options(workers=1))
    machine = Machine(monkeypatch)
    machine.takes("solve", 20.0)
    made = plan(SMALL, Options(time_limit=1.0, workers=1), begun=machine.now, start=start)
    assert made.placements == start.placements
    assert (made.status, made.stop, made.bound) == (PlanStatus.FEASIBLE, StopReason.TIME_LIMIT, 0)
    assert not made.reproducible
    monkeypatch.undo()
    assert verify(SMALL, made) == ()


def test_a_plan_in_columns_is_returned_where_its_proofs_cannot_be_verified_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = generate("random", Request(FEW + 1, 1))
    machine = Machine(monkeypatch)
    usual = quick_check._proven

    def slower(*given: Any) -> object:
        if given[-1]:  # certificates
            machine.work(100.0)
            look("verifying")
        return usual(*given)

    monkeypatch.setattr(quick_check, "_proven", slower)
    made = plan(problem, Options(time_limit=5.0, workers=1), begun=machine.now)
    assert isinstance(made.placements, PlacementColumns)
    assert (made.status, made.stop, made.bound) == (PlanStatus.FEASIBLE, StopReason.TIME_LIMIT, 0)


def test_without_a_plan_the_run_is_out_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch)
    machine.takes("lower", 20.0)
    with pytest.raises(OutOfTime):
        plan(SMALL, Options(time_limit=1.0, workers=1), begun=machine.now)


@pytest.mark.parametrize("gives_up", [False, True])
def test_what_solvers_found_is_returned_where_they_go_on_for_too_long(
    monkeypatch: pytest.MonkeyPatch, *, gives_up: bool
) -> None:
    """They look at the caller's clock, or at what ends loops that have no result of their own."""
    machine = Machine(monkeypatch)

    def going_on(instance: Any, task: Any, watch: Any, solver: str) -> object:
        solve(instance, task, watch, solver)
        assert watch.best is not None
        for _ in range(1000):
            machine.work(0.02)
            check_interrupted() if gives_up else look("solving")
        raise AssertionError

    monkeypatch.setattr(solving, "solve", going_on)
    made = plan(SMALL, Options(time_limit=1.0, workers=1), begun=machine.now)
    assert (made.status, made.stop, made.bound) == (PlanStatus.FEASIBLE, StopReason.TIME_LIMIT, 0)
    assert not made.reproducible
    assert machine.had < 5.0 + 1.0 + (ENDING_SECONDS if gives_up else 0.3)
    monkeypatch.undo()
    assert verify(SMALL, made) == ()


@pytest.mark.parametrize("pools", [1, 2])
def test_a_plan_is_returned_without_its_proofs_where_these_take_too_long_to_verify(
    monkeypatch: pytest.MonkeyPatch, pools: int
) -> None:
    """With one pool the buffers are in columns, and a quick check comes first."""
    given = replace(SMALL, pools=tuple(Pool(f"p{p}") for p in range(pools)))
    if pools == 1:
        given, _ = read_problem(write_problem(given))
    machine = Machine(monkeypatch)
    machine.takes("objections", 20.0, verifying)
    machine.takes("_proven", 20.0, quick_check)
    made = plan(given, Options(time_limit=1.0, workers=1), begun=machine.now)
    assert (made.status, made.stop, made.bound) == (PlanStatus.FEASIBLE, StopReason.TIME_LIMIT, 0)
    assert made.certificates == ()
    assert made.warnings == (pipeline.UNPROVEN,)
    assert machine.had < 5 + 1 + 3, "looks two seconds apart"
    monkeypatch.undo()
    assert verify(given, made) == ()


def test_a_sharing_is_returned_without_its_proofs_where_these_take_too_long_to_verify(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = Machine(monkeypatch)
    machine.takes("objections", 20.0, sharing_verify)
    made = share(SMALL, Options(time_limit=1.0, workers=1), begun=machine.now)
    assert (made.status, made.stop, made.bound) == (PlanStatus.FEASIBLE, StopReason.TIME_LIMIT, 0)
    assert made.warnings == (pipeline.UNPROVEN,)
    monkeypatch.undo()
    assert verify_sharing(SMALL, made) == ()


def choosing() -> Problem:
    """Return a problem with three groups in which smaller alternatives cost more."""
    alternatives = [
        [Alternative(f"{g}.{a}", (a,), (Buffer(f"{g}.{a}", 90 - 30 * a + g, live=((g, g + 2),)),)) for a in range(3)]
        for g in range(3)
    ]
    groups = tuple(VariantGroup(f"g{g}", tuple(of)) for g, of in enumerate(alternatives))
    return replace(SMALL, variants=Variants(groups, (CostTerm("cycles"),)))


@pytest.mark.parametrize("late", [2, 3])
def test_placed_choices_are_returned_when_time_is_over(monkeypatch: pytest.MonkeyPatch, late: int) -> None:
    """One or two choices are placed before the time is over."""
    calls = [0]

    def given_up(problem: Problem, positions: Any) -> Problem:
        calls[0] += 1
        if calls[0] >= late:
            raise deadline._out_of_time(deadline._Deadline(1.0, 0.0), "while checking the problem")
        return with_choice(problem, positions)

    problem = choosing()
    monkeypatch.setattr(placing, "with_choice", given_up)
    found = pareto(problem, Options(workers=1))
    assert 1 <= len(found.points) < late
    assert (found.is_complete, found.is_infeasible, found.stop) == (False, False, StopReason.TIME_LIMIT)
    calls[0] = 0
    made = plan(problem, Options(workers=1))
    assert made.status is PlanStatus.FEASIBLE or calls[0] < late
    monkeypatch.undo()
    assert not verify(problem, made)
    assert not any(verify(problem, point) for point in found.points)


@pytest.mark.parametrize("step", ["settled", "lowered"])
def test_a_choice_is_not_lost_when_improving_it_takes_too_long(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    problem = replace(
        choosing(), buffers=tuple(Buffer(i, 5 + i % 7, live=(((i * 5) % 31, (i * 5) % 31 + 9),)) for i in range(80))
    )
    machine = Machine(monkeypatch)
    monkeypatch.setattr(placing, "LEAST_FOR_WINDOWS", 0)
    monkeypatch.setattr(choosing_module, "lowered_in_time", lambda *_: None)
    monkeypatch.setattr(placing._Tried, "is_settled", lambda *_: False)
    machine.takes(step, 100.0, placing)
    made = plan(problem, Options(workers=1, time_limit=5.0))
    assert made.placements
    assert not verify(problem, made)
    assert machine.had < 5 + 20


def test_choices_without_time_for_any_plan_are_refused_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer was unknown, without a word why, if the plan of a choice was given up just before the end."""
    Machine(monkeypatch)
    monkeypatch.setattr(choosing_module, "lowered_in_time", lambda *_: None)
    monkeypatch.setattr(solving, "seconds_to_place", lambda _: 100.0)
    with pytest.raises(OutOfTime, match="while solving the problem"):
        plan(choosing(), Options(workers=1, time_limit=5.0))


def test_without_a_placed_choice_the_run_is_out_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def given_up(problem: Problem, positions: Any) -> Problem:
        raise deadline._out_of_time(deadline._Deadline(1.0, 0.0), "while checking the problem")

    monkeypatch.setattr(placing, "with_choice", given_up)
    with pytest.raises(OutOfTime):
        pareto(choosing(), Options(workers=1))


@pytest.mark.parametrize(("seconds", "is_begun"), [(4.0, True), (6.0, False)])
def test_solving_is_not_begun_if_its_first_placement_would_come_too_late(
    monkeypatch: pytest.MonkeyPatch, seconds: float, is_begun: bool
) -> None:
    Machine(monkeypatch)
    monkeypatch.setattr(solving, "seconds_to_place", lambda _: seconds)
    begun = []

    def noted(*given: Any) -> object:
        begun.append(given)
        return solve(*given)

    monkeypatch.setattr(solving, "solve", noted)
    if is_begun:
        assert plan(SMALL, Options(time_limit=5.0)).status is PlanStatus.OPTIMAL
    else:
        with pytest.raises(OutOfTime, match="while solving the problem"):
            plan(SMALL, Options(time_limit=5.0))
    assert bool(begun) == is_begun
