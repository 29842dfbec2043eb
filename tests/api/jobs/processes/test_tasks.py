"""A worker process carries out its orders, such as planning from the best plan of an earlier attempt."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from api.errors import Refusal
from api.jobs.kinds.kind import Answer, Written
from api.jobs.processes.tasks import FIVE_BUFFERS, do
from api.jobs.requests.options import as_document
from api.settings import Settings
from planner import Buffer, Options, Problem, plan, read_problem, share
from planner.formats import write_plan, write_problem, write_sharing
from planner.model.deadline import OutOfTime
from planner.model.errors import Code, Finding
from planner.planning.placing.watching import Progress
from tests.planner.planning.placing.test_starting import GREEDY, tangle
from tests.planner.planning.sharing.truth import FOUND_BY_SEARCH
from tests.running.installed import waiting_planner

ROOT = Path(__file__).resolve().parents[4]
PROBLEM = write_problem(tangle())


class Line:
    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []

    def understood(self, fields: dict[str, Any]) -> None:
        self.heard.append(fields)

    def progress(self, moment: Progress, write: Written | None = None) -> None: ...

    def point(self, figures: Mapping[str, Any], so_far: Callable[[], Answer]) -> None: ...

    def cancelled(self) -> bool:
        return False


def solved(*parts: bytes, problem: bytes = PROBLEM, objects: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    """Solve with greedy, which does not find the best plan by itself; return the header and the answer."""
    kind = "sharing" if objects else "plan"
    order: dict[str, Any] = {"task": "solve", "kind": kind, "format": None, "options": as_document(GREEDY), "notes": []}
    header, payload = do(order, [problem, *parts], Settings(), Line())
    return header, json.loads(payload)


def test_solving_begins_with_the_best_plan_of_an_earlier_attempt() -> None:
    best = plan(read_problem(PROBLEM)[0], Options(time_limit=20, work_limit=3_000_000, workers=1))
    alone, _ = solved()
    header, document = solved(write_plan(best))
    assert alone["best"] > header["best"] == best.peak
    assert (header["lasting"], document["reproducible"], document["warnings"]) == (
        header["status"] == "optimal",
        False,
        [],
    )


def test_sharing_begins_with_the_best_sharing_of_an_earlier_attempt() -> None:
    problem, best = write_problem(FOUND_BY_SEARCH), share(FOUND_BY_SEARCH, Options(work_limit=2_000_000, workers=1))
    alone, _ = solved(problem=problem, objects=True)
    header, document = solved(write_sharing(best), problem=problem, objects=True)
    assert alone["best"] > header["best"] == best.total
    assert (document["reproducible"], document["solver"], document["warnings"]) == (False, "cpsat", [])


@cache
def plainly_solved(objects: bool) -> dict[str, Any]:
    return solved(objects=objects)[0]


@pytest.mark.parametrize("objects", [False, True])
@pytest.mark.parametrize(
    "best", [b"", b"{}", b"\xff", b'{"format": "memplan-plan/9"}', b'{"format": "memplan-sharing/9"}']
)
def test_an_unreadable_plan_is_found_again(best: bytes, objects: bool) -> None:
    found, plain = solved(best, objects=objects)[0], plainly_solved(objects)
    assert {**found, "etag": None} == {**plain, "etag": None}, "the bytes say how long it took"


def test_reading_and_planning_at_once_gives_the_same_answer() -> None:
    query = {"seed": 3, "workers": 5}
    once = {"task": "read_and_solve", "format": None, "query": query}
    line = Line()
    header, payload = do(once, [PROBLEM], Settings(), line)
    found, _ = do({"task": "read", "format": None, "query": query}, [PROBLEM], Settings(), Line())
    assert line.heard == [found]
    order = {"task": "solve", "format": None, "options": found["options"], "notes": found["notes"]}
    again, same = do(order, [PROBLEM], Settings(), Line())
    assert {**header, "etag": None} == {**again, "etag": None}
    one, other = json.loads(payload), json.loads(same)
    assert {**one, "run": None} == {**other, "run": None}
    assert "number of workers was clipped" in one["warnings"][0]


def test_a_worker_loads_no_web_server_and_no_database() -> None:
    """A hostile file cannot reach modules that are not loaded."""
    code = (
        "import sys, api.jobs.processes.worker\n"
        "heavy = {'alembic', 'fastapi', 'sqlalchemy', 'starlette', 'uvicorn', 'ortools', 'pulp', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    output = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert output == "[]\n"


@pytest.mark.parametrize(
    ("task", "after"),
    [("validate", "begin"), ("verify", "begin"), ("verify", "verified"), ("draw", "begin"), ("draw", "verified")],
)
def test_tasks_that_examine_a_plan_end_at_their_time_limit(
    task: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time is over either from the beginning or once the plan has been verified."""
    apart = Problem(tuple(Buffer(i, 8, live=((i, i + 1),)) for i in range(3000)))
    body = b'{"problem": %s, "plan": %s}' % (write_problem(apart), write_plan(plan(apart)))
    over = after == "begin"

    def verified(*given: Any) -> Any:
        nonlocal over
        over = True
        if task == "verify":
            raise OutOfTime(Finding(Code.OUT_OF_TIME, "", "while verifying"))
        return ()

    monkeypatch.setattr("planner.model.deadline._Deadline.is_over", lambda *_: over)
    monkeypatch.setattr("planner.formats.answers.opened.verify", verified)
    order: dict[str, Any] = {"task": task, "format": None, "query": {}, "boundary": None, "as": "svg"}
    with pytest.raises(Refusal, match="this takes longer than 60 seconds to look at") as refused:
        do(order, [write_problem(apart) if task == "validate" else body], Settings(), Line())
    assert refused.value.status == 413


def test_the_planner_that_waits_knows_the_five_buffers_that_every_solver_is_given() -> None:
    assert sorted(buffer.size for buffer in FIVE_BUFFERS.buffers) == waiting_planner.SIZES_OF_READYZ
