"""Processes of `memplan` for tests, and the workers of a service, forked from one that has loaded the libraries: each of its own in everything else, and there in
a tenth of the time.

    python -m tests.forked PATH

is that one: it listens on a socket at PATH until its standard input ends.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import io
import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = (
    "alembic.command",
    "fastapi",
    "fastapi.openapi.utils",
    "numpy",
    "numpy.random",
    "planner.drawing",
    "planner.formats",
    "planner.generate",
    "planner.planning.placing.solving",
    "planner.planning.shapes",
    "planner.planning.sharing",
    "planner.planning.sweeping",
    "planner.reporting.explain",
    "procrastinate",
    "prometheus_client",
    "psycopg",
    "psycopg_pool",
    *(["pydantic.v1"] if sys.version_info < (3, 14) else []),
    "pydantic_settings",
    "rich.console",
    "rich.progress",
    "rich.table",
    "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite",
    "sqlalchemy.orm",
    "structlog",
    "typer",
    "typer.rich_utils",
    "uvicorn.loops.asyncio",
    "uvicorn.protocols.http.h11_impl",
)
"""Loaded beforehand. What is memplan's own above the planner is not: each process loads of it what it needs, in the order in which it does so."""
READ_AT_START = ("PYTHON", "LC_", "LANG")
"""Variables that begin so are read when an interpreter starts: who changes them needs a new one."""
MESSAGE = 1 << 20
TOLD_SECONDS = 10.0
NAME = "for {}"
"""What a worker is called, so that it is known whose it is."""


class Parent(NamedTuple):
    """The process that forks."""

    path: str
    """Of its socket."""
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
        starter: int | None = None,
    ) -> None:
        """`files`: its standard input, output and error. `starter`: whose worker it is to be; the fourth file is the line to it."""
        self.returncode: int | None = None
        self._turn = threading.Lock()
        self._line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._line.connect((parent or _parent()).path)
        order = {"arguments": list(arguments), "env": dict(env), "cwd": str(cwd or Path.cwd()), "starter": starter}
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


class ForkedWorker(Forked):
    """What runs in a process of api.jobs.process_pool, in place of a subprocess.Popen."""

    def __init__(self, parent: Parent, line: socket.socket) -> None:
        with Path(os.devnull).open("r+b") as nothing:
            files = (nothing.fileno(), nothing.fileno(), 2, line.fileno())
            env = {**os.environ, "PYTHONPATH": str(ROOT)}
            super().__init__(["3"], files, env, parent=parent, starter=os.getpid())

    def wait(self, timeout: float | None = None) -> int:
        """Another process tells how it ended, which may take longer on a busy machine."""
        try:
            return super().wait(timeout if not timeout else TOLD_SECONDS)
        except TimeoutError:
            raise subprocess.TimeoutExpired("worker_process", timeout or 0) from None

    def poll(self) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@contextlib.contextmanager
def forking_workers(parent: Parent | None = None) -> Iterator[None]:
    """This process's workers are forked meanwhile."""
    from api.jobs import process_pool

    usual = process_pool.start_worker
    process_pool.start_worker = functools.partial(ForkedWorker, parent or _parent())  # type: ignore[assignment]
    try:
        yield
    finally:
        process_pool.start_worker = usual


def children_of(pid: int) -> list[int]:
    """The processes that it has started, and the workers that were forked for it."""
    own, forked = _children(pid), _children(_parent().pid) if _parent.cache_info().currsize else []
    return own + [each for each in forked if _name(each) == NAME.format(pid)]


def _children(pid: int) -> list[int]:
    paths = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for path in paths for child in path.read_text().split()]


def _name(pid: int) -> str:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def can_fork(env: Mapping[str, str]) -> bool:
    """Does a process with this environment start as one of the usual environment does?"""
    usual = environment()
    return all(env.get(name) == usual.get(name) for name in {*env, *usual} if name.startswith(READ_AT_START))


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment, with the project importable and every warning an error."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", **(extra or {})}


@functools.cache
def _parent() -> Parent:
    """Started when it is first wanted, one for this test process."""
    folder = tempfile.mkdtemp(prefix="memplan-forked-")
    path = str(Path(folder) / "socket")
    env = {name: value for name, value in environment().items() if not name.startswith("MEMPLAN_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.forked", path], cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    atexit.register(process.communicate)  # it ends with this process in any case
    return Parent(path, process.pid)


def main() -> None:
    from api.cli.lean_libraries import load_libraries_lean

    load_libraries_lean()
    for name in LIBRARIES:
        importlib.import_module(name)
    assert threading.active_count() == 1, "what has threads cannot be forked"
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door, selectors.DefaultSelector() as events:
        door.bind(sys.argv[1])
        door.listen()
        events.register(door, selectors.EVENT_READ)
        events.register(0, selectors.EVENT_READ)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            for key, _ in events.select():
                if key.fileobj == 0:
                    shutil.rmtree(Path(sys.argv[1]).parent)
                    return
                if key.fileobj is door:
                    line, _ = door.accept()
                    pid = _fork(line, door, events)
                    events.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, line))
                else:
                    pid, line = key.data
                    events.unregister(key.fileobj)
                    os.close(key.fd)
                    _, status = os.waitpid(pid, 0)
                    with line, contextlib.suppress(BrokenPipeError):
                        line.send(b"%d" % os.waitstatus_to_exitcode(status))


def _fork(line: socket.socket, door: socket.socket, events: selectors.BaseSelector) -> int:
    message, files, _, _ = socket.recv_fds(line, MESSAGE, 4)
    pid = os.fork()
    if pid == 0:
        others = [key.data[1] for key in events.get_map().values() if key.data]
        for each in (*others, line, door, events):
            each.close()
        _become(json.loads(message), files)
    for file in files:
        os.close(file)
    line.send(b"%d" % pid)
    return pid


def _become(order: dict[str, object], files: list[int]) -> NoReturn:
    """As if it had been started so."""
    parent = Parent(sys.argv[1], os.getppid())
    for number, file in enumerate(files):
        os.dup2(file, number)
    os.closerange(len(files), 1024)
    os.environ.clear()
    os.environ.update(order["env"])  # type: ignore[call-overload]
    os.chdir(str(order["cwd"]))
    time.tzset()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path[0] = str(order["cwd"])
    sys.argv = ["memplan", *order["arguments"]]  # type: ignore[misc]
    sys.stdin = _text(0, "r", "strict")
    sys.stdout = _text(1, "w", "strict", line_buffering=os.isatty(1))
    sys.stderr = _text(2, "w", "backslashreplace", line_buffering=True)
    if order["starter"] is not None:
        _become_worker(str(order["starter"]))
    elif sys.argv[1:2] in (["serve"], ["worker"]):
        with forking_workers(parent):
            _become_memplan()
    else:
        _become_memplan()
    sys.exit()


def _become_worker(starter: str) -> None:
    Path("/proc/self/comm").write_text(NAME.format(starter))
    os.setpgid(0, 0)
    from api.jobs.worker_process import main as work

    work()


def _become_memplan() -> None:
    from api.cli import main as memplan

    memplan()


def _text(file: int, mode: str, errors: str, *, line_buffering: bool = False) -> io.TextIOWrapper:
    raw = open(file, f"{mode}b", closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(raw, errors=errors, line_buffering=line_buffering)


if __name__ == "__main__":
    main()
