"""What a plan for all shapes is: fixed offsets, or offsets that are worked out when the shape is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from ...model.plan import Plan
from ...model.problem import BufferId
from .expression import Expression, Values


class Mode(StrEnum):
    """What the offsets depend on."""

    MAXIMUM = "maximum"
    """Nothing: every buffer has room for its largest size."""
    BUCKETS = "buckets"
    """Nothing: they hold for a list of shapes."""
    EXPRESSIONS = "expressions"
    """On the shape: each buffer lies behind some others."""


@dataclass(frozen=True, slots=True)
class Row:
    """One shape, and what a plan takes there."""

    values: Mapping[str, int]
    used: int
    """The largest end offset there; of several pools their sum."""
    optimum: int | None
    """The peak of the best plan for this shape alone that is known."""
    bound: int
    """Proven: no plan for this shape has a smaller one."""


@dataclass(frozen=True, slots=True)
class Behind:
    """Where one buffer begins: behind all of these, at the next aligned offset; at 0 where there are none."""

    id: BufferId
    pool: str
    size: Expression
    alignment: int
    after: tuple[BufferId, ...]
    offset: Expression
    """The same as a closed expression, or, where it is not exact, something never below it."""
    exact: bool


@dataclass(frozen=True, slots=True)
class PoolPeak:
    """What a pool takes at most, for every shape."""

    name: str
    size: int | None
    peak: Expression
    exact: bool


@dataclass(frozen=True, slots=True)
class ShapesPlan:
    """A plan for every shape of a problem, and what is proven of it."""

    mode: Mode
    symbols: Mapping[str, tuple[int, int]]
    problem_digest: str
    """Of the problem with all sizes at their largest."""
    plan: Plan | None
    """With fixed offsets: a plan of that problem; of a list of shapes, with each buffer's largest size among them."""
    behind: tuple[Behind, ...]
    """With expressions: one for each buffer, so that those behind which it lies come before it."""
    pools: tuple[PoolPeak, ...]
    rows: tuple[Row, ...]
    """The shapes that were looked at; of a list of shapes the list."""
    exact: bool
    """With fixed offsets: proven that no fixed offsets take less. With expressions: every expression is what the offsets are."""

    def pool_of(self) -> dict[BufferId, str]:
        """For every shape the same."""
        return {each.id: each.pool for each in (self.behind if self.plan is None else self.plan.placements)}

    def offsets(self, values: Values) -> dict[BufferId, int]:
        """The offsets for one shape."""
        if self.plan is not None:
            return {place.id: place.offset for place in self.plan.placements}
        ends: dict[BufferId, int] = {}
        found: dict[BufferId, int] = {}
        for each in self.behind:
            offset = max((ends[id_] for id_ in each.after), default=0)
            offset = -(-offset // each.alignment) * each.alignment
            found[each.id], ends[each.id] = offset, offset + each.size.at(values)
        return found
