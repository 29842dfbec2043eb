"""Many buffers as columns of numbers: objects are made on demand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np

from solvers.model.instance import Ints

from ..problem import Buffer, BufferId
from .rows import FEW, Columns, Kept, KeptColumns

NO_HINT = -1
"""In a column of hints, which are 0 or more: there is none."""


class NumberColumns(Columns[Buffer]):
    """Buffers whose ids, sizes and alignments are columns, whatever else they have."""

    __slots__ = ()

    ids: Sequence[BufferId]
    size: Ints
    alignment: Ints


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BufferColumns(NumberColumns):
    """Buffers with only a size, an alignment, one lifetime, a kind and a hint. The arrays never change."""

    ids: Sequence[BufferId]
    """A list, texts packed into one, or 0, 1, 2, … as a range."""
    size: Ints
    alignment: Ints
    start: Ints
    end: Ints
    kinds: Sequence[str | None] | None = None
    """Labels, none of them `constant`; None: there are none."""
    hints: Ints | None = None
    """None: there are none."""

    def __len__(self) -> int:
        return len(self.ids)

    def row(self, i: int) -> Buffer:
        start, end = int(self.start[i]), int(self.end[i])
        live = ((start, end),) if start != end else ()
        kind = None if self.kinds is None else self.kinds[i]
        hint = None if self.hints is None or self.hints[i] == NO_HINT else int(self.hints[i])
        return Buffer(self.ids[i], int(self.size[i]), int(self.alignment[i]), live, hint=hint, kind=kind)

    def __iter__(self) -> Iterator[Buffer]:
        for first in range(0, len(self), FEW):
            some = slice(first, first + FEW)
            numbers = (column[some].tolist() for column in (self.size, self.alignment, self.start, self.end))
            ids = self.ids[some]
            kinds = repeat(None, len(ids)) if self.kinds is None else self.kinds[some]
            hints = repeat(None, len(ids)) if self.hints is None else _hints(self.hints[some])
            for id_, size, alignment, start, end, kind, hint in zip(ids, *numbers, kinds, hints, strict=True):
                yield Buffer(id_, size, alignment, ((start, end),) if start != end else (), hint=hint, kind=kind)

    def kept(self) -> KeptBuffers:
        """Return the same buffers, for reading them one by one, several times."""
        return KeptBuffers(self.ids, self.size, self.alignment, self.start, self.end, self.kinds, self.hints)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class KeptBuffers(KeptColumns[Buffer], BufferColumns):
    """Buffers that are read one by one, several times."""

    _kept: Kept[Buffer] = field(default_factory=Kept, init=False)

    def made(self) -> Iterator[Buffer]:
        return BufferColumns.__iter__(self)


def buffer_columns(ids: Sequence[BufferId], size: Ints, alignment: Ints, start: Ints, end: Ints) -> Sequence[Buffer]:
    """Return the buffers, as objects if they are few."""
    columns = BufferColumns(ids, size, alignment, start, end)
    return tuple(columns) if len(ids) <= FEW else columns


def ids(buffers: Sequence[Buffer]) -> Sequence[BufferId]:
    return buffers.ids if isinstance(buffers, NumberColumns) else [buffer.id for buffer in buffers]


def sizes(buffers: Sequence[Buffer]) -> list[int]:
    """Return the size of each buffer."""
    return buffers.size.tolist() if isinstance(buffers, NumberColumns) else [buffer.size for buffer in buffers]


def total_size(buffers: Sequence[Buffer]) -> int:
    """Return the sum of all sizes, however large, without a list of them."""
    if not isinstance(buffers, NumberColumns):
        return sum(buffer.size for buffer in buffers)
    return sum(sum(buffers.size[first : first + FEW].tolist()) for first in range(0, len(buffers), FEW))


def counted_alignments(buffers: Sequence[Buffer]) -> dict[int, int]:
    """Return how many buffers have each alignment."""
    if not isinstance(buffers, NumberColumns):
        return Counter(buffer.alignment for buffer in buffers)
    found, counts = np.unique(buffers.alignment, return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))


def alignments(buffers: Sequence[Buffer]) -> list[int]:
    return buffers.alignment.tolist() if isinstance(buffers, NumberColumns) else [each.alignment for each in buffers]


def hints(buffers: Sequence[Buffer]) -> Iterator[tuple[int, int]]:
    """Yield the numbers and hints of those that have one."""
    if isinstance(buffers, BufferColumns):
        found: Iterable[int | None] = () if buffers.hints is None else _hints(buffers.hints)
    else:
        found = (buffer.hint for buffer in buffers)
    return ((i, hint) for i, hint in enumerate(found) if hint is not None)


def _hints(column: Ints) -> list[int | None]:
    return [None if hint == NO_HINT else hint for hint in column.tolist()]


def restricted(buffers: Sequence[Buffer]) -> Iterator[tuple[int, Buffer]]:
    """Yield the numbers and buffers of those that may not be just anywhere; usually few."""
    if isinstance(buffers, BufferColumns):
        return
    for i, b in enumerate(buffers):
        if b.pools is not None or b.fixed is not None or b.max_offset is not None:
            yield i, b
