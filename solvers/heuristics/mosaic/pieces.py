"""Pieces of a mosaic: blocks, and rectangles of room that stays empty."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from ...model.instance import Ints


class Piece(NamedTuple):
    """A rectangle that blocks fill without a gap."""

    begin: int
    end: int
    height: int
    members: tuple[tuple[int, int], ...]
    """Each block, and its distance above the piece's base."""

    @property
    def name(self) -> int:
        """The first of its blocks: no two pieces have the same."""
        return self.members[0][0]


def squeezed(pieces: list[Piece]) -> list[Piece]:
    """The same pieces with times as numbers of sections: what ends before anything else begins ends where the next section begins."""
    begins, ends = {piece.begin for piece in pieces}, {piece.end for piece in pieces}
    section, has_begun = 0, False
    begin_in: dict[int, int] = {}
    end_in: dict[int, int] = {}
    for time in sorted(begins | ends):
        if time in ends:
            section += has_begun
            has_begun = False
            end_in[time] = section
        if time in begins:
            begin_in[time] = section
            has_begun = True
    return [piece._replace(begin=begin_in[piece.begin], end=end_in[piece.end]) for piece in pieces]


def fillers(free: Ints) -> list[tuple[int, int, int]]:
    """Begin, end and height of rectangles of free room, given how much is free in each section.

    Where some room becomes free, and later just as much is taken again, it is taken for one rectangle. What is free otherwise stays so.
    """
    found, left = [], free.copy()
    grown: dict[int, list[int]] = defaultdict(list)
    before = 0
    for section, room in enumerate([*free.tolist(), 0]):
        if room > before:
            grown[room - before].append(section)
        elif room < before and grown[before - room]:
            begin = grown[before - room].pop()
            height = before - room
            if int(left[begin:section].min()) >= height:
                left[begin:section] -= height
                found.append((begin, section, height))
        before = room
    return found
