"""An attempt that reported a plan and then ends without an answer of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import cast

import pytest

from api.errors import OutOfMemory, Refusal
from api.jobs.attempt import Attempt, Endings
from api.jobs.processes.pool import Reply, Task
from api.store import Store, StoreUnavailable
from api.store.records import About, Claim, End, JobState, NewJob, StoredPlan
from api.store.sql.rows import job_of, values_of
from planner import Code

ABOUT = About("key", "digest", None, 5, {"time_limit": 3.0}, (), None, "plan")
OUT_OF_TIME = Refusal(413, Code.OUT_OF_TIME, "the time limit of 3 s was over while verifying the problem")


class Worker:
    """A worker that reports a plan, if it has one, and then cannot write its answer."""

    def __init__(self, end: Refusal, best: bytes | None) -> None:
        self._end, self._best = end, best

    async def do(self, task: Task) -> Reply:
        if task.header["task"] == "cut_short":
            return Reply({"kind": "done", "stop": task.header["stop"]}, bytes(task.parts[0]))
        if self._best is not None:
            task.on_message(Reply({"kind": "plan", "etag": "x"}, self._best))
        raise self._end


def attempt(worker: Worker) -> Attempt:
    async def run() -> Attempt:
        made = Attempt.of(NewJob("me", ABOUT), b"a problem", Endings(cast("Store", None)))
        await made.run(worker)
        return made

    return asyncio.run(run())


@pytest.mark.parametrize(("end", "stop"), [(OUT_OF_TIME, "time_limit"), (OutOfMemory(), "memory_limit")])
def test_the_best_reported_plan_is_the_answer(end: Refusal, stop: str) -> None:
    reply = attempt(Worker(end, b"a plan")).reply.result()
    assert (reply.payload, reply.header["stop"]) == (b"a plan", stop)


@pytest.mark.parametrize(
    ("end", "best"), [(OUT_OF_TIME, None), (Refusal(422, Code.UNSUPPORTED, "it cannot be done"), b"a plan")]
)
def test_an_attempt_without_a_reported_plan_is_refused(end: Refusal, best: bytes | None) -> None:
    assert attempt(Worker(end, best)).reply.exception() is end


class Record:
    """A store that takes down which plans it was told of, and how the job ended."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def job(self, _id: str) -> None:
        return None

    def save(self, _id: str, _attempt: int, plan: StoredPlan, points: Sequence[object]) -> bool:
        self.told.append((plan.data, [*points]))
        return True

    def finish(self, _id: str, _attempt: int, end: End) -> bool:
        self.told.append(end.state)
        return True

    def release(self, _id: str, _attempt: int) -> bool:
        self.told.append("released")
        return True


class Looking:
    """A worker that reports points, and then ends by itself or is stopped."""

    def __init__(self, *, ends: bool, points: Iterable[object] = ("first", "second")) -> None:
        self._ends, self._points = ends, points

    async def do(self, task: Task) -> Reply:
        summary = {"status": "feasible", "best": 1, "bound": 1, "gap": 0.0, "etag": "x", "lasting": False}
        for point in self._points:
            report = {"kind": "plan", "stop": None, "points": [point], **summary}
            await asyncio.to_thread(task.on_message, Reply(report, b"a part"))
        if not self._ends:
            task.cancelled.set()
        stop = "proved" if self._ends else "cancelled"
        return Reply({"kind": "done", "stop": stop, **summary}, b"whole")


@pytest.mark.parametrize(
    ("ends", "told"),
    [(True, [(b"a part", ["first", "second"]), JobState.SUCCEEDED]), (False, ["released"])],
)
def test_a_first_look_tells_of_all_that_was_found_or_of_nothing(ends: bool, told: list[object]) -> None:
    async def run() -> list[object]:
        record = Record()
        store = cast("Store", record)
        row = values_of(NewJob("me", ABOUT)) | {"state": "running", "attempt": 1}
        claim = Claim(job_of(SimpleNamespace(**row)), b"a problem")
        await Attempt.at(claim, Endings(store), is_look=True).run(Looking(ends=ends))
        return record.told

    assert asyncio.run(run()) == told


class Faltering(Record):
    """One that cannot be written at first."""

    def save(self, id_: str, attempt: int, plan: StoredPlan, points: Sequence[object]) -> bool:
        if not self.told:
            self.told.append("unavailable")
            raise StoreUnavailable("its disk is full")
        return super().save(id_, attempt, plan, points)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_points_that_could_not_be_noted_are_told_of_with_the_next_or_at_the_end(number: int) -> None:
    async def run() -> list[object]:
        record = Faltering()
        store = cast("Store", record)
        row = values_of(NewJob("me", ABOUT)) | {"state": "running", "attempt": 1}
        claim = Claim(job_of(SimpleNamespace(**row)), b"a problem")
        await Attempt.at(claim, Endings(store)).run(Looking(ends=True, points=range(number)))
        return record.told

    noted = [(b"a part", [0])] if number == 1 else [(b"a part", [0, 1]), *((b"a part", [n]) for n in range(2, number))]
    assert asyncio.run(run()) == ["unavailable", *noted, JobState.SUCCEEDED]
