"""Processes of `memplan` for tests, forked from one that has loaded the libraries: each of its own in everything else, and there in a tenth of the time.

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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = (
    "alembic.command",
    "fastapi",
    "fastapi.openapi.utils",
    "numpy",
    "numpy.random",
    "planner.formats",
    "procrastinate",
    "prometheus_client",
    "psycopg",
    "psycopg_pool",
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


class Forked:
    """A process that runs `memplan` with these arguments; the parts of subprocess.Popen that tests use."""

    def __init__(
        self, arguments: Sequence[str], files: tuple[int, int, int], env: Mapping[str, str], cwd: Path | None = None
    ) -> None:
        """`files`: its standard input, output and error."""
        self.returncode: int | None = None
        self._line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._line.connect(_parent())
        order = {"arguments": list(arguments), "env": dict(env), "cwd": str(cwd or Path.cwd())}
        socket.send_fds(self._line, [json.dumps(order).encode()], list(files))
        self.pid = int(self._line.recv(MESSAGE))

    def poll(self) -> int | None:
        with contextlib.suppress(TimeoutError):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code; of a signal that killed it the negative number."""
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
            os.kill(self.pid, number)


def can_fork(env: Mapping[str, str]) -> bool:
    """Does a process with this environment start as one of the usual environment does?"""
    usual = environment()
    return all(env.get(name) == usual.get(name) for name in {*env, *usual} if name.startswith(READ_AT_START))


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment, with the project importable and every warning an error."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", **(extra or {})}


@functools.cache
def _parent() -> str:
    """The socket of the process that forks, started when it is first wanted, one for this test process."""
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
    return path


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
    message, files, _, _ = socket.recv_fds(line, MESSAGE, 3)
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
    for number, file in enumerate(files):
        os.dup2(file, number)
        if file > 2:
            os.close(file)
    os.closerange(3, 1024)
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
    from api.cli import main as memplan

    memplan()


def _text(file: int, mode: str, errors: str, *, line_buffering: bool = False) -> io.TextIOWrapper:
    raw = open(file, f"{mode}b", closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(raw, errors=errors, line_buffering=line_buffering)


if __name__ == "__main__":
    main()
