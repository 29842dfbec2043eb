"""Where files are planned: what a place for one file at a time looks like, and the places of this machine."""

from __future__ import annotations

from collections import deque
from typing import Any, Protocol

from solvers.sandbox.companion import Companion, fork_process
from solvers.sandbox.forked import can_fork

SERVING = "planner.many.worker:work"


class Place(Protocol):
    """Takes one message after the other (planner.many.worker has them), and answers each when it is ready."""

    def fileno(self) -> int:
        """Readable when an answer is there, or the place gone."""
        ...

    def send(self, message: object) -> None:
        """Raises OSError if the place is gone."""
        ...

    def receive(self) -> Any:
        """The next answer. Raises EOFError if the place is gone."""
        ...

    def end(self) -> int:
        """Give it up, with what it is at; the exit code where it is a process."""
        ...


class Places(Protocol):
    """Some of them."""

    def count(self) -> int:
        """How many files are worth planning side by side, as things are now."""
        ...

    def open(self) -> Place:
        """One more."""
        ...

    def close(self) -> None:
        """Leave."""
        ...


class Processes:
    """Processes of this machine."""

    def __init__(self, count: int, files: int) -> None:
        self._count = count
        self._forked = deque(Companion(SERVING, fork_process) for _ in range(min(count, files)) if can_fork())
        """Those that have begun, and are not asked for yet."""

    def count(self) -> int:
        return self._count

    def open(self) -> Place:
        return self._forked.popleft() if self._forked else Companion(SERVING)

    def close(self) -> None:
        """Each that was opened ends by itself."""
        while self._forked:
            self._forked.pop().end()
