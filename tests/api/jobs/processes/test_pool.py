"""Worker processes: their answers, and what the pool does when one is killed, does not react or fails."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import signal
import socket
import struct
import subprocess
import threading
import time
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext

import pytest

from api.errors import Refusal
from api.jobs.processes.pool import (
    GRACE_SECONDS,
    LOOK_GRACE_SECONDS,
    ProcessPool,
    Reply,
    Slot,
    Task,
    WorkerDied,
    WorkerFault,
    WorkerLate,
    is_too_late,
)
from api.process.machine import processor_seconds
from api.settings import Settings
from tests.running.forked import children_of, forking_workers

THREE = json.dumps(
    {
        "format": "memplan/1",
        "lifetimes": "half_open",
        "buffers": [{"id": i, "size": 8, "live": [[i, i + 2]]} for i in range(3)],
    }
).encode()


@asynccontextmanager
async def processes(size: int = 1) -> AsyncIterator[ProcessPool]:
    made = ProcessPool(size, Settings(), "test")
    await made.start()
    try:
        yield made
    finally:
        await made.close()


Starting = Callable[[], AbstractContextManager[None]]


def run(work: Callable[[ProcessPool], Awaitable[None]], size: int = 1, started: Starting = forking_workers) -> None:
    """Run the work with worker processes, and assert that none of them is left afterwards."""

    async def whole() -> None:
        async with processes(size) as made:
            pids = made.pids
            await work(made)
        assert made.busy == 0
        for pid in pids:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)

    with started():
        asyncio.run(whole())


class Watched(threading.Event):
    """A cancel that never comes; `looked_at` is set once the worker has its task."""

    def __init__(self) -> None:
        super().__init__()
        self.looked_at = threading.Event()

    def is_set(self) -> bool:
        self.looked_at.set()
        return super().is_set()


def read(query: dict[str, int] | None = None, data: bytes = THREE) -> Task:
    return Task({"task": "read", "format": None, "query": query or {}}, (data,))


def test_a_problem_is_read() -> None:
    async def work(made: ProcessPool) -> None:
        found = (await made.do(read({"seed": 3}))).header
        assert (found["buffers"], found["options"]["seed"], found["notes"]) == (3, 3, [])
        keys = [
            (await made.do(read(query))).header["key"]
            for query in ({"seed": 3}, {"workers": 1, "seed": 3}, {"seed": 4})
        ]
        assert [key == found["key"] for key in keys] == [True, True, False]

    run(work, started=nullcontext)


def test_a_refusal_keeps_its_findings() -> None:
    async def work(made: ProcessPool) -> None:
        with pytest.raises(Refusal) as caught:
            await made.do(read(data=b'{"format": "memplan/1", "buffers": [{"id": 1}]}'))
        assert (caught.value.status, caught.value.findings[0].pointer) == (422, "/buffers/0/size")

    run(work)


def test_what_libraries_say_of_a_bad_form_is_not_written_to_the_service_s_log(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """It has another form, and a worker would wait for whoever reads the log."""

    async def work(made: ProcessPool) -> None:
        form: dict[str, object] = {"task": "verify", "format": None, "query": {}, "boundary": "x"}
        with pytest.raises(Refusal, match="form"):
            await made.do(Task(form, (b'{"a": 1}',)))

    run(work, started=nullcontext)
    assert capfd.readouterr().err == ""


def test_a_fault_is_reported_and_the_worker_goes_on() -> None:
    async def work(made: ProcessPool) -> None:
        pids = made.pids
        with pytest.raises(WorkerFault, match="KeyError"):
            await made.do(Task({"task": "no such task"}))
        await made.do(read())
        assert made.pids == pids

    run(work)


@pytest.mark.parametrize("started", [nullcontext, forking_workers])
def test_a_killed_worker_is_replaced(started: Starting) -> None:
    """This holds for workers that were started anew and for forked ones."""

    async def work(made: ProcessPool) -> None:
        (pid,) = made.pids
        assert pid in children_of(os.getpid())
        os.kill(pid, signal.SIGSTOP)  # so that the worker cannot answer before it is killed
        task = read()
        task.cancelled = watched = Watched()
        waiting = asyncio.create_task(made.do(task))
        assert await asyncio.to_thread(watched.looked_at.wait, 60)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(WorkerDied, match="killed by signal 9"):
            await waiting
        assert made.deaths == 1
        await made.do(read())
        assert made.pids != [pid]

    run(work, started=started)


def test_a_worker_that_does_not_hear_a_cancel_is_killed() -> None:
    async def work(made: ProcessPool) -> None:
        os.kill(made.pids[0], signal.SIGSTOP)
        task = read()
        task.cancelled.set()
        with pytest.raises(WorkerDied, match="did not stop when told to"):
            await made.do(task)
        await made.do(read())

    run(work)


def test_a_cancel_is_heeded_while_a_worker_starts() -> None:
    """A cancel must not wait for the start, which may take long on a busy machine."""

    async def work(made: ProcessPool) -> None:
        (slot,) = made._slots
        slot.close()
        task = read()
        task.cancelled.set()
        with pytest.raises(WorkerDied, match="called off before"):
            await made.do(task)
        pid = slot.pid
        await made.do(read())
        assert slot.pid == pid, "it has gone on starting meanwhile"

    run(work)


def test_a_worker_that_sends_half_a_message_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that hangs while it sends or receives is killed like any other."""
    ends: list[socket.socket] = []

    def stuck(line: socket.socket) -> subprocess.Popen[bytes]:
        """Start a process that reports that it is ready, and then sends half a message."""
        ends.append(line.dup())
        ends[-1].sendall(struct.pack("!i", 2) + b"{}" + struct.pack("!i", 100) + b"half")
        return subprocess.Popen(["sleep", "600"])

    monkeypatch.setattr("api.jobs.processes.pool.start_worker", stuck)
    monkeypatch.setattr("api.jobs.processes.pool.LATE_SECONDS", 0.1)
    monkeypatch.setattr("api.jobs.processes.pool.MOST_SECONDS_LATE", 0.1)

    async def work() -> None:
        async with processes() as made:
            task = read()
            running = asyncio.create_task(made.do(task))
            while made._slots[0]._line is None or not made._slots[0]._line._begun:
                await asyncio.sleep(0)
            task.cancelled.set()
            with pytest.raises(WorkerDied, match="did not stop when told to"):
                await running
            late = read()
            late.seconds = 0.1
            with pytest.raises(WorkerLate):
                await made.do(late)
            large = Task(late.header, (bytes(1 << 25),), seconds=0.1)
            with pytest.raises(WorkerLate):
                await made.do(large)

    asyncio.run(work())
    for end in ends:
        end.close()


def test_a_worker_that_takes_far_too_long_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.jobs.processes.pool.LATE_SECONDS", 0.1)
    monkeypatch.setattr("api.jobs.processes.pool.MOST_SECONDS_LATE", 0.1)

    async def work(made: ProcessPool) -> None:
        os.kill(made.pids[0], signal.SIGSTOP)
        task = read()
        task.seconds = 0.1
        with pytest.raises(WorkerLate, match="much longer than its time limit"):
            await made.do(task)

    run(work)


@pytest.mark.parametrize(
    ("late", "spent", "killed"),
    [(1.0, 1.0, False), (5.1, 5.1, True), (25.0, 2.0, False), (25.0, 5.0, True), (31.0, 0.0, True), (5.1, None, True)],
)
def test_a_worker_with_little_processor_time_is_waited_for(late: float, spent: float | None, killed: bool) -> None:
    assert is_too_late(late, 7.0, None if spent is None else 7.0 + spent) is killed


def test_a_process_s_processor_time_is_known() -> None:
    had = processor_seconds(os.getpid())
    assert had is not None
    assert had > 0
    assert processor_seconds(None) is None


def test_a_caller_that_gives_up_takes_its_task_along() -> None:
    async def work(made: ProcessPool) -> None:
        messages: list[Reply] = []
        found = (await made.do(read())).header
        header = {"task": "solve", "format": None, "options": found["options"], "notes": []}
        task = Task(header, (THREE,), on_message=messages.append)
        waiting = asyncio.create_task(made.do(task))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert made.busy == 0
        assert (await made.do(Task(header, (THREE,)))).header["status"] == "optimal"

    run(work)


@pytest.mark.parametrize("is_given_up", [False, True])
def test_a_task_whose_worker_dies_is_let_go_of_at_once(
    is_given_up: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """In a cycle, a request's body would stay until the collector looks, which it rarely does."""

    def die(_: Slot, task: Task) -> Reply:
        assert not is_given_up or task.cancelled.wait(5)
        raise WorkerDied("killed by signal 9")

    monkeypatch.setattr(Slot, "do", die)

    async def left(made: ProcessPool) -> weakref.ref[threading.Event]:
        task = read()
        waiting = asyncio.create_task(made.do(task))
        await asyncio.sleep(0)
        if is_given_up:
            waiting.cancel()
        with contextlib.suppress(WorkerDied, asyncio.CancelledError):
            await waiting
        del waiting  # it holds what was raised, which holds this frame
        return weakref.ref(task.cancelled)

    async def work(made: ProcessPool) -> None:
        gc.collect()
        gc.disable()
        try:
            found, end = await left(made), time.monotonic() + 5
            while found() is not None:  # the thread lets go of it a moment later
                assert time.monotonic() < end
                await asyncio.sleep(0.01)
        finally:
            gc.enable()

    run(work)
    assert not caplog.records


def test_no_more_tasks_run_at_once_than_there_are_workers() -> None:
    async def work(made: ProcessPool) -> None:
        answers = await asyncio.gather(*(made.do(read({"seed": seed})) for seed in range(20)))
        assert [answer.header["options"]["seed"] for answer in answers] == list(range(20))
        assert len(made.pids) == 2

    run(work, size=2)


def test_a_task_whose_time_at_a_worker_is_over_has_longer_to_end_than_a_cancelled_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    for by_user, grace in ((True, GRACE_SECONDS), (False, LOOK_GRACE_SECONDS)):
        task = Task({}, stop_after=0.5)
        patience = Slot(Settings())._patience_with(task)
        now[0] += 0.1 if by_user else 0.6
        if by_user:
            task.cancelled.set()
        patience()
        assert task.cancelled.is_set()
        now[0] += grace - 0.1
        patience()
        now[0] += 0.2
        with pytest.raises(WorkerDied, match="did not stop"):
            patience()
