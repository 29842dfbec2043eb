"""Reads a child's messages until it ends: asks it to stop when there is a reason, kills it if it does not, and finds out why it died."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator

from solvers.model.errors import StopReason

from .messages import Message
from .remote import Remote

POLL_SECONDS = 0.02
GRACE_SECONDS = 0.1
"""The time to answer after a request to stop, before the solver is killed."""
NOTE_LENGTH = 200
OUT_OF_MEMORY_CODES = (-6, -9)
"""Exit codes of a process whose C++ code cannot allocate, or that the system killed because memory ran out."""


class Listening:
    """The child's messages in batches; after the last batch the child is dead."""

    def __init__(self, remote: Remote, reason_to_stop: Callable[[], StopReason | None]) -> None:
        self._remote, self._reason_to_stop = remote, reason_to_stop
        self.stop: StopReason | None = None
        """Why it must stop; None if there is no reason."""

    def __iter__(self) -> Iterator[list[Message]]:
        kill_at = math.inf
        while time.monotonic() < kill_at and not self._remote.is_silent:
            if self.stop is None and (reason := self._reason_to_stop()) is not None:
                self.stop = reason
                kill_at = time.monotonic() + (GRACE_SECONDS if self._remote.ask_to_stop() else 0)
            yield self._remote.receive(POLL_SECONDS)
        yield self._remote.kill()


def cause_of_death(remote: Remote) -> tuple[str, bool]:
    """Why a child ended without an answer, and whether it ran out of memory."""
    if remote.fault is not None:
        return remote.fault, False
    if remote.fate.reason is not None:
        return f"its process could not be started: {remote.fate.reason}", False
    code = remote.fate.code
    how = "for unknown reasons" if code is None else f"by signal {-code}" if code < 0 else f"with exit code {code}"
    return f"its process ended {how}", code in OUT_OF_MEMORY_CODES


def note_of_failure(name: str, why: str) -> str:
    """What the user reads of a solver that failed."""
    return f"{name} ended early: {why}"[:NOTE_LENGTH]


def reason_of_failure(memory_bytes: int | None, *, out_of_memory: bool) -> StopReason:
    """The stop reason for a child that failed."""
    return StopReason.MEMORY_LIMIT if out_of_memory and memory_bytes is not None else StopReason.SOLVER_FAILED
