"""Turns pieces of memory, each there if some alternative is chosen, into the loads at each time that matters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from .instance import Load, Pick, Share

MOST_PIECES = 500_000
"""Pieces in all loads together. Beyond that only the loads that may be largest are formed; without the others bounds are weaker."""


Cell: TypeAlias = tuple[int, int, tuple[Pick, ...]]
"""Size, block and picks of a range of addresses in use."""


class Piece(NamedTuple):
    """A range of addresses of a rigid block, in use from start to end if the pick is chosen; always if there is none."""

    block: int
    start: int
    end: int
    low: int
    high: int
    pick: Pick | None


class Times(NamedTuple):
    """What may be live at the times when most is: between a birth and the next death."""

    times: tuple[int, ...]
    """In ascending order."""
    loads: tuple[Load, ...]
    shares: tuple[tuple[Share, ...], ...]
    """The same with the memories each may be in; empty if there is one memory."""
    spare: int


def live_together(
    pieces: Iterable[Piece],
    alternatives: Sequence[int],
    unit: int = 1,
    homes: Mapping[int, tuple[int, ...]] | None = None,
    look: Callable[[], object] = lambda: None,
) -> Times:
    """What is live at each time. `look` is called now and then, and may end it all.

    `alternatives` says how many each group has. Blocks begin at multiples of `unit`: one that is alone takes whole units, except the last.
    `homes` are the memories in which each block may be, where there are several.
    """
    born: dict[int, list[Piece]] = {}
    dying: dict[int, list[Piece]] = {}
    for piece in pieces:
        if piece.start < piece.end and piece.low < piece.high:
            look()
            born.setdefault(piece.start, []).append(piece)
            dying.setdefault(piece.end, []).append(piece)
    times = sorted(born.keys() | dying.keys())
    formed = _worth_forming(times, born, dying, look)
    live = _Live(alternatives, unit)
    found: dict[tuple[Load, tuple[Cell, ...]], int] = {}
    most_spare = 0
    for time in times:
        look()
        if time in formed:
            cells, spare = live.cells()
            most_spare = max(most_spare, spare)
            # The lists of memories are long where there are many, and are not compared here: it takes too long, and the block decides its list.
            found.setdefault((_load(cells, spare), () if homes is None else tuple(cells)), time - 1)
        for piece in dying.get(time, ()):
            live.remove(piece)
        for piece in born.get(time, ()):
            live.add(piece)
    return Times(
        tuple(found.values()),
        tuple(load for load, _ in found),
        () if homes is None else _shares(found, homes),
        most_spare,
    )


def _shares(
    found: Iterable[tuple[Load, tuple[Cell, ...]]], homes: Mapping[int, tuple[int, ...]]
) -> tuple[tuple[Share, ...], ...]:
    """Let equal sets at several times share one object."""
    known: dict[Cell, Share] = {}
    for _, cells in found:
        for cell in cells:
            if cell not in known:
                size, block, picks = cell
                known[cell] = Share(size, block, picks, homes[block])
    return tuple(tuple(known[cell] for cell in cells) for _, cells in found)


def _worth_forming(
    times: Sequence[int],
    born: Mapping[int, Sequence[Piece]],
    dying: Mapping[int, Sequence[Piece]],
    look: Callable[[], object],
) -> set[int]:
    """The times just before which most is live, as many as there is room for loads."""
    found: list[tuple[int, int, int]] = []
    count = size = 0
    has_grown = False
    for time in times:
        look()
        if time in dying and has_grown:
            found.append((size, count, time))
            has_grown = False
        for piece in dying.get(time, ()):
            count, size = count - 1, size - (piece.high - piece.low)
        for piece in born.get(time, ()):
            count, size, has_grown = count + 1, size + (piece.high - piece.low), True
    kept: set[int] = set()
    room = MOST_PIECES
    for _, count, time in sorted(found, reverse=True):
        if kept and count > room:
            break
        room -= count
        kept.add(time)
    return kept


def _load(cells: Iterable[Cell], spare: int) -> Load:
    sizes: dict[tuple[Pick, ...], int] = {}
    for size, _, picks in cells:
        sizes[picks] = sizes.get(picks, 0) + size
    always = sizes.pop((), 0) - spare
    return Load(always, tuple((size, picks) for picks, size in sorted(sizes.items())))


class _Live:
    """The pieces in use, by block; the cells are computed on demand, for changed blocks only."""

    def __init__(self, alternatives: Sequence[int], unit: int) -> None:
        self._alternatives, self._unit = alternatives, unit
        self._members: dict[int, dict[Piece, int]] = {}
        self._cells: dict[int, tuple[tuple[Cell, ...], int]] = {}
        """For each block its cells, and how much of its last unit it leaves free."""

    def add(self, piece: Piece) -> None:
        members = self._members.setdefault(piece.block, {})
        members[piece] = members.get(piece, 0) + 1
        self._cells.pop(piece.block, None)

    def remove(self, piece: Piece) -> None:
        members = self._members[piece.block]
        members[piece] -= 1
        if not members[piece]:
            del members[piece]
        if not members:
            del self._members[piece.block]
        self._cells.pop(piece.block, None)

    def cells(self) -> tuple[list[Cell], int]:
        """The cells of all blocks, and how much of its last unit the topmost may leave free."""
        every: list[Cell] = []
        most_spare = 0
        for block in sorted(self._members):
            known = self._cells.get(block)
            if known is None:
                known = self._cells[block] = self._of_block(block)
            cells, spare = known
            every += cells
            most_spare = max(most_spare, spare)
        return every, most_spare

    def _of_block(self, block: int) -> tuple[tuple[Cell, ...], int]:
        members = [*self._members[block]]
        if len(members) == 1:
            size = members[0].high - members[0].low
            whole = -(-size // self._unit) * self._unit
            return ((whole, block, needed(members, self._alternatives)),), whole - size
        found: dict[tuple[Pick, ...], int] = {}
        for size, covering in _cells(members):
            picks = needed(covering, self._alternatives)
            found[picks] = found.get(picks, 0) + size
        return tuple((size, block, picks) for picks, size in found.items()), 0


def _cells(members: Sequence[Piece]) -> list[tuple[int, list[Piece]]]:
    """Split the pieces at all their ends; return each range with the pieces that cover it."""
    ends = sorted({end for piece in members for end in (piece.low, piece.high)})
    cells = []
    for low, high in pairwise(ends):
        covering = [piece for piece in members if piece.low <= low and high <= piece.high]
        if covering:
            cells.append((high - low, covering))
    return cells


def needed(covering: Sequence[Piece], alternatives: Sequence[int]) -> tuple[Pick, ...]:
    """The picks of which one must be chosen for the range to be in use; none if it always is."""
    if len(covering) == 1:  # the usual case
        (only,) = covering
        return () if only.pick is None or alternatives[only.pick[0]] == 1 else (only.pick,)
    picks = {piece.pick for piece in covering if piece.pick is not None}
    if any(piece.pick is None for piece in covering):
        return ()
    counted: dict[int, int] = {}
    for group, _ in picks:
        counted[group] = counted.get(group, 0) + 1
    if any(count == alternatives[group] for group, count in counted.items()):
        return ()
    return tuple(sorted(picks))
