"""Buffers as they are read, with numbers in columns: objects are made only once all are read without faults."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import repeat
from operator import attrgetter

import numpy as np

from solvers.model.instance import Ints

from .columns import FEW, NO_HINT, BufferColumns
from .problem import Buffer, BufferId, Pool
from .texts import GatheredTexts
from .varied_columns import NEVER, RARE, UNKNOWN, Saying, VariedColumns, buffer_of

_LARGEST = 1 << 63
_CONSTANT = "constant"
_PLAIN = Saying()
_NUMBERS = tuple(name for name in RARE if name != "offset")
_NUMBERS_OF = attrgetter(*_NUMBERS)
_NO_NUMBERS = _NUMBERS_OF(Buffer(0, 0))


class Gathered:
    """Keeps buffer objects only for those with data, or with numbers that no column holds."""

    def __init__(self) -> None:
        self._ids = GatheredTexts()
        self._numbers = tuple(array("q") for _ in range(5))
        """Size, alignment, start and end of the first lifetime, and hint of each buffer."""
        self._said = array("q")
        """The index of what each buffer says in words."""
        self._sayings: dict[Saying, int] = {_PLAIN: 0}
        self._rare: dict[str, array[int]] = {}
        """Columns that most files do not need; each ends with the last buffer that has one of these numbers."""
        self._further, self._until = array("q"), array("q")
        """Starts and ends of all further lifetimes, and how many of them are those of each buffer and of all before it; ends with the last that has some."""
        self._is_plain = True
        """Do all have one lifetime at most, and no more than that besides a size, an alignment, memories, a kind and a hint?"""
        self._whole: dict[int, Buffer] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, buffer: Buffer) -> None:
        live, fixed = buffer.live, buffer.fixed
        first = UNKNOWN if live is None else live[0] if live else NEVER
        own = (buffer.size, buffer.alignment, *first, NO_HINT if buffer.hint is None else buffer.hint)
        further: list[int] = []
        rare: dict[str, int] = {}
        said = (buffer.device, buffer.dtype)
        numbers = _NUMBERS_OF(buffer)
        is_plain = fixed is None and live is not None and len(live) < 2 and said == (None, None)
        is_odd = (bool(live) and first[0] == first[1]) or buffer.hint == NO_HINT or buffer.data is not None
        if not (is_plain and numbers == _NO_NUMBERS):
            self._is_plain = False
            further = [time for lifetime in (live or ())[1:] for time in lifetime]
            rare = {name: number for name, number in zip(_NUMBERS, numbers, strict=True) if number}
            rare |= {} if numbers[0] is None else {"max_offset": numbers[0]}
            rare |= {} if fixed is None or fixed.offset is None else {"offset": fixed.offset}
            is_odd = is_odd or min(rare.values(), default=0) < 0
        every = (*own, *rare.values(), *further)
        if is_odd or max(every) >= _LARGEST or min(every) < -_LARGEST:
            self._whole[len(self._ids)] = buffer
            own = (0, 1, *NEVER, NO_HINT)
        elif rare or further:
            self._add_more(rare, further)
        self._ids.append(buffer.id)
        for column, number in zip(self._numbers, own, strict=True):
            column.append(number)
        saying = Saying(buffer.pools, buffer.kind, None if fixed is None else fixed.pool, *said)
        self._said.append(self._sayings.setdefault(saying, len(self._sayings)))

    def _add_more(self, rare: dict[str, int], further: Sequence[int]) -> None:
        """Add the rare numbers, and the further lifetimes, of the buffer that is about to be added."""
        i = len(self._ids)
        for name, number in rare.items():
            column = self._rare.setdefault(name, array("q"))
            column.extend(repeat(RARE[name], i - len(column)))
            column.append(number)
        if further:
            self._until.extend(repeat(len(self._further), i - len(self._until)))
            self._further.extend(further)
            self._until.append(len(self._further))

    def ids(self, first: int = 0) -> Iterator[BufferId]:
        """Return the ids from this one on."""
        return self._ids.rows(first)

    def all_ids(self) -> Sequence[BufferId]:
        """Return all ids, as they are in what `all` returns if that is columns."""
        return self._ids.all()

    def row(self, i: int) -> Buffer:
        """Return the buffer added as number i."""
        return next(self._rows(i, i + 1))

    def rows(self) -> Iterator[Buffer]:
        """Make all of them, one by one."""
        return self._rows(0, len(self))

    def all(self, pools: Sequence[Pool] = ()) -> Sequence[Buffer]:
        """Return all of them; no more can be added. If these are all pools, buffers need not name the only one."""
        only = pools[0].name if len(pools) == 1 else None
        columns = self.columns(only)
        return tuple(self._rows(0, len(self), only)) if columns is None else columns

    def columns(self, only: str | None = None) -> BufferColumns | VariedColumns | None:
        """Return all of them in columns, without lists of memories that name the only one; None if they are few, or do not fit there. No more can be added."""
        if len(self) + len(self._further) // 2 <= FEW or self._whole:
            return None
        said = self._sayings_without(only)
        used = {said[i] for i in {*self._said}}
        size, alignment, start, end, hints = map(_column, self._numbers)
        ids = self._ids.all()
        if self._is_plain and not any(each.pools is not None or each.kind == _CONSTANT for each in used):
            kinds = None if used == {_PLAIN} else [said[i].kind for i in self._said]
            return BufferColumns(
                ids, size, alignment, start, end, kinds, hints if bool((hints != NO_HINT).any()) else None
            )
        for name, column in self._rare.items():
            column.extend(repeat(RARE[name], len(self) - len(column)))
        if self._until:
            self._until.extend(repeat(len(self._further), len(self) - len(self._until)))
        which = _column(self._said).astype(np.min_scalar_type(len(said)))
        rare = {name: _column(column) for name, column in self._rare.items()}
        further, until = _column(self._further), _column(self._until)
        return VariedColumns(ids, size, alignment, start, end, hints, which, (*said,), rare, further, until)

    def _sayings_without(self, only: str | None) -> list[Saying]:
        """Return what buffers say by its index, but no list of nothing else than this memory."""
        if only is None:
            return [*self._sayings]
        return [each._replace(pools=None) if each.pools == (only,) else each for each in self._sayings]

    def _rows(self, first: int, end: int, only: str | None = None) -> Iterator[Buffer]:
        sayings = self._sayings_without(only)
        known = zip(*(column[first:end] for column in (*self._numbers, self._said)), strict=True)
        for i, id_, own in zip(range(first, end), self._ids.rows(first), known, strict=False):
            if i in self._whole:
                yield self._whole[i]
            else:
                rare = {name: column[i] for name, column in self._rare.items() if i < len(column)}
                yield buffer_of(id_, own, sayings, rare, self._further_of(i) if i < len(self._until) else ())

    def _further_of(self, i: int) -> Sequence[int]:
        return self._further[self._until[i - 1] if i else 0 : self._until[i]]


def _column(numbers: array[int]) -> Ints:
    """Return the numbers where they are; as one number if all are alike."""
    column = np.frombuffer(numbers, np.int64)
    are_alike = len(column) and (column == column[0]).all()
    return np.broadcast_to(column[:1].copy(), column.shape) if are_alike else column
