"""Where files are planned: what a place for one file at a time looks like, and the places of this machine."""

from __future__ import annotations

from typing import Any, Protocol

from solvers.sandbox.companion import Companion

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

    def __init__(self, count: int) -> None:
        self._count = count

    def count(self) -> int:
        return self._count

    def open(self) -> Place:
        return Companion(SERVING)

    def close(self) -> None:
        """Each ends by itself."""
