"""Many groups of alternatives as columns of numbers: objects are made on demand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from solvers.model.instance import Ints

from ..problem import Alternative, Buffer, VariantGroup
from .buffers import NO_HINT, BufferColumns
from .rows import FEW, Kept, KeptColumns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GroupColumns(KeptColumns[VariantGroup]):
    """Groups whose alternatives have only costs and buffers, and these one lifetime each. The arrays never change."""

    names: list[str]
    begin: Ints
    """The first alternative of each group, and the number of all."""
    alternatives: list[str]
    """The names of all, group by group."""
    costs: Ints
    """A row for each alternative, with a cost for each term."""
    own: Ints
    """The first buffer of each alternative, and the number of all."""
    buffers: BufferColumns
    _kept: Kept[VariantGroup] = field(default_factory=Kept, init=False)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def group(self) -> Ints:
        """Return the group of each alternative."""
        return np.repeat(np.arange(len(self.names)), np.diff(self.begin))

    def row(self, i: int) -> VariantGroup:
        return self.rows[i]

    def made(self) -> Iterator[VariantGroup]:
        buffers, own = (*self.buffers,), self.own.tolist()
        costs = [*map(tuple, self.costs.tolist())]
        each = [Alternative(name, costs[a], buffers[own[a] : own[a + 1]]) for a, name in enumerate(self.alternatives)]
        begin = self.begin.tolist()
        for g, name in enumerate(self.names):
            yield VariantGroup(name, (*each[begin[g] : begin[g + 1]],))

    def chosen(self, choice: Sequence[int]) -> Ints:
        """Return the number of the chosen alternative of each group."""
        found: Ints = self.begin[:-1] + np.array(choice, dtype=np.int64)
        return found

    def buffers_of(self, alternatives: Ints) -> BufferColumns:
        """Return the buffers of these alternatives, in their order."""
        counts = np.diff(self.own)[alternatives]
        before = np.cumsum(counts) - counts
        at = np.repeat(self.own[alternatives] - before, counts) + np.arange(int(counts.sum()))
        columns = self.buffers
        ids = [columns.ids[i] for i in at.tolist()]
        return BufferColumns(ids, columns.size[at], columns.alignment[at], columns.start[at], columns.end[at])


def together(buffers: Sequence[Buffer], more: BufferColumns) -> Sequence[Buffer]:
    """Return the buffers and more of them; in columns, if these are many, or are in columns."""
    if not isinstance(buffers, BufferColumns):
        if len(buffers) > FEW or not all(map(_fits_columns, buffers)):
            return (*buffers, *more)
        spans = [(buffer.live or ((0, 0),))[0] for buffer in buffers]
        rows = [(buffer.size, buffer.alignment, *span) for buffer, span in zip(buffers, spans, strict=True)]
        columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
        buffers = BufferColumns([buffer.id for buffer in buffers], *columns)
    pairs = [(getattr(buffers, name), getattr(more, name)) for name in ("size", "alignment", "start", "end")]
    kinds = None if buffers.kinds is None else [*buffers.kinds, *[None] * len(more)]
    size, alignment, start, end = map(np.concatenate, pairs)
    none = np.full(len(more), NO_HINT)
    hints = None if buffers.hints is None else np.concatenate([buffers.hints, none])
    joined = BufferColumns([*buffers.ids, *more.ids], size, alignment, start, end, kinds, hints)
    return tuple(joined) if len(joined) <= FEW else joined.kept()


def _fits_columns(buffer: Buffer) -> bool:
    """True if the buffer is no more than a size, an alignment and one lifetime."""
    live = buffer.live
    return live is not None and len(live) < 2 and buffer == Buffer(buffer.id, buffer.size, buffer.alignment, live)


def first_of_each(begin: Ints, *keys: Ints) -> Ints:
    """Return the least of each range that begins there: by the first key, then by the next; of equal ones the first."""
    count = np.diff(begin)
    order = np.lexsort((*reversed(keys), np.repeat(np.arange(len(count)), count)))
    found: Ints = order[begin[:-1]] - begin[:-1]
    return found


def are_different_within(groups: GroupColumns) -> bool:
    """True if no group has two alternatives of one name."""
    if len(set(groups.alternatives)) == len(groups.alternatives):
        return True
    return len(set(zip(groups.group.tolist(), groups.alternatives, strict=True))) == len(groups.alternatives)
