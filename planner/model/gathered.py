"""Buffers as they are read, with numbers in columns: objects are made only once all are read without faults."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from operator import attrgetter

import numpy as np

from solvers.model.instance import Ints

from .columns import FEW, NO_HINT, BufferColumns
from .problem import Buffer, Pool
from .texts import GatheredTexts

_RARE = attrgetter("fixed", "max_offset", "accesses", "device", "dtype", "reads", "writes", "data")
_NOT_SAID = _RARE(Buffer(0, 0))
_LARGEST = 1 << 63
_CONSTANT = "constant"


class Gathered:
    """Keeps buffer objects only for those with more than numbers, one lifetime, memories and a kind."""

    def __init__(self) -> None:
        self._ids = GatheredTexts()
        self._numbers = tuple(array("q") for _ in range(5))
        """Size, alignment, start, end and hint of each buffer."""
        self._said = array("l")
        """The index of each buffer's memories and kind."""
        self._sayings: dict[tuple[tuple[str, ...] | None, str | None], int] = {(None, None): 0}
        self._whole: dict[int, Buffer] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, buffer: Buffer) -> None:
        live = ((0, 0),) if buffer.live == () else buffer.live
        hint = NO_HINT if buffer.hint is None else buffer.hint
        is_usual = live is not None and len(live) == 1 and (live is not buffer.live or live[0][0] != live[0][1])
        numbers: tuple[int, ...] = (0, 1, 0, 0, NO_HINT)
        if not is_usual or live is None or buffer.hint == NO_HINT or _RARE(buffer) != _NOT_SAID:
            self._whole[len(self._ids)] = buffer
        else:
            own = (buffer.size, buffer.alignment, *live[0], hint)
            if max(own) >= _LARGEST or min(own) < -_LARGEST:
                self._whole[len(self._ids)] = buffer
            else:
                numbers = own
        self._ids.append(buffer.id)
        for column, number in zip(self._numbers, numbers, strict=True):
            column.append(number)
        self._said.append(self._sayings.setdefault((buffer.pools, buffer.kind), len(self._sayings)))

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
        if len(self) <= FEW or self._whole or any(pools is not None or kind == _CONSTANT for pools, kind in used):
            return tuple(self._rows(0, len(self), only))
        size, alignment, start, end, hints = (_column(each) for each in self._numbers)
        has_hints = bool((hints != NO_HINT).any())
        kinds = None if used == {(None, None)} else [said[i][1] for i in self._said]
        return BufferColumns(self._ids.all(), size, alignment, start, end, kinds, hints if has_hints else None)

    def _sayings_without(self, only: str | None) -> list[tuple[tuple[str, ...] | None, str | None]]:
        """Return memories and kinds by their index, but no list of nothing else than this memory."""
        return [(None if only is not None and pools == (only,) else pools, kind) for pools, kind in self._sayings]

    def _rows(self, first: int, end: int, only: str | None = None) -> Iterator[Buffer]:
        sayings = self._sayings_without(only)
        for i, id_ in zip(range(first, end), self._ids.rows(first), strict=False):
            if i in self._whole:
                yield self._whole[i]
                continue
            size, alignment, start, stop, hint = (column[i] for column in self._numbers)
            pools, kind = sayings[self._said[i]]
            live = ((start, stop),) if start != stop else ()
            wanted = None if hint == NO_HINT else hint
            yield Buffer(id_, size, alignment, live, pools, hint=wanted, kind=kind)


def _column(numbers: array[int]) -> Ints:
    """Return the numbers where they are."""
    return np.frombuffer(numbers, np.int64)
