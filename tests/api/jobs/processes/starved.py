"""Worker processes that find no memory from some moment of a task on, each from a later one, until one does not need any more; prints how each ended.

python -m tests.api.jobs.processes.starved STEP FAILURES

STEP: the growth from one moment, counted in allocations, to the next. FAILURES: the number of allocations that fail there; 0: all.
"""

from __future__ import annotations

import _testcapi  # type: ignore[import-not-found]
import contextlib
import os
import signal
import socket
import sys
from typing import Any, NoReturn

import planner
from api.jobs.processes import worker
from api.jobs.processes.line import Line
from api.jobs.processes.messages import pack, unpack
from api.jobs.processes.tasks import FIVE_BUFFERS
from api.settings import Settings
from planner.formats import write_problem

PATIENCE = 30.0
PROBLEM = write_problem(FIVE_BUFFERS)
TASK: dict[str, Any] = {"task": "read_and_solve", "format": None, "query": {}, "number": 1, "parts": 1}


def main() -> None:
    planner.plan(FIVE_BUFFERS)  # forked processes need not import anything
    step, failures = float(sys.argv[1]), int(sys.argv[2])
    moment, ends = 0, list[str]()
    while ends[-3:] != ["done"] * 3:
        ends.append(end_of(moment, failures))
        sys.stdout.write(f"{moment} {ends[-1]}\n")
        sys.stdout.flush()
        moment = max(moment + 1, int(moment * step))


def end_of(moment: int, failures: int) -> str:
    """How a worker ends its task that finds no memory from this moment on: the kind of its answer, its exit code, or "hangs"."""
    ours, its = socket.socketpair()
    pid = os.fork()
    if not pid:
        ours.close()
        work(its, moment, failures)
    its.close()
    line = Line(ours)
    try:
        line.send(Settings().model_dump_json().encode(), lambda: None, PATIENCE)
        assert heard(line) == "here"
        line.send(pack(TASK), lambda: None, PATIENCE)
        line.send(PROBLEM, lambda: None, PATIENCE)
        while (kind := heard(line)) not in ("done", "refused", "fault", "hangs"):
            pass
    except (EOFError, OSError):
        _, status = os.waitpid(pid, 0)
        return str(os.waitstatus_to_exitcode(status))
    finally:
        line.close()
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    return kind


def heard(line: Line) -> str:
    message = line.receive(PATIENCE)
    return "hangs" if message is None else str(unpack(message)[0]["kind"])


def work(line: socket.socket, moment: int, failures: int) -> NoReturn:
    """Be the worker."""

    def starving(message: bytes) -> tuple[dict[str, Any], bytes]:
        header, payload = unpack(message)
        _testcapi.set_nomemory(moment, moment + failures if failures else 0)
        return header, payload

    worker.unpack = starving  # type: ignore[attr-defined]
    sys.argv[1:] = [str(line.fileno())]
    try:
        worker.main()
    finally:
        os._exit(99)


if __name__ == "__main__":
    main()
