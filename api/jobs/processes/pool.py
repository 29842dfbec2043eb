"""A fixed number of worker processes, each doing one task at a time. A dead worker is replaced, and its caller is told."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import structlog

from ...errors import OutOfMemory
from ...process.machine import processor_seconds
from ...process.memory_budget import is_at_its_limit
from ...settings import Settings
from .line import Line
from .messages import NO_MEMORY, as_refusal, pack, unpack
from .waiting_line import WaitingLine

ROOT = Path(__file__).resolve().parents[3]
TICK_SECONDS = 0.05
"""The delay until a cancel is passed on."""
GRACE_SECONDS = 0.7
"""A worker that has not ended its task this long after a cancel is killed: a cancel takes less than a second."""
LOOK_GRACE_SECONDS = 2.0
"""The same for a task whose time at a worker is over: on a busy machine, starting another process keeps short tasks waiting for longer."""
START_SECONDS = 60.0
END_SECONDS = 2.0
"""The time from a broken line to the system's report of how the worker ended, on a busy machine."""
LARGE = 1 << 18
"""In bytes: larger parts may take seconds."""
WITHOUT_MEMORY = (NO_MEMORY, -signal.SIGABRT)
"""The exit codes of a process that cannot allocate: its Python, or its C++. A kill from outside says nothing about its task, which is tried again;
this would recur."""
FULL_SECONDS = 2.0
"""A worker that has had no memory left for so long does not come to an end by itself."""
LATE_SECONDS = 5.0
"""So much of the processor over its time limit a task is killed, whatever it is doing."""
MOST_SECONDS_LATE = 30.0
"""And so much over it in any case: on a machine that has much else to do it has had less of the processor than that."""

log = structlog.get_logger("memplan.processes")


class WorkerDied(Exception):
    """The process that worked on a task is gone."""

    code: int | None = None
    """How it ended, if known."""


class WorkerLate(WorkerDied):
    """It was killed for taking much longer than allowed."""


class CalledOff(Exception):
    """The task was cancelled before there was anything to answer."""


class WorkerFault(Exception):
    """A worker raised an unexpected error: a fault of memplan itself."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A worker's answer."""

    header: dict[str, Any]
    payload: bytes = b""


def ignore(_: Reply) -> None:
    """For tasks of which only the end counts."""


@dataclass(slots=True)
class Task:
    """A task for a worker, with a way to cancel it."""

    header: Mapping[str, Any]
    parts: Sequence[bytes | bytearray] = ()
    owner: str = ""
    """Its owner: no waiting owner occupies all workers."""
    seconds: float | None = None
    """The worker is killed if it takes much longer."""
    stop_after: float | None = None
    """It is cancelled after this many seconds at a worker."""
    on_message: Callable[[Reply], None] = ignore
    """Receives a worker's reports before it is done; called in a thread."""
    cancelled: threading.Event = field(default_factory=threading.Event)

    def let_go(self) -> None:
        """Drop its listeners and messages: it is over."""
        self.on_message = ignore
        self.parts = ()


def start_worker(line: socket.socket) -> subprocess.Popen[bytes]:
    """Return a process that has the other end of that line."""
    return subprocess.Popen(
        [sys.executable, "-m", "api.jobs.processes.worker", str(line.fileno())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=(line.fileno(),),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))},
        process_group=0,
    )


class Slot:
    """One worker process; a new one is started if there is none."""

    _numbers = itertools.count(1)

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._line: Line | None = None
        self._is_ready = False
        """True once the worker has reported."""

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def do(self, task: Task) -> Reply:
        """Block until it is done. Raises WorkerDied, WorkerFault, CalledOff and Refusal."""
        return answer_in(self.hear(task))

    def hear(self, task: Task) -> Reply:
        """Return how it ended, as the worker reports. Raises WorkerDied, or OutOfMemory if that killed it."""
        try:
            line = self.start(task.cancelled.is_set)
        except (EOFError, OSError) as error:
            raise self._killed("it could not be started", patience=END_SECONDS) from error
        number = next(self._numbers)
        header = {**task.header, "number": number, "parts": len(task.parts)}
        patience = self._patience_with(task)
        try:
            line.send(pack(header), patience, TICK_SECONDS)
            hand_over(task, line, patience)
            return _ending(task, number, line, patience)
        except (EOFError, OSError) as error:
            died = self._killed("it ended unexpectedly", patience=END_SECONDS)
            if died.code in WITHOUT_MEMORY:
                raise OutOfMemory from died
            raise died from error

    def _patience_with(self, task: Task) -> Callable[[], None]:
        """Return a check, to be called now and then, that raises WorkerDied when the time is over, and OutOfMemory if the worker stands still without."""
        begun, cancelled, grace = time.monotonic(), None, GRACE_SECONDS
        roomy = begun
        """When it last had some memory left."""
        had: float | None = None
        """Of the processor, when its time was over."""

        def patience() -> None:
            nonlocal cancelled, grace, had, roomy
            now = time.monotonic()
            if self.pid is None or not is_at_its_limit(self.pid):
                roomy = now
            elif now - roomy > FULL_SECONDS:
                raise OutOfMemory from self._killed("it had no memory left")
            if task.stop_after is not None and now - begun > task.stop_after and not task.cancelled.is_set():
                task.cancelled.set()
                grace = LOOK_GRACE_SECONDS
            if cancelled is None and task.cancelled.is_set():
                cancelled = now
            if cancelled is not None and now - cancelled > grace:
                raise self._killed("it did not stop when told to")
            late = 0.0 if task.seconds is None else now - begun - task.seconds
            if late > 0 and had is None:
                had = processor_seconds(self.pid)
            if late > LATE_SECONDS and is_too_late(late, had, processor_seconds(self.pid)):
                raise self._killed("it took much longer than its time limit", WorkerLate)

        return patience

    def start(self, cancelled: Callable[[], bool] = lambda: False) -> Line:
        """Return the line to the worker, started if needed. Raises WorkerDied if cancelled before the worker is ready, which continues to start."""
        line = self._line
        if line is None or self._process is None or self._process.poll() is not None:
            self.close()
            ours, theirs = socket.socketpair()
            with theirs:
                self._process = start_worker(theirs)
            line = self._line = Line(ours)
            line.send(self._settings.model_dump_json().encode(), _did_not_start, START_SECONDS)
        end = time.monotonic() + START_SECONDS
        while not self._is_ready:
            if cancelled():
                raise WorkerDied("it was called off before its worker had started")
            if time.monotonic() >= end:
                _did_not_start()
            self._is_ready = line.receive(TICK_SECONDS) is not None
        return line

    def close(self) -> None:
        """End the worker."""
        if self._line is not None:
            self._line.close()
            self._line, self._is_ready = None, False
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _killed(self, why: str, kind: type[WorkerDied] = WorkerDied, patience: float = 0.0) -> WorkerDied:
        """Kill it, if it has not ended within this many seconds."""
        code = None
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._process.wait(patience)
        self.close()
        died = kind(why if code is None else f"{why} ({exit_in_words(code)})")
        died.code = code
        return died


def is_too_late(late: float, had: float | None, has: float | None) -> bool:
    """Has a worker had its time beyond the limit? `late`: how long that was over; `had`, `has`: of the processor, then and now, if that is known."""
    if had is None or has is None or late > MOST_SECONDS_LATE:
        return late > LATE_SECONDS
    return has - had > LATE_SECONDS - 2 * TICK_SECONDS


ENDS = ("done", "refused", "called_off", "fault")


def answer_in(reply: Reply) -> Reply:
    """Return the reply if it is an answer. Raises WorkerFault, CalledOff or Refusal otherwise."""
    match reply.header["kind"]:
        case "refused":
            raise as_refusal(reply.header)
        case "called_off":
            raise CalledOff("it was called off before there was an answer")
        case "out_of_memory":
            raise OutOfMemory
        case "fault":
            log.error("fault in a worker", trace=reply.header["trace"])
            raise WorkerFault(reply.header["trace"])
        case _:
            return reply


def hand_over(task: Task, line: Line, patience: Callable[[], None]) -> None:
    """Send its parts, which are then not kept here. They are sent separately, since joining them would copy them while nothing else runs."""
    for part in task.parts:
        line.send(part, patience, TICK_SECONDS)
    task.parts = ()


def _did_not_start() -> None:
    raise TimeoutError("a worker process did not start")  # an OSError, reported as a death


class WorkerPool(Protocol):
    """Does tasks: processes of this machine, or a cluster."""

    async def do(self, task: Task) -> Reply:
        """Do a task. Raises WorkerDied, WorkerFault, CalledOff and Refusal."""
        ...


class ProcessPool:
    """Workers that are each borrowed for a task."""

    def __init__(
        self, size: int, settings: Settings, name: str, *, large: int | None = None, started: int | None = None
    ) -> None:
        """`large`: the most that may be busy with large parts at a time. `started`: the number at the start; others are added when needed."""
        self.size = size
        self.name = name
        self._slots = [Slot(settings) for _ in range(size)]
        self._started = size if started is None else started
        self._free = self._slots[::-1]
        self._line = WaitingLine(size, size if large is None else large)
        self._threads = ThreadPoolExecutor(size, thread_name_prefix=name)
        self.deaths = 0

    @property
    def busy(self) -> int:
        return self.size - len(self._free)

    @property
    def pids(self) -> list[int]:
        """Return the existing processes."""
        return [slot.pid for slot in self._slots if slot.pid is not None]

    async def start(self) -> None:
        """Start workers in advance."""
        loop = asyncio.get_running_loop()
        first = self._slots[: self._started]
        await asyncio.gather(*(loop.run_in_executor(self._threads, slot.start) for slot in first))

    async def do(self, task: Task) -> Reply:
        """Do it as soon as a worker is free. If the caller is cancelled, so is the task."""
        is_large = sum(map(len, task.parts)) > LARGE
        async with self._line.turn(task.owner, is_large=is_large):
            slot = self._free.pop()
            running = asyncio.get_running_loop().run_in_executor(self._threads, slot.do, task)
            try:
                return await asyncio.shield(running)
            except asyncio.CancelledError:
                task.cancelled.set()
                await asyncio.wait([running])  # unlike `await running`, it raises nothing that would hold this frame
                running.exception()  # which is of no use to anybody
                raise
            except WorkerDied:
                self.deaths += 1
                raise
            finally:
                del (
                    running
                )  # it holds what was raised, which holds this frame: the task would stay until cycles are collected
                self._free.append(slot)
                self._free.sort(key=self._slots.index, reverse=True)

    async def close(self) -> None:
        """End all workers, whatever they are doing."""
        loop = asyncio.get_running_loop()
        await asyncio.gather(*(loop.run_in_executor(None, slot.close) for slot in self._slots))
        self._threads.shutdown(wait=False)


def exit_in_words(code: int) -> str:
    """Return a description such as `killed by signal 9`."""
    return f"killed by signal {-code}" if code < 0 else f"exit code {code}"


def _ending(task: Task, number: int, line: Line, patience: Callable[[], None]) -> Reply:
    """Pass on what the worker says of this task, and that the task is cancelled, until it ends; return how."""
    is_told = False
    while True:
        message = line.receive(TICK_SECONDS)
        reply = None if message is None else Reply(*unpack(message))
        if reply is not None and reply.header.get("number") == number:
            if reply.header["kind"] in ENDS:
                return reply
            task.on_message(reply)
        if task.cancelled.is_set() and not is_told:
            is_told = True
            line.send(pack({"cancel": number}), patience, TICK_SECONDS)
        patience()
