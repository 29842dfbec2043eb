"""What a replay keeps, in a few bytes for each number: rows that are only added to, and what can be made again from them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Generic, TypeVar

from ...model.problem import Interval

Value = TypeVar("Value")


class Rows:
    """Rows of whole numbers within 64 bits."""

    def __init__(self) -> None:
        self._numbers, self._ends = array("q"), array("q", (0,))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, at: int) -> list[int]:
        return self._numbers[self._ends[at] : self._ends[at + 1]].tolist()

    def add(self, row: Iterable[int]) -> None:
        self._numbers.extend(row)
        self._ends.append(len(self._numbers))


class Recent(Generic[Value]):
    """What was made last, up to so many members of all of it together; older ones are made again."""

    def __init__(self, most: int, make: Callable[[int], tuple[Value, int]]) -> None:
        """`make` returns what has this number, and how many members that counts for."""
        self._most, self._make = most, make
        self._made: dict[int, tuple[Value, int]] = {}
        self._members = 0

    def __getitem__(self, number: int) -> Value:
        found = self._made.get(number)
        if found is None:
            found = self._make(number)
            self._members += found[1]
            while self._made and self._members > self._most:
                self._members -= self._made.pop(next(iter(self._made)))[1]
            self._made[number] = found
        return found[0]


class Distances:
    """For each of some blocks, half-open ranges that the difference of its start and another block's must avoid."""

    def __init__(self, found: Mapping[int, Sequence[Interval]]) -> None:
        self._others = array("i", found)
        self._counts = (
            None if all(len(ranges) == 1 for ranges in found.values()) else array("i", map(len, found.values()))
        )
        self._ends = array("q", (end for ranges in found.values() for each in ranges for end in each))

    def __len__(self) -> int:
        return len(self._others)

    def __iter__(self) -> Iterator[int]:
        return iter(self._others)

    def items(self) -> Iterator[tuple[int, tuple[Interval, ...]]]:
        """Yield each block with its ranges, in order."""
        ranges = zip(self._ends[::2], self._ends[1::2], strict=True)
        if self._counts is None:
            yield from zip(self._others, zip(ranges), strict=True)  # tuples of one range each
            return
        for other, count in zip(self._others, self._counts, strict=True):
            yield other, tuple(islice(ranges, count))
