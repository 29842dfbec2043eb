"""The bound on a program's term that prices on room and on membership in crowds prove: exact for any prices.

A *crowd* is a set of classes in one row, in one pool, each of which counts for a whole number of votes. If h units are live there at most, those of the
crowd that are in that pool have no more than N(h) votes together: the most that any of them have which fit below h. Let y be the prices of rows, and w
those of a vote in crowds, all >= 0. Then no choice of pools costs less than

    sum over classes of  min over its pools p of   its cost in p + sum over p's rows of y * its units + sum of w * its votes over p's crowds
    sum over pools p of  min over h of             (the peak's price) * h - sum over p's rows of y * (h - always) - sum over p's crowds of w * N(h),

where h is at most what the pool holds. Cutting classes in parts gains nothing of N(h), which is what makes crowds worth more than rows alone:
without them the bound is that of the linear program.

Of a later term this holds with a price for each earlier one, too: a unit of it costs so much, and what it may come to at most, at that price, is taken
off again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from ....kernels.votes import can_be_counted, least_for_votes
from ..program.program import Heights, Program

FINEST = 1 << 20
"""Prices are multiples of 1/FINEST of a unit of cost."""
FINEST_OF_LATER = 1 << 60
"""The same where earlier terms have prices: a picosecond may be worth a millionth of a byte."""


Stretch: TypeAlias = tuple[int, int, tuple[int, int]]
"""The ends of a range of heights, and what a pool costs at each."""


class Crowd(NamedTuple):
    """Some of the classes of one row, with the votes of each."""

    row: int
    classes: tuple[int, ...]
    votes: tuple[int, ...]

    def steps(self, program: Program) -> list[int]:
        """The least heights of the row at which its members there may have one vote, two, and so on."""
        row = program.rows[self.row]
        units = dict(row.members)
        base = row.always - program.rooms[row.pool].spare
        return [base + each for each in least_for_votes([units[group] for group in self.classes], self.votes)]


def is_crowd(program: Program, crowd: Crowd) -> bool:
    """Are its classes distinct, and all of its row, with votes that can be counted?"""
    members = {group for group, _ in program.rows[crowd.row].members}
    return (
        len(set(crowd.classes)) == len(crowd.classes) == len(crowd.votes)
        and members.issuperset(crowd.classes)
        and can_be_counted(crowd.votes)
    )


def renumbered(crowds: Iterable[Crowd], rows: Sequence[int], classes: Sequence[int]) -> Iterator[Crowd]:
    """The crowds of these rows, in a program that has only these rows and classes."""
    row_of = {number: row for row, number in enumerate(rows)}
    number_of = {group: number for number, group in enumerate(classes)}
    for crowd in crowds:
        if crowd.row in row_of:
            yield Crowd(row_of[crowd.row], tuple(number_of[group] for group in crowd.classes), crowd.votes)


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices as whole numbers; `scale` of them make one unit of cost."""

    scale: int
    of_rows: dict[int, int]
    """By the row's number,"""
    of_crowds: dict[Crowd, int]
    of_held: tuple[int, ...] = ()
    """By earlier term."""


@dataclass(frozen=True, slots=True)
class Relaxed:
    """A solution of the linear program, in which classes may be divided."""

    peaks: tuple[int, ...]
    of_rows: tuple[tuple[int, float], ...]
    """The price of each row that has one, by its number,"""
    of_crowds: tuple[tuple[Crowd, float], ...]
    """and of each crowd;"""
    of_held: tuple[float, ...]
    """and of each earlier term."""
    gain: float
    """The part by which crowds have raised its cost,"""
    work: int
    """and the work that solving it took."""
    spreads: tuple[float, ...]
    """For each pool, how far the heights that it mixes are apart."""
    shares: tuple[tuple[float, ...], ...]
    """By class, how much of it is in each of its homes."""


class Known:
    """What is the same of a program at many prices, found once."""

    def __init__(self, program: Program, steps: dict[Crowd, list[int]] | None = None) -> None:
        self.steps = {} if steps is None else steps
        """Those of some crowds."""
        self._program = program
        self._has_costs = [any(map(any, term.of_homes)) for term in program.terms]
        self._due = dict[tuple[int, ...], list[dict[int, int]]]()

    def due(self, prices: Sequence[int]) -> list[dict[int, int]]:
        """What each class costs in each pool if the first terms have these prices."""
        counted = tuple(price if has_costs else 0 for price, has_costs in zip(prices, self._has_costs, strict=False))
        if counted not in self._due:
            self._due[counted] = found = [dict.fromkeys(homes, 0) for homes in self._program.homes]
            for price, term in zip(counted, self._program.terms, strict=False):
                for due, costs in zip(found, term.of_homes if price else (), strict=False):
                    for pool, cost in zip(due, costs, strict=True):
                        due[pool] += price * cost
        return list(map(dict.copy, self._due[counted]))


class Priced:
    """A program's term at given prices, over all choices with pools of these heights and earlier terms within what is held."""

    def __init__(
        self,
        program: Program,
        prices: Prices,
        heights: Heights = (),
        held: Sequence[int] = (),
        closed: Iterable[tuple[int, int]] = (),
        known: Known | None = None,
    ) -> None:
        """`closed`: (class, pool) of homes that are not looked at; each class has another. What is `known` is of the same program."""
        self._program, self._prices = program, prices
        counted = list(zip((*prices.of_held, prices.scale), program.terms[: len(held) + 1], strict=True))
        self._of_peaks = [
            sum(price * term.of_peaks[pool] for price, term in counted) for pool in range(len(program.rooms))
        ]
        known = known or Known(program)
        self._due = known.due([price for price, _ in counted])
        """The cost of each class in each pool."""
        for number, price in prices.of_rows.items():
            row = program.rows[number]
            pool = row.pool
            for group, units in row.members:
                self._due[group][pool] += price * units
        self._steps = [list[tuple[list[int], int]]() for _ in program.rooms]
        """By pool: of each crowd the heights at which it may have one vote more, and its price."""
        for crowd, price in prices.of_crowds.items():
            pool = program.rows[crowd.row].pool
            for group, votes in zip(crowd.classes, crowd.votes, strict=True):
                self._due[group][pool] += price * votes
            self._steps[pool].append((known.steps.get(crowd) or crowd.steps(program), price))
        for group, pool in closed:
            del self._due[group][pool]
        ends = heights or tuple((0, program.highest(pool)) for pool in range(len(program.rooms)))
        self._stretches = [list(self._parts(pool, low, high)) for pool, (low, high) in enumerate(ends)]
        self._least = [min(min(ends) for _, _, ends in some) for some in self._stretches]
        """The least cost of each pool."""
        self._total = sum(map(min, filter(None, map(dict.values, self._due)))) + sum(self._least)
        self._total -= sum(price * most for price, most in zip(prices.of_held, held, strict=True))

    @property
    def bound(self) -> int:
        """A lower bound on the cost of every choice."""
        return -(-self._total // self._prices.scale)

    def due(self, group: int) -> dict[int, int]:
        """For each pool, the cost of the class there at these prices."""
        return self._due[group]

    def below(self, most: int) -> Heights:
        """For each pool, the least and greatest height with which a choice may cost less; empty: no choice does."""
        spare = most * self._prices.scale - self._total
        found = list[tuple[int, int]]()
        for stretches, least in zip(self._stretches, self._least, strict=True):
            some = [(first, last) for first, last, ends in stretches if min(ends) - least < spare]
            if not some:
                return ()
            found.append((some[0][0], some[-1][1]))
        return tuple(found)

    def stretches(self, pool: int) -> Sequence[Stretch]:
        """Parts of its range of heights, and what the pool costs at the ends of each: between two heights at which one more fits, that is linear.

        In parts of a unit of cost, as all that is due.
        """
        return self._stretches[pool]

    def _parts(self, pool: int, low: int, high: int) -> Iterator[Stretch]:
        program, prices = self._program, self._prices
        room, price = program.rooms[pool], self._of_peaks[pool]
        total = fixed = 0
        for number, each in prices.of_rows.items():
            row = program.rows[number]
            if row.pool == pool:
                total += each
                fixed += each * (row.always - room.spare)
        lowest = room.below(room.lowest)
        steps = {low: 0, min(max(lowest, low), high): 0}
        for votes_at, each in self._steps[pool]:
            for height in votes_at:
                if height > high:
                    break
                at = max(low, height)
                steps[at] = steps.get(at, 0) + each
        for height, upto in pairwise([*sorted(steps), high]):
            fixed -= steps[height]
            first = price * max(lowest, height) - total * height + fixed
            last = price * max(lowest, upto) - total * upto + fixed
            yield height, upto, (first, last)


def prices_of(
    of_rows: Iterable[tuple[int, float]], of_crowds: Iterable[tuple[Crowd, float]], of_held: Sequence[float] = ()
) -> Prices:
    """Prices as whole numbers; those rounded to zero are left out."""
    scale = FINEST_OF_LATER if of_held else FINEST
    rows = {row: round(price * scale) for row, price in of_rows}
    crowds = {crowd: round(price * scale) for crowd, price in of_crowds}
    return Prices(
        scale,
        {row: price for row, price in rows.items() if price > 0},
        {crowd: price for crowd, price in crowds.items() if price > 0},
        tuple(max(round(price * scale), 0) for price in of_held),
    )
