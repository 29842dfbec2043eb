"""A lower bound on the cost of every choice of pools, for programs too large to solve whole: cut in time, with prices where the pieces touch.

Classes are ordered by when they are first live, and cut into pieces. A row whose classes all belong to one piece stays in that piece. Every
other row gets a price, which its classes pay in whichever piece they are. No choice of pools then costs less than the sum of the pieces
minus the worth of that room. This holds for any prices. Good prices lose little, since few rows lie on borders.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...bounds.room_prices import Floats
from ...model.instance import Ints
from .program import Costs, Program, classes_in_time
from .questions.asking import Asking
from .questions.question import Question

PIECE = 1_500
"""Classes in a piece, roughly."""
FINEST = 1 << 10
"""Prices are multiples of 1/FINEST of a unit of cost, unless costs are very large."""
MOST_FINE = 1 << 32
"""With costs from this on, whole units are fine enough."""


class Pieces:
    """The pieces of one program, for its first term. `prices` is the worth of one unit of each row's room."""

    def __init__(self, program: Program, asking: Asking, prices: Sequence[float]) -> None:
        self._program, self._asking = program, asking
        order = classes_in_time(program)
        count = -(-len(order) // PIECE)
        self._members = [order[len(order) * n // count : len(order) * (n + 1) // count] for n in range(count)]
        piece_of = {group: n for n, members in enumerate(self._members) for group in members}
        self._inside: list[list[int]] = [[] for _ in self._members]
        self._border: list[int] = []
        for number, row in enumerate(program.rows):
            pieces = {piece_of[group] for group, _ in row.members}
            (self._inside[pieces.pop()] if len(pieces) == 1 else self._border).append(number)
        costs = [cost for of_homes in program.terms[0].of_homes for cost in of_homes]
        self._scale = FINEST if max(costs, default=0) < MOST_FINE else 1
        self._price = [max(int(price * self._scale), 0) for price in prices]

    def bound(self, work: int) -> int | None:
        """A lower bound on the cost of every choice; None if there is no choice."""
        of_peak, of_room = self._split_prices()
        paid = {number: of_peak[number] + of_room[number] for number in self._border}
        shares = self._shares(of_peak)
        total = sum(self._scale * costs[0] for costs in self._program.terms[0].of_homes if len(costs) == 1)
        for number in self._border:
            row = self._program.rows[number]
            room = self._program.rooms[row.pool]
            total -= paid[number] * (room.spare - row.always)
            total -= 0 if room.capacity is None else of_room[number] * room.below(room.capacity)
        end = self._asking.work + work
        for n, members in enumerate(self._members):
            program = self._piece(members, self._inside[n], paid, shares[n])
            left = max(end - self._asking.work, 0) // (len(self._members) - n)
            answer = self._asking.ask(program, Question(0), left)
            if answer.is_impossible:
                return None
            least = sum(min(of_homes) for of_homes in program.terms[0].of_homes)
            total += max(answer.bound or 0, least)
        return -(-total // self._scale)

    def _split_prices(self) -> tuple[list[int], list[int]]:
        """Split each row's price into a part for the pool's peak (all together no more than a unit of the peak costs) and a part for its capacity."""
        rows, term = self._program.rows, self._program.terms[0]
        totals = [0] * len(self._program.rooms)
        for row, price in zip(rows, self._price, strict=True):
            totals[row.pool] += price
        of_peak, of_room = [], []
        for row, price in zip(rows, self._price, strict=True):
            most = self._scale * term.of_peaks[row.pool]
            part = price if totals[row.pool] <= most else price * most // totals[row.pool]
            of_peak.append(part)
            of_room.append(0 if self._program.rooms[row.pool].capacity is None else price - part)
        return of_peak, of_room

    def _shares(self, of_peak: list[int]) -> list[tuple[int, ...]]:
        """For each piece, its share of the cost of each pool's peak; together no more than the border rows leave."""
        term, rows = self._program.terms[0], self._program.rows
        left = [self._scale * price for price in term.of_peaks]
        for number in self._border:
            left[rows[number].pool] -= of_peak[number]
        weight = [[0] * len(left) for _ in self._inside]
        for mine, numbers in zip(weight, self._inside, strict=True):
            for number in numbers:
                mine[rows[number].pool] += of_peak[number]
        totals = [sum(mine[p] for mine in weight) for p in range(len(left))]
        return [
            tuple(left[p] * mine[p] // totals[p] if totals[p] else left[p] // len(weight) for p in range(len(left)))
            for mine in weight
        ]

    def _piece(self, members: list[int], rows: list[int], paid: dict[int, int], share: tuple[int, ...]) -> Program:
        """The program of one piece: its own rows, with the prices of border rows added to the costs of its classes."""
        program = self._program
        number_of = {group: number for number, group in enumerate(members)}
        due = [
            {p: self._scale * cost for p, cost in zip(program.homes[g], program.terms[0].of_homes[g], strict=True)}
            for g in members
        ]
        for number, price in paid.items():
            row = program.rows[number]
            for group, units in row.members:
                if group in number_of:
                    due[number_of[group]][row.pool] += price * units
        return Program(
            homes=tuple(program.homes[group] for group in members),
            rooms=program.rooms,
            rows=tuple(
                program.rows[n]._replace(members=tuple((number_of[g], units) for g, units in program.rows[n].members))
                for n in rows
            ),
            terms=(Costs(tuple(tuple(costs.values()) for costs in due), share),),
            apart=tuple((number_of[a], number_of[b]) for a, b in program.apart if a in number_of and b in number_of),
        )


def prices_of_rows(program: Program, sections: Ints, prices: Floats) -> list[float]:
    """Turn prices on room in each pool at these sections into prices of rows: each goes to the nearest row."""
    found = [0.0] * len(program.rows)
    for pool, line in enumerate(prices):
        numbers = [n for n, row in enumerate(program.rows) if row.pool == pool]
        if not numbers:
            continue
        at = np.array([program.rows[n].section for n in numbers])
        after = np.clip(np.searchsorted(at, sections), 0, len(at) - 1)
        before = np.maximum(after - 1, 0)
        nearest = np.where(np.abs(at[before] - sections) <= np.abs(at[after] - sections), before, after)
        for n, price in zip(nearest.tolist(), line.tolist(), strict=True):
            found[numbers[n]] += price
    return found
