"""Rows of anything kept as columns: a sequence that makes an object only while somebody looks at it."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, SupportsIndex, TypeVar, overload

FEW = 4096
"""Up to this many buffers are kept as objects, which is faster if they are read several times."""

FEW_OF = 16
"""If at most one in this many is requested, it is made by itself."""

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
