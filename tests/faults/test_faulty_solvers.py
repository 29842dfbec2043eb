"""Whatever a solver does wrong, its caller gets the best placement so far and a reason."""

from __future__ import annotations

import time

import pytest

from solvers import sandbox
from solvers.model.errors import SolverFailed, StopReason, Unavailable, Unsupported
from solvers.model.instance import Instance
from solvers.model.outcome import Outcome
from solvers.model.solver import Limits, Silent, Task
from tests.small.instances import make_instance
from tests.solvers.sandbox.test_sandbox import Recorder

MEGABYTE = 1 << 20
INSTANCE = make_instance([(0, 2, 4), (1, 3, 4), (0, 3, 2)])
STACKED = [0, 4, 8]
"""The placement that faulty solvers find before they go wrong."""


def run(
    name: str, limits: Limits | None = None, instance: Instance = INSTANCE, control: Silent | None = None
) -> Outcome:
    task = Task(limits=limits or Limits())
    return sandbox.run(f"tests.faults.faulty_solvers:{name}", instance, task, control or Silent())


def offsets(outcome: Outcome) -> list[int] | None:
    return None if outcome.placement is None else outcome.placement.offset.tolist()


@pytest.mark.parametrize(
    "name",
    [
        "Killed", "Aborting", "Segfaulting", "Overlapping", "OverlappingIncumbent", "OverprovingEarly", "Raising",
        "Babbling", "Truncating", "Interpreting",
    ],
)  # fmt: skip
def test_the_best_so_far_outlives_the_solver(name: str) -> None:
    control = Recorder()
    outcome = run(name, control=control)
    assert outcome.stop is StopReason.SOLVER_FAILED
    assert offsets(outcome) == STACKED
    assert outcome.value == (10,)
    assert not outcome.reproducible
    assert control.placements == [STACKED]
    assert len(outcome.notes) == 1
    assert control.lines


@pytest.mark.parametrize("name", ["Killed", "Aborting", "Hungry"])
def test_a_death_under_a_memory_cap_is_reported_as_the_limit(name: str) -> None:
    outcome = run(name, Limits(memory_bytes=64 * MEGABYTE))
    assert outcome.stop is StopReason.MEMORY_LIMIT
    assert offsets(outcome) == STACKED


def test_a_crash_is_a_failure_although_memory_is_capped() -> None:
    assert run("Segfaulting", Limits(memory_bytes=64 * MEGABYTE)).stop is StopReason.SOLVER_FAILED


def test_a_dead_solver_s_proofs_stand() -> None:
    assert run("Killed").bound == (1,)


@pytest.mark.parametrize("name", ["Overlapping", "Boasting", "Overproving", "OverprovingEarly"])
def test_a_liar_s_proofs_do_not_stand(name: str) -> None:
    outcome = run(name)
    assert outcome.stop is StopReason.SOLVER_FAILED
    assert outcome.bound == ()
    assert offsets(outcome) == STACKED


def test_the_bound_that_was_known_before_outlives_a_liar() -> None:
    task = Task(bound=(9,))
    assert sandbox.run("tests.faults.faulty_solvers:Overproving", INSTANCE, task, Silent()).bound == (9,)


def test_a_bound_above_the_start_is_a_lie() -> None:
    start = run("Honest").placement
    task = Task(start=start)
    for name in ("Despairing", "OverprovingEarly"):
        outcome = sandbox.run(f"tests.faults.faulty_solvers:{name}", INSTANCE, task, Silent())
        assert outcome.stop is StopReason.SOLVER_FAILED
        assert not outcome.infeasible


def test_a_proof_that_nothing_fits_is_believed_unless_contradicted() -> None:
    assert run("Despairing").infeasible


def test_a_silent_end_is_a_failure() -> None:
    outcome = run("Quitting")
    assert outcome.stop is StopReason.SOLVER_FAILED
    assert outcome.placement is None


def test_a_solver_that_ignores_every_request_to_stop_is_killed() -> None:
    for seconds in (0.3, 5.0, 60.0):
        outcome = run("Deaf", Limits(deadline=time.monotonic() + seconds))
        assert outcome.stop is StopReason.TIME_LIMIT
        if outcome.bound:  # the solver had begun in time
            break
    assert offsets(outcome) == STACKED
    assert outcome.bound == (1,)


def test_a_cancel_kills_a_solver_that_ignores_it() -> None:
    class Impatient(Recorder):
        def stopped(self) -> StopReason | None:
            return StopReason.CANCELLED if self.bounds else None

    outcome = run("Deaf", control=Impatient())
    assert outcome.stop is StopReason.CANCELLED
    assert offsets(outcome) == STACKED


@pytest.mark.parametrize(
    ("name", "error"), [("Refusing", Unsupported), ("Missing", Unavailable), ("Failing", SolverFailed)]
)
def test_errors_that_solvers_may_raise_arrive(
    name: str, error: type[Unsupported] | type[Unavailable] | type[SolverFailed]
) -> None:
    with pytest.raises(error, match="for a test") as caught:
        run(name)
    assert "refusing" in str(caught.value)


def test_an_unknown_class_is_a_failure() -> None:
    assert run("NoSuchSolver").stop is StopReason.SOLVER_FAILED
    assert sandbox.run("tests.faults.no_such_module:X", INSTANCE, Task(), Silent()).stop is StopReason.SOLVER_FAILED
