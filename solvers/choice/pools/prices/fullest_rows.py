"""Some rows of a program instead of all. Either the few that tell how high peaks must be while the first term is no greater than it is: those where
the first term's linear program fills a pool, and those where most is live. Or as many as a linear program may have, spread over all sections.

Prices from them are prices of the whole program, too, and what they prove there is added up over all its classes. So leaving rows out makes a bound
lower at most, and its linear program far smaller.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..program.program import Program
from .crowds import Crowd, Relaxed

FULL = 0.99
"""A row is one of them if it is so full;"""
HIGHEST = 10
"""and so many of those of each pool without end, where there is most in it;"""
MOST_LIVE = 4
"""and those of all pools beside so many in which most is live."""
LESS = 90
"""Where rows that are spread still have too many entries, a part of so many hundredths is tried."""


class SomeRows:
    """These rows of a program."""

    def __init__(self, program: Program, rows: Iterable[int]) -> None:
        self._rows = sorted(set(rows))
        self.program = replace(program, rows=tuple(program.rows[row] for row in self._rows))
        """The program with these rows alone."""

    def in_whole(self, relaxed: Relaxed) -> Relaxed:
        """A solution of that program, with the rows' numbers in the whole one."""
        return replace(
            relaxed,
            of_rows=tuple((self._rows[row], price) for row, price in relaxed.of_rows),
            of_crowds=tuple((self._in_whole(crowd), price) for crowd, price in relaxed.of_crowds),
        )

    def _in_whole(self, crowd: Crowd) -> Crowd:
        return crowd._replace(row=self._rows[crowd.row])


class FullestRows(SomeRows):
    """Of one program, with a solution of its first term's linear program."""

    def __init__(self, program: Program, relaxed: Relaxed) -> None:
        priced = {number for number, _ in relaxed.of_rows} | {crowd.row for crowd, _ in relaxed.of_crowds}
        super().__init__(program, priced.union(_fullest(program, relaxed)))
        number_of = {row: number for number, row in enumerate(self._rows)}
        self.crowds = [crowd._replace(row=number_of[crowd.row]) for crowd, _ in relaxed.of_crowds]
        """The crowds in these rows."""


def spread_rows(program: Program, most: int) -> SomeRows:
    """Rows with about so many entries, if they must be left out: of neighbours those where most is live. Those at the few fullest sections are never left out."""
    lives = _lives(program)
    of_pool = _of_pool(program)
    kept = SomeRows(program, range(len(lives)))
    part, longest, has_one_of_each = most, max(map(len, of_pool)), False
    while kept.program.entries > most and not has_one_of_each:
        found = set(_at_fullest(program, lives, of_pool))
        for here in of_pool:
            count = max(len(here) * part // program.entries, 1)
            fullest = dict[int, int]()
            for at, number in enumerate(here):
                group = at * count // len(here)
                fullest[group] = max(fullest.get(group, number), number, key=lambda n: (lives[n], -n))
            found.update(fullest.values())
        kept, part = SomeRows(program, found), part * LESS // 100
        has_one_of_each = longest * part < program.entries
    return kept


def _fullest(program: Program, relaxed: Relaxed) -> Iterator[int]:
    """The rows that are full, or the highest where there is no end; and those of all pools when most is live."""
    shares = [dict(zip(homes, each, strict=True)) for homes, each in zip(program.homes, relaxed.shares, strict=True)]
    loads = [row.always + sum(units * shares[g][row.pool] for g, units in row.members) for row in program.rows]
    of_pool = _of_pool(program)
    for room, here in zip(program.rooms, of_pool, strict=True):
        if room.capacity is None:
            yield from sorted(here, key=lambda number: -loads[number])[:HIGHEST]
        else:
            most = room.below(room.capacity) + room.spare
            yield from (number for number in here if loads[number] >= FULL * most)
    yield from _at_fullest(program, _lives(program), of_pool)


def _at_fullest(program: Program, lives: list[int], of_pool: list[list[int]]) -> Iterator[int]:
    """The rows of all pools beside those in which most is live."""
    for number in sorted(range(len(lives)), key=lambda number: -lives[number])[:MOST_LIVE]:
        for here in of_pool:
            after = bisect_left(here, program.rows[number].section, key=lambda n: program.rows[n].section)
            yield from here[max(after - 1, 0) : after + 1]


def _lives(program: Program) -> list[int]:
    """By row: how much may be there."""
    return [row.always + sum(units for _, units in row.members) for row in program.rows]


def _of_pool(program: Program) -> list[list[int]]:
    """By pool: its rows."""
    return [[n for n, row in enumerate(program.rows) if row.pool == pool] for pool in range(len(program.rooms))]
