"""A worker that finds no memory, at whatever moment, answers or ends at once, and its caller hears why: nobody waits for what does not come."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from api.errors import OutOfMemory
from api.jobs.processes import pool
from api.jobs.processes.pool import ProcessPool, Task
from api.process import machine
from api.process.memory_budget import LEAST_PROCESS, LIMIT, is_at_its_limit
from api.settings import Settings
from planner.formats import read_plan, write_problem
from planner.generate import Request, generate
from tests.api.jobs.processes.test_pool import THREE
from tests.running.forked import forking_workers

MIB = 1 << 20


def ends_out_of_memory(begin: Callable[[int], None], task: Task) -> None:
    """Require it of a worker to which this happens before it has the task, and that the next task is done by another one."""

    async def work() -> None:
        made = ProcessPool(1, Settings(), "test")
        await made.start()
        try:
            pids = made.pids
            begin(*pids)
            with pytest.raises(OutOfMemory):
                await made.do(task)
            found = await made.do(Task({"task": "read", "format": None, "query": {}}, (THREE,)))
            assert found.header["buffers"] == 3
            assert made.pids != pids
            assert made.deaths == 0, "its task is at fault"
        finally:
            await made.close()

    with forking_workers():
        asyncio.run(work())


def limited(pid: int, more: int = 0) -> None:
    """Leave the process this much more memory than it has."""
    now = machine.used_by(pid)
    assert now is not None
    resource.prlimit(pid, LIMIT, (now.data + more, now.data + more))


def test_a_body_without_memory_for_it_is_refused_at_once() -> None:
    body = Task({"task": "read", "format": None, "query": {}}, (THREE + b" " * (20 * MIB),), seconds=1)
    ends_out_of_memory(lambda pid: limited(pid, 8 * MIB), body)


def test_a_problem_without_memory_for_it_is_refused_at_once() -> None:
    rows = b",".join(b'{"id": "a buffer named %d", "size": 8, "live": [[0, 9], [11, 20]]}' % n for n in range(50_000))
    problem = b'{"format": "memplan/1", "lifetimes": "half_open", "buffers": [%s]}' % rows
    body = Task({"task": "read", "format": None, "query": {}}, (problem,), seconds=1)
    ends_out_of_memory(lambda pid: limited(pid, 3 * len(problem)), body)


def test_a_worker_that_stands_still_with_no_memory_left_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interpreter that finds none for an error on its way tries for ever."""
    monkeypatch.setattr(pool, "FULL_SECONDS", 0.2)

    def full(pid: int) -> None:
        os.kill(pid, signal.SIGSTOP)
        assert not is_at_its_limit(pid)
        limited(pid)
        assert is_at_its_limit(pid)

    ends_out_of_memory(full, Task({"task": "read", "format": None, "query": {}}, (THREE,)))


def test_a_small_problem_fits_the_least_memory_of_a_worker() -> None:
    async def work() -> None:
        made = ProcessPool(1, Settings(worker_memory=LEAST_PROCESS), "test")
        await made.start()
        try:
            query: dict[str, Any] = {"task": "read_and_solve", "format": None, "query": {}}
            for count in (3, 2000):
                problem = write_problem(generate("random", Request(count, seed=5)))
                answer = await made.do(Task(query, (problem,)))
                assert read_plan(answer.payload).placements
        finally:
            await made.close()

    asyncio.run(work())


@pytest.mark.parametrize("failures", [1, 30])
def test_a_worker_whose_allocations_fail_for_a_moment_does_not_stand_still(failures: int) -> None:
    """From the arrival of its task to its answer: a thread less, or half a message, would keep its caller waiting."""
    pytest.importorskip("_testcapi")
    command = [sys.executable, "-m", "tests.api.jobs.processes.starved", "1.8", str(failures)]
    done = subprocess.run(command, capture_output=True, check=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    ends = [line.split()[1] for line in done.stdout.decode().splitlines()]
    assert len(ends) > 7
    assert "hangs" not in ends
    assert ends.count("12") > 4, "most of it is told as what it is"
