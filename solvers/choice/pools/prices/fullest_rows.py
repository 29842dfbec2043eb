"""The few rows that tell how high peaks must be while the first term is no greater than it is: those where the first term's linear program fills
a pool, and those where most is live.

Prices from them are prices of the whole program, too, and what they prove there is added up over all its classes. So leaving rows out makes a bound
lower at most, and its linear program far smaller.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace

from ..program.program import Program
from .crowds import Crowd, Relaxed

FULL = 0.99
"""A row is one of them if it is so full;"""
HIGHEST = 10
"""and so many of those of each pool without end, where there is most in it;"""
MOST_LIVE = 4
"""and those of all pools beside so many in which most is live."""


class FullestRows:
    """Of one program, with a solution of its first term's linear program."""

    def __init__(self, program: Program, relaxed: Relaxed) -> None:
        priced = {number for number, _ in relaxed.of_rows} | {crowd.row for crowd, _ in relaxed.of_crowds}
        self._rows = sorted(priced.union(_fullest(program, relaxed)))
        number_of = {row: number for number, row in enumerate(self._rows)}
        self.program = replace(program, rows=tuple(program.rows[row] for row in self._rows))
        """The program with these rows alone,"""
        self.crowds = [crowd._replace(row=number_of[crowd.row]) for crowd, _ in relaxed.of_crowds]
        """and the crowds there."""

    def in_whole(self, relaxed: Relaxed) -> Relaxed:
        """A solution of that program, with the rows' numbers in the whole one."""
        return replace(
            relaxed,
            of_rows=tuple((self._rows[row], price) for row, price in relaxed.of_rows),
            of_crowds=tuple((self._in_whole(crowd), price) for crowd, price in relaxed.of_crowds),
        )

    def _in_whole(self, crowd: Crowd) -> Crowd:
        return crowd._replace(row=self._rows[crowd.row])


def _fullest(program: Program, relaxed: Relaxed) -> Iterator[int]:
    """The rows that are full, or the highest where there is no end; and those of all pools when most is live."""
    shares = [dict(zip(homes, each, strict=True)) for homes, each in zip(program.homes, relaxed.shares, strict=True)]
    loads = [row.always + sum(units * shares[g][row.pool] for g, units in row.members) for row in program.rows]
    lives = [row.always + sum(units for _, units in row.members) for row in program.rows]
    of_pool = [[n for n, row in enumerate(program.rows) if row.pool == pool] for pool in range(len(program.rooms))]
    for room, here in zip(program.rooms, of_pool, strict=True):
        if room.capacity is None:
            yield from sorted(here, key=lambda number: -loads[number])[:HIGHEST]
        else:
            most = room.below(room.capacity) + room.spare
            yield from (number for number in here if loads[number] >= FULL * most)
    for number in sorted(range(len(lives)), key=lambda number: -lives[number])[:MOST_LIVE]:
        for here in of_pool:
            after = bisect_left(here, program.rows[number].section, key=lambda n: program.rows[n].section)
            yield from here[max(after - 1, 0) : after + 1]
