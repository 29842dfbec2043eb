"""Many short texts as one: a name takes its characters and little more, and is an object only while somebody looks at it."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, cast, overload

import numpy as np

from ..problem import BufferId

if TYPE_CHECKING:
    import numpy.typing as npt

BLOCK = 64
"""The texts that are taken apart together."""
AT_ONCE = 64
"""The blocks that are taken apart together if all texts are wanted."""
END = "\n"
WORD = 8
"""The bytes that are compared at once."""
LONGEST = 32
"""Longer texts are compared one by one."""
LARGEST = 1 << 63


class Texts(Sequence[str]):
    """Texts without newlines, each of which ends with one in the whole. Equals the list of them."""

    __slots__ = ("_begins", "_count", "whole")

    def __init__(self, whole: bytearray, begins: array[int], count: int) -> None:
        self.whole = whole
        """All of them in UTF-8, each with a newline behind it."""
        self._begins, self._count = begins, count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if not isinstance(at, slice):  # numpy's numbers are no int
            block, place = divmod(range(self._count)[at], BLOCK)
            return self._blocks(block, block + 1)[place]
        wanted = range(self._count)[at]
        if wanted.step != 1:
            return [self[i] for i in wanted]
        first = wanted.start // BLOCK
        return self._blocks(first, -(-wanted.stop // BLOCK))[wanted.start - first * BLOCK :][: len(wanted)]

    def __iter__(self) -> Iterator[str]:
        blocks = range(0, len(self._begins), AT_ONCE)
        return chain.from_iterable(self._blocks(block, block + AT_ONCE) for block in blocks)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Texts | list):
            return NotImplemented
        return self is other or (len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True)))

    __hash__ = None  # type: ignore[assignment]  # as a list's

    def __repr__(self) -> str:
        return repr([*self])

    def order(self) -> list[int] | npt.NDArray[np.int64]:
        """Return the numbers of the texts, sorted by their texts; UTF-8 sorts as Python does."""
        byte = np.frombuffer(self.whole, np.uint8)
        end = np.flatnonzero(byte == ord(END))
        begin = np.concatenate([[0], end[:-1] + 1])[: len(end)]
        longest = int((end - begin).max(initial=0))
        if longest > LONGEST or 0 in self.whole:
            return sorted(range(self._count), key=[*self].__getitem__)
        words = np.zeros((max(-(-longest // WORD), 1), len(end)), dtype=np.uint64)
        for place in range(longest):
            has_one = np.flatnonzero(begin + place < end)
            shift = np.uint64(8 * (WORD - 1 - place % WORD))
            words[place // WORD, has_one] |= byte[begin[has_one] + place].astype(np.uint64) << shift
        return np.lexsort(words[::-1])

    def _blocks(self, first: int, end: int) -> list[str]:
        """Return the texts of these blocks, of which the last ones need not exist."""
        if first >= len(self._begins):
            return []
        stop = self._begins[end] if end < len(self._begins) else len(self.whole)
        return self.whole[self._begins[first] : stop].decode("utf-8", "surrogatepass").split(END)[:-1]


class GatheredTexts:
    """Ids as they are read: texts, or numbers of 64 bits. If one is neither, has a newline, or some are texts and others not, they are kept as they are."""

    def __init__(self) -> None:
        self._whole, self._begins = bytearray(), array("q")
        self._packed = 0
        self._recent: list[BufferId] = []
        """Those that are not packed yet."""
        self._kept: array[int] | list[BufferId] | None = None
        """All before these, if they cannot be packed into a text."""

    def __len__(self) -> int:
        return len(self._before()) + len(self._recent)

    def append(self, id_: BufferId) -> None:
        self._recent.append(id_)
        if len(self._recent) == BLOCK:
            self._pack()

    def extend(self, ids: Sequence[BufferId]) -> None:
        """Add many at once."""
        self._recent += ids
        self._pack()

    def add_lines(self, lines: bytes | bytearray) -> None:
        """Add texts, each of which ends with a newline, and nothing in any other way."""
        ends = np.flatnonzero(np.frombuffer(lines, np.uint8) == ord(END)) + 1
        first = np.concatenate([[0], ends[:-1]])[-self._packed % BLOCK :: BLOCK] + len(self._whole)
        self._begins.frombytes(first.astype(np.int64).tobytes())
        self._packed += len(ends)
        self._whole += lines

    def take(self, others: GatheredTexts) -> None:
        """Add all the others; no more can be added there."""
        more = others.all()
        self._pack()
        if self._kept is None and isinstance(more, Texts) and len(more):
            self.add_lines(more.whole)
        else:
            for id_ in more:
                self.append(id_)

    def rows(self, first: int) -> Iterator[BufferId]:
        """Yield the ids from this one on."""
        before = self._before()
        return chain((before[i] for i in range(first, len(before))), self._recent[max(first - len(before), 0) :])

    def all(self) -> Sequence[BufferId]:
        """Return all of them; no more can be added."""
        self._pack()
        return self._before()

    def _before(self) -> Sequence[BufferId]:
        return Texts(self._whole, self._begins, self._packed) if self._kept is None else self._kept

    def _pack(self) -> None:
        kinds = {*map(type, self._recent)}
        if self._kept is None and kinds == {str}:
            text = END.join(cast(list[str], self._recent))
            if text.count(END) == len(self._recent) - 1:
                self.add_lines(f"{text}{END}".encode("utf-8", "surrogatepass"))
                self._recent.clear()
        if not self._recent:
            return
        if self._kept is None:
            self._kept = [*Texts(self._whole, self._begins, self._packed)] or array("q")
        if isinstance(self._kept, array):
            if kinds == {int} and all(-LARGEST <= number < LARGEST for number in cast(list[int], self._recent)):
                self._kept.extend(cast(list[int], self._recent))
                self._recent.clear()
                return
            self._kept = [*self._kept]
        self._kept += self._recent
        self._recent.clear()
