"""From pieces of memory that are there if an alternative is chosen to what is live together at each time that matters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from .instance import Load, Pick, Share

MOST_PIECES = 500_000
"""Of all loads together. Beyond it those that may be largest are formed: the others only make bounds weaker."""


class Piece(NamedTuple):
    """Addresses of a rigid block, low to high, that are in use from start to end, if the pick is chosen. None: in any case."""

    block: int
    start: int
    end: int
    low: int
    high: int
    pick: Pick | None


class Times(NamedTuple):
    """All that may be live at the times at which most is: between a birth and the next death."""

    times: tuple[int, ...]
    """In ascending order."""
    loads: tuple[Load, ...]
    shares: tuple[tuple[Share, ...], ...]
    """The same with who is in which memory; empty where there is one."""
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
    formed = _worth_forming(times, born, dying)
    live: dict[Piece, int] = {}
    found: dict[tuple[Load, tuple[tuple[int, int, tuple[Pick, ...]], ...]], int] = {}
    most_spare = 0
    for time in times:
        look()
        if time in formed:
            cells, spare = _cells_of_blocks(live, alternatives, unit)
            most_spare = max(most_spare, spare)
            # Where blocks may be is long where there are many memories, and not looked at here: it takes too long, and blocks decide it.
            found.setdefault((_load(cells, spare), () if homes is None else tuple(cells)), time - 1)
        for piece in dying.get(time, ()):
            live[piece] -= 1
            if not live[piece]:
                del live[piece]
        for piece in born.get(time, ()):
            live[piece] = live.get(piece, 0) + 1
    return Times(
        tuple(found.values()),
        tuple(load for load, _ in found),
        ()
        if homes is None
        else tuple(tuple(Share(size, at, picks, homes[at]) for size, at, picks in cells) for _, cells in found),
        most_spare,
    )


def _worth_forming(
    times: Sequence[int], born: Mapping[int, Sequence[Piece]], dying: Mapping[int, Sequence[Piece]]
) -> set[int]:
    """The times just before which most is live, as far as there is room for the loads."""
    found: list[tuple[int, int, int]] = []
    count = size = 0
    has_grown = False
    for time in times:
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


def _load(cells: Iterable[tuple[int, int, tuple[Pick, ...]]], spare: int) -> Load:
    sizes: dict[tuple[Pick, ...], int] = {}
    for size, _, picks in cells:
        sizes[picks] = sizes.get(picks, 0) + size
    always = sizes.pop((), 0) - spare
    return Load(always, tuple((size, picks) for picks, size in sorted(sizes.items())))


def _cells_of_blocks(
    live: Iterable[Piece], alternatives: Sequence[int], unit: int
) -> tuple[list[tuple[int, int, tuple[Pick, ...]]], int]:
    """Size, block and picks of all ranges of addresses that are in use, and how much less than a whole unit the topmost may take."""
    found: dict[tuple[int, tuple[Pick, ...]], int] = {}
    spare = 0
    by_block: dict[int, list[Piece]] = {}
    for piece in live:
        by_block.setdefault(piece.block, []).append(piece)
    for block in sorted(by_block):
        members = by_block[block]
        if len(members) == 1:
            size = members[0].high - members[0].low
            whole = -(-size // unit) * unit
            spare = max(spare, whole - size)
            cells = [(whole, members)]
        else:
            cells = _cells(members)
        for size, covering in cells:
            key = block, needed(covering, alternatives)
            found[key] = found.get(key, 0) + size
    return [(size, block, picks) for (block, picks), size in found.items()], spare


def _cells(members: Sequence[Piece]) -> list[tuple[int, list[Piece]]]:
    """The ranges of addresses between any two ends, and whose they are."""
    ends = sorted({end for piece in members for end in (piece.low, piece.high)})
    cells = []
    for low, high in pairwise(ends):
        covering = [piece for piece in members if piece.low <= low and high <= piece.high]
        if covering:
            cells.append((high - low, covering))
    return cells


def needed(covering: Sequence[Piece], alternatives: Sequence[int]) -> tuple[Pick, ...]:
    """The picks of which one must be chosen for it to be in use; none where it always is."""
    if len(covering) == 1:  # as nearly all are
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
