"""A forked process of this program: it has all modules of its parent and starts at once.

Only from a process without threads, whose locks would be copied.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

TASKS = Path("/proc/self/task")


def can_fork() -> bool:
    """Return whether this process has no other threads, also none unknown to Python; False if that cannot be determined."""
    try:
        return sys.platform == "linux" and len(list(TASKS.iterdir())) == 1
    except OSError:
        return False


class Forked:
    """A forked process as its parent sees it, with the needed parts of subprocess.Popen."""

    def __init__(self, work: Callable[[int], None]) -> None:
        """The process only runs `work`, on its standard input and output, with its parent's process id."""
        orders, answers = os.pipe(), os.pipe()
        for stream in (sys.stdout, sys.stderr):  # buffered output belongs to the parent
            if stream is not None:
                stream.flush()
        parent, self.pid = os.getpid(), os.fork()
        if self.pid == 0:
            _run_child(work, parent, orders[0], answers[1])
        os.close(orders[0])
        os.close(answers[1])
        self.stdin, self.stdout = os.fdopen(orders[1], "wb"), os.fdopen(answers[0], "rb")
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return its exit code; None while it lives."""
        return self._exit_code(os.WNOHANG)

    def wait(self) -> int:
        """Waits for its end and returns its exit code."""
        code = self._exit_code(0)
        assert code is not None
        return code

    def _exit_code(self, how: int) -> int | None:
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, how)
            except ChildProcessError:  # if the end of children is ignored, their exit codes are lost
                pid, status = self.pid, 0
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


def _run_child(work: Callable[[int], None], parent: int, orders: int, answers: int) -> NoReturn:
    """Runs in the child: detaches it from its parent's open files and signal handlers."""
    code = 1
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.dup2(orders, 0)
        os.dup2(answers, 1)
        nothing = os.open(os.devnull, os.O_RDWR)
        for each in [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]:
            if each > 2 and each != nothing:  # not closed: the numbers still belong to objects, which may close them
                os.dup2(nothing, each)
        work(parent)
        code = 0
    except BaseException:  # noqa: BLE001 - whatever it is, the exit code reports it
        traceback.print_exc()
    finally:
        os._exit(code)
