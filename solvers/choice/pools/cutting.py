"""A lower bound on the cost of every choice of pools, for programs too large to solve whole: cut in time, with prices where the pieces touch.

Classes are ordered by when they are first live, and cut into pieces. A row whose classes all belong to one piece stays in that piece. Every
other row gets a price, which its classes pay in whichever piece they are. No choice of pools then costs less than the sum of the pieces
minus the worth of that room. This holds for any prices. Good prices lose little, since few rows lie on borders.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul

import numpy as np

from ...bounds.room_prices import Floats
from ...model.instance import Ints
from . import budget
from .program.entries import classes_in_time
from .program.program import Costs, Program
from .questions.asking import Asking
from .questions.question import Answer, Question

PIECE = 3_000
"""Classes in a piece, roughly."""
FINEST = 1 << 10
"""Prices are multiples of 1/FINEST of a unit of cost, unless costs are very large."""
MOST_FINE = 1 << 32
"""With costs from this on, whole units are fine enough."""
FIRST_STEP, FINEST_STEP = 64, 400
"""A pool's first floor is lower than its top by such a part of the term; what is open of it is no longer looked at when it is less than such a part."""
SHORTER, LONGER = 4, 2
"""Where that was proven the next step is so many times shorter, else longer: that is easier."""


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
        self._of_peak, self._of_room = self._split_prices()
        self._paid = {number: self._of_peak[number] + self._of_room[number] for number in self._border}
        self._shares = self._share_peaks()
        self._known = dict[int, Answer]()
        """What was answered of each piece."""
        self._below = dict[tuple[int, int], dict[int, int]]()
        """By piece and pool: what the piece costs at least, by the pool's top."""

    def bound(self, work: int) -> int | None:
        """A lower bound on the cost of every choice; None if there is no choice."""
        end = self._asking.work + work
        for n in range(len(self._members)):
            program = self._piece(n)
            answer = self._asking.ask(program, Question(0), max(end - self._asking.work, 0) // (len(self._members) - n))
            if answer.is_impossible:
                return None
            least = sum(min(of_homes) for of_homes in program.terms[0].of_homes)
            self._known[n] = answer._replace(bound=max(answer.bound or 0, least))
        return -(-self._total() // self._scale)

    def exceeds(self, most: int, pool: int, top: int, work: int) -> bool | None:
        """Does every choice with the pool no higher than this top cost more than `most`? Once all is bounded without that. None: not answered within the work.

        A piece whose best choice is no higher by itself keeps its bound, and what was proven below a higher top holds here, too.
        """
        end, asked, raised = self._asking.work + work, 0, 0
        missing = self._scale * most + 1 - self._total(pool, top)
        least = [self._least(n, pool, top) for n in range(len(self._members))]
        missing -= sum(each - (self._known[n].bound or 0) for n, each in enumerate(least))
        order = [n for n in self._by_need(pool, top) if top not in self._below.get((n, pool), {})]
        while order and raised < missing:
            if raised * (asked + len(order)) < missing * asked:  # the others will hardly do
                break
            piece = self._piece(order[0])
            if end - self._asking.work < budget.LEAST_PER_ENTRY * piece.entries:
                return None
            n = order.pop(0)
            tops = tuple(top if each == pool else None for each in range(len(self._program.rooms)))
            question = Question(0, tops=tops, enough=least[n] + missing - raised)
            answer = self._asking.ask(piece, question, end - self._asking.work)
            if answer.is_impossible:
                return True
            found = max(answer.bound or 0, least[n])
            self._below.setdefault((n, pool), {})[top] = found
            asked, raised = asked + 1, raised + found - least[n]
        return raised >= missing

    def _least(self, n: int, pool: int, top: int) -> int:
        """What the piece is known to cost at least with the pool no higher than this top."""
        below = self._below.get((n, pool), {})
        return max([self._known[n].bound or 0, *(bound for other, bound in below.items() if other >= top)])

    def _total(self, pool: int | None = None, top: int = 0) -> int:
        """What all pieces cost at least, without the worth of room, in which one pool may be limited to a top; in units of prices."""
        total = sum(self._scale * costs[0] for costs in self._program.terms[0].of_homes if len(costs) == 1)
        total += sum(answer.bound or 0 for answer in self._known.values())
        for number in self._border:
            row = self._program.rows[number]
            room = self._program.rooms[row.pool]
            total -= self._paid[number] * (room.spare - row.always)
            if room.capacity is not None:
                end = min(room.capacity, top) if row.pool == pool else room.capacity
                total -= self._of_room[number] * room.below(end)
        return total

    def _by_need(self, pool: int, top: int) -> list[int]:
        """The pieces in whose best choice the pool is higher than this top, at the most sections first; and at last those of which none is known."""
        room, need = self._program.rooms[pool], dict[int, int]()
        for n, answer in self._known.items():
            if answer.stopped is not None or answer.pools is None:
                need[n] = 0
                continue
            inside = {group for group, at in zip(self._members[n], answer.pools, strict=True) if at == pool}
            for number in self._inside[n]:
                row = self._program.rows[number]
                load = row.always + sum(units for group, units in row.members if group in inside)
                if row.pool == pool and load > room.below(top) + room.spare:
                    need[n] = need.get(n, 0) + 1
        return sorted(need, key=lambda n: (-need[n], n))

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

    def _share_peaks(self) -> list[tuple[int, ...]]:
        """For each piece, its share of the cost of each pool's peak; together no more than the border rows leave."""
        term, rows = self._program.terms[0], self._program.rows
        left = [self._scale * price for price in term.of_peaks]
        for number in self._border:
            left[rows[number].pool] -= self._of_peak[number]
        weight = [[0] * len(left) for _ in self._inside]
        for mine, numbers in zip(weight, self._inside, strict=True):
            for number in numbers:
                mine[rows[number].pool] += self._of_peak[number]
        totals = [sum(mine[p] for mine in weight) for p in range(len(left))]
        return [
            tuple(left[p] * mine[p] // totals[p] if totals[p] else left[p] // len(weight) for p in range(len(left)))
            for mine in weight
        ]

    def _piece(self, n: int) -> Program:
        """The program of one piece: its own rows, with the prices of border rows added to the costs of its classes."""
        program, members = self._program, self._members[n]
        number_of = {group: number for number, group in enumerate(members)}
        due = [
            {p: self._scale * cost for p, cost in zip(program.homes[g], program.terms[0].of_homes[g], strict=True)}
            for g in members
        ]
        for number, price in self._paid.items():
            row = program.rows[number]
            for group, units in row.members:
                if group in number_of:
                    due[number_of[group]][row.pool] += price * units
        return Program(
            homes=tuple(program.homes[group] for group in members),
            rooms=program.rooms,
            rows=tuple(
                program.rows[row]._replace(
                    members=tuple((number_of[g], units) for g, units in program.rows[row].members)
                )
                for row in self._inside[n]
            ),
            terms=(Costs(tuple(tuple(costs.values()) for costs in due), self._shares[n]),),
            apart=tuple((number_of[a], number_of[b]) for a, b in program.apart if a in number_of and b in number_of),
        )


class Floors:
    """Bounds a second term, of peaks alone, pool by pool: each is higher than that, or all choices cost more than the first term may.

    `program` says how low each pool can be at least, `tops` how high it is.
    """

    def __init__(self, program: Program, pieces: Pieces, most: int, tops: Sequence[int], asking: Asking) -> None:
        self._pieces, self._most, self._asking = pieces, most, asking
        self._prices = program.terms[1].of_peaks
        self._tops = tuple(tops)
        self._floors = [min(room.lowest, top) for room, top in zip(program.rooms, tops, strict=True)]

    def bound(self, work: int) -> int:
        """A lower bound on the term."""
        end, best = self._asking.work + work, sum(map(mul, self._prices, self._tops))
        steps = {pool: (max(best // FIRST_STEP, 1), 0, best) for pool, price in enumerate(self._prices) if price}
        """By pool: the next step, the longest that was not proven, and the shortest that was."""
        while steps and not self._asking.is_over(end):
            before = self._asking.work
            pool = max(steps, key=lambda each: (steps[each][2], -each))
            step, failed, proven = steps.pop(pool)
            floor = self._tops[pool] - max(step // self._prices[pool], 1)
            is_raised = self._is_raised(pool, floor, (end - self._asking.work) // (len(steps) + 1))
            if is_raised:
                self._floors[pool], proven = max(self._floors[pool], floor), step
            elif is_raised is None and self._asking.work == before:  # there is too little left
                continue
            else:
                failed = step
            step = step * LONGER if proven == best else max(proven // SHORTER, (failed + proven) // 2)
            if failed < step < proven and (proven - failed) * FINEST_STEP >= best:
                steps[pool] = step, failed, proven
        return sum(map(mul, self._prices, self._floors))

    def _is_raised(self, pool: int, floor: int, work: int) -> bool | None:
        """Is the pool this high in every choice? None: not answered within the work."""
        return floor <= self._floors[pool] or self._pieces.exceeds(self._most, pool, floor - 1, work)


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
