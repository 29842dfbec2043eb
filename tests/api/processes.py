"""`memplan` as a process of its own, with pipes or a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-m", "api.cli")

UNHURRIED = """
import sys, time
import planner
from planner.plan import PlanStatus
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
"""A `memplan` whose planning ends only when it is told to, or, with --deaf, not even then."""


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment, with the project importable and every warning an error."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", **(extra or {})}


def run(
    *arguments: str,
    command: Sequence[str] = COMMAND,
    given: bytes | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run it with pipes."""
    return subprocess.run(
        [*command, *arguments],
        input=given or b"",
        capture_output=True,
        env=environment(env),
        cwd=cwd,
        timeout=60,
        check=False,
    )


def run_on_terminal(
    *arguments: str, columns: int = 80, env: Mapping[str, str] | None = None, command: Sequence[str] = COMMAND
) -> tuple[int, str]:
    """Run it with stdout and stderr on a terminal; the exit code, and everything that was written to the terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen(
        [*command, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=environment({"TERM": "xterm-256color", **(env or {})}),
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
    return process.wait(60), written.decode("utf-8").replace("\r\n", "\n")
