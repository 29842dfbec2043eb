"""Covers of a row, lifted, in Python (see ../plain.py)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ..votes import MOST_VOTES, with_member

WHOLE = 1e-6
"""A class of which no more than this is missing in the pool, or there, is taken for in or out."""


class _Present(NamedTuple):
    units: int
    share: float
    place: int


def lifted_covers(
    units: Sequence[int], shares: Sequence[float], room: int
) -> list[tuple[list[tuple[int, int]], list[int]]]:
    row = list(map(_Present, units, shares, range(len(units))))
    return [([(each.place, count) for each, count in found.votes], found.least[1:]) for found in _covers(row, room)]


def _covers(row: Sequence[_Present], room: int) -> Iterator[_Lifting]:
    some = [each for each in row if each.share > WHOLE and each.units]
    if all(each.share > 1 - WHOLE for each in some) or sum(each.units for each in some) <= room:
        return
    known = set[frozenset[int]]()
    for order in ORDERS:
        cover = _cover(sorted(some, key=order), room)
        groups = frozenset(each.place for each in cover)
        if groups not in known:
            known.add(groups)
            yield _lifted(cover, row, room)


def _missing_by_size(each: _Present) -> tuple[float, ...]:
    return (1 - each.share) / each.units, -each.units, each.place


def _most_present(each: _Present) -> tuple[float, ...]:
    return -each.share, -each.units, each.place


def _largest_in_part(each: _Present) -> tuple[float, ...]:
    return each.share > 1 - WHOLE, -each.units, each.place


ORDERS: tuple[Callable[[_Present], tuple[float, ...]], ...] = (_missing_by_size, _most_present, _largest_in_part)
"""In which classes are taken until there is no room for all."""


def _cover(some: Sequence[_Present], room: int) -> list[_Present]:
    """The first that have no room together, without those that can be spared."""
    cover = list[_Present]()
    total = 0
    for each in some:
        cover.append(each)
        total += each.units
        if total > room:
            break
    for each in sorted(cover, key=lambda each: (each.share, each.units)):
        if total - each.units > room:
            cover.remove(each)
            total -= each.units
    return cover


def _lifted(cover: Sequence[_Present], row: Sequence[_Present], room: int) -> _Lifting:
    """Votes for all classes of the row, those of the cover one each at first.

    Those of the cover that are wholly in the pool come in only after the others: until then they take their room and have no votes. Who finds no room
    beside them comes after that.
    """
    inside = [each for each in cover if each.share > 1 - WHOLE]
    begun = [each for each in cover if each.share <= 1 - WHOLE]
    if len(begun) < 2:
        inside, begun = [], list(cover)
    named = {each.place for each in cover}
    others = [each for each in row if each.place not in named and each.units]
    left = room - sum(each.units for each in inside)
    lifting = _Lifting(begun, left)
    early = [each for each in others if each.share > WHOLE and each.units <= left]
    for each in sorted(early, key=lambda each: (-each.share, -each.units)):
        lifting.add(each)
    for each in sorted(inside, key=lambda each: -each.units):
        lifting.release(each)
    late = [each for each in others if each.share > WHOLE and each.units > left]
    for some in (late, [each for each in others if each.share <= WHOLE]):
        for each in sorted(some, key=lambda each: -each.units):
            if not lifting.add(each):
                break  # nor has a smaller one a vote
    return lifting


class _Lifting:
    """A crowd that grows: its votes, and how many of them a row has room for."""

    def __init__(self, begun: Sequence[_Present], room: int) -> None:
        self.votes = list[tuple[_Present, int]]()
        self.least = [0]
        """The least units of members that have no vote together, one, and so on."""
        self._room = room
        for each in begun:
            self._take(each, 1)
        self._most = len(begun) - 1

    def add(self, each: _Present) -> int:
        """Give the class as many votes as the others lose where it takes its room: so many, if they can be counted."""
        left = self._room - each.units
        votes = self._most - (self._votes_in(left) if left >= 0 else 0)
        self._take(each, votes)
        return votes

    def release(self, each: _Present) -> None:
        """Give back the room that the class has taken until now, and give it the votes that this room is worth."""
        self._room += each.units
        most = self._votes_in(self._room)
        votes, self._most = most - self._most, most
        self._take(each, votes)

    def _votes_in(self, room: int) -> int:
        """The most votes of members that have so much room."""
        return bisect_right(self.least, room) - 1

    def _take(self, each: _Present, votes: int) -> None:
        if votes > 0 and len(self.least) + votes <= MOST_VOTES:
            self.votes.append((each, votes))
            self.least = with_member(self.least, each.units, votes)
