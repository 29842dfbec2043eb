"""An engine that leads gets most of the work at once; it begins anew each time, so it is asked again only with enough."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

from planner import Preference
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.model.errors import StopReason
from solvers.model.instance import Instance
from solvers.model.outcome import Outcome
from solvers.model.solver import Control, Silent, Task
from solvers.portfolio.execute import Answer, ask
from solvers.portfolio.joint import joint

WORK = 7_500_000


def times_asked(work: int) -> int:
    """How often `pools_first` is asked if it finds nothing and takes so much work each time, as far as it is given."""
    instance = lower(with_preference(generate("pools", Request(60, 1)), Preference.SPEED)).instance
    taken = list[int]()

    def take(name: str, whole: Instance, task: Task, control: Control) -> Answer:
        if name != "pools_first":
            return ask(name, whole, task, control)
        assert task.limits.work is not None
        taken.append(min(task.limits.work, work))
        return Outcome(StopReason.WORK_LIMIT, work=taken[-1])

    task = Task()
    task = replace(task, limits=replace(task.limits, work=WORK))
    with patch.object(joint, "ask", take):
        joint.solve_joint(instance, task, Silent(), ("pools_first",), by_name=False)
    return len(taken)


def test_with_less_than_a_quarter_of_its_first_work_it_is_not_asked_again() -> None:
    assert times_asked(6_500_000) == 1


def test_with_enough_it_is_asked_again() -> None:
    assert times_asked(4_000_000) > 1
