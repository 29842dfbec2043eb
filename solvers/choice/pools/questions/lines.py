"""Processes that answer questions about programs, and what each of them knows."""

from __future__ import annotations

import math
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ....model.errors import StopReason
from ....model.solver import Control, Limits
from ....sandbox.conversation import Conversation, Reply
from ..program.program import Heights, Program
from .question import NAME


@dataclass(frozen=True, slots=True, eq=False)
class LinearProgram:
    """A wish for the solution of a linear program: of the term after those held, within so many rounds and so much work."""

    program: Program
    held: tuple[int, ...]
    rounds: int | None
    work: int
    heights: Heights = ()
    """It is for pools of these heights; none: for all there are."""
    enough: float = math.inf
    """A cost from this on needs no further rounds."""

    def is_met_by(self, other: LinearProgram, *, is_cut: bool = False) -> bool:
        """Is the other's solution this one's? `is_cut`: more work might have changed it."""
        is_same = self.program is other.program
        is_same &= (self.held, self.rounds, self.heights) == (other.held, other.rounds, other.heights)
        return is_same and (other.work == self.work if is_cut else other.work <= self.work)

    def goes_on_from(self, other: LinearProgram) -> bool:
        """Does it begin with the other's solution?"""
        return self.program is other.program and self.held == other.held


class Line:
    """One process. It remembers the last program, and its last linear program with the covers found for it."""

    def __init__(self, limits: Limits, control: Control) -> None:
        self.solved: list[LinearProgram] = []
        """Which linear programs it has solved, one going on from the other, or will have once it is idle."""
        self.has_failed = False
        """Has its process ended before it should?"""
        self._talk = Conversation(
            NAME,
            "solvers.exact.cpsat",
            "solvers.choice.pools.questions.answering:Answering",
            None,
            limits.memory_bytes,
            control,
        )
        self._deadline = limits.deadline
        self._known: Program | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._last: Future[Reply] | None = None
        self._is_closed = False

    @property
    def is_idle(self) -> bool:
        return self._last is None or self._last.done()

    def begin(self, program: Program, request: dict[str, Any]) -> Future[Reply]:
        """Ask on a thread of its own, after all that was asked before."""
        self._thread = self._thread or ThreadPoolExecutor(1)
        self._last = self._thread.submit(self.said, program, request)
        return self._last

    def said(self, program: Program, request: dict[str, Any]) -> Reply:
        """The process's reply. Raises Unsupported, Unavailable and SolverFailed."""
        request = request | {"program": None if program is self._known else program}
        self._known = program
        has_failed, self.has_failed = self.has_failed, True  # unless there is a reply
        for reply in self._talk.asking(request, self._deadline):
            if reply is not None:
                self.has_failed = has_failed or reply.fields is None
                return reply
            if self._is_closed:
                break
        self._talk.close()
        return Reply(None, StopReason.CANCELLED)

    def close(self) -> None:
        """End the process, whatever it does."""
        self._is_closed = True
        if self._thread is not None:
            self._thread.shutdown(cancel_futures=True)
        self._talk.close()
