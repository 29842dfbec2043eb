"""A solver may get the whole instance without presolving; proofs do not depend on it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from solvers.model import registry
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Placement
from solvers.model.outcome import Outcome, Proof
from solvers.model.solver import Control, Feature, Input, Silent, Task
from solvers.portfolio.solve import solve
from tests.small.instances import make_instance, plain

THREE = make_instance([plain(0, 2, 6, alignment=2), plain(1, 3, 4, alignment=2), plain(2, 4, 6, alignment=2)])


class Stacker:
    """A solver that puts blocks on top of each other in their order, or returns the placement that a test sets."""

    name: ClassVar[str] = "stacker"
    features: ClassVar[frozenset[Feature]] = frozenset({Feature.CAPACITY})
    wants: ClassVar[Input] = Input.AS_WRITTEN
    sandboxed: ClassVar[bool] = False
    calls: ClassVar[list[tuple[Instance, Task]]] = []
    placement: ClassVar[list[int] | None] = None

    def unavailable(self) -> str | None:
        return None

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        self.calls.append((instance, task))
        high = instance.block_high
        offset = np.cumsum(high) - high if self.placement is None else np.array(self.placement)
        return Outcome(StopReason.WORK_LIMIT, Placement.in_one_pool(offset))


@pytest.fixture
def stacker(monkeypatch: pytest.MonkeyPatch) -> type[Stacker]:
    monkeypatch.setitem(
        registry.SOLVERS,
        Stacker.name,
        registry.Entry(registry.SolverKind.METHOD, f"{__name__}:{Stacker.__name__}", "made up"),
    )
    monkeypatch.setattr(Stacker, "calls", [])
    return Stacker


def run(instance: Instance) -> Outcome:
    return solve(instance, Task(), Silent(), Stacker.name)


def test_a_solver_as_written_gets_the_unchanged_instance_and_the_bound(stacker: type[Stacker]) -> None:
    outcome = run(THREE)
    ((instance, task),) = stacker.calls
    assert instance is THREE
    assert (task.bound, task.pool_bounds) == ((10,), (10,))
    assert (outcome.value, outcome.bound, outcome.pool_bounds) == ((16,), (10,), (10,))
    assert outcome.stop is StopReason.WORK_LIMIT
    assert [c.proof for c in outcome.certificates] == [Proof.LIVE_TOGETHER]


def test_a_placement_at_the_bound_is_proven(stacker: type[Stacker], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacker, "placement", [0, 6, 0])
    outcome = run(THREE)
    assert outcome.is_optimal
    assert outcome.stop is StopReason.PROVED


def test_a_placement_that_breaks_a_rule_leaves_the_bound(
    stacker: type[Stacker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stacker, "placement", [0, 3, 0])
    outcome = run(THREE)
    assert (outcome.stop, outcome.placement, outcome.bound) == (StopReason.SOLVER_FAILED, None, (10,))
    assert "breaks a rule" in outcome.notes[0]


def test_a_solver_is_not_asked_for_an_infeasible_instance(stacker: type[Stacker]) -> None:
    outcome = run(make_instance([(0, 2, 6), (1, 3, 4)], capacity=9))
    assert outcome.infeasible
    assert (outcome.stop, outcome.pool_bounds, stacker.calls) == (StopReason.PROVED, (10,), [])
    assert [c.value for c in outcome.certificates] == [10]
