"""Processes of `memplan` for tests that are forked from one that has loaded the libraries (tests/running/forking.py).

So are their workers and the processes that fork their solvers. All else is their own, and they start in a tenth of the
time.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SEARCHED = os.pathsep.join((str(ROOT), str(ROOT / "tests" / "running" / "installed")))
"""The project's folder, and the folder of packages that tests treat as installed."""
READ_AT_START = ("PYTHON", "LC_", "LANG")
"""Prefixes of variables that an interpreter reads when it starts; a process with other values is not forked."""
MESSAGE = 1 << 20
TOLD_SECONDS = 10.0
TOLD = "FORKED_BY"
"""The variable that names the forking process to processes which a test starts: its process id and socket's path."""
FOLDER = "memplan-forked-"
"""How the name of a forking process's folder begins."""
NAME = "for {}"
"""The name of a forked process, with the process id of its starter."""
FAMILY = "family"
"""The name of a forking process that has also loaded the library of a family, such as one solver's."""


class Kind(StrEnum):
    """The programs that a forked process can run."""

    MEMPLAN = "memplan"
    WORKER = "worker"
    FORK_SERVER = "fork_server"
    COMPANION = "companion"
    DASK = "dask"


class Parent(NamedTuple):
    """The forking process."""

    path: str
    """The path of its socket."""
    pid: int


class Forked:
    """A forked process that runs `memplan` with these arguments; has the parts of subprocess.Popen that are used."""

    def __init__(
        self,
        arguments: Sequence[str],
        files: Sequence[int],
        env: Mapping[str, str],
        cwd: Path | None = None,
        parent: Parent | None = None,
        kind: Kind = Kind.MEMPLAN,
        family: str | None = None,
    ) -> None:
        """`files` are standard input, output and error, and a worker's line; `family` is a module to load first."""
        self.returncode: int | None = None
        self._turn = threading.Lock()
        self._line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        parent = parent or usual_parent()
        self._line.connect((parent if family is None else _head_of(family, parent)).path)
        order = {
            "arguments": list(arguments),
            "env": dict(env),
            "cwd": str(cwd or Path.cwd()),
            "kind": kind,
            "starter": os.getpid(),
            "parent": parent.path,
            "family": family,
        }
        socket.send_fds(self._line, [json.dumps(order).encode()], list(files))
        self.pid = int(self._line.recv(MESSAGE))

    def poll(self) -> int | None:
        with contextlib.suppress(TimeoutError):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait, and return the exit code; the negative number of the signal if one killed it."""
        with self._turn:
            if self.returncode is None:
                self._line.settimeout(timeout)
                try:
                    self.returncode = int(self._line.recv(MESSAGE))
                except BlockingIOError:
                    raise TimeoutError from None
                self._line.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # the process has ended since
                os.kill(self.pid, number)


class Started(Forked):
    """A forked process in place of the subprocess.Popen that `memplan` itself would start."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait longer than asked, since the forking process reports the exit, which a busy machine may delay."""
        try:
            return super().wait(timeout if not timeout else TOLD_SECONDS)
        except TimeoutError:
            raise subprocess.TimeoutExpired("a forked process", timeout or 0) from None

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Piped(Started):
    """A process with pipes to its standard input and output."""

    def __init__(self, arguments: Sequence[str], parent: Parent, kind: Kind) -> None:
        (its_in, our_in), (our_out, its_out) = os.pipe(), os.pipe()
        self.stdin, self.stdout = os.fdopen(our_in, "wb"), os.fdopen(our_out, "rb")
        try:
            super().__init__(arguments, (its_in, its_out, 2), os.environ, parent=parent, kind=kind)
        finally:
            os.close(its_in)
            os.close(its_out)


def _worker(parent: Parent, line: socket.socket) -> Started:
    """Start a worker; replaces api.jobs.processes.pool.start_worker."""
    with Path(os.devnull).open("r+b") as nothing:
        files = (nothing.fileno(), nothing.fileno(), 2, line.fileno())
        env = {**os.environ, "PYTHONPATH": SEARCHED}
        return Started(["3"], files, env, parent=parent, kind=Kind.WORKER)


def fork_server(parent: Parent, orders: int, family: str | None) -> Started:
    """Fork a fork server from a process with the family's library; replaces solvers.sandbox.launcher.start_fork_server."""
    from solvers.sandbox.launcher import environment

    with Path(os.devnull).open("r+b") as nothing:
        files = (orders, nothing.fileno(), nothing.fileno())
        return Started([], files, environment(), Path("/"), parent=parent, kind=Kind.FORK_SERVER, family=family)


def _head_of(family: str, parent: Parent) -> Parent:
    """Return the forking process that has also loaded this module."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
        line.connect(parent.path)
        line.send(json.dumps({"path of": family}).encode())
        return Parent(line.recv(MESSAGE).decode(), parent.pid)


@contextlib.contextmanager
def forking_workers(parent: Parent | None = None) -> Iterator[None]:
    """While this context is open, this process's workers are forked."""
    from api.jobs.processes import pool as process_pool

    usual = process_pool.start_worker
    process_pool.start_worker = functools.partial(_worker, parent or usual_parent())  # type: ignore[assignment]
    try:
        yield
    finally:
        process_pool.start_worker = usual


@contextlib.contextmanager
def forking_companions(parent: Parent | None = None) -> Iterator[None]:
    """While this context is open, this process's companions are forked."""
    from solvers.sandbox import companion

    usual = companion.start_process
    companion.start_process = lambda serving: Piped([serving], parent or usual_parent(), Kind.COMPANION)  # type: ignore[assignment,return-value]
    try:
        yield
    finally:
        companion.start_process = usual


def children_of(pid: int) -> list[int]:
    """Return the processes that this one has started, and those that were forked for it."""
    forked = _children(usual_parent().pid) if usual_parent.cache_info().currsize else []
    forked += [each for family in forked if _name(family) == FAMILY for each in _children(family)]
    return _children(pid) + [each for each in forked if _name(each) == NAME.format(pid)]


def _children(pid: int) -> list[int]:
    paths = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for path in paths for child in path.read_text().split()]


def _name(pid: int) -> str:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def can_fork(env: Mapping[str, str]) -> bool:
    """Return whether a process starts with this environment as with the usual one."""
    usual = environment()
    return all(env.get(name) == usual.get(name) for name in {*env, *usual} if name.startswith(READ_AT_START))


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return this process's environment, with the project importable and every warning an error."""
    return {**os.environ, "PYTHONPATH": SEARCHED, "PYTHONWARNINGS": "error", **(extra or {})}


@functools.cache
def begin() -> tuple[subprocess.Popen[bytes], str]:
    """Start one forking process for this process and those forked from it later; return it and its socket's path."""
    folder = tempfile.mkdtemp(prefix=FOLDER)
    path = str(Path(folder) / "socket")
    env = {name: value for name, value in environment().items() if not name.startswith("MEMPLAN_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.running.forking", path],
        cwd=ROOT,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    atexit.register(process.communicate)  # in any case it ends with this process
    return process, path


def shared_folder() -> Path | None:
    """Return a folder of all processes of this run, removed at the run's end; None if it has no forking process yet."""
    if named := os.environ.get(TOLD):
        return Path(named.partition(" ")[2]).parent
    return Path(begin()[1]).parent if begin.cache_info().currsize else None


@functools.cache
def usual_parent() -> Parent:
    """Return the forking process once it is ready."""
    if named := os.environ.get(TOLD):
        pid, _, path = named.partition(" ")
        return Parent(path, int(pid))
    process, path = begin()
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return Parent(path, process.pid)
