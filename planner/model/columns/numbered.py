"""Many names, each found by its number and by itself: packed into texts, with a table of numbers in place of an object for each."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, SupportsIndex, overload

FREE = -1
SMALLEST = 16
TOGETHER = 4096
"""The names of each text."""
FIRST = 1 << 12
"""So many names are kept as they are, which is faster."""


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
        packed = name.encode("utf-8", "surrogatepass")
        at = self._place(name, packed)
        if self._table[at] != FREE:
            self.are_different = False
        return self._add(packed, at)

    def of(self, name: str) -> int:
        """Return the name's number, and add it if it is new."""
        packed = name.encode("utf-8", "surrogatepass")
        at = self._place(name, packed)
        number = self._table[at]
        return self._add(packed, at) if number == FREE else number

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
        table, ends = self._table, self._ends
        last = len(table) - 1
        at = hash(name) & last
        while (number := table[at]) != FREE:
            begin = ends[number - 1] if number % TOGETHER else 0
            is_as_long = ends[number] - begin == len(packed)
            if is_as_long and self._texts[number // TOGETHER].startswith(packed, begin):
                break
            at = (at + 1) & last
        return at

    def _add(self, packed: bytes, at: int) -> int:
        """Add a name whose place in the table is known, and return its number."""
        number = len(self._ends)
        if self._table[at] == FREE:
            self._table[at] = number
        if number % TOGETHER == 0:
            self._texts.append(bytearray())
        text = self._texts[-1]
        text += packed
        self._ends.append(len(text))
        if 2 * number + 2 >= len(self._table):
            self._grow()
        return number

    def _grow(self) -> None:
        before, last = self._table, 2 * len(self._table) - 1
        self._table = array("i", [FREE]) * (last + 1)
        for number in before:
            if number == FREE:
                continue
            at = hash(self[number]) & last
            while self._table[at] != FREE:
                at = (at + 1) & last
            self._table[at] = number


class Found(Collection[str]):
    """Names in order, each once. The first ones are kept as they are, all others are packed."""

    __slots__ = ("_first", "_more", "_names")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self._first: dict[str, int] = {}
        self._names: list[str] = []
        """The same in a list."""
        self._more = Numbered()

    def of(self, name: str) -> int:
        """Return the name's number, and add it if it is new."""
        found = self._first.get(name)
        if found is not None:
            return found
        found = len(self._names)
        if found == FIRST:
            return FIRST + self._more.of(name)
        self._first[name] = found
        self._names.append(name)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._first or (bool(self._more) and name in self._more)

    def __len__(self) -> int:
        return len(self._names) + len(self._more)

    def __getitem__(self, number: int) -> str:
        return self._names[number] if number < FIRST else self._more[number - FIRST]

    def __iter__(self) -> Iterator[str]:
        return chain(self._names, self._more)
