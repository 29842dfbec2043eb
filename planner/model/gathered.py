"""Buffers as they are read, with numbers in columns: objects are made only once all are read without faults."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import TypeAlias

import numpy as np

from solvers.model.instance import Ints

from .columns import FEW, NO_HINT, BufferColumns
from .problem import Buffer, Fixed, Interval, Pool
from .texts import GatheredTexts

_RARE = attrgetter("max_offset", "accesses", "device", "dtype", "reads", "writes", "data")
_NOT_SAID = _RARE(Buffer(0, 0))
_LARGEST = 1 << 63
_CONSTANT = "constant"
_NEVER, _UNKNOWN = (0, 0), (1, 1)
"""Instead of the first lifetime: there is none, and only constraints cause conflicts. Others that begin where they end are kept whole."""
_NOWHERE = -1
"""Instead of an offset."""
_Saying: TypeAlias = tuple[tuple[str, ...] | None, str | None, str | None]


class Gathered:
    """Keeps buffer objects only for those with more than numbers, lifetimes, memories and a kind."""

    def __init__(self) -> None:
        self._ids = GatheredTexts()
        self._numbers = tuple(array("q") for _ in range(5))
        """Size, alignment, start and end of the first lifetime, and hint of each buffer."""
        self._said = array("l")
        """The index of each buffer's memories and kind, and of the memory in which it is fixed."""
        self._sayings: dict[_Saying, int] = {(None, None, None): 0}
        self._offsets = array("q")
        """Where each is fixed; ends with the last that is."""
        self._further, self._until = array("q"), array("q")
        """Starts and ends of all further lifetimes, and how many of them are those of each buffer and of all before it; ends with the last that has some."""
        self._is_plain = True
        """Do all have one lifetime at most, none fixed?"""
        self._whole: dict[int, Buffer] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, buffer: Buffer) -> None:
        live, fixed = buffer.live, buffer.fixed
        first = _UNKNOWN if live is None else live[0] if live else _NEVER
        own = (buffer.size, buffer.alignment, *first, NO_HINT if buffer.hint is None else buffer.hint)
        further: list[int] = []
        offset = _NOWHERE
        is_plain = fixed is None and live is not None and len(live) < 2
        if not is_plain:
            self._is_plain = False
            further = [time for lifetime in (live or ())[1:] for time in lifetime]
            offset = _NOWHERE if fixed is None or fixed.offset is None else fixed.offset
        every = own if is_plain else (*own, offset, *further)
        is_odd = (bool(live) and first[0] == first[1]) or buffer.hint == NO_HINT
        is_odd = is_odd or (fixed is not None and fixed.offset == _NOWHERE) or _RARE(buffer) != _NOT_SAID
        if is_odd or max(every) >= _LARGEST or min(every) < -_LARGEST:
            self._whole[len(self._ids)] = buffer
            own = (0, 1, *_NEVER, NO_HINT)
        elif not is_plain:
            self._add_more(offset, further)
        self._ids.append(buffer.id)
        for column, number in zip(self._numbers, own, strict=True):
            column.append(number)
        saying = (buffer.pools, buffer.kind, None if fixed is None else fixed.pool)
        self._said.append(self._sayings.setdefault(saying, len(self._sayings)))

    def _add_more(self, offset: int, further: Sequence[int]) -> None:
        """Add the offset, and the further lifetimes, of the buffer that is about to be added."""
        i = len(self._ids)
        if offset != _NOWHERE:
            self._offsets.extend([_NOWHERE] * (i - len(self._offsets)))
            self._offsets.append(offset)
        if further:
            before = len(self._further)
            self._until.extend([before] * (i - len(self._until)))
            self._further.extend(further)
            self._until.append(len(self._further))

    def row(self, i: int) -> Buffer:
        """Return the buffer added as number i."""
        return next(self._rows(i, i + 1))

    def rows(self) -> Iterator[Buffer]:
        """Make all of them, one by one."""
        return self._rows(0, len(self))

    def all(self, pools: Sequence[Pool] = ()) -> Sequence[Buffer]:
        """Return all of them; no more can be added. If these are all pools, buffers need not name the only one."""
        only = pools[0].name if len(pools) == 1 else None
        said = self._sayings_without(only)
        used = {said[i] for i in {*self._said}}
        is_plain = self._is_plain and not self._whole
        if len(self) <= FEW or not is_plain or any(pools is not None or kind == _CONSTANT for pools, kind, _ in used):
            return tuple(self._rows(0, len(self), only))
        size, alignment, start, end, hints = (_column(each) for each in self._numbers)
        has_hints = bool((hints != NO_HINT).any())
        kinds = None if used == {(None, None, None)} else [said[i][1] for i in self._said]
        return BufferColumns(self._ids.all(), size, alignment, start, end, kinds, hints if has_hints else None)

    def _sayings_without(self, only: str | None) -> list[_Saying]:
        """Return memories and kinds by their index, but no list of nothing else than this memory."""
        return [
            (None if only is not None and pools == (only,) else pools, kind, home)
            for pools, kind, home in self._sayings
        ]

    def _rows(self, first: int, end: int, only: str | None = None) -> Iterator[Buffer]:
        sayings = self._sayings_without(only)
        known = zip(*(column[first:end] for column in (*self._numbers, self._said)), strict=True)
        for i, id_, numbers in zip(range(first, end), self._ids.rows(first), known, strict=False):
            if i in self._whole:
                yield self._whole[i]
                continue
            size, alignment, start, stop, hint, saying = numbers
            pools, kind, home = sayings[saying]
            live: tuple[Interval, ...] | None = ((start, stop),)
            if start == stop:
                live = () if start == _NEVER[0] else None
            elif i < len(self._until):
                live = ((start, stop), *self._further_of(i))
            wanted = None if hint == NO_HINT else hint
            fixed = None if home is None else Fixed(home, self._offset_of(i))
            yield Buffer(id_, size, alignment, live, pools, fixed, wanted, kind=kind)

    def _further_of(self, i: int) -> Iterator[Interval]:
        numbers = self._further[self._until[i - 1] if i else 0 : self._until[i]]
        return zip(numbers[::2], numbers[1::2], strict=True)

    def _offset_of(self, i: int) -> int | None:
        offset = self._offsets[i] if i < len(self._offsets) else _NOWHERE
        return None if offset == _NOWHERE else offset


def _column(numbers: array[int]) -> Ints:
    """Return the numbers where they are."""
    return np.frombuffer(numbers, np.int64)
