"""Many names, each found by its number and by itself: packed into texts, with a table of numbers in place of an object for each."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, SupportsIndex, overload

FREE = -1
SMALLEST = 16
TOGETHER = 4096
"""The names of each text."""


class Numbered(Sequence[str]):
    """Names in order. A name that is added again has a number of its own, but is found by the first."""

    __slots__ = ("_ends", "_table", "_texts", "are_different")

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.clear()
        for name in names:
            self.append(name)

    def clear(self) -> None:
        self._texts: list[bytearray] = []
        """The names in UTF-8, some thousands in each text, since one that grows is copied again and again."""
        self._ends = array("i")
        """Where each name ends in its text."""
        self._table = array("i", [FREE]) * SMALLEST
        """The number of each name at the place that its hash says, or behind it where that is taken. At least half of the places are free."""
        self.are_different = True

    def append(self, name: str) -> int:
        """Add the name, and return its number."""
        number = len(self._ends)
        if 2 * number >= len(self._table):
            self._grow()
        packed = name.encode("utf-8", "surrogatepass")
        at = self._place(name, packed)
        if self._table[at] == FREE:
            self._table[at] = number
        else:
            self.are_different = False
        if number % TOGETHER == 0:
            self._texts.append(bytearray())
        self._texts[-1] += packed
        self._ends.append(len(self._texts[-1]))
        return number

    def number(self, name: str) -> int | None:
        """Return the name's number; None if it is not there."""
        number = self._table[self._place(name, name.encode("utf-8", "surrogatepass"))]
        return None if number == FREE else number

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.number(name) is not None

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        number = range(len(self))[at]
        begin = self._begin(number)
        return self._texts[number // TOGETHER][begin : self._ends[number]].decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self)))

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """Each process has its own hashes, so the table is made again."""
        return Numbered, ([*self],)

    def _begin(self, number: int) -> int:
        return self._ends[number - 1] if number % TOGETHER else 0

    def _place(self, name: str, packed: bytes) -> int:
        """Return the name's place in the table, or the free one where it would be."""
        last = len(self._table) - 1
        at = hash(name) & last
        while (number := self._table[at]) != FREE:
            begin = self._begin(number)
            is_as_long = self._ends[number] - begin == len(packed)
            if is_as_long and self._texts[number // TOGETHER].startswith(packed, begin):
                break
            at = (at + 1) & last
        return at

    def _grow(self) -> None:
        found = sorted(number for number in self._table if number != FREE)
        last = 2 * len(self._table) - 1
        self._table = array("i", [FREE]) * (last + 1)
        for number in found:
            at = hash(self[number]) & last
            while self._table[at] != FREE:
                at = (at + 1) & last
            self._table[at] = number
