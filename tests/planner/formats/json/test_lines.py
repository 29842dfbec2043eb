"""JSON that is written: numbers that it does not have are refused with their place."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import pytest

from planner.formats import write_frontier, write_plan, write_sharing
from planner.formats.json.lines import document
from planner.model.errors import BadInput
from planner.model.plan import Choice, ChoiceGoal, Frontier
from solvers.model.errors import StopReason
from tests.planner.formats.answers.test_plan_json import PLAN
from tests.planner.formats.answers.test_sharing_json import SHARING

POINT = replace(PLAN, choice=Choice((("group", "first"),), (("time", 3),), 3, 3, ChoiceGoal.SPEED, None))
FRONTIER = Frontier((POINT,), True, False, StopReason.PROVED, True, PLAN.problem_digest)


def place(write: object, *arguments: object, **named: object) -> str:
    assert callable(write)
    with pytest.raises(BadInput, match="must be a finite number") as caught:
        write(*arguments, **named)
    return caught.value.findings[0].pointer


@pytest.mark.parametrize("number", [nan, inf, -inf])
def test_numbers_that_json_does_not_have_are_refused_with_their_place(number: float) -> None:
    assert place(write_plan, replace(PLAN, gap=number)) == "/gap"
    assert place(write_plan, replace(PLAN, run=replace(PLAN.run, seconds=number))) == "/run/seconds"
    assert place(write_sharing, replace(SHARING, gap=number)) == "/gap"
    assert place(write_frontier, replace(FRONTIER, within=number)) == "/within"
    assert place(write_frontier, replace(FRONTIER, points=(replace(POINT, gap=number),))) == "/gap"
    for listed in ((), ("a",)):
        assert place(document, {"a": [1, {"b": [2.5, number]}]}, listed=listed) == "/a/1/b/1"
