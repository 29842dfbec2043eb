"""The differences between two plans: buffers that moved, came or went, and changed peaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ..model.plan import Placement, Plan
from ..model.problem import BufferId


@dataclass(frozen=True, slots=True)
class Change:
    """A buffer whose place or size differs."""

    id: BufferId
    kind: Literal["moved", "resized", "added", "removed"]
    before: Placement | None
    after: Placement | None

    @property
    def bytes(self) -> int:
        """Return the buffer's larger size: so many bytes have a new address, or none any more."""
        return max(place.size for place in (self.before, self.after) if place is not None)


@dataclass(frozen=True, slots=True)
class PoolChange:
    """One pool's peak in both plans; None if the pool or the plan is missing."""

    name: str
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class Difference:
    """The differences between two plans."""

    before: int | None
    """The first plan's peak."""
    after: int | None
    pools: tuple[PoolChange, ...]
    changes: tuple[Change, ...]
    """In the order of the second plan; buffers that it lacks come last."""
    unchanged: int
    """The number of buffers in the same place."""
    same_problem: bool

    @property
    def bytes(self) -> int:
        """Return the bytes of all changes."""
        return sum(change.bytes for change in self.changes)


def difference(before: Plan, after: Plan) -> Difference:
    """Return how the second plan differs from the first."""
    old = {place.id: place for place in before.placements}
    new = {place.id: place for place in after.placements}
    ids = [*new, *(id_ for id_ in old if id_ not in new)]
    changes = [change for id_ in ids if (change := _change(id_, old.get(id_), new.get(id_))) is not None]
    first, second = ({use.name: use.peak for use in plan.pools} for plan in (before, after))
    names = dict.fromkeys([*second, *first])
    return Difference(
        before.peak,
        after.peak,
        tuple(PoolChange(name, _peak(first, name), _peak(second, name)) for name in names),
        tuple(changes),
        len(ids) - len(changes),
        before.problem_digest == after.problem_digest,
    )


def _change(id_: BufferId, before: Placement | None, after: Placement | None) -> Change | None:
    if before is None:
        return Change(id_, "added", None, after)
    if after is None:
        return Change(id_, "removed", before, None)
    if before.size != after.size:
        return Change(id_, "resized", before, after)
    return None if (before.pool, before.offset) == (after.pool, after.offset) else Change(id_, "moved", before, after)


def _peak(peaks: Mapping[str, int | None], name: str) -> int | None:
    return peaks.get(name)
