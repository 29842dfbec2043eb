"""Many half-open ranges as columns of numbers: a pair is an object only while somebody looks at it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from solvers.model.instance import Ints

from ..problem import Interval
from .rows import FEW, Columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RangeColumns(Columns[Interval]):
    """Ranges that are in order and apart from each other, and not empty. The arrays never change."""

    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.start)

    def row(self, i: int) -> Interval:
        return int(self.start[i]), int(self.end[i])

    def __iter__(self) -> Iterator[Interval]:
        for first in range(0, len(self), FEW):
            some = slice(first, first + FEW)
            yield from zip(self.start[some].tolist(), self.end[some].tolist(), strict=True)


class GatheredRanges:
    """Ranges as they are read, each a sequence of two numbers of 63 bits."""

    def __init__(self, ranges: Iterable[Sequence[int]]) -> None:
        self.clear()
        self.extend(ranges)

    def clear(self) -> None:
        self._ends = array("q")

    def extend(self, ranges: Iterable[Sequence[int]]) -> None:
        for both in ranges:
            self._ends.extend(both)

    def __iter__(self) -> Iterator[Sequence[int]]:
        each = iter(self._ends)
        return zip(each, each, strict=True)

    def all(self) -> Sequence[Interval] | None:
        """Return the same points in as few ranges as possible, as objects if they are few; None if one ends before it begins. No more can be added."""
        start, end = cast("tuple[Ints, Ints]", np.frombuffer(self._ends, np.int64).reshape(-1, 2).T)
        if (end < start).any():
            return None
        if (end == start).any() or (start[1:] <= end[:-1]).any():
            start.sort()
            end.sort()
            # what begins behind as many ends as beginnings is apart from all before
            begins = np.append(True, start[1:] > end[:-1])
            start, end = start[begins], end[np.append(begins[1:], True)]
            start, end = start[end > start], end[end > start]
        columns = RangeColumns(start, end)
        return columns if len(columns) > FEW else (*columns,)
