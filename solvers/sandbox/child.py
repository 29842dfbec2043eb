"""The child after the fork: leaves the fork server's surroundings, takes the job, runs the solver, and reports the result."""

from __future__ import annotations

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
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from solvers.model.errors import SolverFailed, StopReason, Unavailable, Unsupported, is_for_want_of_memory

from .frames import Unpacker, pack
from .messages import Crashed, Ended, Found, Message, Proven, Refused, Said, encode
from .parent_death import memory_cap

if TYPE_CHECKING:
    from solvers.model.instance import Instance, Placement
    from solvers.model.outcome import Value
    from solvers.model.solver import Control, Solver, Task

CHUNK = 1 << 16
FOR_JOB, FOR_SERVICE = b"J", b"S"
"""How an order to the fork server begins; a byte with the length of a module's name and that name follow."""


@dataclass(frozen=True, slots=True)
class Job:
    """The task to run. The caller's environment is sent before it: without the right import path the job could not be read."""

    solver: str
    """module:Class"""
    instance: Instance
    task: Task

    @property
    def verbose(self) -> bool:
        return self.task.verbose


@dataclass(frozen=True, slots=True)
class Service:
    """A series of questions about one subject."""

    answerer: str
    """module:Class, called with the subject."""
    subject: object
    memory_bytes: int | None
    verbose: bool = False


class Answerer(Protocol):
    """Answers questions in a child process; answers must be valid JSON."""

    def answer(self, question: Mapping[str, Any], control: Control) -> Mapping[str, object]:
        """The answer to one question, within the question's limits. Raises Unsupported, Unavailable, SolverFailed."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The caller's import path, folder and environment, so that a child resolves names and files as the caller would."""

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


def pack_job(job: Job | Service) -> bytes:
    """The frames that `run_job` expects first; each question to a service is one more."""
    here = Surroundings.of_this_process()
    first = json.dumps([here.path, here.folder, here.environment]).encode()
    return pack(first) + pack(pickle.dumps(job, protocol=pickle.HIGHEST_PROTOCOL))


def order_of(job: Job | Service) -> bytes:
    """The order to the fork server, which imports what the child will need: for a service its module, if it is one of this program."""
    module = job.answerer.partition(":")[0] if isinstance(job, Service) else ""
    name = module.encode() if module.startswith("solvers.") else b""
    return (FOR_SERVICE if isinstance(job, Service) else FOR_JOB) + bytes([len(name)]) + name


class Reporter:
    """The Control of a solver in a child process."""

    def __init__(self, channel: socket.socket, deadline: float | None = None, *, verbose: bool = False) -> None:
        self._channel = channel
        self._deadline = deadline
        self._verbose = verbose
        self._lock = threading.Lock()  # solvers call back from their own threads

    def incumbent(self, placement: Placement) -> None:
        self.send(Found(placement))

    def bound(self, bound: Value) -> None:
        self.send(Proven(bound))

    def log(self, line: str) -> None:
        if self._verbose:
            os.write(1, line.encode(errors="replace") + b"\n")

    def stopped(self) -> StopReason | None:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return StopReason.TIME_LIMIT
        # The caller asks to stop by closing its side; after a job, or an unanswered question, it sends nothing else.
        poll = select.poll()
        poll.register(self._channel, select.POLLIN)
        return StopReason.CANCELLED if poll.poll(0) else None

    def send(self, message: Message) -> None:
        frame = pack(encode(message))
        with self._lock:
            self._channel.sendall(frame)


def run_job(channel: socket.socket, output: int | None, scratch: str) -> None:
    """The child's whole work; the process then exits."""
    _redirect(output)
    inbox = Inbox(channel)
    Surroundings(*json.loads(inbox.take())).enter(scratch)
    job: Job | Service = pickle.loads(inbox.take())
    if isinstance(job, Service):
        _serve(job, inbox, Reporter(channel, verbose=job.verbose))
        return
    reporter = Reporter(channel, job.task.limits.deadline, verbose=job.verbose)
    reporter.send(_solve(job, reporter))


def _redirect(output: int | None) -> None:
    """Sends the solver's output to subscribers, never to the caller's terminal."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    for standard in (1, 2):
        os.dup2(null if output is None else output, standard)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller decides what an interrupt means


class Inbox:
    """The caller's messages, frame by frame."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel, self._unpacker, self._frames = channel, Unpacker(), deque[bytes]()

    def take(self) -> bytes:
        """The next frame. Exits the process if the caller has closed the connection."""
        while not self._frames:
            data = self._channel.recv(CHUNK)
            if not data:
                os._exit(0)
            self._frames.extend(self._unpacker.feed(data))
        return self._frames.popleft()


def _solve(job: Job, reporter: Reporter) -> Message:
    def run() -> Message:
        solver: Solver = _named(job.solver)()
        with memory_cap(job.task.limits.memory_bytes):
            return Ended(solver.solve(job.instance, job.task, reporter))

    return _as_message(run)


def _serve(service: Service, inbox: Inbox, reporter: Reporter) -> None:
    """Answers questions until the caller closes the connection or a question fails."""
    with memory_cap(service.memory_bytes):
        answerer: Answerer | None = None
        while True:
            question = pickle.loads(inbox.take())

            def run(question: Mapping[str, Any] = question) -> Message:
                nonlocal answerer
                answerer = answerer or _named(service.answerer)(service.subject)
                return Said(answerer.answer(question, reporter))

            message = _as_message(run)
            reporter.send(message)
            if not isinstance(message, Said):
                return


def _named(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def _as_message(run: Callable[[], Message]) -> Message:
    """The result of `run`, or its failure, as a message."""
    try:
        return run()
    except (Unsupported, Unavailable, SolverFailed) as error:
        return Refused(error)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the caller must learn of it
        return Crashed("".join(traceback.format_exception(error)), out_of_memory=is_for_want_of_memory(error))
