"""Processes of `memplan` for tests, their workers, and the processes that fork their solvers, forked from one that has loaded the libraries
(tests/running/forking.py): each of its own in everything else, and there in a tenth of the time.
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
"""The project's folder, and the folder of packages that tests have as if installed."""
READ_AT_START = ("PYTHON", "LC_", "LANG")
"""Prefixes of variables that an interpreter reads when it starts; a process that changes them needs a new interpreter."""
MESSAGE = 1 << 20
TOLD_SECONDS = 10.0
TOLD = "FORKED_BY"
"""Names the process that forks to test processes which a test starts: its process id and the path of its socket."""
NAME = "for {}"
"""A forked process's name, which states whose it is."""
FAMILY = "family"
"""The name of a process that has a family's library."""


class Kind(StrEnum):
    """The programs that a forked process can run."""

    MEMPLAN = "memplan"
    WORKER = "worker"
    ZYGOTE = "zygote"
    COMPANION = "companion"
    DASK = "dask"


class Parent(NamedTuple):
    """The process that forks."""

    path: str
    """The path of its socket."""
    pid: int


class Forked:
    """A process that runs `memplan` with these arguments; the parts of subprocess.Popen that are used."""

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
        """`files`: its standard input, output and error; a worker's fourth is the line to it. `family`: a module that is loaded and can be run."""
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
        """Its exit code; of a signal that killed it the negative number."""
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
            with contextlib.suppress(ProcessLookupError):  # it has ended since
                os.kill(self.pid, number)


class Started(Forked):
    """A forked process in place of the subprocess.Popen that `memplan` itself would start."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait; another process reports its exit, which may take longer on a busy machine."""
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
    """Replaces api.jobs.processes.pool.start_worker."""
    with Path(os.devnull).open("r+b") as nothing:
        files = (nothing.fileno(), nothing.fileno(), 2, line.fileno())
        env = {**os.environ, "PYTHONPATH": SEARCHED}
        return Started(["3"], files, env, parent=parent, kind=Kind.WORKER)


def zygote(parent: Parent, orders: int, family: str | None) -> Started:
    """Replaces solvers.sandbox.launcher.start_zygote, and forks from a process that has the family's library."""
    from solvers.sandbox.launcher import environment

    with Path(os.devnull).open("r+b") as nothing:
        files = (orders, nothing.fileno(), nothing.fileno())
        return Started([], files, environment(), Path("/"), parent=parent, kind=Kind.ZYGOTE, family=family)


def _head_of(family: str, parent: Parent) -> Parent:
    """The process that has loaded a module besides."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
        line.connect(parent.path)
        line.send(json.dumps({"path of": family}).encode())
        return Parent(line.recv(MESSAGE).decode(), parent.pid)


@contextlib.contextmanager
def forking_workers(parent: Parent | None = None) -> Iterator[None]:
    """This process's workers are forked meanwhile."""
    from api.jobs.processes import pool as process_pool

    usual = process_pool.start_worker
    process_pool.start_worker = functools.partial(_worker, parent or usual_parent())  # type: ignore[assignment]
    try:
        yield
    finally:
        process_pool.start_worker = usual


@contextlib.contextmanager
def forking_companions(parent: Parent | None = None) -> Iterator[None]:
    """This process's companions are forked meanwhile."""
    from solvers.sandbox import companion

    usual = companion.start_process
    companion.start_process = lambda serving: Piped([serving], parent or usual_parent(), Kind.COMPANION)  # type: ignore[assignment,return-value]
    try:
        yield
    finally:
        companion.start_process = usual


def children_of(pid: int) -> list[int]:
    """The processes that it has started, and the workers that were forked for it."""
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
    """Whether a process with this environment starts as with the usual one."""
    usual = environment()
    return all(env.get(name) == usual.get(name) for name in {*env, *usual} if name.startswith(READ_AT_START))


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment, with the project importable and every warning an error."""
    return {**os.environ, "PYTHONPATH": SEARCHED, "PYTHONWARNINGS": "error", **(extra or {})}


@functools.cache
def begin() -> tuple[subprocess.Popen[bytes], str]:
    """Start the process that forks, one for this test process and those that are forked from it later; and where it will listen."""
    folder = tempfile.mkdtemp(prefix="memplan-forked-")
    path = str(Path(folder) / "socket")
    env = {name: value for name, value in environment().items() if not name.startswith("MEMPLAN_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.running.forking", path],
        cwd=ROOT,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    atexit.register(process.communicate)  # it ends with this process in any case
    return process, path


@functools.cache
def usual_parent() -> Parent:
    """The process that forks, once it is ready."""
    if told := os.environ.get(TOLD):
        pid, _, path = told.partition(" ")
        return Parent(path, int(pid))
    process, path = begin()
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return Parent(path, process.pid)
