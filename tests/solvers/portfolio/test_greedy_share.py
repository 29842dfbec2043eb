"""What greedy gets of the work where pools are chosen: little, if an engine follows that does not need a good start."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest

from planner import Preference
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.model.instance import Instance
from solvers.model.solver import Control, Silent, Task
from solvers.portfolio.execute import Answer
from solvers.portfolio.joint import joint

WORK = 7_500_000


class Asked(Exception):
    """Greedy was asked."""


def work_of_greedy(buffers: int, prefer: Preference, *engines: str, limit: int = WORK) -> int | None:
    instance = lower(with_preference(generate("pools", Request(buffers, 1)), prefer)).instance
    given = list[int | None]()

    def ask(name: str, _instance: Instance, task: Task, _control: Control) -> Answer:
        assert name == "greedy"
        given.append(task.limits.work)
        raise Asked

    task = Task()
    task = replace(task, limits=replace(task.limits, work=limit))
    with patch.object(joint, "ask", ask), pytest.raises(Asked):
        joint.solve_joint(instance, task, Silent(), engines, by_name=False)
    return given[0]


@pytest.mark.parametrize("prefer", list(Preference))
@pytest.mark.parametrize("buffers", [60, 300, 1_000])
def test_before_an_engine_that_chooses_pools_first_greedy_gets_a_few_passes(buffers: int, prefer: Preference) -> None:
    work = work_of_greedy(buffers, prefer, "pools_first", "assign")
    assert work is not None
    assert work <= 50_000


def test_what_only_looks_around_a_start_is_given_a_good_one() -> None:
    assert work_of_greedy(300, Preference.SPEED, "assign") == WORK // 8
    assert work_of_greedy(300, Preference.SIZE, "assign") == WORK // 3


@pytest.mark.parametrize("prefer", list(Preference))
def test_with_little_work_greedy_gets_a_part_of_it_whoever_leads(prefer: Preference) -> None:
    assert work_of_greedy(300, prefer, "pools_first", "assign", limit=64_000) == 8_000
    assert work_of_greedy(300, prefer, "pools_first", "assign", limit=256_000) == 40 * 300
