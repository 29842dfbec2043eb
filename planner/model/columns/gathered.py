"""Buffers as they are read, with numbers in columns: objects are made only once all are read without faults."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from operator import attrgetter

import numpy as np

from solvers.model.instance import Ints

from ..problem import Buffer, BufferId, Pool
from .buffers import NO_HINT, BufferColumns
from .rows import FEW
from .texts import GatheredTexts
from .varied import NEVER, RARE, UNKNOWN, Saying, Sayings, VariedColumns, buffer_of

_LARGEST = 1 << 63
_CONSTANT = "constant"
_PLAIN = Saying()
_NUMBERS = tuple(name for name in RARE if name != "offset")
_NUMBERS_OF = attrgetter(*_NUMBERS)
_NO_NUMBERS = _NUMBERS_OF(Buffer(0, 0))
_NOWHERE_SAID = (None, None, None)
"""The memory in which a buffer is fixed, its device and its type, if it has none."""
WIDTH = 6
"""The numbers of each buffer."""
BLOCK = 1 << 14
"""The buffers whose numbers are narrowed together."""


class Numbers:
    """Numbers of 64 bits as they are read, some thousands at a time in as few bytes as they need."""

    def __init__(self) -> None:
        self._recent = array("q")
        self._settled: list[Ints] = []
        """The same of BLOCK numbers each."""

    def __len__(self) -> int:
        return BLOCK * len(self._settled) + len(self._recent)

    def append(self, number: int) -> None:
        self._recent.append(number)
        if len(self._recent) >= BLOCK:
            self._settle()

    def extend(self, numbers: Iterable[int]) -> None:
        self._recent.extend(numbers)
        if len(self._recent) >= BLOCK:
            self._settle()

    def __getitem__(self, i: int) -> int:
        block, place = divmod(i, BLOCK)
        return int((self._settled[block] if block < len(self._settled) else self._recent)[place])

    def rows(self, first: int, end: int) -> list[int]:
        """Return these numbers."""
        return [self[i] for i in range(first, end)]

    def all(self) -> Ints:
        """Return all of them, as one number if all are alike."""
        return together([*self._settled, np.frombuffer(self._recent, np.int64)])

    def _settle(self) -> None:
        whole = len(self._recent) // BLOCK * BLOCK
        for begin in range(0, whole, BLOCK):
            self._settled.append(narrow(np.array(self._recent[begin : begin + BLOCK])))
        del self._recent[:whole]


class Gathered:
    """Keeps buffer objects only for those with data, or with numbers that no column holds."""

    def __init__(self) -> None:
        self._ids = GatheredTexts()
        self._recent = array("q")
        """Of each of the last buffers: size, alignment, start and end of the first lifetime, hint, and the index of what it says in words."""
        self._settled: list[list[Ints]] = []
        """The same of BLOCK buffers each, in narrow columns."""
        self._sayings = Sayings()
        self._sayings.of(_PLAIN)
        self._rare: dict[str, Numbers] = {}
        """Columns that most files do not need; each ends with the last buffer that has one of these numbers."""
        self._further, self._until = Numbers(), Numbers()
        """Starts and ends of all further lifetimes, and how many of them are those of each buffer and of all before it; ends with the last that has some."""
        self._is_plain = True
        """Do all have one lifetime at most, and no more than that besides a size, an alignment, memories, a kind and a hint?"""
        self._whole: dict[int, Buffer] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, buffer: Buffer) -> None:
        live, fixed, hint = buffer.live, buffer.fixed, buffer.hint
        start, end = UNKNOWN if live is None else live[0] if live else NEVER
        said = (buffer.pools, buffer.kind, None if fixed is None else fixed.pool, buffer.device, buffer.dtype)
        saying = self._sayings.first.get(said)
        if saying is None:
            saying = self._sayings.of(said)
        numbers = _NUMBERS_OF(buffer)
        has_more = numbers != _NO_NUMBERS or fixed is not None or (live is not None and len(live) > 1)
        is_odd = (start == end and bool(live)) or hint == NO_HINT or buffer.data is not None
        if has_more or live is None or said[2:] != _NOWHERE_SAID:
            self._is_plain = False
            is_odd = is_odd or (has_more and not self._add_more(buffer, numbers))
        if not is_odd:
            try:
                self._recent.extend(
                    (buffer.size, buffer.alignment, start, end, NO_HINT if hint is None else hint, saying)
                )
            except OverflowError:
                is_odd = True
        if is_odd:
            self._is_plain = False
            here = len(self._ids)
            self._whole[here] = buffer
            del self._recent[WIDTH * (here - BLOCK * len(self._settled)) :]
            self._recent.extend((0, 1, *NEVER, NO_HINT, saying))
        self._ids.append(buffer.id)
        self._settle()

    def add_plain(self, id_: BufferId, size: int, start: int, end: int) -> None:
        """Add a buffer with one lifetime that is not empty, numbers of 64 bits, and no more than that."""
        self._recent.extend((size, 1, start, end, NO_HINT, 0))
        self._ids.append(id_)
        self._settle()

    def take(self, others: Gathered) -> None:
        """Add all the others, which were added as plain ones."""
        self._ids.take(others._ids)
        recent = np.frombuffer(others._recent, np.int64).reshape(-1, WIDTH)
        for numbers in chain((np.stack(block, axis=1).astype(np.int64) for block in others._settled), [recent]):
            while len(numbers):
                room = BLOCK - len(self._recent) // WIDTH
                self._recent.frombytes(numbers[:room].tobytes())
                numbers = numbers[room:]
                self._settle()

    def _settle(self) -> None:
        if len(self._recent) == WIDTH * BLOCK:
            table = np.frombuffer(self._recent, np.int64).reshape(BLOCK, WIDTH)
            self._settled.append([narrow(table[:, k]) for k in range(WIDTH)])
            self._recent = array("q")

    def _add_more(self, buffer: Buffer, numbers: tuple[int | None, ...]) -> bool:
        """Add the rare numbers, and the further lifetimes, of the buffer that is about to be added; False, and nothing, if they fit in no columns."""
        i, fixed = len(self._ids), buffer.fixed
        further = [time for lifetime in (buffer.live or ())[1:] for time in lifetime]
        rare: dict[str, int] = {}
        if numbers != _NO_NUMBERS:
            rare = {name: number for name, number in zip(_NUMBERS, numbers, strict=True) if number is not None}
        if fixed is not None and fixed.offset is not None:
            rare["offset"] = fixed.offset
        every = (*rare.values(), *further)
        if min(rare.values(), default=0) < 0 or max(every, default=0) >= _LARGEST or min(every, default=0) < -_LARGEST:
            return False
        for name, number in rare.items():
            if number != RARE[name]:
                column = self._rare.setdefault(name, Numbers())
                column.extend(repeat(RARE[name], i - len(column)))
                column.append(number)
        if further:
            self._until.extend(repeat(len(self._further), i - len(self._until)))
            self._further.extend(further)
            self._until.append(len(self._further))
        return True

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
        if columns is None:
            return tuple(self._rows(0, len(self), only))
        self._settled.clear()
        return columns

    def columns(self, only: str | None = None) -> BufferColumns | VariedColumns | None:
        """Return all of them in columns, without lists of memories that name the only one; None if they are few, or do not fit there. No more can be added."""
        if len(self) + len(self._further) // 2 <= FEW or self._whole:
            return None
        said = self._sayings.without(only)
        size, alignment, start, end, hints, which = map(self._column, range(WIDTH))
        used = np.flatnonzero(np.bincount(which)).tolist()
        ids = self._ids.all()
        if self._is_plain and not any(said[i].pools is not None or said[i].kind == _CONSTANT for i in used):
            kinds = None if all(said[i] == _PLAIN for i in used) else [said[i].kind for i in which.tolist()]
            wanted = _wide(hints) if bool((hints != NO_HINT).any()) else None
            return BufferColumns(ids, _wide(size), _wide(alignment), _wide(start), _wide(end), kinds, wanted)
        for name, column in self._rare.items():
            column.extend(repeat(RARE[name], len(self) - len(column)))
        if self._until:
            self._until.extend(repeat(len(self._further), len(self) - len(self._until)))
        which = which.astype(np.min_scalar_type(len(said)))
        rare = {name: _wide(column.all()) for name, column in self._rare.items()}
        further, until = self._further.all(), self._until.all()
        return VariedColumns(ids, size, alignment, start, end, hints, which, said, rare, further, until)

    def _rows(self, first: int, end: int, only: str | None = None) -> Iterator[Buffer]:
        sayings = self._sayings.without(only)
        for i, id_, own in zip(range(first, end), self._ids.rows(first), self._from(first, end), strict=False):
            if i in self._whole:
                yield self._whole[i]
            else:
                rare = {name: column[i] for name, column in self._rare.items() if i < len(column)}
                yield buffer_of(id_, own, sayings, rare, self._further_of(i) if i < len(self._until) else ())

    def _from(self, first: int, end: int) -> Iterator[tuple[int, ...]]:
        """Yield the numbers of these buffers."""
        for b in range(first // BLOCK, len(self._settled)):
            some = slice(max(first - b * BLOCK, 0), max(end - b * BLOCK, 0))
            yield from zip(*(column[some].tolist() for column in self._settled[b]), strict=True)
        before = BLOCK * len(self._settled)
        each = iter(self._recent[WIDTH * max(first - before, 0) : WIDTH * max(end - before, 0)])
        yield from zip(*[each] * WIDTH, strict=True)

    def _column(self, k: int) -> Ints:
        """Return a column of the numbers of all."""
        recent = np.frombuffer(self._recent, np.int64).reshape(-1, WIDTH)[:, k]
        return together([*(block[k] for block in self._settled), recent])

    def _further_of(self, i: int) -> Sequence[int]:
        return self._further.rows(self._until[i - 1] if i else 0, self._until[i])


def narrow(column: Ints) -> Ints:
    """Return the same numbers in less room."""
    low, high = int(column.min()), int(column.max())
    bits = next(bits for bits in (8, 16, 32, 64) if max(high, -low - 1) < 1 << (bits - 1))
    if low == high:
        return np.broadcast_to(np.array(low, f"int{bits}"), column.shape)
    return column.astype(f"int{bits}")


def together(parts: Sequence[Ints]) -> Ints:
    """Return all of these numbers in as little room as they need, as one number if all are alike."""
    column: Ints = np.concatenate([narrow(part) for part in parts if len(part)] or [np.zeros(0, np.int64)])
    return unless_alike(column)


def _wide(column: Ints) -> Ints:
    """Return the numbers in 64 bits, for those who compute with them."""
    if column.strides == (0,):
        return np.broadcast_to(column[0].astype(np.int64), column.shape)
    return column.astype(np.int64, copy=False)


def unless_alike(column: Ints) -> Ints:
    """Return the column; as one number if all are alike."""
    are_alike = len(column) > 0 and bool((column == column[0]).all())
    return np.broadcast_to(column[0].copy(), column.shape) if are_alike else column
