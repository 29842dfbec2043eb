"""Buffers as they are read, with numbers in columns: objects are made only once all are read without faults."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from operator import attrgetter

import numpy as np

from .columns import buffer_columns
from .problem import Buffer, BufferId

_FIELDS = 5
"""The fields of each buffer: size, alignment, start, end and hint."""
_NO_HINT = -1
_RARE = attrgetter("fixed", "max_offset", "accesses", "device", "dtype", "reads", "writes", "data")
_NOT_SAID = _RARE(Buffer(0, 0))
_LARGEST = 1 << 63


class Gathered:
    """Keeps buffer objects only for those with more than numbers, one lifetime, memories and a kind."""

    def __init__(self) -> None:
        self._ids: list[BufferId] = []
        self._numbers = array("q")
        self._said = array("l")
        """The index of each buffer's memories and kind."""
        self._sayings: dict[tuple[tuple[str, ...] | None, str | None], int] = {(None, None): 0}
        self._whole: dict[int, Buffer] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, buffer: Buffer) -> None:
        live = ((0, 0),) if buffer.live == () else buffer.live
        hint = _NO_HINT if buffer.hint is None else buffer.hint
        is_usual = live is not None and len(live) == 1 and (live is not buffer.live or live[0][0] != live[0][1])
        if not is_usual or live is None or buffer.hint == _NO_HINT or _RARE(buffer) != _NOT_SAID:
            self._whole[len(self._ids)] = buffer
            numbers: tuple[int, ...] = (0,) * _FIELDS
        else:
            numbers = (buffer.size, buffer.alignment, *live[0], hint)
            if max(numbers) >= _LARGEST or min(numbers) < -_LARGEST:
                self._whole[len(self._ids)] = buffer
                numbers = (0,) * _FIELDS
        self._ids.append(buffer.id)
        self._numbers.extend(numbers)
        self._said.append(self._sayings.setdefault((buffer.pools, buffer.kind), len(self._sayings)))

    def row(self, i: int) -> Buffer:
        """Return the buffer added as number i."""
        return next(self._rows(i, i + 1))

    def rows(self) -> Iterator[Buffer]:
        """Make all of them, one by one."""
        return self._rows(0, len(self))

    def all(self, *, only: str | None = None) -> Sequence[Buffer]:
        """Return all of them. Buffers need not name the only memory."""
        if only is not None:
            self._sayings = {
                (None if pools == (only,) else pools, kind): i for (pools, kind), i in self._sayings.items()
            }
        rows = np.frombuffer(self._numbers, np.int64).reshape(-1, _FIELDS)
        plain = self._sayings.get((None, None))
        if self._whole or (rows[:, 4] != _NO_HINT).any() or any(each != plain for each in set(self._said)):
            return tuple(self.rows())
        return buffer_columns(self._ids, *(rows[:, i].copy() for i in range(4)))

    def _rows(self, first: int, end: int) -> Iterator[Buffer]:
        sayings = {number: text for text, number in self._sayings.items()}
        for i in range(first, end):
            if i in self._whole:
                yield self._whole[i]
                continue
            size, alignment, start, stop, hint = self._numbers[_FIELDS * i : _FIELDS * (i + 1)]
            pools, kind = sayings[self._said[i]]
            live = ((start, stop),) if start != stop else ()
            wanted = None if hint == _NO_HINT else hint
            yield Buffer(self._ids[i], size, alignment, live, pools, hint=wanted, kind=kind)
