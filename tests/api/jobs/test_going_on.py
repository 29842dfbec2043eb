"""Jobs of several plans that are begun again go on from what an earlier attempt found, and end with the same result."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from api.jobs.kinds import KINDS, kind_of, proofs
from api.jobs.kinds.kind import Answer, Instructions, Line, Written
from planner import Options, Plan, Problem, check_proof, read_plan, verify
from planner.formats import write_problem
from planner.formats.documents import Source
from planner.formats.tables.problems import recognised
from planner.generate import Request, generate
from planner.planning.placing.watching import Progress
from planner.verifying.proving.prove import NoProof, PlanProof
from solvers.model.errors import StopReason
from tests.http.queued.test_studies import LOOP, SHAPED
from tests.planner.planning.placing.test_starting import tangle

VARIANTS = write_problem(generate("variants", Request(24, seed=4, parameters={"groups": 4, "alternatives": 3})))
CASES: dict[str, tuple[bytes, Mapping[str, Any]]] = {
    "frontier": (VARIANTS, {}),
    "sweep": (write_problem(generate("random", Request(12, seed=2))), {"capacity": ["1KiB..1MiB"], "step": 65536}),
    "shapes": (json.dumps(SHAPED).encode(), {}),
    "nested": (LOOP, {}),
}
OPTIONS = Options(work_limit=2_000_000, workers=1)


@dataclass
class Record(Line):
    """A line that records a job's points, the answer so far at each, and what is written of better plans."""

    most: int | None = None
    """The number of points after which the answer is no longer wanted."""
    points: list[Mapping[str, Any]] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    best: list[Answer] = field(default_factory=list)
    """What was written of each better plan."""

    def understood(self, fields: dict[str, Any]) -> None: ...

    def progress(self, moment: Progress, write: Written | None = None) -> None:
        if moment.answer is not None and write is not None:
            self.best.append(write(moment.answer(), ("a note",)))

    def point(self, figures: Mapping[str, Any], so_far: Callable[[], Answer]) -> None:
        self.points.append({name: value for name, value in figures.items() if name != "seconds"})
        self.answers.append(so_far())

    def cancelled(self) -> bool:
        return self.most is not None and len(self.points) >= self.most


def run(name: str, best: bytes | None = None, most: int | None = None) -> tuple[dict[str, Any], bytes, Record]:
    """Run an attempt; return its answer's header, the answer, and the record of its reports."""
    problem, own = CASES[name]
    source = Source(problem)
    kind, record = kind_of(name), Record(most)
    subject, instructions = kind.read(recognised(source), source), Instructions(OPTIONS, own)
    kind.check(subject, instructions)
    head, data = kind.run(subject, instructions, record, time.monotonic(), best)
    return head, data, record


def plans(document: object) -> Iterator[dict[str, Any]]:
    """Yield all plans in the document."""
    if isinstance(document, list):
        for each in document:
            yield from plans(each)
    elif isinstance(document, dict):
        if document.get("format") == "memplan-plan/1":
            yield document
        else:
            yield from plans(list(document.values()))


def moments(data: bytes) -> set[str]:
    """Return the run of each plan in the data; a plan that is made again has another run."""
    return {json.dumps([plan["problem_digest"], plan["run"]]) for plan in plans(json.loads(data))}


def without_clock(data: bytes) -> Any:
    document = json.loads(data)
    document.pop("run", None)
    for plan in plans(document):
        plan.pop("run")
    return document


def test_every_kind_of_job_with_points_is_tested() -> None:
    assert CASES.keys() == KINDS.keys() - {"plan", "sharing", "proof"}


@pytest.mark.parametrize("name", CASES)
def test_an_attempt_continues_where_another_ended(name: str) -> None:
    head, data, record = run(name)
    assert len(record.points) > 1
    for count in {0, len(record.answers) // 2}:
        before = record.answers[count][1]
        again, found, more = run(name, before)
        assert len(record.points) - count - 1 >= len(more.points), "nothing is told of twice"
        assert not any(point in record.points[: count + 1] for point in more.points)
        last = found if name != "shapes" or not more.answers else more.answers[-1][1]
        if name != "shapes" or more.answers:
            assert moments(before) <= moments(last), "what was known is not made again"
        assert again["status"] == head["status"]
        if name == "frontier":
            assert [(p["cost"], p["memory"], p["plan"]["status"]) for p in json.loads(found)["points"]] == [
                (p["cost"], p["memory"], p["plan"]["status"]) for p in json.loads(data)["points"]
            ]
        else:
            assert without_clock(found) == without_clock(data)


@pytest.mark.parametrize("name", CASES)
def test_the_points_found_are_the_answer_when_the_run_is_ended(name: str) -> None:
    _, _, record = run(name, most=1)
    if name == "shapes":
        with pytest.raises(Exception, match="no plan for all shapes"):
            kind_of(name).cut_short(record.answers[0][1], StopReason.TIME_LIMIT)
        return
    head, data = kind_of(name).cut_short(record.answers[0][1], StopReason.TIME_LIMIT)
    assert (head["stop"], head["lasting"]) == ("time_limit", False)
    assert moments(data) == moments(record.answers[0][1])
    assert any("ended from outside" in text for text in json.loads(data)["warnings"])


def test_the_plan_is_the_answer_when_the_search_for_its_proof_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    kind, record = kind_of("proof"), Record()
    problem = write_problem(tangle())
    source = Source(problem)
    subject, instructions = kind.read(recognised(source), source), Instructions(OPTIONS, {}, ("a note",))

    def endless(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(proofs, "prove", endless)
        with pytest.raises(MemoryError):
            kind.run(subject, instructions, record, time.monotonic(), None)
    assert len(record.best) > 1
    best = record.best[-1][1]
    head, data = kind.cut_short(best, StopReason.MEMORY_LIMIT)
    document = json.loads(data)
    assert (document["proof"], document["why_not"]) == (None, "it was not found in time")
    assert (head["lasting"], head["best"]) == (False, document["plan"]["peak"])
    assert not verify(subject.problem, read_plan(kind.part(data, "plan")))
    assert any("a note" in text for text in document["plan"]["warnings"])

    again, found = kind.run(subject, instructions, Record(), time.monotonic(), best)
    assert (again["status"], again["best"]) == ("optimal", head["best"])
    proven = check_proof(subject.problem, json.loads(found)["proof"].encode())
    assert proven.height == json.loads(found)["height"] == document["height"]
    assert kind.run(subject, instructions, Record(), time.monotonic(), b"nonsense")[0]["best"] == head["best"]


def test_a_run_stopped_during_the_search_for_its_proof_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    """And so it is begun again after a first look, although the plan alone is proven."""
    kind, record = kind_of("proof"), Record()
    source = Source(write_problem(tangle()))
    subject = kind.read(recognised(source), source)

    def stopped_meanwhile(problem: Problem, plan: Plan, stopped: Callable[[], bool]) -> PlanProof:
        record.most = 0
        assert stopped()
        return PlanProof(plan.peak or 0, None, NoProof.TIME)

    monkeypatch.setattr(proofs, "prove", stopped_meanwhile)
    head, data = kind.run(subject, Instructions(OPTIONS, {}), record, time.monotonic(), None)
    assert (head["status"], head["stop"], head["lasting"]) == ("optimal", "cancelled", False)
    assert read_plan(kind.part(data, "plan")).stop is StopReason.PROVED


@pytest.mark.parametrize("name", CASES)
def test_unreadable_points_are_found_again(name: str) -> None:
    head, _, record = run(name)
    again, _, more = run(name, b'{"format": "memplan-nothing/0"}')
    assert (again["status"], len(more.points)) == (head["status"], len(record.points))
