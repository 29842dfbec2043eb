"""Pools that are alike, as one in linear programs.

Of solutions in which pools that are alike differ, the mean of all exchanges is a solution that costs as much, and has the same in each of them. So one pool
stands for all of them: a class has the same share in each, which counts as often as there are pools, and what a price on its room or on a crowd's votes
proves is divided among them. The linear program has as many times fewer columns and rows, and the same value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ..program.program import Program
from .crowds import Crowd


class Alike:
    """Which pools of a program are alike: in room, rows, and all costs."""

    def __init__(self, program: Program, *, is_sought: bool = True) -> None:
        """Unless it is sought, none is like another."""
        self.stands = tuple(_first_alike(program) if is_sought else range(len(program.rooms)))
        """By pool, the first of those that it is like."""
        self.times = [self.stands.count(pool) for pool in range(len(self.stands))]
        """For how many pools each stands; 0: another stands for it."""
        self._copies = [[number] for number in range(len(program.rows))]
        """By row of the smaller program, the rows for which it stands;"""
        self._row_of = {number: number for number in range(len(program.rows))}
        """and its number, by the first of these."""
        self.program = program
        """The program of those pools that stand for others, whose costs count as often."""
        if self.is_smaller:
            self._join(program)

    @property
    def is_smaller(self) -> bool:
        """Are there any pools that are alike?"""
        return 0 in self.times

    def _join(self, program: Program) -> None:
        mine: list[list[int]] = [[] for _ in program.rooms]
        for number, row in enumerate(program.rows):
            mine[row.pool].append(number)
        alike = [[pool for pool, first in enumerate(self.stands) if first == each] for each in range(len(mine))]
        self._copies = [list(rows) for pools in alike for rows in zip(*(mine[pool] for pool in pools), strict=True)]
        self._row_of = {rows[0]: number for number, rows in enumerate(self._copies)}
        kept = [[n for n, pool in enumerate(homes) if self.times[pool]] for homes in program.homes]
        homes = tuple(tuple(each[n] for n in some) for each, some in zip(program.homes, kept, strict=True))
        self.program = replace(
            program,
            homes=homes,
            rows=tuple(program.rows[rows[0]] for rows in self._copies),
            terms=tuple(
                term._replace(
                    of_homes=tuple(
                        tuple(costs[n] * self.times[each[n]] for n in some)
                        for each, costs, some in zip(program.homes, term.of_homes, kept, strict=True)
                    ),
                    of_peaks=tuple(price * times for price, times in zip(term.of_peaks, self.times, strict=True)),
                )
                for term in program.terms
            ),
            apart=(),
        )

    def in_whole(self, crowd: Crowd) -> list[Crowd]:
        """The crowds of the whole program for which this one of the smaller stands."""
        return [crowd._replace(row=row) for row in self._copies[crowd.row]]

    def in_smaller(self, crowds: Iterable[Crowd]) -> Iterator[Crowd]:
        """These crowds of the whole program in the smaller one, where they are of pools that stand for others."""
        return (crowd._replace(row=self._row_of[crowd.row]) for crowd in crowds if crowd.row in self._row_of)

    def divided(self, prices: Iterable[tuple[int, float]]) -> Iterator[tuple[int, float]]:
        """Prices of the smaller program's rows, divided among the rows for which each stands."""
        for number, price in prices:
            rows = self._copies[number]
            yield from ((row, price / len(rows)) for row in rows)


def entries_as_one(program: Program) -> int:
    """The number of entries in the rows of pools that stand for others."""
    first = tuple(_first_alike(program))
    return sum(len(row.members) for row in program.rows if first[row.pool] == row.pool)


def _first_alike(program: Program) -> Iterator[int]:
    """By pool, the first that has the same room, rows and costs."""
    looks = [(room, *(term.of_peaks[pool] for term in program.terms)) for pool, room in enumerate(program.rooms)]
    if len(set(looks)) == len(looks):  # most programs: there is no need to compare rows
        yield from range(len(looks))
        return
    rows: list[list[tuple[object, ...]]] = [[] for _ in looks]
    for row in program.rows:
        rows[row.pool].append(row[1:])
    costs: list[list[Sequence[int]]] = [[] for _ in looks]
    for group, homes in enumerate(program.homes):
        for n, pool in enumerate(homes):
            costs[pool].append((group, *(term.of_homes[group][n] for term in program.terms)))
    first: dict[tuple[object, ...], list[int]] = {}
    for pool, look in enumerate(looks):
        others = first.setdefault((look, tuple(costs[pool])), [])
        alike = next((other for other in others if rows[other] == rows[pool]), pool)  # mostly one object: soon compared
        if alike == pool:
            others.append(pool)
        yield alike
