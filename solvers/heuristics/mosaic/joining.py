"""Joins pieces that fit exactly: one after the other (a chain), one on top of the other (a stack), or four around a fifth (a pinwheel)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from .pieces import Piece, squeezed

MOST_IN_PAIRS = 30
"""Of more pieces that begin and end together no two are tried as one."""


Allows: TypeAlias = Callable[[int, int], bool]
"""May the pieces of these two names be joined?"""


def joined(pieces: Iterable[Piece], allows: Allows) -> Iterator[list[Piece]]:
    """The pieces after each look at all of them, fewer each time that some were joined; the last are those of which none fit together.

    What fits with greater certainty is joined first: pieces without a choice, and last of all those that could be chained with several others.
    """
    left = squeezed(list(pieces))
    has_joined = True
    while has_joined:
        for way in (_chains, _chains_of_two, _pinwheels, _stacks, _chains_by_choice):
            fewer = way(left, allows)
            has_joined = len(fewer) < len(left)
            if has_joined:
                left = squeezed(fewer)
            yield left
            if has_joined:
                break


def _chains(pieces: list[Piece], allows: Allows) -> list[Piece]:
    """Chain pieces of equal height that follow each other, if neither could be chained with another."""
    return _chained(pieces, allows, 1)


def _chains_by_choice(pieces: list[Piece], allows: Allows) -> list[Piece]:
    """The same, but the first of several if there is a choice."""
    return _chained(pieces, allows, len(pieces))


def _chained(pieces: list[Piece], allows: Allows, most: int) -> list[Piece]:
    ending: dict[tuple[int, int], list[Piece]] = defaultdict(list)
    beginning: dict[tuple[int, int], list[Piece]] = defaultdict(list)
    for piece in pieces:
        ending[piece.end, piece.height].append(piece)
        beginning[piece.begin, piece.height].append(piece)
    # Equal heights are the less likely by chance the greater they are.
    for time, height in sorted(ending.keys() & beginning.keys(), key=lambda key: (-key[1], key[0])):
        first, second = ending[time, height], beginning[time, height]
        if max(len(first), len(second)) > most or not allows(first[0].name, second[0].name):
            continue
        before, after = first.pop(0), second.pop(0)
        whole = _chain(before, after)
        _exchange(beginning[before.begin, height], before, whole)
        _exchange(ending[after.end, height], after, whole)
    return [piece for row in beginning.values() for piece in row]


def _exchange(row: list[Piece], old: Piece, new: Piece) -> None:
    row[row.index(old)] = new


def _stacks(pieces: list[Piece], allows: Allows) -> list[Piece]:
    """Stack pieces that begin and end together: those that live longest, since equal short lives are more often chance."""
    stacks: dict[tuple[int, int], list[Piece]] = defaultdict(list)
    for piece in pieces:
        stacks[piece.begin, piece.end].append(piece)
    longest = max((end - begin for (begin, end), row in stacks.items() if len(row) > 1), default=0)
    left: list[Piece] = []
    for (begin, end), row in stacks.items():
        if 2 * (end - begin) < longest or len(row) == 1:
            left += row
            continue
        low = row[0]
        for piece in row[1:]:
            if allows(low.name, piece.name):
                low = _stack(low, piece)
            else:
                left.append(low)
                low = piece
        left.append(low)
    return left


def _chains_of_two(pieces: list[Piece], allows: Allows) -> list[Piece]:
    """Stack two pieces that together are as high as a piece beside them, or as two others there, and chain them with it."""
    groups: dict[tuple[int, int], list[Piece]] = defaultdict(list)
    for piece in pieces:
        groups[piece.begin, piece.end].append(piece)
    sides = {times: _one_or_two(row) for times, row in groups.items()}
    beginning: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for begin, end in groups:
        beginning[begin].append((begin, end))
    found = [
        (-height, before, after)
        for before in groups
        for after in beginning[before[1]]
        for height in sides[before].keys() & sides[after].keys()
    ]
    gone: set[int] = set()
    made = []
    for negative, before, after in sorted(found):
        first, second = sides[before][-negative], sides[after][-negative]
        names = {piece.name for piece in first + second}
        if gone.isdisjoint(names) and allows(first[0].name, second[0].name):
            gone |= names
            made.append(_chain(_stack(*first), _stack(*second)))
    return [piece for piece in pieces if piece.name not in gone] + made


def _one_or_two(row: list[Piece]) -> dict[int, tuple[Piece, ...]]:
    """By height: a piece of the row, or two of them."""
    found: dict[int, tuple[Piece, ...]] = {}
    for place, low in enumerate(row):
        found.setdefault(low.height, (low,))
        if len(row) <= MOST_IN_PAIRS:
            for high in row[place + 1 :]:
                found.setdefault(low.height + high.height, (low, high))
    return found


def _chain(before: Piece, after: Piece) -> Piece:
    return Piece(before.begin, after.end, before.height, before.members + after.members)


def _stack(low: Piece, high: Piece | None = None) -> Piece:
    if high is None:
        return low
    return Piece(low.begin, low.end, low.height + high.height, low.members + _raised(high, low.height))


def _raised(piece: Piece, by: int) -> tuple[tuple[int, int], ...]:
    return tuple((block, distance + by) for block, distance in piece.members)


def _pinwheels(pieces: list[Piece], allows: Allows) -> list[Piece]:
    """Join four pieces around a fifth. Those around the highest fifth come first."""
    by_ends = {(piece.begin, piece.end): piece for piece in pieces}
    ending: dict[int, list[Piece]] = defaultdict(list)
    by_begin: dict[tuple[int, int], list[Piece]] = defaultdict(list)
    for piece in pieces:
        ending[piece.end].append(piece)
        by_begin[piece.begin, piece.height].append(piece)
    gone: set[int] = set()
    made = []
    for middle in sorted(pieces, key=lambda piece: (-piece.height, piece.begin, piece.end)):
        if middle.name in gone:
            continue
        for wheel in _around(middle, by_ends, ending, by_begin):
            names = {piece.name for piece in wheel}
            if len(names) == 5 and gone.isdisjoint(names) and allows(middle.name, wheel[1].name):
                gone |= names
                made.append(_whole(wheel))
                break
    return [piece for piece in pieces if piece.name not in gone] + made


Wheel: TypeAlias = tuple[Piece, Piece, Piece, Piece, Piece]
"""The middle, what lies below it, what begins when it ends, what lies above it, and what ends when it begins."""


def _around(
    middle: Piece,
    by_ends: dict[tuple[int, int], Piece],
    ending: dict[int, list[Piece]],
    by_begin: dict[tuple[int, int], list[Piece]],
) -> Iterator[Wheel]:
    for left in ending[middle.begin]:
        below = by_ends.get((left.begin, middle.end))
        if below is None or left.height <= middle.height:
            continue
        for above in by_begin.get((middle.begin, left.height - middle.height), ()):
            right = by_ends.get((middle.end, above.end))
            if right is not None and right.height == below.height + middle.height:
                yield middle, below, right, above, left


def _whole(wheel: Wheel) -> Piece:
    middle, below, right, above, left = wheel
    members = (
        below.members
        + _raised(left, below.height)
        + _raised(middle, below.height)
        + right.members
        + _raised(above, right.height)
    )
    return Piece(left.begin, right.end, below.height + left.height, members)
