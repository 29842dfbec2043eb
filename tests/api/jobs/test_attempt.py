"""An attempt that reported a plan and then ends without an answer of its own."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from api.errors import OutOfMemory, Refusal
from api.jobs.attempt import Attempt, Endings
from api.jobs.processes.pool import Reply, Task
from api.store import Store
from api.store.records import About, NewJob
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
        made = Attempt.of(NewJob("me", ABOUT), b"a problem", cast("Store", None), cast("Endings", None))
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
