"""Runs another program as our own process: it dies with us, ends in time, and its output is read line by line."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ...model.errors import StopReason

POLL_SECONDS = 0.05
_DIE_WITH_PARENT = """
import os, sys
try:
    import ctypes
    ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)  # PR_SET_PDEATHSIG, SIGKILL; it outlives exec
except (ImportError, OSError, AttributeError):
    pass
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""
"""Run in the new process before it becomes the other program: a hook between fork and exec is not safe with threads."""


def run_owned(
    command: Sequence[str],
    folder: Path,
    on_line: Callable[[str], None],
    stopped: Callable[[], StopReason | None],
    interrupt_at: float | None = None,
) -> tuple[int, StopReason | None]:
    """Runs the command until it ends, or kills it when `stopped` gives a reason. Returns the exit code, and why it was killed.

    At interrupt_at, on the clock of time.monotonic(), SIGINT asks it to end, as from a keyboard; its output is still read.

    The process stays in our process group, so killing the group kills it too; on Linux the kernel also kills it if we die.
    """
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _DIE_WITH_PARENT, str(os.getpid()), *command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        try:
            reason = _follow(process, on_line, stopped, interrupt_at)
        finally:
            if process.poll() is None:
                process.kill()
        code = process.wait()
        return code, StopReason.TIME_LIMIT if reason is None and code == -signal.SIGINT else reason


def _follow(
    process: subprocess.Popen[bytes],
    on_line: Callable[[str], None],
    stopped: Callable[[], StopReason | None],
    interrupt_at: float | None,
) -> StopReason | None:
    """Reads until the output ends. Returns why it was stopped; None if it ended by itself."""
    assert process.stdout is not None
    pending = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            reason = stopped()
            if reason is not None:
                return reason
            if interrupt_at is not None and time.monotonic() >= interrupt_at:
                process.send_signal(signal.SIGINT)
                interrupt_at = None
            if not selector.select(POLL_SECONDS):
                continue
            data = os.read(process.stdout.fileno(), 1 << 16)
            *lines, pending = (pending + data).split(b"\n")
            for line in lines if data or not pending else [pending]:
                on_line(line.decode("utf-8", "replace").rstrip())
            if not data:
                process.wait()
                return None
