"""The types of a search among choices: placed choices, points, frontiers, and what is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeAlias

from ...model.errors import StopReason
from .instance import Choice, Pick


@dataclass(frozen=True, slots=True)
class Placed:
    """The result of placing a choice."""

    value: int | None
    """None if it was not placed."""
    bound: int | None
    """A lower bound on its value; None: it is proven that it cannot be placed."""
    work: int = 0
    tops: tuple[int, ...] = ()
    """How high it reaches at the time of each load, where known and useful."""
    picks: tuple[Pick, ...] | None = None
    """The bound holds for every choice with these picks; None: only for this whole choice."""
    is_useless: bool = False
    """Proven: it needs at least as much as a known point that costs no more. So it does not matter how low it can be."""


@dataclass(frozen=True, slots=True)
class Point:
    """A choice that was placed."""

    choice: Choice
    value: int
    cost: int
    bound: int
    """No choice at this cost or less has a smaller value."""
    cost_bound: int
    """No choice with this value or less costs less."""

    @property
    def is_proven(self) -> bool:
        return self.value == self.bound and self.cost == self.cost_bound

    def dominates(self, other: Point) -> bool:
        """True if this point is no worse in both, and not equal."""
        return (
            (self.value, self.cost) != (other.value, other.cost)
            and self.value <= other.value
            and self.cost <= other.cost
        )


@dataclass(frozen=True, slots=True)
class Frontier:
    """All points found, cheapest first."""

    points: tuple[Point, ...]
    is_complete: bool
    """Proven: every choice is matched or beaten by one of the points."""
    stop: StopReason
    work: int
    least_value: int | None = None
    """No choice within the limits has a smaller value. None: no choice has any, or nothing is known."""
    least_cost: int | None = None
    """No choice within the limits costs less. None: nothing is known."""
    is_impossible: bool = False
    """Proven: no choice can be placed within the limits."""
    within: Fraction | None = None
    """Proven: for any choice within the limits there is a point of no more than 1 + this times its value and its cost. None: nothing of the kind."""


class Measure(Protocol):
    """How values and loads correspond."""

    def most_load(self, value: int) -> int:
        """The greatest load that allows this value."""

    def least_value(self, load: int) -> int:
        """The least value that this load allows."""


Place: TypeAlias = Callable[[Choice, int | None], Placed]
"""Places a choice, which is of use only below this value (None: in any case)."""
PlaceBoth: TypeAlias = Callable[[Sequence[tuple[Choice, int | None]]], Sequence[Placed]]
"""The same for two choices, side by side where possible: neither profits from what the other shows."""
OnPoint: TypeAlias = Callable[[Point], None]
Stopped: TypeAlias = Callable[[], StopReason | None]
More: TypeAlias = Callable[[], bool]
"""Gives every question and placement more work from now on; False if there is none left."""


@dataclass(frozen=True, slots=True)
class Demand:
    """The request."""

    most_value: int | None = None
    most_cost: int | None = None
    points: int | None = None
    """At most this many points of the frontier, evenly spread over values; None: all."""


def greater(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else max(one, other)


def thinned(points: tuple[Point, ...], most: int | None) -> tuple[Point, ...]:
    """At most this many points, with both ends kept: points with the nearest neighbours are dropped first."""
    if most == 1:
        return points[:1]
    while most is not None and len(points) > most:
        _, k = min((abs(points[k - 1].value - points[k + 1].value), k) for k in range(1, len(points) - 1))
        points = points[:k] + points[k + 1 :]
    return points
