"""A process of this program that answers messages as long as its parent lives."""

from __future__ import annotations

import math
import os
import pickle
import select
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import IO, Any

from .forked import Forked
from .launcher import environment
from .parent_death import die_with, kill_group

LENGTH = 8
"""Bytes of a message's length."""
LOOK_SECONDS = 0.5
"""Interval between checks whether an answer is still wanted."""


def always() -> bool:
    return True


class Companion:
    """A companion process, seen from its parent. `serving` names the function that answers, as `module:function`."""

    def __init__(self, serving: str, start: Callable[[str], subprocess.Popen[bytes] | Forked] | None = None) -> None:
        self._process = start_process(serving) if start is None else start(serving)

    def fileno(self) -> int:
        """A descriptor that is readable when an answer is there or the process has ended."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def send(self, message: object) -> None:
        """Sends a message. Raises OSError if the process has ended."""
        assert self._process.stdin is not None
        send(self._process.stdin, message)

    def receive(self) -> Any:
        """The next message. Raises EOFError if the process has ended."""
        assert self._process.stdout is not None
        return receive(self._process.stdout)

    def receive_within(self, seconds: float | None, wanted: Callable[[], bool] = always) -> Any:
        """The next message, within this many seconds and while `wanted`, called regularly, returns true. Raises TimeoutError or EOFError."""
        until = math.inf if seconds is None else time.monotonic() + seconds
        while not select.select([self], [], [], min(LOOK_SECONDS, max(until - time.monotonic(), 0)))[0]:
            if time.monotonic() >= until:
                raise TimeoutError(f"still running after {seconds:g} s")
            if not wanted():
                raise TimeoutError("nobody waits for it any more")
        return self.receive()

    def kill(self) -> None:
        """Kills the process from another thread, which then sees the end of the answers. Does nothing if it has ended."""
        if self._process.returncode is None:
            kill_group(self._process.pid)

    def end(self) -> int:
        """Kills the process and all that it started. Returns its exit code, its own if it had ended before."""
        code = self._process.poll()
        kill_group(self._process.pid)
        ended = self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # unsent data has no reader any more
                    continue
        return ended if code is None else code


def start_process(serving: str) -> subprocess.Popen[bytes]:
    """Starts a process that answers with that function."""
    module, function = serving.split(":")
    code = f"from solvers.sandbox.companion import serve; from {module} import {function}; serve({function})"
    # Without the current folder on the path: files there must not replace modules. In a session of its own, so that Ctrl-C at the terminal does not
    # reach it: its parent decides.
    return subprocess.Popen(
        [sys.executable, "-P", "-c", code, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        env=environment(),
    )


def fork_process(serving: str) -> Forked:
    """Forks a process that answers with that function; only if `solvers.sandbox.forked.can_fork`."""
    module, function = serving.split(":")
    answer = getattr(import_module(module), function)
    return Forked(lambda parent: serve(answer, parent))


def serve(answer: Callable[[Any, Callable[[object], None]], None], parent: int | None = None) -> None:
    """Runs in the process itself: passes every message to `answer`, with a function that sends.

    Printed output is kept out of the answers. Without `parent`, the parent's process id is the first argument.
    """
    with os.fdopen(0, "rb", closefd=False) as questions, os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        if sys.platform == "linux":
            die_with(int(sys.argv[1]) if parent is None else parent, lifeline=0)
        while True:
            try:
                message = receive(questions)
            except EOFError:
                return
            answer(message, lambda each: send(answers, each))


def send(stream: IO[bytes], message: object) -> None:
    """Writes one message."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    stream.write(len(data).to_bytes(LENGTH, "little") + data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Reads one message and nothing after it: buffered bytes would make the descriptor look empty to a selector. Raises EOFError if there is none."""
    length = int.from_bytes(_bytes(stream, LENGTH), "little")
    return pickle.loads(_bytes(stream, length))


def _bytes(stream: IO[bytes], count: int) -> bytearray:
    """Reads exactly this many bytes. Raises EOFError."""
    data = bytearray(count)
    rest = memoryview(data)
    while rest:
        got = os.readv(stream.fileno(), [rest])
        if not got:
            raise EOFError
        rest = rest[got:]
    return data
