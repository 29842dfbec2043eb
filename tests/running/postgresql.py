"""A real PostgreSQL server for tests, with a temporary folder, a free port, and settings that never wait for a disk."""

from __future__ import annotations

import contextlib
import fcntl
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
from tests.running.forked import shared_folder

SECONDS = 120.0
QUICK = (
    "fsync=off",
    "full_page_writes=off",
    "max_connections=200",
    "shared_buffers=16MB",
    "autovacuum=off",
    "authentication_timeout=3",
)
"""Settings for speed; with the last, stopping does not wait a minute for a client that has connected and is silent."""
IN_MEMORY = "/dev/shm"
ROOM = 4 << 30
STORE = "store"
"""The database with the tables of an empty store, from which others are made."""

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


def _place() -> str:
    """Return where servers keep their files: in memory if there is room, since a disk's file system makes files slowly.

    A server has a thousand files and each database three hundred. Other users than root need access.
    """
    if os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free > ROOM:
        return IN_MEMORY
    return "/tmp"


class Server:
    """A running server; a killed one can be started again."""

    def __init__(self, programs: Path, settings: tuple[str, ...] = QUICK) -> None:
        self.programs = programs
        self._settings = settings
        self._numbers = itertools.count(1)
        self.folder = Path(tempfile.mkdtemp(prefix="memplan-pg-", dir=_place()))
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
        self._fill()
        self.start()

    def _fill(self) -> None:
        """Make the server's files, or copy those that another process of this run has made."""
        shared = shared_folder()
        if shared is None:
            self._make()
            return
        kept = shared / "postgresql"
        with kept.with_suffix(".lock").open("w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            if not kept.exists():
                self._make()
                half = kept.with_suffix(".half")
                subprocess.run(["cp", "-a", str(self.folder / "data"), str(half)], check=True)
                half.rename(kept)
                return
        subprocess.run(["cp", "-a", str(kept), str(self.folder / "data")], check=True)

    def _make(self) -> None:
        """Make the files of a new server, and its database of an empty store; this takes a second of processor time."""
        made = [str(self.programs / "initdb"), "-D", str(self.folder / "data"), "-U", "memplan", "-A", "trust", "-N"]
        subprocess.run(
            [*made, "-E", "UTF8", "--locale=C", "--wal-segsize=1"],
            check=True,
            stdout=subprocess.DEVNULL,
            user=self._user,
            cwd="/",
            timeout=SECONDS,
        )
        self.start()
        open_store(self._created("template1", STORE)).close()
        self.stop()

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
        return self._created("template1", f"test{next(self._numbers)}")

    def new_database(self) -> str:
        """Make a database with the tables of an empty store, and return its URL."""
        return self._created(STORE, f"test{next(self._numbers)}")

    @contextlib.contextmanager
    def database_on(self, disk: Path) -> Iterator[str]:
        """Make one whose files lie in the folder, for as long as it is needed; yield its URL."""
        if self._user is not None:
            shutil.chown(disk, self._user)
        name = f"test{next(self._numbers)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE TABLESPACE {name} LOCATION '{disk}'")
            yield self._created(STORE, name, f"TABLESPACE {name}")
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
            connection.execute(f"DROP TABLESPACE {name}")

    def _created(self, template: str, name: str, where: str = "") -> str:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} {where}")
        return self.url(name)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """One server for all tests that need one."""
    programs = find_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed (Debian, Ubuntu: apt-get install postgresql)")
    with contextlib.closing(Server(programs)) as server:
        yield server
