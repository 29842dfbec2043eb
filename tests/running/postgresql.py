"""A real PostgreSQL server for tests, with a temporary folder, a free port, and settings that never wait for a disk."""

from __future__ import annotations

import contextlib
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from api.store.opening import open_store

SECONDS = 120.0
QUICK = ("fsync=off", "full_page_writes=off", "max_connections=200", "shared_buffers=16MB", "authentication_timeout=3")
"""Settings for speed; with the last, stopping does not wait a minute for a client that has connected and is silent."""


GUARD = """
cat > /dev/null
read -r pid < "$1/data/postmaster.pid" && [ "$(readlink "/proc/$pid/cwd")" = "$1/data" ] || pid=
[ -z "$pid" ] || kill -QUIT "$pid"
while [ -n "$pid" ] && kill -0 "$pid"; do sleep 0.1; done
rm -rf "$1"
"""
"""A program that ends the server and removes its folder once the starter is gone, however that ended."""


def find_programs() -> Path | None:
    """Return the folder of the newest server's programs, which Debian keeps off the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


class Server:
    """A running server; a killed one can be started again."""

    def __init__(self, programs: Path, settings: tuple[str, ...] = QUICK) -> None:
        self.programs = programs
        self._settings = settings
        self._numbers = itertools.count(1)
        self._store: str | None = None
        self.folder = Path(tempfile.mkdtemp(prefix="memplan-pg-", dir="/tmp"))  # other users than root need access
        self._guard = subprocess.Popen(
            ["sh", "-c", GUARD, "guard", str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._user: str | None = None
        if os.geteuid() == 0:  # the server refuses to run as root
            users = {entry.pw_name for entry in pwd.getpwall()}
            self._user = "postgres" if "postgres" in users else "nobody"
            shutil.chown(self.folder, self._user)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        made = [
            str(programs / "initdb"),
            "-D",
            str(self.folder / "data"),
            "-U",
            "memplan",
            "-A",
            "trust",
            "-N",
            "-E",
            "UTF8",
        ]
        subprocess.run(
            [*made, "--locale=C"], check=True, stdout=subprocess.DEVNULL, user=self._user, cwd="/", timeout=SECONDS
        )
        self.start()

    def start(self) -> None:
        """Start the server, and return when it answers."""
        options = [
            f"-c{each}" for each in (*self._settings, f"port={self.port}", f"unix_socket_directories={self.folder}")
        ]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    str(self.programs / "postgres"),
                    "-D",
                    str(self.folder / "data"),
                    *options,
                    "-clisten_addresses=127.0.0.1",
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                user=self._user,
                cwd="/",
            )
        end = time.monotonic() + SECONDS
        while True:
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=1).close()
            except psycopg.OperationalError:
                assert time.monotonic() < end, (self.folder / "log").read_text(encoding="utf-8")[-2000:]
                time.sleep(0.02)
            else:
                return

    @property
    def pid(self) -> int:
        """The process id of the server's first process, which starts the others."""
        return self._process.pid

    def stop(self, number: int = signal.SIGINT) -> None:
        """End all connections and the server, with SIGQUIT as if it had crashed."""
        self._process.send_signal(number)
        self._process.wait(SECONDS)

    def close(self) -> None:
        """End the server and remove its folder."""
        if self._process.poll() is None:
            self.stop(signal.SIGQUIT)
        self._guard.communicate(timeout=SECONDS)

    def url(self, database: str) -> str:
        return f"postgresql://memplan@127.0.0.1:{self.port}/{database}"

    def empty_database(self) -> str:
        """Make a database without tables, and return its URL."""
        return self._created("template1")

    def new_database(self) -> str:
        """Make a database with the tables of an empty store, and return its URL."""
        if self._store is None:
            url = self.empty_database()
            open_store(url).close()
            self._store = url.rpartition("/")[2]
        return self._created(self._store)

    def _created(self, template: str) -> str:
        name = f"test{next(self._numbers)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url(name)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """One server for all tests that need one."""
    programs = find_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed (Debian, Ubuntu: apt-get install postgresql)")
    with contextlib.closing(Server(programs)) as server:
        yield server
