"""A posted problem is counted before it is loaded."""

from __future__ import annotations

import json

import pytest

from api.errors import Refusal
from api.jobs.requests.endpoints import PLANS
from api.jobs.requests.posted_problem import read, understand
from api.jobs.requests.problem_and_plan import problem_and_plan
from api.settings import Settings
from planner.formats.tables.answers import AnswerKind
from planner.formats.tables.format import Format
from planner.model.columns import rows
from tests.http.served import THREE

FEW = Settings(max_buffers=3)
FOUR = {**THREE, "buffers": [{"id": n, "size": 1, "live": [[0, 1]]} for n in range(4)]}


def test_buffers_are_counted_before_they_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        pytest.fail("it was loaded")

    monkeypatch.setattr(Format, "read", never)
    with pytest.raises(Refusal, match="there are 4 buffers; at most 3 are taken"):
        read(json.dumps(FOUR).encode(), None, FEW)


@pytest.mark.parametrize("name", ["placements", "objects", "assignments", "points", "arenas", "shapes"])
def test_lists_of_a_plan_are_counted_before_they_are_loaded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        pytest.fail("it was loaded")

    monkeypatch.setattr(AnswerKind, "open", never)
    data = json.dumps({"problem": THREE, "plan": {name: [{}] * 4}}).encode()
    with pytest.raises(Refusal, match=f"there are 4 {name}; at most 3 are taken"):
        problem_and_plan(data, None, None, FEW, PLANS.loose())


def test_an_answer_has_a_key_where_many_conflicts_are_listed() -> None:
    """They are columns then."""
    buffers = [
        {"name_hint": f"u{i}", "size_bytes": 8, "conflicts": [f"u{i - 1}"] if i else []} for i in range(rows.FEW + 2)
    ]
    data = json.dumps({"buffers": buffers}).encode()
    posted, again = (understand(data, "usmp", PLANS.loose.model_validate({}), Settings()) for _ in range(2))
    assert isinstance(posted.subject.problem.constraints.listed, rows.Columns)
    assert posted.key == again.key
