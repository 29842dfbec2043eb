"""The words of a search among choices: what became of a choice, points, frontiers, and what is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeAlias

from ...model.errors import StopReason
from .instance import Choice, Pick


@dataclass(frozen=True, slots=True)
class Placed:
    """What became of a choice."""

    value: int | None
    """None: it was not placed."""
    bound: int | None
    """It has no smaller value. None: it has none at all, proven."""
    work: int = 0
    tops: tuple[int, ...] = ()
    """How high it reaches at the time of each load, where that is known and of use."""
    picks: tuple[Pick, ...] | None = None
    """Whatever else is chosen, these have that bound. None: that is proven of the whole choice alone."""


@dataclass(frozen=True, slots=True)
class Point:
    """A choice that was placed."""

    choice: Choice
    value: int
    cost: int
    bound: int
    """No choice that costs no more has a smaller value."""
    cost_bound: int
    """No choice with no greater value costs less."""

    @property
    def is_proven(self) -> bool:
        return self.value == self.bound and self.cost == self.cost_bound

    def dominates(self, other: Point) -> bool:
        """No worse in both, and not the same."""
        return (
            (self.value, self.cost) != (other.value, other.cost)
            and self.value <= other.value
            and self.cost <= other.cost
        )


@dataclass(frozen=True, slots=True)
class Frontier:
    """All points that were found, the fastest first."""

    points: tuple[Point, ...]
    is_complete: bool
    """Proven: every choice is matched or beaten by one of the points."""
    stop: StopReason
    work: int
    least_value: int | None = None
    """No choice has a smaller value, whatever it costs. None: no choice has any, or nothing is known."""
    least_cost: int | None = None
    """No choice costs less, whatever its value."""
    is_impossible: bool = False
    """Proven: no choice can be placed within the limits."""
    within: Fraction | None = None
    """Proven: for any choice within the limits there is a point of no more than 1 + this times its value and its cost. None: nothing of the kind."""


class Measure(Protocol):
    """How values and loads belong together."""

    def most_load(self, value: int) -> int:
        """A greater load means a greater value."""

    def least_value(self, load: int) -> int:
        """A load makes this value at least."""


Place: TypeAlias = Callable[[Choice], Placed]
OnPoint: TypeAlias = Callable[[Point], None]
Stopped: TypeAlias = Callable[[], StopReason | None]
More: TypeAlias = Callable[[], bool]
"""Gives every question and every placement more work from now on. False: there is no more."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What is asked for."""

    most_value: int | None = None
    most_cost: int | None = None
    points: int | None = None
    """Of the whole frontier so many at most, evenly spread over values."""
