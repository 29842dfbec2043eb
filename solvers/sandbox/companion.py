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
"""Bytes that say how long a message is."""
LOOK_SECONDS = 0.5
"""How often it is asked whether an answer is still wanted."""


def always() -> bool:
    return True


class Companion:
    """Such a process, seen from its parent. `serving` names the function that answers, as `module:function`."""

    def __init__(self, serving: str, start: Callable[[str], subprocess.Popen[bytes] | Forked] | None = None) -> None:
        self._process = start_process(serving) if start is None else start(serving)

    def fileno(self) -> int:
        """Readable when an answer is there, or the process gone."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def send(self, message: object) -> None:
        """Raises OSError if the process is gone."""
        assert self._process.stdin is not None
        send(self._process.stdin, message)

    def receive(self) -> Any:
        """The next message. Raises EOFError if the process is gone."""
        assert self._process.stdout is not None
        return receive(self._process.stdout)

    def receive_within(self, seconds: float | None, wanted: Callable[[], bool] = always) -> Any:
        """The same, within so many seconds and for as long as `wanted`, asked now and then, says so. Raises TimeoutError besides."""
        until = math.inf if seconds is None else time.monotonic() + seconds
        while not select.select([self], [], [], min(LOOK_SECONDS, max(until - time.monotonic(), 0)))[0]:
            if time.monotonic() >= until:
                raise TimeoutError(f"still running after {seconds:g} s")
            if not wanted():
                raise TimeoutError("nobody waits for it any more")
        return self.receive()

    def kill(self) -> None:
        """The same of another thread's, which hears of it as the end of the answers. One that has ended is left alone."""
        if self._process.returncode is None:
            kill_group(self._process.pid)

    def end(self) -> int:
        """Kill it, with all that it started; what it ended with, which is its own if it had ended before."""
        code = self._process.poll()
        kill_group(self._process.pid)
        ended = self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # what was not sent yet has nobody to read it
                    continue
        return ended if code is None else code


def start_process(serving: str) -> subprocess.Popen[bytes]:
    """One that answers with that function."""
    module, function = serving.split(":")
    code = f"from solvers.sandbox.companion import serve; from {module} import {function}; serve({function})"
    # Without the current folder on the path: what lies there by chance must not stand in for a module. In a session of its own
    # Ctrl-C at the terminal does not reach it: its parent decides.
    return subprocess.Popen(
        [sys.executable, "-P", "-c", code, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        env=environment(),
    )


def fork_process(serving: str) -> Forked:
    """The same, forked: `solvers.sandbox.forked.can_fork` says whether it can be."""
    module, function = serving.split(":")
    answer = getattr(import_module(module), function)
    return Forked(lambda parent: serve(answer, parent))


def serve(answer: Callable[[Any, Callable[[object], None]], None], parent: int | None = None) -> None:
    """In the process itself: hand every message to `answer`, with a way to send. What libraries print must not get among the answers. `parent` is told as the first argument if not here."""
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
    """Write one message."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    stream.write(len(data).to_bytes(LENGTH, "little") + data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read one message, and nothing of what follows: whoever waits for more at the descriptor would not hear of it. Raises EOFError where there is none."""
    length = int.from_bytes(_bytes(stream, LENGTH), "little")
    return pickle.loads(_bytes(stream, length))


def _bytes(stream: IO[bytes], count: int) -> bytearray:
    """Just so many. Raises EOFError."""
    data = bytearray(count)
    rest = memoryview(data)
    while rest:
        got = os.readv(stream.fileno(), [rest])
        if not got:
            raise EOFError
        rest = rest[got:]
    return data
