"""A test's PostgreSQL servers are copies of one, and end when the test process ends, however it ends."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.running.forked import TOLD, environment, usual_parent
from tests.running.postgresql import Server, find_programs
from tests.running.processes import until

BEGIN = """
import sys
from pathlib import Path
from tests.running.postgresql import Server, find_programs
server = Server(find_programs())
print(server.pid, server.folder, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_ends_with_its_starter(number: int) -> None:
    if find_programs() is None:
        pytest.skip("no PostgreSQL server is installed")
    command, forking = [sys.executable, "-c", BEGIN], usual_parent()
    env = environment({TOLD: f"{forking.pid} {forking.path}"})  # so that its server is a copy of this run's
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as begun:
        assert begun.stdout is not None
        pid, folder = begun.stdout.readline().decode().split()
        begun.send_signal(number)
    until(lambda: not Path(folder).exists() and not Path(f"/proc/{pid}").exists())


def test_all_servers_of_a_run_are_copies_of_one() -> None:
    programs = find_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server is installed")
    usual_parent()

    def identifier() -> object:
        with contextlib.closing(Server(programs)) as server, psycopg.connect(server.new_database()) as connection:
            assert connection.execute("SELECT count(*) FROM jobs").fetchone() == (0,)
            return connection.execute("SELECT system_identifier FROM pg_control_system()").fetchone()

    assert identifier() == identifier()
