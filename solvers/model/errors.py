"""The errors that solvers raise, and the reasons why a run ends."""

from __future__ import annotations

import errno
from enum import StrEnum
from typing import ClassVar


class StopReason(StrEnum):
    """Why a run ended."""

    PROVED = "proved"
    GOAL_MET = "goal_met"
    TIME_LIMIT = "time_limit"
    WORK_LIMIT = "work_limit"
    MEMORY_LIMIT = "memory_limit"
    CANCELLED = "cancelled"
    SOLVER_FAILED = "solver_failed"

    @property
    def is_repeatable(self) -> bool:
        """True if a run that ends for this reason ends the same way on every machine."""
        return self in (StopReason.PROVED, StopReason.GOAL_MET, StopReason.WORK_LIMIT)


class SolverError(Exception):
    """Root of all errors that a solver raises."""


class UnknownSolver(SolverError):
    """No solver of that name is registered."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(f"no solver is named {name!r}; known are {', '.join(known)}")
        self.name = name
        self.known = known


class _OfOneSolver(SolverError):
    """An error of one solver, with a reason."""

    text: ClassVar[str]

    def __init__(self, solver: str, reason: str) -> None:
        super().__init__(f"{solver} {self.text}: {reason}")
        self.solver = solver
        self.reason = reason

    def __reduce__(self) -> tuple[type[_OfOneSolver], tuple[str, str]]:
        return type(self), (self.solver, self.reason)


class Unsupported(_OfOneSolver):
    """The instance has a feature that this solver does not take."""

    text = "cannot take this problem"


class Unavailable(_OfOneSolver):
    """The solver's library or program is not installed."""

    text = "is not available"


class SolverFailed(_OfOneSolver):
    """The solver crashed, was killed, or returned an impossible result."""

    text = "failed"


def is_for_want_of_memory(error: BaseException) -> bool:
    """True if memory ran out: allocations raise MemoryError, new processes ENOMEM, and new threads, which need a stack each, a plain RuntimeError."""
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "start new thread" in str(error))
