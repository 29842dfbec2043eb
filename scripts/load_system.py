"""What is loaded: a service of the load's own, with one store or the other, and how much processor time each part of it has taken."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.postgresql import Server

ADDRESS = re.compile(r"memplan is served at (\S+)")
READY = re.compile(r"memplan worker is ready")
ROOMY = {
    "MEMPLAN_MAX_QUEUE": "20000",
    "MEMPLAN_MAX_JOBS_PER_TOKEN": "20000",
    "MEMPLAN_LOG_LEVEL": "warning",
}
STORES = ("sqlite", "postgresql")


@dataclass(frozen=True, slots=True)
class System:
    """A service, and its processes if they are our own."""

    url: str
    service: int | None = None
    worker: int | None = None
    """`memplan worker`, where solvers are not the service's own."""
    database: int | None = None

    def spent(self) -> tuple[float, ...]:
        """Seconds of processor time so far: of the service's own process, of its workers, and of the database if it is a process."""
        if self.service is None:
            return ()
        solving = _of_children(self.service)
        if self.worker is not None:
            solving += _of(self.worker) + _of_children(self.worker)
        if self.database is None:
            return _of(self.service), solving
        return _of(self.service), solving, _of(self.database) + _of_children(self.database)


def _of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _of_children(pid: int) -> float:
    """Those that still run."""
    found = 0.0
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in path.read_text().split():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
                found += _of(int(child))
    return found


@contextmanager
def served(store: str) -> Iterator[System]:
    """A service with an empty store of that kind. With PostgreSQL, a server and a worker of its own besides."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as resources:
        variables = {"MEMPLAN_DATA_DIR": folder, **ROOMY}
        worker = database = None
        if store == "postgresql":
            server = resources.enter_context(_server())
            variables["MEMPLAN_STORE_URL"] = server.empty_database()
            database = server.pid
        service, address = resources.enter_context(_running(["serve", "--port", "0"], ADDRESS, variables))
        if store == "postgresql":
            worker, _ = resources.enter_context(_running(["worker"], READY, variables))
        yield System(address[1], service, worker, database)


@contextmanager
def _server() -> Iterator[Server]:
    """One that keeps what it says it keeps, unlike the tests'."""
    from tests.postgresql import Server, find_programs

    programs = find_programs()
    if programs is None:
        sys.exit("no PostgreSQL server is installed (Debian, Ubuntu: apt-get install postgresql)")
    with contextlib.closing(Server(programs, settings=())) as server:
        yield server


@contextmanager
def _running(
    command: list[str], ready: re.Pattern[str], variables: Mapping[str, str]
) -> Iterator[tuple[int, re.Match[str]]]:
    """A command of memplan, once it says that it is ready: its process, and what it said."""
    whole = [sys.executable, "-m", "api.cli", *command]
    with subprocess.Popen(whole, stderr=subprocess.PIPE, text=True, env={**os.environ, **variables}) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if found := ready.search(line):
                    yield process.pid, found
                    break
            else:
                sys.exit(f"memplan {command[0]} did not start")
        finally:
            process.terminate()
            process.stderr.close()
