"""Errors are the same after a way to another process."""

from __future__ import annotations

import pickle

import pytest

from planner import Pool, Problem, plan
from planner.model.deadline import OutOfTime
from planner.model.errors import BadInput, CannotSolve, Code, Finding, NoPlan, PlannerError

FINDING = Finding(Code.OUT_OF_RANGE, "/pools/0/size", "too small")
NONE = plan(Problem((), (Pool("m"),)))


@pytest.mark.parametrize(
    "error",
    [BadInput(FINDING, FINDING, more=3), CannotSolve(FINDING), OutOfTime(FINDING), NoPlan(FINDING, NONE)],
    ids=lambda error: type(error).__name__,
)
def test_an_error_is_the_same_in_another_process(error: PlannerError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), again.findings, again.more) == (str(error), error.findings, error.more)
    assert vars(again) == vars(error)


def test_an_error_names_the_place_where_there_is_one() -> None:
    whole = Finding(Code.INVALID_JSON, "", "is empty")
    assert str(BadInput(whole, FINDING)) == "is empty; /pools/0/size: too small"
