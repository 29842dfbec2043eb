"""The real service in a process of its own, on a free port, with a data folder of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from api.app import Application, create_app
from api.cli.commands.service import server_config
from api.settings import Settings
from planner.formats import write_problem
from planner.generate import Request, generate
from tests.running.forked import Forked, can_fork, children_of, environment, forking_workers
from tests.running.processes import until

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = re.compile(r"memplan is served at (\S+)|Uvicorn running on (http://[0-9.:]+)")
JSON = {"Content-Type": "application/json"}
SECONDS = 120.0
"""How long tests wait for anything: enough for a busy machine, so that what takes longer hangs."""
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""One TLS context for all clients, which saves each of them loading certificates for 20 ms of processor time."""

THREE: dict[str, Any] = json.loads((ROOT / "examples" / "three.json").read_bytes())
TOO_SMALL = {**THREE, "pools": [{"name": "arena", "size": 80}]}


class Running:
    """A process of memplan and its standard error."""

    def __init__(self, ready: re.Pattern[str], command: list[str], variables: Mapping[str, str]) -> None:
        self.log: list[str] = []
        self.ready_line: re.Match[str] | None = None
        """The match of the line that says that the process is ready."""
        usual = {name: value for name, value in environment().items() if not name.startswith("MEMPLAN_")}
        env = {**usual, "MEMPLAN_WORKERS": "1", "MEMPLAN_SOLVERS": "waiting", **variables}
        ours, its = os.pipe()
        self.process: Forked | subprocess.Popen[bytes]
        self._errors = os.fdopen(ours, encoding="utf-8")
        with os.fdopen(its, "wb") as errors, Path(os.devnull).open("rb") as nothing:
            if command[0] == "api.cli" and can_fork(env):
                self.process = Forked(command[1:], (nothing.fileno(), 1, errors.fileno()), env)
            else:
                self.process = subprocess.Popen([sys.executable, "-m", *command], stdin=nothing, stderr=errors, env=env)
        self._ready = ready
        self._known = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait(self) -> re.Match[str]:
        """Wait until the process is ready, and return the match of the line that says so."""
        assert self._known.wait(SECONDS), self.log
        assert self.ready_line is not None, self.log
        return self.ready_line

    def _read(self) -> None:
        with self._errors as lines:
            for line in lines:
                self.log.append(line)
                if self.ready_line is None and (found := self._ready.search(line)):
                    self.ready_line = found
                    self._known.set()
        self._known.set()

    def children(self) -> list[int]:
        """Return the processes that this one has started."""
        return children_of(self.process.pid)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send the signal, wait until the process has ended, and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(SECONDS)
        self._reader.join(SECONDS)
        return code


class Served(Running):
    """A running service."""

    def __init__(
        self, folder: Path, variables: Mapping[str, str] | None = None, command: list[str] | None = None
    ) -> None:
        mine = {"MEMPLAN_DATA_DIR": str(folder), "MEMPLAN_READERS": "1", **(variables or {})}
        super().__init__(ADDRESS, command or ["api.cli", "serve", "--port", "0"], mine)
        self.folder = folder
        found = self.wait()
        self.address = found[1] or found[2]
        self.client = httpx.Client(base_url=self.address, timeout=SECONDS, trust_env=False, verify=PLAIN)

    def plan(self, problem: object = THREE, query: str = "", **headers: str) -> httpx.Response:
        """POST /v1/plans."""
        content = problem if isinstance(problem, bytes) else json.dumps(problem).encode()
        return self.client.post(f"/v1/plans{query}", content=content, headers={**JSON, **headers})

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.client.close()
        return super().stop(number)


@contextmanager
def serving(folder: Path, **variables: str) -> Iterator[Served]:
    """Run a service with these settings, and end it afterwards."""
    service = Served(folder, {f"MEMPLAN_{name.upper()}": value for name, value in variables.items()})
    try:
        yield service
    finally:
        service.stop()


@contextmanager
def running_inside(folder: Path, **settings: Any) -> Iterator[tuple[httpx.Client, Application]]:
    """Run a service in this process, so that tests can look at its objects and replace them; its workers are forked."""
    given = Settings(data_dir=folder, port=0, workers=1, readers=1, **settings)
    app = create_app(given)
    server = uvicorn.Server(server_config(app, given))
    thread = threading.Thread(target=server.run)
    with forking_workers():
        thread.start()
        until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        address = f"http://127.0.0.1:{port}"
        try:
            with httpx.Client(base_url=address, timeout=SECONDS, trust_env=False, verify=PLAIN) as client:
                yield client, app
        finally:
            server.should_exit = True
            thread.join()


def refusal(response: httpx.Response) -> dict[str, Any]:
    """Return the problem document of a response, after checking it for what all of them must have."""
    assert response.headers["content-type"] == "application/problem+json", response.text
    document: dict[str, Any] = response.json()
    assert document["status"] == response.status_code
    assert document["type"] == f"urn:memplan:problem:{document['code']}"
    assert document["title"]
    assert document["detail"]
    assert response.status_code != 500
    return document


SLOW = write_problem(generate("random", Request(400, seed=5)))
SLOW_QUERY = "?solver=waiting&time_limit=600"
"""With this query SLOW has a plan at once, then waits until it is stopped (tests/running/installed)."""
