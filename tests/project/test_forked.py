"""A process that is forked for tests behaves like one that is started."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running.command import run, run_on_terminal
from tests.running.forked import ROOT, Forked, Kind, can_fork, environment, usual_parent

STARTED = (sys.executable, "-m", "api.cli.__main__")


@pytest.mark.parametrize("words", [["schema"], ["plan", "nowhere"], ["plan", "--wrong"], ["inspect", "-"]])
def test_a_forked_command_behaves_as_a_started_one_in_pipes(words: list[str], tmp_path: Path) -> None:
    given = b'{"format": "memplan/1", "lifetimes": "half_open", "buffers": []}'
    forked = run(*words, given=given, cwd=tmp_path)
    started = run(*words, given=given, cwd=tmp_path, command=STARTED)
    assert (forked.returncode, forked.stderr) == (started.returncode, started.stderr)
    assert forked.stdout == started.stdout


def test_a_forked_command_behaves_as_a_started_one_on_a_terminal() -> None:
    variables = {"NO_COLOR": "1"}
    assert run_on_terminal("solvers", env=variables) == run_on_terminal("solvers", env=variables, command=STARTED)


def test_a_signal_that_ends_a_forked_process_is_reported() -> None:
    reading, writing = os.pipe()
    process = Forked(["inspect", "-"], (reading, 1, 2), environment())
    assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    assert (process.wait(120), process.poll()) == (-signal.SIGKILL, -signal.SIGKILL)
    os.close(reading)
    os.close(writing)


@pytest.mark.parametrize("message", [b"", json.dumps({"path of": "solvers.exact.milp"}).encode()])
def test_a_caller_killed_while_asking_harms_no_other(message: bytes) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
        line.connect(usual_parent().path)
        if message:
            line.send(message)
    for _ in range(2):
        assert run("schema").returncode == 0


def test_variables_read_at_the_start_need_a_new_interpreter() -> None:
    assert can_fork(environment({"TERM": "dumb", "MEMPLAN_WORKERS": "1"}))
    assert not can_fork(environment({"PYTHONHASHSEED": "1"}))
    assert not can_fork(environment({"LC_ALL": "C" if os.environ.get("LC_ALL") != "C" else "C.UTF-8"}))


def test_a_process_that_raises_removes_no_folder(tmp_path: Path) -> None:
    (tmp_path / "kept").write_bytes(b"")
    ours, theirs = socket.socketpair()
    ours.close()
    with theirs, Path(os.devnull).open("r+b") as nothing:
        files = (nothing.fileno(), nothing.fileno(), nothing.fileno(), theirs.fileno())
        process = Forked(["3"], files, environment(), tmp_path, kind=Kind.WORKER)
    assert process.wait(120) != 0, "nobody told it what to do"
    assert (tmp_path / "kept").exists()
    assert Path(usual_parent().path).exists()


def test_a_forking_process_removes_no_folder_but_one_made_for_it(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.running.forking", str(tmp_path / "socket")]
    done = subprocess.run(command, cwd=ROOT, input=b"", capture_output=True, check=False)
    assert done.returncode == 1
    assert b"not in a folder that was made for it" in done.stderr
    assert tmp_path.exists()
