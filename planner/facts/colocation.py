"""Groups of buffers that colocations tie together: who moves with whom, and at which distance."""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd
from typing import NamedTuple

from ..model.problem import BufferId, Colocation


class Group(NamedTuple):
    """Buffers that move as one; `offsets` are counted from the lowest member."""

    members: tuple[int, ...]
    offsets: tuple[int, ...]


def groups(ids: Iterable[BufferId], colocations: Iterable[Colocation]) -> tuple[Group, ...]:
    """The groups of two or more buffers, members by index in input order, in the order of their first members."""
    tied = tuple(colocations)
    if not tied:
        return ()
    index = {id_: i for i, id_ in enumerate(ids)}
    ties: dict[int, list[tuple[int, int]]] = {}
    for colocation in tied:
        buffer, base = index[colocation.buffer], index[colocation.base]
        ties.setdefault(base, []).append((buffer, colocation.offset))
        ties.setdefault(buffer, []).append((base, -colocation.offset))
    found: list[Group] = []
    seen: set[int] = set()
    for first in sorted(ties):
        if first in seen:
            continue
        place = {first: 0}
        todo = [first]
        while todo:
            here = todo.pop()
            for other, distance in ties[here]:
                if other not in place:
                    place[other] = place[here] + distance
                    todo.append(other)
        seen.update(place)
        low = min(place.values())
        members = tuple(sorted(place))
        found.append(Group(members, tuple(place[m] - low for m in members)))
    return tuple(found)


class Congruence(NamedTuple):
    """x is congruent to residue modulo modulus."""

    modulus: int = 1
    residue: int = 0

    def and_also(self, other: Congruence) -> Congruence | None:
        """Both at once (Chinese remainder); None if no number satisfies both."""
        common = gcd(self.modulus, other.modulus)
        if (self.residue - other.residue) % common:
            return None
        modulus = self.modulus // common * other.modulus
        step = other.modulus // common
        times = (
            (other.residue - self.residue) // common * pow(self.modulus // common, -1, step) % step if step > 1 else 0
        )
        return Congruence(modulus, (self.residue + self.modulus * times) % modulus)

    def at_least(self, low: int) -> int:
        """The least number >= low that satisfies it."""
        return low + (self.residue - low) % self.modulus

    def at_most(self, high: int) -> int:
        """The greatest number <= high that satisfies it."""
        return high - (high - self.residue) % self.modulus
