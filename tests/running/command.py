"""Runs `memplan` in a test's own process or in a new one, with pipes or on a terminal."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from typer import testing

from tests.running.forked import Forked, can_fork, environment

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 120.0
COMMAND = (sys.executable, "-m", "api.cli")

UNHURRIED = """
import sys, time
import planner
from planner.model.plan import PlanStatus
from solvers.model.errors import StopReason
from tests.api.sample_plans import make_plan

def plan(problem, options, on_progress=None, cancelled=None, on_log=None, begun=None):
    sys.stderr.write("planning\\n")
    sys.stderr.flush()
    while not cancelled():
        time.sleep(0.005)
    sys.stderr.write("asked to stop\\n")
    sys.stderr.flush()
    while deaf:
        time.sleep(0.005)
    return make_plan(PlanStatus.FEASIBLE, stop=StopReason.CANCELLED, peak=64, bound=64)

planner.plan = plan
from api.cli import main
deaf = "--deaf" in sys.argv
sys.argv = [a for a in sys.argv if a != "--deaf"]
main()
"""
"""The code of a `memplan` whose planning ends only when it is told to stop and, with --deaf, not even then."""


def run(
    *arguments: str,
    command: Sequence[str] = COMMAND,
    given: bytes | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run a command with pipes: `memplan` is forked where it starts as usual (tests/running/forked.py)."""
    variables = environment(env)
    if command != COMMAND or not can_fork(variables):
        return subprocess.run(
            [*command, *arguments],
            input=given or b"",
            capture_output=True,
            env=variables,
            cwd=cwd,
            timeout=SECONDS,
            check=False,
        )
    (its_in, our_in), (our_out, its_out), (our_err, its_err) = os.pipe(), os.pipe(), os.pipe()
    process = Forked(arguments, (its_in, its_out, its_err), variables, cwd)
    for file in (its_in, its_out, its_err):
        os.close(file)
    with ThreadPoolExecutor(3) as threads:
        threads.submit(_put, our_in, given or b"")
        out, err = threads.submit(_taken, our_out), threads.submit(_taken, our_err)
        return subprocess.CompletedProcess(arguments, process.wait(SECONDS), out.result(), err.result())


def _put(file: int, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), open(file, "wb") as pipe:
        pipe.write(data)


def _taken(file: int) -> bytes:
    with open(file, "rb") as pipe:
        return pipe.read()


def run_on_terminal(
    *arguments: str,
    columns: int = 80,
    rows: int = 50,
    env: Mapping[str, str] | None = None,
    command: Sequence[str] = COMMAND,
) -> tuple[int, str]:
    """Run a command with stdout and stderr on a terminal; return the exit code and what was written to the terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    variables = environment({"TERM": "xterm-256color", **(env or {})})
    process: Forked | subprocess.Popen[bytes]
    with Path(os.devnull).open("rb") as nothing:
        if command == COMMAND and can_fork(variables):
            process = Forked(arguments, (nothing.fileno(), theirs, theirs), variables)
        else:
            process = subprocess.Popen(
                [*command, *arguments], stdin=nothing, stdout=theirs, stderr=theirs, env=variables
            )
    os.close(theirs)
    written = bytearray()
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:
            break
        if not chunk:
            break
        written += chunk
    os.close(ours)
    return process.wait(SECONDS), written.decode("utf-8").replace("\r\n", "\n")


def planned(folder: Path, problem: object) -> tuple[str, str]:
    """Write the problem to the folder, plan it, and return the files of the problem and of its plan."""
    problem_file, plan_file = folder / "problem.json", folder / "plan.json"
    problem_file.write_text(json.dumps(problem), encoding="utf-8")
    assert run("plan", str(problem_file), "-o", str(plan_file)).returncode == 0
    return str(problem_file), str(plan_file)


# For calls in a test's own process: the commands are kept, since typer builds them anew for each call, which is slow.
CliRunner = testing.CliRunner
Result = testing.Result
if not TYPE_CHECKING:
    testing._get_command = functools.cache(testing._get_command)
