"""A limit of work holds, however little it is: beyond it only greedy's first passes go, without which there would be no plan."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from planner import Preference
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.model.errors import StopReason
from solvers.model.instance import Instance
from solvers.model.outcome import Outcome
from solvers.model.registry import get
from solvers.model.solver import Control, Limits, Silent, Task
from solvers.portfolio.execute import Answer, ask
from solvers.portfolio.joint import joint, settled_pools
from solvers.portfolio.solve import solve

NEARLY = 1.2
"""So many times the limit may be used."""


def instance_of(kind: str, buffers: int, prefer: Preference) -> Instance:
    return lower(with_preference(generate(kind, Request(buffers, 880_001)), prefer)).instance


@pytest.mark.parametrize("work", [20_000, 50_000, 100_000])
@pytest.mark.parametrize(
    ("kind", "buffers", "prefer"),
    [
        ("pool_packing", 200, Preference.SIZE),
        ("pool_packing", 400, Preference.BALANCED),
        ("pools", 300, Preference.SIZE),
        ("pools", 300, Preference.BALANCED),
        ("hot", 200, Preference.SIZE),
        ("offload", 200, Preference.SPEED),
    ],
)
def test_no_more_work_is_done_than_there_is(kind: str, buffers: int, prefer: Preference, work: int) -> None:
    instance = instance_of(kind, buffers, prefer)
    least = get("greedy").solve(instance, Task(Limits(work=1)), Silent()).work
    outcome = solve(instance, Task(Limits(work=work)), Silent())
    assert outcome.placement is not None
    assert outcome.work <= NEARLY * max(work, least)


def test_what_declines_for_want_of_work_is_not_asked() -> None:
    """It works in a process of its own, which takes longer to begin than all else here."""
    instance, asked = instance_of("hot", 60, Preference.SPEED), dict[str, int | None]()

    def noted(name: str, instance: Instance, task: Task, control: Control) -> Answer:
        asked.setdefault(name, task.limits.work)
        return ask(name, instance, task, control)

    with patch.object(joint, "ask", noted):
        for work, is_asked in ((1_500, False), (60_000, True)):
            asked.clear()
            joint.Joint(instance, Task(Limits(work=work)), Silent(), ("pool_sharing", "assign"), by_name=False).begin()
            assert ("pool_sharing" in asked) == is_asked


def test_pools_are_not_packed_again_where_nothing_could_be_begun() -> None:
    """Each time their bounds, which are not counted, were worked out again."""
    instance = instance_of("pools", 60, Preference.SIZE)
    run = joint.Joint(instance, Task(Limits(work=100_000)), Silent(), ("assign",), by_name=False)
    run.begin()
    assert run.settled_pools is not None
    works = list[int]()

    def nothing(_instance: Instance, task: Task, *_: object, **__: object) -> Outcome:
        works.append(task.limits.work or 0)
        return Outcome(StopReason.WORK_LIMIT)

    with patch.object(settled_pools, "solve_separate_pools", nothing):
        for work in (500, 400, 500, 600):
            run.settled_pools.lower(1, work)
    assert works == [500, 600]
