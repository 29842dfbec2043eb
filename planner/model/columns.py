"""Many buffers as columns of numbers: a million take only the room of their numbers, and objects are made on demand."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, Generic, SupportsIndex, TypeVar, overload

import numpy as np

from solvers.model.instance import Ints

from .problem import Buffer, BufferId

FEW = 4096
"""Up to this many buffers are kept as objects, which is faster if they are read several times."""

FEW_OF = 16
"""If at most one in this many is requested, it is made by itself."""

NO_HINT = -1
"""In a column of hints, which are 0 or more: there is none."""

Row = TypeVar("Row")


class Columns(Sequence[Row], Generic[Row]):
    """A sequence of rows that equals the tuple of its rows."""

    __slots__ = ()

    @abstractmethod
    def row(self, i: int) -> Row:
        """Return the object of row i."""

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """Older protocols of pickle refuse whatever has slots."""
        return super().__reduce_ex__(max(operator.index(protocol), 2))

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, at: int | slice) -> Row | tuple[Row, ...]:
        if isinstance(at, slice):
            return tuple(self.row(i) for i in range(*at.indices(len(self))))
        return self.row(range(len(self))[at])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Columns | tuple):
            return NotImplemented
        return self is other or (len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True)))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


class Kept(Generic[Row]):
    """The objects made so far: some, or all once many were requested."""

    __slots__ = ("every", "some")

    def __init__(self) -> None:
        self.some: dict[int, Row] = {}
        self.every: tuple[Row, ...] | None = None


class KeptColumns(Columns[Row]):
    """A sequence of rows that keeps the objects it has made: a row is always the same one."""

    __slots__ = ()

    _kept: Kept[Row]

    @abstractmethod
    def made(self) -> Iterator[Row]:
        """Make the objects of all rows."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """Return all objects."""
        kept = self._kept
        if kept.every is None:
            every = [*self.made()]
            for i, row in [*kept.some.items()]:  # other threads may add to it
                every[i] = row
            kept.every = tuple(every)
        return kept.every

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, at: int | slice) -> Row | tuple[Row, ...]:
        kept = self._kept
        if kept.every is not None:
            return kept.every[at]
        if isinstance(at, slice):
            return tuple(self[i] for i in range(*at.indices(len(self))))
        at = range(len(self))[at]
        if at not in kept.some:
            if len(kept.some) * FEW_OF > len(self):
                return self.rows[at]
            kept.some[at] = self.row(at)
        return kept.some[at]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)


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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StepColumns(Columns[tuple[int, str]]):
    """What happens at some of the times."""

    times: Sequence[int]
    names: Sequence[str]

    def __len__(self) -> int:
        return len(self.names)

    def row(self, i: int) -> tuple[int, str]:
        return self.times[i], self.names[i]

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return zip(self.times, self.names, strict=True)


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
