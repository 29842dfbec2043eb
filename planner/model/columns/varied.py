"""Many buffers with memories, fixed places or several lifetimes as columns of numbers: objects are made on demand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, overload

import numpy as np

from solvers.model.instance import Ints

from ..problem import Buffer, BufferId, Fixed, Interval
from .buffers import NO_HINT, BufferColumns, NumberColumns, restricted
from .numbered import FIRST, Numbered
from .rows import FEW, Kept, KeptColumns

NEVER, UNKNOWN = (0, 0), (1, 1)
"""Instead of the first lifetime: there is none, and only constraints cause conflicts. No lifetime in columns begins where it ends."""
NOWHERE = -1
"""Instead of an offset."""
RARE = {"offset": NOWHERE, "max_offset": NOWHERE, "accesses": 0, "reads": 0, "writes": 0}
"""What rare columns hold where there is nothing."""


class Saying(NamedTuple):
    """What a buffer says in words."""

    pools: tuple[str, ...] | None = None
    kind: str | None = None
    home: str | None = None
    """The memory in which it is fixed."""
    device: str | None = None
    dtype: str | None = None


class Sayings(Sequence[Saying]):
    """What buffers say, each once, in order. The first ones are kept as they are; all others are texts, and made when somebody looks at them."""

    __slots__ = ("_first", "_more", "_only", "first")

    def __init__(self) -> None:
        self.first: dict[tuple[Any, ...], int] = {}
        """The numbers of the first ones."""
        self._first: list[Saying] = []
        self._more = Numbered()
        self._only: str | None = None
        """A list of this memory alone is left out."""

    def of(self, said: tuple[Any, ...]) -> int:
        """Return the number of what is said, and add it if it is new."""
        found = self.first.get(said)
        if found is not None:
            return found
        if len(self._first) == FIRST:
            return FIRST + self._more.of(json.dumps(said))
        self._first.append(Saying(*said))
        return self.first.setdefault(self._first[-1], len(self.first))

    def without(self, only: str | None) -> Sequence[Saying]:
        """Return the same without lists of this memory alone. Nothing can be added to it."""
        if only is None:
            return self if self._more else self._first
        made = Sayings()
        made._first = [said._replace(pools=None) if said.pools == (only,) else said for said in self._first]
        made._more, made._only = self._more, only
        return made if made._more else made._first

    def __len__(self) -> int:
        return len(self._first) + len(self._more)

    @overload
    def __getitem__(self, at: int) -> Saying: ...
    @overload
    def __getitem__(self, at: slice) -> list[Saying]: ...
    def __getitem__(self, at: int | slice) -> Saying | list[Saying]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        if at < FIRST:
            return self._first[at]
        pools, *words = json.loads(self._more[at - FIRST])
        return Saying(None if pools is None or pools == [self._only] else tuple(pools), *words)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VariedColumns(KeptColumns[Buffer], NumberColumns):
    """Buffers without data. The arrays never change, and those of sizes and times may have few bits. Once many of them are read one by one, all are made, and kept."""

    ids: Sequence[BufferId]
    size: Ints
    alignment: Ints
    start: Ints
    """Of the first lifetime."""
    end: Ints
    hints: Ints
    """NO_HINT: there is none."""
    said: Ints
    """For each buffer the number of its saying."""
    sayings: Sequence[Saying]
    """Some of them perhaps without a buffer."""
    rare: Mapping[str, Ints]
    """Columns that most problems do not have: the fixed `offset`, and fields named as those of a Buffer. Each holds what RARE says where there is nothing."""
    further: Ints
    """Starts and ends, in turn, of all lifetimes but the first of each buffer."""
    until: Ints
    """How many of them are those of each buffer and of all before it; empty if there are none."""
    _kept: Kept[Buffer] = field(default_factory=Kept, init=False)

    def __len__(self) -> int:
        return len(self.ids)

    def row(self, i: int) -> Buffer:
        return next(self._made(i, i + 1))

    def made(self) -> Iterator[Buffer]:
        for first in range(0, len(self), FEW):
            yield from self._made(first, min(first + FEW, len(self)))

    def _made(self, first: int, end: int) -> Iterator[Buffer]:
        some = slice(first, end)
        columns = (self.size, self.alignment, self.start, self.end, self.hints, self.said)
        numbers = zip(*(column[some].tolist() for column in columns), strict=True)
        rare = (
            [{} for _ in range(first, end)]
            if not self.rare
            else [
                dict(zip(self.rare, row, strict=True))
                for row in zip(*(column[some].tolist() for column in self.rare.values()), strict=True)
            ]
        )
        until, begin = [0] * (end - first), 0
        if len(self.until):
            until, begin = self.until[some].tolist(), int(self.until[first - 1]) if first else 0
        further = self.further[begin : until[-1]].tolist() if until else []
        at = 0
        for id_, own, more, stop in zip(self.ids[some], numbers, rare, until, strict=True):
            yield buffer_of(id_, own, self.sayings, more, further[at : stop - begin])
            at = stop - begin

    @property
    def used(self) -> Iterator[Saying]:
        """Return what any buffer says."""
        return map(self.sayings.__getitem__, np.flatnonzero(np.bincount(self.said)).tolist())

    @property
    def end_of_fixed(self) -> int:
        """Return the highest end of a buffer that is fixed at an offset; 0 if none is."""
        offset = self.rare.get("offset")
        if offset is None:
            return 0
        at = np.flatnonzero(offset != NOWHERE)
        return int(np.add(offset[at], self.size[at], dtype=np.int64).max(initial=0))

    @property
    def uses(self) -> int:
        """Return how often all buffers together are used."""
        return sum(sum(self.rare[name].tolist()) for name in ("accesses", "reads", "writes") if name in self.rare)

    def lives(self) -> tuple[Ints, Ints, Ints]:
        """Return the start, the end and the buffer of each lifetime, in the order of the buffers."""
        owner, start, end = np.flatnonzero(self.start != self.end), self.start, self.end
        if len(owner) < len(self):
            start, end = start[owner], end[owner]
        if len(self.until):
            owner = np.concatenate([owner, np.repeat(np.arange(len(self)), np.diff(self.until, prepend=0) // 2)])
            order = np.argsort(owner, kind="stable")
            start = np.concatenate([start, self.further[::2]])[order]
            end = np.concatenate([end, self.further[1::2]])[order]
            owner = owner[order]
        return start, end, owner


def kinds_of(buffers: Sequence[Buffer]) -> set[str | None]:
    """Return the kinds of the buffers."""
    if isinstance(buffers, VariedColumns):
        return {each.kind for each in buffers.used}
    if isinstance(buffers, BufferColumns):
        return {None} if buffers.kinds is None else {*buffers.kinds}
    return {buffer.kind for buffer in buffers}


def are_any_fixed(buffers: Sequence[Buffer]) -> bool:
    """True if any of the buffers is fixed in a memory."""
    if isinstance(buffers, VariedColumns):
        return any(each.home is not None for each in buffers.used)
    return any(buffer.fixed is not None for _, buffer in restricted(buffers))


def buffer_of(
    id_: BufferId, own: Sequence[int], sayings: Sequence[tuple[Any, ...]], rare: dict[str, int], further: Sequence[int]
) -> Buffer:
    """Return the buffer with a row's numbers, rare ones, and these lifetimes after the first. It takes over the rare ones."""
    size, alignment, start, end, hint, said = own
    pools, kind, home, device, dtype = sayings[said]
    live: tuple[Interval, ...] | None = ((start, end),)
    if further:
        live = ((start, end), *zip(further[::2], further[1::2], strict=True))
    elif start == end:
        live = () if start == NEVER[0] else None
    offset = rare.pop("offset", NOWHERE) if rare else NOWHERE
    fixed = None if home is None else Fixed(home, None if offset == NOWHERE else offset)
    wanted = None if hint == NO_HINT else hint
    if not rare and device is None and dtype is None:
        return Buffer(id_, size, alignment, live, pools, fixed, wanted, kind=kind)
    given: dict[str, Any] = {name: number for name, number in rare.items() if number != RARE[name]}
    return Buffer(id_, size, alignment, live, pools, fixed, wanted, kind=kind, device=device, dtype=dtype, **given)
