"""Many pairs of buffers, and many colocations, as columns of numbers: objects are made when somebody looks at them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from solvers.model.instance import Ints

from ..problem import BufferId, Colocation, Pair, Problem
from .buffers import NumberColumns
from .rows import FEW, Columns, Kept, KeptColumns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairColumns(Columns[Pair]):
    """Pairs of ids. The arrays never change."""

    ids: Sequence[BufferId]
    """All different; some of them perhaps in no pair."""
    first: Ints
    """The number of each pair's first id among these; it may have 32 bits."""
    second: Ints

    def __len__(self) -> int:
        return len(self.first)

    def row(self, i: int) -> Pair:
        return self.ids[int(self.first[i])], self.ids[int(self.second[i])]

    def __iter__(self) -> Iterator[Pair]:
        ids = [*self.ids]
        for begin in range(0, len(self), FEW):
            some = slice(begin, begin + FEW)
            yield from zip(
                map(ids.__getitem__, self.first[some].tolist()),
                map(ids.__getitem__, self.second[some].tolist()),
                strict=True,
            )


def pair_columns(ids: Sequence[BufferId], first: Ints, second: Ints) -> Sequence[Pair]:
    """Return the pairs, as objects if they are few."""
    columns = PairColumns(ids, first, second)
    return columns if len(columns) > FEW else (*columns,) if len(columns) else ()


class GatheredPairs:
    """Pairs as they are read, each a sequence of two ids."""

    def __init__(self, pairs: Iterable[Sequence[BufferId]]) -> None:
        self.clear()
        self.extend(pairs)

    def clear(self) -> None:
        self._number: dict[BufferId, int] = {}
        self._first, self._second = array("i"), array("i")

    def extend(self, pairs: Iterable[Sequence[BufferId]]) -> None:
        number = self._number
        for one, other in pairs:
            self._first.append(number.setdefault(one, len(number)))
            self._second.append(number.setdefault(other, len(number)))

    def all(self) -> Sequence[Pair]:
        """Return all of them; no more can be added."""
        first, second = (cast(Ints, np.frombuffer(column, np.int32)) for column in (self._first, self._second))
        return pair_columns([*self._number], first, second)


def has_twins(pairs: Sequence[Pair]) -> bool:
    """True if a pair is one of an id and itself, or may be."""
    return not isinstance(pairs, PairColumns) or bool((pairs.first == pairs.second).any())


def ids_in(pairs: Sequence[Pair]) -> Iterable[Sequence[BufferId]]:
    """Return sequences that together have all ids in the pairs, and perhaps further ones."""
    return (pairs.ids,) if isinstance(pairs, PairColumns) else pairs


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TieColumns(KeptColumns[Colocation]):
    """What ties rows of buffers to each other. The arrays never change."""

    ids: Sequence[BufferId]
    """Those of the rows."""
    buffer: Ints
    base: Ints
    offset: Ints
    _kept: Kept[Colocation] = field(default_factory=Kept, init=False)

    def __len__(self) -> int:
        return len(self.offset)

    def row(self, i: int) -> Colocation:
        return Colocation(self.ids[int(self.buffer[i])], self.ids[int(self.base[i])], int(self.offset[i]))

    def made(self) -> Iterator[Colocation]:
        ids = [*self.ids]
        for buffer, base, offset in zip(self.buffer.tolist(), self.base.tolist(), self.offset.tolist(), strict=True):
            yield Colocation(ids[buffer], ids[base], offset)


def tie_columns(ids: Sequence[BufferId], buffer: Ints, base: Ints, offset: Ints) -> Sequence[Colocation]:
    """Return the colocations, as objects if they are few."""
    columns = TieColumns(ids, buffer, base, offset)
    return columns if len(columns) > FEW else tuple(columns.made()) if len(columns) else ()


def own_ties(problem: Problem) -> TieColumns | None:
    """Return the problem's colocations if they are columns that name its buffers by their rows."""
    ties, buffers = problem.constraints.colocations, problem.buffers
    is_own = isinstance(ties, TieColumns) and isinstance(buffers, NumberColumns) and ties.ids is buffers.ids
    return ties if is_own else None  # type: ignore[return-value]  # mypy does not follow the name
