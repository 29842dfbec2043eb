"""The linear program of many classes, solved span of time by span of time, each at the prices of those before it.

A span has the rows there, and its classes pay what all other rows charge them at known prices.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple, Protocol

import numpy as np

from ....model.instance import Ints
from .. import budget
from ..program.program import Costs, Program
from .crowds import Crowd, Relaxed

FINEST, MOST_FINE = 1 << 10, 1 << 42
"""Costs are counted in parts of a unit, so many at most; and none in more than so many parts."""
CLASSES, MARGIN = 600, 100
"""So many classes begin in a span, and so many more are looked at beyond it."""
ALL_ROWS_PER_ENTRY = 20
"""With less work for each number in the program, spans have only every second row of each pool."""
LEAST_PER_ENTRY, LAST_ROUND_PER_ENTRY = 8, 9
"""What solving a span gets at least, for each number in it; and what its last round of crowds takes beyond that."""


class Solving(Protocol):
    """Who solves linear programs, and counts the work."""

    work: int

    def relax(self, program: Program, held: tuple[int, ...], work: int) -> Relaxed | None:
        """Solve it within this much work; None if it was not solved."""


def relaxed_in_time(program: Program, starts: Ints, solving: Solving, work: int) -> Relaxed | None:
    """Return the solution of the first term's linear program, which counts no peaks; None if that is too much work. `starts` says when each class is first live."""
    spans, begun = Spans(program, starts), solving.work
    every = 1 if work >= ALL_ROWS_PER_ENTRY * program.entries else 2
    borders = spans.borders(CLASSES)
    for n, begin in enumerate(borders):
        until = borders[n + 1] if n + 1 < len(borders) else None
        span = spans.cut(begin, None if until is None else spans.after(until, MARGIN), every)
        entries = span.program.entries
        solving.work += budget.WINDOW_PER_ENTRY * entries
        left = (begun + work - solving.work) // (len(borders) - n)
        most = max(left - LAST_ROUND_PER_ENTRY * entries, LEAST_PER_ENTRY * entries)
        found = solving.relax(span.program, (), most)
        if found is None:
            return None
        spans.learn(span, found, until)
    return spans.relaxed(solving.work - begun)


class Span(NamedTuple):
    """One of them."""

    program: Program
    classes: tuple[int, ...]
    """Its classes, as the whole program numbers them,"""
    rows: tuple[int, ...]
    """and its rows."""


class Spans:
    """Of one program's first term, which counts no peaks. `starts` says when each class is first live."""

    def __init__(self, program: Program, starts: Ints) -> None:
        self.program, self.starts = program, starts
        self.shares: list[tuple[float, ...] | None] = [None] * len(program.homes)
        """How much of each class is in each of its homes in the linear program, as far as that is known;"""
        self.of_rows = dict[int, float]()
        self.of_crowds = dict[Crowd, float]()
        """and the prices."""
        dearest = max((cost for costs in program.terms[0].of_homes for cost in costs), default=0)
        self._scale = max(min(FINEST, MOST_FINE // max(dearest, 1)), 1)
        self._sections = [row.section for row in program.rows]
        self._ends = [pool for pool, room in enumerate(program.rooms) if room.capacity is not None]
        self._rows_of = [[n for n, row in enumerate(program.rows) if row.pool == p] for p in range(len(program.rooms))]
        self._paid = list[tuple[int, int, int, float]]()
        """(row, class, pool, what it pays there)"""

    def borders(self, size: int) -> list[int]:
        """When spans begin that have so many classes each."""
        return sorted({int(each) for each in np.sort(self.starts)[::size]})

    def after(self, begin: int, count: int) -> int | None:
        """When so many classes have begun since then; None: never."""
        later = np.sort(self.starts[self.starts >= begin])
        return int(later[count]) if count < len(later) else None

    def cut(self, begin: int, end: int | None, every: int = 1) -> Span:
        """The span between these sections. It has every row, every second one of each pool, and so on."""
        program, first = self.program, bisect_left(self._sections, begin)
        last = len(self._sections) if end is None else bisect_left(self._sections, end)
        kept, members = list[int](), list[tuple[tuple[int, int], ...]]()
        for p in self._ends:
            mine = self._rows_of[p]
            here = mine[bisect_left(mine, first) : bisect_left(mine, last)]
            kept += here[::every] + mine[bisect_left(mine, last) :][:1]
        kept.sort()
        for n in kept:
            each = program.rows[n].members
            members.append(each if n < last else tuple(one for one in each if end is None or self.starts[one[0]] < end))
        classes = tuple(sorted({group for each in members for group, _ in each}))
        number_of = {group: number for number, group in enumerate(classes)}
        homes, term, charged = [program.homes[g] for g in classes], program.terms[0], self._charged(kept)
        costs = (
            tuple(
                self._scale * cost + charged.get((g, p), 0)
                for p, cost in zip(program.homes[g], term.of_homes[g], strict=True)
            )
            for g in classes
        )
        part = Program(
            homes=tuple(homes),
            rooms=program.rooms,
            rows=tuple(
                program.rows[n]._replace(members=tuple((number_of[g], units) for g, units in each))
                for n, each in zip(kept, members, strict=True)
            ),
            terms=(Costs(tuple(costs), (0,) * len(program.rooms)),),
            apart=(),
        )
        return Span(part, classes, tuple(kept))

    def learn(self, span: Span, relaxed: Relaxed, until: int | None) -> None:
        """Keep the solution of the span's linear program up to this section."""
        for group, shares in zip(span.classes, relaxed.shares, strict=True):
            if self.shares[group] is None and (until is None or self.starts[group] < until):
                self.shares[group] = shares
        rows = self.program.rows
        for n, price in relaxed.of_rows:
            number = span.rows[n]
            if until is None or self._sections[number] < until:
                self.of_rows[number] = price / self._scale
                self._paid += ((number, g, rows[number].pool, price * units) for g, units in rows[number].members)
        for crowd, price in relaxed.of_crowds:
            number = span.rows[crowd.row]
            if until is None or self._sections[number] < until:
                classes = tuple(span.classes[each] for each in crowd.classes)
                self.of_crowds[Crowd(number, classes, crowd.votes)] = price / self._scale
                each = zip(classes, crowd.votes, strict=True)
                self._paid += ((number, g, rows[number].pool, price * votes) for g, votes in each)

    def relaxed(self, work: int) -> Relaxed:
        """The solution of all spans together."""
        program = self.program
        alone = (
            [float(n == costs.index(min(costs))) for n in range(len(costs))] for costs in program.terms[0].of_homes
        )
        return Relaxed(
            peaks=tuple(room.capacity or 0 for room in program.rooms),
            of_rows=tuple(sorted(self.of_rows.items())),
            of_crowds=tuple(self.of_crowds.items()),
            of_held=(),
            gain=0.0,
            work=work,
            spreads=(0.0,) * len(program.rooms),
            shares=tuple(known or tuple(one) for known, one in zip(self.shares, alone, strict=True)),
        )

    def _charged(self, rows: Iterable[int]) -> dict[tuple[int, int], int]:
        """What each class pays in each pool in other rows."""
        here, found = set(rows), dict[tuple[int, int], float]()
        for row, group, pool, paid in self._paid:
            if row not in here:
                found[group, pool] = found.get((group, pool), 0.0) + paid
        return {key: round(paid) for key, paid in found.items()}
