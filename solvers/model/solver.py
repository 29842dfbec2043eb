"""The interface of every solver, and its task."""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Protocol

from .errors import StopReason
from .instance import Instance, Ints, Placement
from .libraries import Runnable
from .outcome import Outcome, Value


class Goal(StrEnum):
    """When is a plan good enough?"""

    MINIMISE = "minimise"
    FIT = "fit"
    """Stop at the first placement within all capacities."""

    @classmethod
    def _missing_(cls, value: object) -> Goal | None:
        return cls.MINIMISE if value == "minimize" else None


class Warm(StrEnum):
    """Which facts of the best known placement a solver gets. Which of them help differs by solver, so it is measured."""

    NONE = "none"
    BOUND = "bound"
    HINT = "hint"
    BOTH = "both"

    @property
    def gives_bound(self) -> bool:
        return self in (Warm.BOUND, Warm.BOTH)

    @property
    def gives_hint(self) -> bool:
        return self in (Warm.HINT, Warm.BOTH)


class Feature(StrEnum):
    """The features that a solver supports beyond one rect per block, one pool and the peak."""

    FIXED = "fixed"
    RESERVED = "reserved"
    CAPACITY = "capacity"
    MULTI_RECT = "multi_rect"
    CONFLICTS = "conflicts"
    EXCLUSIONS = "exclusions"
    POOLS = "pools"
    """Several pools with a choice; without it a solver takes one pool at a time."""
    TERMS = "terms"
    """Lexicographic objectives and reuse penalties."""
    MOVES = "moves"
    """Objectives that count what is not where an older plan had it."""

    @property
    def words(self) -> str:
        """Its description for users, in the words of problems."""
        return _WORDS[self]


_WORDS = {
    Feature.FIXED: "fixed offsets",
    Feature.RESERVED: "reserved ranges",
    Feature.CAPACITY: "capacities",
    Feature.MULTI_RECT: "colocations and several live ranges",
    Feature.CONFLICTS: "explicit conflicts",
    Feature.EXCLUSIONS: "exclusions",
    Feature.POOLS: "a choice of pools",
    Feature.TERMS: "other objectives than peaks",
    Feature.MOVES: "counting moves",
}


ONE_PEAK = frozenset(Feature) - {Feature.POOLS, Feature.TERMS, Feature.MOVES}
"""Of a solver that takes one pool at a time, and lowers its peak, whatever rules there are."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a solver may use. Work is counted, not timed, so that it ends alike on every machine: a unit is about a microsecond."""

    deadline: float | None = None
    """On the clock of time.monotonic(), which all processes of a machine share."""
    work: int | None = None
    memory_bytes: int | None = None
    workers: int = 1


@dataclass(frozen=True, slots=True)
class Task:
    """A solver's task for an instance."""

    limits: Limits = field(default_factory=Limits)
    goal: Goal = Goal.MINIMISE
    seed: int = 0
    start: Placement | None = None
    """Best placement known so far; a valid one."""
    bound: Value = ()
    """Best bound known so far."""
    target: Value = ()
    """A placement of this value is good enough: the caller has no use for a better one."""
    pool_bounds: tuple[int, ...] = ()
    warm: Warm | None = None
    """None: the solver's own default."""
    verbose: bool = False
    active_threads: Ints | None = None
    """One number: how many of the workers it may use at the moment; None: all of them."""

    @property
    def enough(self) -> Value:
        """Stop at a value that is no greater: nothing better exists, or nobody needs it."""
        return max(self.bound, self.target)

    def outcome(
        self, stop: StopReason, placement: Placement | None, value: Value | None, solver: str | None, work: int
    ) -> Outcome:
        """Of a run that proved no more than was known."""
        return Outcome(
            stop,
            placement=placement,
            value=value,
            bound=self.bound,
            pool_bounds=self.pool_bounds,
            solver=solver,
            work=work,
            reproducible=stop.is_repeatable,
        )


class Control(Protocol):
    """A solver's line to whoever started it."""

    def incumbent(self, placement: Placement) -> None:
        """A placement better than any before: keep it, whatever happens to me next."""

    def bound(self, bound: Value) -> None:
        """Proven from now on."""

    def log(self, line: str) -> None:
        """A line of the solver's log, for users who request it."""

    def stopped(self) -> StopReason | None:
        """Must I stop now, and why? Ask often."""


class Silent:
    """A Control that keeps nothing and stops at the deadline alone."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._deadline = None if limits is None else limits.deadline

    def incumbent(self, placement: Placement) -> None: ...

    def bound(self, bound: Value) -> None: ...

    def log(self, line: str) -> None: ...

    def stopped(self) -> StopReason | None:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return StopReason.TIME_LIMIT
        return None


class Input(StrEnum):
    """In which form a solver wants its instance."""

    PRESOLVED = "presolved"
    """Scaled, squeezed and split."""
    AS_WRITTEN = "as_written"
    """As lowered, in the user's order: named heuristics of other planners depend on it."""


class Solver(Runnable, Protocol):
    """Places the blocks of one instance. A class that names this one as its base says only what is special about it."""

    name: ClassVar[str]
    features: ClassVar[frozenset[Feature]]
    wants: ClassVar[Input] = Input.PRESOLVED

    @abstractmethod
    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """The best placement within the limits. Raises Unsupported for what it does not take."""


def never() -> None:
    """For callers that stop nobody."""
