"""Which tensors lie where relative to each other, as far as rules have decided: groups that move as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from ..problem import BufferId, Colocation, Interval
from .liveness import Life
from .operators import Tensor


class Places:
    """Groups of tensors with their offsets; at first each tensor is a group of its own."""

    def __init__(self, tensors: Mapping[BufferId, Tensor]) -> None:
        self.tensor = tensors
        self._order = {id_: i for i, id_ in enumerate(tensors)}
        self._members: dict[BufferId, list[BufferId]] = {id_: [id_] for id_ in self.tensor}
        """By any member; the same list for all of a group."""
        self._offset: dict[BufferId, int] = dict.fromkeys(self.tensor, 0)

    def group(self, tensor: BufferId) -> tuple[BufferId, ...]:
        """The tensors that move as one with it, itself among them."""
        return tuple(self._members[tensor])

    def together(self, first: BufferId, second: BufferId) -> bool:
        """True if they move as one already."""
        return self._members[first] is self._members[second]

    def range(self, tensor: BufferId) -> Interval:
        """Its bytes, counted from wherever its group counts."""
        low = self._offset[tensor]
        return low, low + self.tensor[tensor].bytes

    def fills_its_group(self, tensor: BufferId) -> bool:
        """True if nothing in its group reaches beyond it: it is the source of all, or an alias of that."""
        low, high = self.range(tensor)
        return all(low <= start and end <= high for start, end in map(self.range, self._members[tensor]))

    def meeting(self, tensor: BufferId) -> tuple[BufferId, ...]:
        """The members of its group that have bytes in common with it, itself among them."""
        mine = self.range(tensor)
        return tuple(other for other in self._members[tensor] if _meet(mine, self.range(other)))

    def sharing(self, tensor: BufferId, source: BufferId, offset: int = 0) -> Iterator[tuple[BufferId, BufferId]]:
        """Pairs, one of each group, that would share bytes if the tensor lay at the source plus offset."""
        shift = self._offset[source] + offset - self._offset[tensor]
        for mine in self._members[tensor]:
            low, high = self.range(mine)
            for theirs in self._members[source]:
                if _meet((low + shift, high + shift), self.range(theirs)):
                    yield mine, theirs

    def clashes(
        self, tensor: BufferId, source: BufferId, lives: Mapping[BufferId, Life], but_for: Sequence[int]
    ) -> list[tuple[BufferId, BufferId]]:
        """Pairs that would share bytes while both are needed if the tensor lay at the source's place; the two themselves, and what lies exactly
        where the source does, may meet at those ticks."""
        return [
            (mine, theirs)
            for mine, theirs in self.sharing(tensor, source)
            if lives[mine].meets(
                lives[theirs], but_for if mine == tensor and self.range(theirs) == self.range(source) else ()
            )
        ]

    def misplaced(self, joins: Iterable[tuple[BufferId, BufferId, int]]) -> BufferId | None:
        """A tensor that would not be aligned if these (tensor, source, offset) lay so; the joins are of different groups to one."""
        offsets: dict[BufferId, int] = {}
        for tensor, source, offset in joins:
            offsets.update({id_: self._offset[id_] for id_ in self._members[source]})
            shift = self._offset[source] + offset - self._offset[tensor]
            offsets.update({id_: self._offset[id_] + shift for id_ in self._members[tensor]})
        lowest = min(offsets.values(), default=0)
        return next((id_ for id_, at in offsets.items() if (at - lowest) % self.tensor[id_].alignment), None)

    def without_common_pool(self, joins: Iterable[tuple[BufferId, BufferId, int]]) -> BufferId | None:
        """A tensor that would be in a group which no pool may hold."""
        for tensor, source, _ in joins:
            allowed: set[str] | None = None
            for id_ in (*self._members[tensor], *self._members[source]):
                pools = self.tensor[id_].pools
                if pools is not None:
                    allowed = set(pools) if allowed is None else allowed & set(pools)
            if allowed is not None and not allowed:
                return tensor
        return None

    def join(self, tensor: BufferId, source: BufferId, offset: int) -> None:
        """From now on the tensor lies at the source plus offset, and all that move with either move as one."""
        if self.together(tensor, source):
            return
        shift = self._offset[source] + offset - self._offset[tensor]
        joined = self._members[source]
        for id_ in self._members[tensor]:
            self._offset[id_] += shift
            joined.append(id_)
        for id_ in joined:
            self._members[id_] = joined

    def colocations(self, outside: Set[BufferId]) -> tuple[Colocation, ...]:
        """The tensors of every group that is planned relative to the one that begins first (of several the largest, then the first in the graph)."""
        found: list[Colocation] = []
        for id_ in self.tensor:
            base = self.base(id_)
            if base != id_ and id_ not in outside:
                found.append(Colocation(id_, base, self._offset[id_] - self._offset[base]))
        return tuple(found)

    def base(self, tensor: BufferId) -> BufferId:
        """The tensor that its group is placed by."""
        return min(
            self._members[tensor], key=lambda id_: (self._offset[id_], -self.tensor[id_].bytes, self._order[id_])
        )


def _meet(first: Interval, second: Interval) -> bool:
    return max(first[0], second[0]) < min(first[1], second[1])
