"""With a second worker, a bounder begins before the leader is done. What is found and proven is the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from unittest.mock import patch

import pytest

from solvers.model.errors import StopReason
from solvers.model.instance import Instance, PoolSpec
from solvers.model.outcome import Outcome
from solvers.model.registry import get
from solvers.model.solver import Control, Limits, Silent, Task
from solvers.portfolio import execute
from solvers.portfolio.execute import Answer
from solvers.portfolio.joint import ahead, joint
from tests.running.processes import until
from tests.small.instances import make_instance, plain

BLOCKS = [plain(i, i + 4, 3 + i % 5) for i in range(30)]
INSTANCE = make_instance(BLOCKS, pools=[PoolSpec(14, cost=1), PoolSpec(None, cost=3)])
NOTHING = Outcome(StopReason.WORK_LIMIT, work=1)


class Asked:
    """Who was asked; the leader, and the bounder, do what a test says."""

    def __init__(
        self, leader: Callable[[], Answer], bounder: Callable[[Control], Answer], *, greedy_fails: bool = False
    ) -> None:
        self.names: list[str] = []
        self._leader, self._bounder, self._greedy_fails = leader, bounder, greedy_fails

    def ask(self, name: str, instance: Instance, task: Task, control: Control) -> Answer:
        self.names.append(name)
        if name == "pools_first":
            return self._leader()
        if name != "greedy":
            return self._bounder(control)
        return NOTHING if self._greedy_fails else execute.ask(name, instance, task, control)

    def run(self, workers: int) -> Outcome:
        task = Task(Limits(work=100_000, workers=workers))
        with patch.object(joint, "ask", self.ask), patch.object(ahead, "ask", self.ask):
            return joint.solve_joint(INSTANCE, task, Silent(), ("pool_sharing", "pools_first"), by_name=False)


def test_a_bounder_works_beside_the_leader() -> None:
    def leader() -> Answer:
        until(lambda: "pool_sharing" in asked.names)
        return NOTHING

    asked = Asked(leader, lambda control: NOTHING)
    asked.run(2)
    assert asked.names.count("pool_sharing") == 1


@pytest.mark.parametrize(("greedy_fails", "workers"), [(False, 1), (True, 2)])
def test_it_waits_for_a_worker_and_for_a_placement(greedy_fails: bool, workers: int) -> None:
    asked = Asked(lambda: NOTHING, lambda control: NOTHING, greedy_fails=greedy_fails)
    asked.run(workers)
    assert asked.names[:3] == ["greedy", "pools_first", "pool_sharing"]


def test_it_is_stopped_where_the_leader_settles_everything() -> None:
    heard: list[object] = []

    def bounder(control: Control) -> Answer:
        until(lambda: control.stopped() is not None)
        heard.append(control.stopped())
        return NOTHING

    asked = Asked(lambda: replace(NOTHING, stop=StopReason.PROVED, infeasible=True), bounder)
    assert asked.run(2).infeasible
    assert heard == [StopReason.CANCELLED]


def test_what_took_more_work_than_the_leader_leaves_does_not_count() -> None:
    asked = Asked(lambda: replace(NOTHING, work=80_000), lambda control: replace(NOTHING, work=50_000))
    asked.run(2)
    assert asked.names.count("pool_sharing") == 2


@pytest.mark.skipif(get("pool_sharing").unavailable() is not None, reason="CBC is not installed")
def test_what_is_proven_does_not_depend_on_the_workers() -> None:
    def found(workers: int) -> Outcome:
        task = Task(Limits(work=100_000, workers=workers))
        return joint.solve_joint(INSTANCE, task, Silent(), ("pool_sharing", "pools_first", "assign"), by_name=False)

    def ask(name: str, instance: Instance, task: Task, control: Control) -> Answer:
        return NOTHING if name == "pools_first" else execute.ask(name, instance, task, control)

    with patch.object(joint, "ask", ask):
        alone = found(1)
        for workers in (2, 3):
            other = found(workers)
            assert (other.bound, other.value, other.certificates) == (alone.bound, alone.value, alone.certificates)
            assert other.took_part == alone.took_part
