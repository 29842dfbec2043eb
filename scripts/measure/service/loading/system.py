"""The service under load: its own, with one store or the other, and the processor time of each of its parts."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from tests.running.postgresql import Server

ADDRESS = re.compile(r"memplan is served at (\S+)")
READY = re.compile(r"memplan worker is ready")
ROOMY = {
    "MEMPLAN_MAX_QUEUE": "20000",
    "MEMPLAN_MAX_JOBS_PER_TOKEN": "20000",
    "MEMPLAN_LOG_LEVEL": "warning",
}
STORES = ("sqlite", "postgresql")
ROOT = Path(__file__).resolve().parents[4]


def interpreter(checkout: Path) -> str:
    """The Python of the checkout's environment."""
    return str(checkout / ".venv" / "bin" / "python")


@dataclass(frozen=True, slots=True)
class System:
    """A service, and its processes if they are our own."""

    url: str
    service: int | None = None
    worker: int | None = None
    """`memplan worker`, if the solvers are not in the service's own process."""
    database: int | None = None

    def processes(self) -> dict[int, str]:
        """The processes of the service and of its workers, with their names."""
        found: dict[int, str] = {}
        for name, pid in (("service", self.service), ("worker", self.worker)):
            if pid is not None:
                found[pid] = name
                found |= {child: f"{name}'s process {n}" for n, child in enumerate(_children(pid), 1)}
        return found

    def spent(self) -> tuple[float, ...]:
        """Processor seconds so far: of the service's own process, of its workers, and of the database if it is a process."""
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
    """Processor seconds of its running children."""
    found = 0.0
    for child in _children(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            found += _of(child)
    return found


def _children(pid: int) -> list[int]:
    paths = Path(f"/proc/{pid}/task").glob("*/children")
    return sorted(int(child) for path in paths for child in path.read_text().split())


@contextmanager
def served(store: str, checkout: Path = ROOT) -> Iterator[System]:
    """A service of a checkout, with an empty store of that kind. With PostgreSQL, also a database server and a worker."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as resources:
        variables = {"MEMPLAN_DATA_DIR": folder, **ROOMY}
        worker = database = None
        if store == "postgresql":
            server = resources.enter_context(_server())
            variables["MEMPLAN_STORE_URL"] = server.empty_database()
            database = server.pid
        service, address = resources.enter_context(_running(checkout, ["serve", "--port", "0"], ADDRESS, variables))
        if store == "postgresql":
            worker, _ = resources.enter_context(_running(checkout, ["worker"], READY, variables))
        yield System(address[1], service, worker, database)


@contextmanager
def _server() -> Iterator[Server]:
    """A database server with durable writes, unlike the tests'."""
    from tests.running.postgresql import Server, find_programs

    programs = find_programs()
    if programs is None:
        sys.exit("no PostgreSQL server is installed (Debian, Ubuntu: apt-get install postgresql)")
    with contextlib.closing(Server(programs, settings=())) as server:
        yield server


@contextmanager
def _running(
    checkout: Path, command: list[str], ready: re.Pattern[str], variables: Mapping[str, str]
) -> Iterator[tuple[int, re.Match[str]]]:
    """A memplan command, once it reports that it is ready: its process, and the match of that line."""
    whole = [interpreter(checkout), "-m", "api.cli", *command]
    environment = {**os.environ, **variables}
    with subprocess.Popen(whole, cwd=checkout, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if found := ready.search(line):
                    threading.Thread(target=_drain, args=(process.stderr,), daemon=True).start()
                    yield process.pid, found
                    break
            else:
                sys.exit(f"memplan {command[0]} did not start")
        finally:
            process.terminate()


def _drain(output: IO[str]) -> None:
    """Reads all output: a full pipe would block the process."""
    with output:
        for _ in output:
            continue
