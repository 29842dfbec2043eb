"""Life after the fork: cut the ties to the zygote, take the job, run the solver, say how it went."""

from __future__ import annotations

import errno
import json
import os
import pickle
import select
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from solvers.model.errors import SolverFailed, StopReason, Unavailable, Unsupported
from solvers.model.instance import Instance, Placement
from solvers.model.outcome import Value
from solvers.model.solver import Solver, Task

from .frames import Unpacker, pack
from .messages import Crashed, Ended, Found, Message, Proven, Refused, encode
from .parent_death import memory_cap

CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Job:
    """What to run. Its surroundings go before it, since without the right path it could not be read."""

    solver: str
    """module:Class"""
    instance: Instance
    task: Task


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The world as the caller sees it, so that a child resolves names and files as its caller would."""

    path: list[str]
    folder: str | None
    environment: dict[str, str]

    @classmethod
    def of_this_process(cls) -> Surroundings:
        try:
            here: Path | None = Path.cwd()
        except OSError:  # it was removed
            here = None
        path = [entry if here is None else str(here / entry) for entry in sys.path]
        return cls(path, None if here is None else str(here), dict(os.environ))

    def enter(self, scratch: str) -> None:
        sys.path[:] = self.path
        os.environ.clear()
        os.environ.update(self.environment, TMPDIR=scratch)
        tempfile.tempdir = scratch
        if self.folder is not None and Path(self.folder).is_dir():
            os.chdir(self.folder)


def pack_job(job: Job) -> bytes:
    """The frames that `live` expects."""
    here = Surroundings.of_this_process()
    first = json.dumps([here.path, here.folder, here.environment]).encode()
    return pack(first) + pack(pickle.dumps(job, protocol=pickle.HIGHEST_PROTOCOL))


class Reporter:
    """The Control that a solver in a child process talks to."""

    def __init__(self, channel: socket.socket, task: Task) -> None:
        self._channel = channel
        self._task = task
        self._lock = threading.Lock()  # solvers call back from threads of their own

    def incumbent(self, placement: Placement) -> None:
        self.send(Found(placement))

    def bound(self, bound: Value) -> None:
        self.send(Proven(bound))

    def log(self, line: str) -> None:
        if self._task.verbose:
            os.write(1, line.encode(errors="replace") + b"\n")

    def stopped(self) -> StopReason | None:
        deadline = self._task.limits.deadline
        if deadline is not None and time.monotonic() >= deadline:
            return StopReason.TIME_LIMIT
        # The caller says "stop" by closing its side; nothing else ever comes after the job.
        poll = select.poll()
        poll.register(self._channel, select.POLLIN)
        return StopReason.CANCELLED if poll.poll(0) else None

    def send(self, message: Message) -> None:
        frame = pack(encode(message))
        with self._lock:
            self._channel.sendall(frame)


def live(channel: socket.socket, output: int | None, scratch: str) -> None:
    """Everything a child does. When it returns, there is nothing left but to exit."""
    _redirect(output)
    surroundings, packed = _receive(channel)
    Surroundings(*json.loads(surroundings)).enter(scratch)
    job: Job = pickle.loads(packed)
    reporter = Reporter(channel, job.task)
    reporter.send(_solve(job, reporter))


def _redirect(output: int | None) -> None:
    """Whatever the solver prints goes to those who asked for it, and never to the caller's terminal."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    for standard in (1, 2):
        os.dup2(null if output is None else output, standard)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller decides what an interrupt means


def _receive(channel: socket.socket) -> tuple[bytes, bytes]:
    unpacker, payloads = Unpacker(), list[bytes]()
    while len(payloads) < 2:
        data = channel.recv(CHUNK)
        if not data:
            os._exit(0)  # the caller changed its mind
        payloads += unpacker.feed(data)
    return payloads[0], payloads[1]


def _solve(job: Job, reporter: Reporter) -> Message:
    try:
        module, _, name = job.solver.partition(":")
        solver: Solver = getattr(import_module(module), name)()
        with memory_cap(job.task.limits.memory_bytes):
            return Ended(solver.solve(job.instance, job.task, reporter))
    except (Unsupported, Unavailable, SolverFailed) as error:
        return Refused(error)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the caller has to hear of it
        return Crashed("".join(traceback.format_exception(error)), out_of_memory=_is_for_want_of_memory(error))


def _is_for_want_of_memory(error: BaseException) -> bool:
    """Allocations fail as MemoryError, new processes as ENOMEM, and new threads, which need a stack each, without any type of their own."""
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "start new thread" in str(error))
