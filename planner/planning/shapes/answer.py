"""The plan for all shapes: fixed offsets, or offsets computed when the shape is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from ...checks.arguments import explained
from ...checks.report import Report
from ...checks.values import check_number
from ...model.errors import Code, echo
from ...model.plan import Plan
from ...model.problem import BufferId
from .expression import Expression, Values
from .shaped import check_formed, check_symbols, require_values


class Mode(StrEnum):
    """What the offsets depend on."""

    MAXIMUM = "maximum"
    """On nothing: every buffer has room for its largest size."""
    BUCKETS = "buckets"
    """On nothing: the offsets hold for a list of shapes."""
    EXPRESSIONS = "expressions"
    """On the shape: each buffer lies behind some others."""


@dataclass(frozen=True, slots=True)
class Row:
    """One shape, and what the plan takes in it."""

    values: Mapping[str, int]
    used: int
    """The largest end offset there; with several pools their sum."""
    optimum: int | None
    """The peak of the best known plan for this shape alone."""
    bound: int
    """Proven: no plan for this shape has a smaller peak."""


@dataclass(frozen=True, slots=True)
class Behind:
    """Where one buffer begins: at the next aligned offset behind all of these; at 0 if there are none."""

    id: BufferId
    pool: str
    size: Expression
    alignment: int
    after: tuple[BufferId, ...]
    offset: Expression
    """The offset as a closed expression or, if not exact, as an upper bound."""
    exact: bool


@dataclass(frozen=True, slots=True)
class PoolPeak:
    """The most that a pool takes in any shape."""

    name: str
    size: int | None
    peak: Expression
    exact: bool


@dataclass(frozen=True, slots=True)
class ShapesPlan:
    """A plan for every shape of a problem, and what is proven about it."""

    mode: Mode
    symbols: Mapping[str, tuple[int, int]]
    problem_digest: str
    """The digest of the problem with all sizes at their largest."""
    plan: Plan | None
    """For fixed offsets: a plan of that problem; for a list of shapes, with each buffer's largest size among them."""
    behind: tuple[Behind, ...]
    """For expressions: one for each buffer, ordered so that buffers come after those they lie behind."""
    pools: tuple[PoolPeak, ...]
    rows: tuple[Row, ...]
    """The shapes that were examined; for a list of shapes, that list."""
    exact: bool
    """For fixed offsets: proven that no fixed offsets take less. For expressions: every expression equals its offset."""
    notes: tuple[str, ...] = ()
    """What was not found on the way, and why: plans of single shapes for which time did not suffice, or on which a solver failed."""

    def pool_of(self) -> dict[BufferId, str]:
        """Return each buffer's pool, which is the same for every shape."""
        return {each.id: each.pool for each in (self.behind if self.plan is None else self.plan.placements)}

    @explained
    def offsets(self, values: Values) -> dict[BufferId, int]:
        """Return the offsets for one shape. Raises BadInput unless it has a value in range for every symbol."""
        require_values(values, Code.WRONG_TYPE, "")
        report = Report()
        for name, (low, high) in self.symbols.items():
            value = values.get(name)
            if type(value) is not int or not low <= value <= high:
                report.add(Code.OUT_OF_RANGE, (name,), f"must be an integer from {low} to {high}, not {echo(value)}")
        report.raise_if_any()
        if self.plan is not None:
            return {place.id: place.offset for place in self.plan.placements}
        ends: dict[BufferId, int] = {}
        found: dict[BufferId, int] = {}
        for each in self.behind:
            offset = max((ends[id_] for id_ in each.after), default=0)
            offset = -(-offset // each.alignment) * each.alignment
            found[each.id], ends[each.id] = offset, offset + each.size.at(values)
        return found

    def require_sound(self) -> None:
        """Raise BadInput if no file could say what the plan says: expressions, alignments, or an order that are none."""
        report, before = Report(), set[BufferId]()
        for finding in check_symbols(self.symbols):
            report.include(finding)
        for i, each in enumerate(self.behind):
            check_number(report, ("behind", i, "alignment"), each.alignment, 1)
            check_formed(report, ("behind", i), {"size": each.size, "offset": each.offset}, self.symbols)
            if not before.issuperset(each.after):
                report.add(Code.CONTRADICTION, ("behind", i, "after"), "must name buffers that come before this one")
            before.add(each.id)
        for i, pool in enumerate(self.pools):
            check_formed(report, ("pools", i), {"peak": pool.peak}, self.symbols)
        report.raise_if_any()
