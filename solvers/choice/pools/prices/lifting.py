"""Looks for crowds that a solution of the linear program breaks: covers, lifted.

A *cover* is a set of classes of a row that has no room for all of them, but for all but any one. With one vote each, it has votes for all but one. Every
other class then gets as many votes as it can, one after the other: what the row has room for votes for no more than before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from ....kernels import plain
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


def lifted_covers(row: Sequence[Present], room: int) -> Iterator[tuple[Votes, list[int]]]:
    """Crowds of a row that has so much room; what is in the pool with some part decides which are tried.

    Each with the least units of members that have one vote together, two, and so on up to all.
    """
    for votes, least in plain.lifted_covers([each.units for each in row], [each.share for each in row], room):
        yield [(row[place], count) for place, count in votes], least
