"""The input, the callbacks and the answer of every MILP solver."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ...model.errors import StopReason
from ...model.solver import Control


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of one run."""

    deadline: float | None
    """On the clock of time.monotonic()."""
    nodes: int | None
    first_only: bool
    """Stop at the first solution."""
    seed: int
    memory_bytes: int | None

    def part(self, share: float) -> Budget:
        """The same limits, with this share of the time that is left and of the nodes."""
        now = time.monotonic()
        return replace(
            self,
            deadline=None if self.deadline is None else now + share * (self.deadline - now),
            nodes=None if self.nodes is None else max(int(share * self.nodes), 1),
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """The solver's answer, not yet checked."""

    stop: StopReason
    """PROVED: it claims to have searched everything."""
    values: Mapping[str, float] | None = None
    """The value of each variable, by name; None if it has no solution."""
    objective: float | None = None
    bound: float | None = None
    """Its lower bound on the objective; None if it gives none."""
    nodes: int = 0
    message: str = ""

    @property
    def proves_empty(self) -> bool:
        """True if it claims that there is no solution."""
        return self.stop is StopReason.PROVED and self.values is None


@dataclass(frozen=True, slots=True)
class Listener:
    """Receives bounds and better solutions during a run, and can stop it."""

    control: Control
    on_bound: Callable[[float], None]
    on_values: Callable[[Mapping[str, float]], None]


class Backend(Protocol):
    """A way to run a program."""

    name: str

    def run(self, problem: Any, start: Mapping[str, float] | None, budget: Budget, listener: Listener) -> Answer:
        """Solves a PuLP problem, starting with these values."""
