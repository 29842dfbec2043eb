"""Where files are planned: the interface of a place for one file at a time, and the places on this machine."""

from __future__ import annotations

from collections import deque
from typing import Any, Protocol

from solvers.sandbox.companion import Companion, fork_process
from solvers.sandbox.forked import can_fork

SERVING = "planner.many.worker:work"


class Place(Protocol):
    """Takes one message after the other (see planner.many.worker) and answers each when ready."""

    def fileno(self) -> int:
        """Return a descriptor that is readable when an answer is there, or the place is gone."""
        ...

    def send(self, message: object) -> None:
        """Send a message. Raises OSError if the place is gone."""
        ...

    def receive(self) -> Any:
        """Return the next answer. Raises EOFError if the place is gone."""
        ...

    def end(self) -> int:
        """End it with its work; return the exit code of a process."""
        ...


class Places(Protocol):
    """A set of places."""

    def count(self) -> int:
        """Return how many files are currently worth planning side by side."""
        ...

    def open(self) -> Place:
        """Open one more."""
        ...

    def close(self) -> None:
        """Close them."""
        ...


class Processes:
    """Processes on this machine."""

    def __init__(self, count: int, files: int) -> None:
        self._count = count
        self._forked = deque(Companion(SERVING, fork_process) for _ in range(min(count, files)) if can_fork())
        """Processes that were started but not requested yet."""

    def count(self) -> int:
        return self._count

    def open(self) -> Place:
        return self._forked.popleft() if self._forked else Companion(SERVING)

    def close(self) -> None:
        """Each opened one ends by itself."""
        while self._forked:
            self._forked.pop().end()
