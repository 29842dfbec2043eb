"""The interface of every solver, and its task."""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Protocol

from .errors import StopReason
from .libraries import Runnable
from .outcome import Outcome, Value

if TYPE_CHECKING:
    from .instance import Instance, Ints, Placement


class Goal(StrEnum):
    """When a plan is good enough."""

    MINIMISE = "minimise"
    FIT = "fit"
    """Stop at the first placement within all capacities."""

    @classmethod
    def _missing_(cls, value: object) -> Goal | None:
        return cls.MINIMISE if value == "minimize" else None


class Warm(StrEnum):
    """What a solver gets of the best known placement. Which of it helps differs by solver and was measured."""

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
    """Objectives that count what moved since an older plan."""

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
"""The features of a solver that takes one pool at a time and lowers its peak under all other rules."""


@dataclass(frozen=True, slots=True)
class Limits:
    """A solver's limits. Work is counted, not timed, so that it is the same on every machine; a unit is about a microsecond."""

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
    """Best valid placement known so far."""
    bound: Value = ()
    """Best bound known so far."""
    target: Value = ()
    """A placement of this value is good enough: the caller needs no better one."""
    pool_bounds: tuple[int, ...] = ()
    warm: Warm | None = None
    """None: the solver's own default."""
    verbose: bool = False
    active_threads: Ints | None = None
    """One number: how many of the workers it may use now; None: all of them."""

    @property
    def enough(self) -> Value:
        """The value at which to stop: no better one exists, or none is needed."""
        return max(self.bound, self.target)

    def outcome(
        self, stop: StopReason, placement: Placement | None, value: Value | None, solver: str | None, work: int
    ) -> Outcome:
        """The outcome of a run that proved nothing new."""
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
    """A solver's connection to its caller."""

    def incumbent(self, placement: Placement) -> None:
        """Reports a placement better than all before, so that it is kept whatever happens to the solver."""

    def bound(self, bound: Value) -> None:
        """Reports a proven bound."""

    def log(self, line: str) -> None:
        """Reports a line of the solver's log, for users who request it."""

    def stopped(self) -> StopReason | None:
        """Why the solver must stop now, or None. To be called often."""


class Silent:
    """A Control that keeps nothing and only stops at the deadline."""

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
    """The form in which a solver takes its instance."""

    PRESOLVED = "presolved"
    """Scaled, squeezed and split. The portfolio runs greedy first, then the solver on each piece, in rounds; the best placement counts."""
    AS_WRITTEN = "as_written"
    """As lowered, in the user's order: other planners' published heuristics depend on it. The solver runs alone, once; its own placement counts."""


class Solver(Runnable, Protocol):
    """Places the blocks of one instance. A class with this base only defines what is special about it."""

    name: ClassVar[str]
    features: ClassVar[frozenset[Feature]]
    wants: ClassVar[Input] = Input.PRESOLVED

    @abstractmethod
    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """The best placement within the limits. Raises Unsupported for what it does not take."""


def never() -> None:
    """A stop function for callers that never stop."""
