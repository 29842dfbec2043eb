"""Looks for crowds that a solution of the linear program breaks: covers, lifted.

A *cover* is a set of classes of a row that has no room for all of them, but for all but any one. With one vote each, it has votes for all but one. Every
other class then gets as many votes as it can, one after the other: what the row has room for votes for no more than before.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from ....bounds.votes import MOST_VOTES, with_member
from ..program.program import Row

WHOLE = 1e-6
"""A class of which no more than this is missing in the pool, or there, is taken for in or out."""


class Present(NamedTuple):
    """A class of a row, and which part of it is in the pool."""

    units: int
    share: float
    group: int


class Members(NamedTuple):
    """The classes of a row, the units of each, and its column in a linear program."""

    groups: tuple[int, ...]
    units: tuple[int, ...]
    columns: tuple[int, ...]


def members_of(row: Row, inside: Sequence[Mapping[int, int]]) -> Members:
    """Those of a row; `inside` are the columns of all classes, by pool."""
    groups, units = zip(*row.members, strict=True) if row.members else ((), ())
    return Members(groups, units, tuple(inside[group][row.pool] for group in groups))


Votes: TypeAlias = list[tuple[Present, int]]


def lifted_covers(row: Sequence[Present], room: int) -> Iterator[Votes]:
    """Crowds of a row that has so much room; what is in the pool with some part decides which are tried."""
    some = [each for each in row if each.share > WHOLE]
    if all(each.share > 1 - WHOLE for each in some) or sum(each.units for each in some) <= room:
        return
    known = set[frozenset[int]]()
    for order in ORDERS:
        cover = _cover(sorted(some, key=order), room)
        groups = frozenset(each.group for each in cover)
        if groups not in known:
            known.add(groups)
            yield _lifted(cover, row, room)


def _missing_by_size(each: Present) -> tuple[float, ...]:
    return (1 - each.share) / each.units, -each.units, each.group


def _most_present(each: Present) -> tuple[float, ...]:
    return -each.share, -each.units, each.group


def _largest_in_part(each: Present) -> tuple[float, ...]:
    return each.share > 1 - WHOLE, -each.units, each.group


ORDERS: tuple[Callable[[Present], tuple[float, ...]], ...] = (_missing_by_size, _most_present, _largest_in_part)
"""In which classes are taken until there is no room for all."""


def _cover(some: Sequence[Present], room: int) -> list[Present]:
    """The first that have no room together, without those that can be spared."""
    cover = list[Present]()
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


def _lifted(cover: Sequence[Present], row: Sequence[Present], room: int) -> Votes:
    """Votes for all classes of the row, those of the cover one each at first.

    Those of the cover that are wholly in the pool come in only after the others: until then they take their room and have no votes. Who finds no room
    beside them comes after that.
    """
    inside = [each for each in cover if each.share > 1 - WHOLE]
    begun = [each for each in cover if each.share <= 1 - WHOLE]
    if len(begun) < 2:
        inside, begun = [], list(cover)
    named = {each.group for each in cover}
    others = [each for each in row if each.group not in named and each.units]
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
    return lifting.votes


class _Lifting:
    """A crowd that grows: its votes, and how many of them a row has room for."""

    def __init__(self, begun: Sequence[Present], room: int) -> None:
        self.votes: Votes = []
        self._room, self._least = room, [0]
        for each in begun:
            self._take(each, 1)
        self._most = len(begun) - 1

    def add(self, each: Present) -> int:
        """Give the class as many votes as the others lose where it takes its room: so many, if they can be counted."""
        left = self._room - each.units
        votes = self._most - (self._votes_in(left) if left >= 0 else 0)
        self._take(each, votes)
        return votes

    def release(self, each: Present) -> None:
        """Give back the room that the class has taken until now, and give it the votes that this room is worth."""
        self._room += each.units
        most = self._votes_in(self._room)
        votes, self._most = most - self._most, most
        self._take(each, votes)

    def _votes_in(self, room: int) -> int:
        """The most votes of members that have so much room."""
        return bisect_right(self._least, room) - 1

    def _take(self, each: Present, votes: int) -> None:
        if votes > 0 and len(self._least) + votes <= MOST_VOTES:
            self.votes.append((each, votes))
            self._least = with_member(self._least, each.units, votes)
