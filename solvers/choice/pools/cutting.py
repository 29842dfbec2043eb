"""A lower bound on the cost of every choice of pools: cut in time, with each class chosen anew in every piece in which it lives.

Rows are cut in time into pieces. A class with rows in several pieces is chosen in each of them, and what it costs is divided among them. So no
choice costs less than the best choices of all pieces together. This holds for any division. Prices of rows and crowds tell a good one: then the pieces
prove at least what the prices do. Where pieces choose differently, what the class costs there is moved from the one to the other, and they choose again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from operator import add, sub

import numpy as np

from ...bounds.room_prices import Floats
from ...model.instance import Ints
from . import budget
from .prices.crowds import Crowd
from .program.program import Costs, Pools, Program, settled_in
from .questions.asking import Asking
from .questions.question import Answer, Question

PIECE = 3_000
"""Classes in a piece, at most."""
FINEST = 1 << 10
"""Costs are divided in multiples of 1/FINEST of a unit; in greater ones if they are very large."""
MOST_FINE = 1 << 42
"""What a class costs is no more than this, in such parts."""
SIDE = 3, 10
"""On each side of a cut there is at least such a part of what is cut, if that is possible."""
HALVES = 2
"""A piece whose best choice is not known is cut in two, and each of these again."""
UNEVEN = 4
"""Other pieces may cost so many times more below a lower top than those that are known."""
SHORTER_MOVE = 0.7
"""Where moving costs gains nothing, so much less is moved from then on."""


class Pieces:
    """The pieces of one program, for its first term, of which no peak is part. `prices` is the worth of one unit of each row's room."""

    def __init__(
        self,
        program: Program,
        asking: Asking,
        prices: Iterable[tuple[int, float]],
        crowds: Iterable[tuple[Crowd, float]] = (),
        size: int | None = None,
    ) -> None:
        """`crowds` are worth so much for each vote; `size` is the most classes of a piece."""
        self._program, self._asking = program, asking
        of_homes = program.terms[0].of_homes
        costs = [cost for each in of_homes for cost in each]
        self._scale = max(min(FINEST, MOST_FINE // max([*costs, 1])), 1)
        self._prices, self._of_crowds = dict(prices), dict(crowds)
        self._units = {group: units for row in program.rows for group, units in row.members}
        self._rows = [[number for number, row in enumerate(program.rows) if row.members]]
        self._members = [sorted(self._units)]
        self._due = [{group: [self._scale * cost for cost in of_homes[group]] for group in self._members[0]}]
        """For each piece, what each class costs there in each of its homes."""
        self._pieces_of = {group: [0] for group in self._members[0]}
        rest = (min(each) for group, each in enumerate(of_homes) if group not in self._units)
        self._rest = self._scale * sum(rest)
        """What classes that are in no row cost at least."""
        self._written = dict[int, tuple[dict[int, list[int]], Program, int]]()
        """For each piece: what its classes cost there, its program with these costs, and their least sum."""
        self._known = dict[int, Answer]()
        """What was answered of each piece."""
        self._below = dict[tuple[int, int], dict[int, int]]()
        """By piece and pool: what the piece costs at least, by the pool's top."""
        large = [0]
        while large:
            n = large.pop()
            if len(self._members[n]) > (size or PIECE) and self._split(n):
                large += [n, self.count - 1]

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._rows)

    def _split(self, n: int) -> bool:
        """Cut a piece in two where classes begin and few others live on, not far from its middle; false if that is not possible."""
        rows, first, last = self._program.rows, dict[int, int](), dict[int, int]()
        for number in self._rows[n]:
            for group, _ in rows[number].members:
                first.setdefault(group, rows[number].section)
                last[group] = rows[number].section
        begins, ends = sorted(first.values()), sorted(last.values())
        aside = len(begins) * SIDE[0] // SIDE[1]
        middle = {section for section in begins[aside : len(begins) - aside] if section > begins[0]}
        if not middle:
            return False
        border = min(middle, key=lambda at: (bisect_left(begins, at) - bisect_left(ends, at), at))
        before = [number for number in self._rows[n] if rows[number].section < border]
        after = [number for number in self._rows[n] if rows[number].section >= border]
        here, due, other = self._worth(before), self._due[n], self.count
        there = self._worth(after)
        self._due[n] = {}
        self._due.append({})
        for group, left in due.items():
            homes = [(group, pool) for pool in self._program.homes[group]]
            if last[group] < border:
                self._due[n][group] = left
                continue
            self._pieces_of[group].append(other)
            if first[group] >= border:
                self._pieces_of[group].remove(n)
                self._due[other][group] = left
                continue
            part = [
                int((cost + there.get(home, 0.0) - here.get(home, 0.0)) / 2)
                for home, cost in zip(homes, left, strict=True)
            ]
            self._due[n][group], self._due[other][group] = part, list(map(sub, left, part))
        self._rows[n] = before
        self._rows.append(after)
        chosen = self._chosen(n) if n in self._known else {}
        self._members[n] = sorted(self._due[n])
        self._members.append(sorted(self._due[other]))
        for each in (n, other) if chosen else ():
            self._known[each] = Answer(tuple(chosen[group] for group in self._members[each]), None, None, None)
        return True

    def _worth(self, numbers: Sequence[int]) -> dict[tuple[int, int], float]:
        """What the room of each class in each pool is worth in these rows."""
        rows, found = self._program.rows, dict[tuple[int, int], float]()

        def pay(number: int, group: int, paid: float) -> None:
            key = group, rows[number].pool
            found[key] = found.get(key, 0.0) + self._scale * paid

        for number in numbers:
            price = self._prices.get(number, 0.0)
            for group, units in rows[number].members if price > 0 else ():
                pay(number, group, price * units)
        some = set(numbers)
        for crowd, price in self._of_crowds.items():
            for group, votes in zip(crowd.classes, crowd.votes, strict=True) if crowd.row in some else ():
                pay(crowd.row, group, price * votes)
        return found

    def _crowds(self, n: int) -> Iterator[Crowd]:
        """The crowds of a piece, as it numbers rows and classes."""
        row_of = {number: row for row, number in enumerate(self._rows[n])}
        number_of = {group: number for number, group in enumerate(self._members[n])}
        for crowd in self._of_crowds:
            if crowd.row in row_of:
                yield Crowd(row_of[crowd.row], tuple(number_of[group] for group in crowd.classes), crowd.votes)

    def bound(self, work: int, near: Pools | None = None) -> int | None:
        """A lower bound on the cost of every choice; None if there is no choice. `near` is a choice to begin with."""
        end = self._asking.work + work
        if near is not None:
            self._known = {
                n: Answer(tuple(near[group] for group in members), None, None, None)
                for n, members in enumerate(self._members)
            }
        if not self._choose_all(range(len(self._members)), end):
            return None
        for _ in range(HALVES if near is not None else 0):
            before, known = self.count, list(self._known.items())
            pieces = [n for n, answer in known if answer.stopped is not None and self._split(n)]
            pieces += range(before, self.count)
            if not self._choose_all(pieces, end):
                return None
        return self._least_cost

    def improve(self, most: int, work: int) -> int:
        """The bound after moving costs between pieces that choose differently, towards `most`, what some choice costs, as long as that can be answered."""
        end, share = self._asking.work + work, 1.0
        best = self._total(), list(self._due), dict(self._known)
        while self._least_cost < most:
            moved = self._move(self._scale * most - self._total(), share)
            needed = sum(self._known[n].work for n in moved)
            if not moved or self._asking.is_over(end - needed):
                break
            self._choose_all(moved, end)
            if self._total() > best[0]:
                best = self._total(), list(self._due), dict(self._known)
            else:
                share *= SHORTER_MOVE
        _, self._due, self._known = best
        self._below.clear()
        return self._least_cost

    def choice(self, work: int) -> Pools | None:
        """A choice for all: as pieces choose alike; who is live beside others that they choose differently is chosen again."""
        chosen, apart = dict[int, int](), set[int]()
        for n in range(len(self._members)):
            here = self._chosen(n)
            apart.update(
                group for group in self._members[n] if chosen.setdefault(group, here.get(group, -1)) != here.get(group)
            )
        for row in self._program.rows:
            groups = {group for group, _ in row.members}
            if groups & apart:
                for group in groups:
                    chosen.pop(group, None)
        part = settled_in(self._program, chosen)
        return self._asking.ask(part, Question(0), work).pools

    def _choose_all(self, pieces: Iterable[int], end: int) -> bool:
        """Choose anew in these pieces; false if there is no choice."""
        pieces = list(pieces)
        left = (max(end - self._asking.work, 0) // (len(pieces) - done) for done in range(len(pieces)))
        return all(self._choose(n, work) for n, work in zip(pieces, left, strict=True))

    def _choose(self, n: int, work: int) -> bool:
        """Choose anew in a piece; false if there is no choice."""
        known = self._known.get(n) or Answer(None, None, None, None)
        question = Question(0, near=known.pools, crowds=tuple(self._crowds(n)))
        answer = self._asking.ask(self._write(n)[0], question, work)
        bound = max(answer.bound or 0, known.bound or 0)
        self._known[n] = answer._replace(bound=bound, pools=answer.pools or known.pools)
        return not answer.is_impossible

    def _move(self, missing: int, share: float) -> list[int]:
        """Move costs between pieces that choose differently, so much that no more than this share of what is missing is gained; these pieces."""
        chosen = [self._chosen(n) for n in range(len(self._members))]
        apart, total = list[tuple[int, int, list[float]]](), 0.0
        for group, pieces in self._pieces_of.items():
            at = [chosen[n][group] for n in pieces if group in chosen[n]]
            if len(at) == len(pieces) and len(set(at)) > 1:
                homes, units = self._program.homes[group], self._units[group]
                for n, here in zip(pieces, at, strict=True):
                    excess = [(here == p) - at.count(p) / len(at) for p in homes]
                    apart.append((n, group, excess))
                    total += units * sum(each * each for each in excess)
        moved = dict[int, dict[int, list[int]]]()
        rest = dict[int, list[int]]()
        for n, group, excess in apart:
            step = share * missing / total * self._units[group]
            rises = [round(step * each) for each in excess]
            if n == self._pieces_of[group][-1]:
                rises = [-each for each in rest[group]]
            rest[group] = list(map(add, rest.get(group, [0] * len(rises)), rises))
            due = moved.setdefault(n, dict(self._due[n]))
            due[group] = list(map(add, due[group], rises))
        for n, due_there in moved.items():
            self._due[n], self._known[n] = due_there, self._known[n]._replace(bound=None)
        return sorted(moved)

    def _chosen(self, n: int) -> dict[int, int]:
        """The pool of each class in the best known choice of a piece."""
        pools = self._known[n].pools
        return {} if pools is None else dict(zip(self._members[n], pools, strict=True))

    def exceeds(self, most: int, pool: int, top: int, work: int) -> bool | None:
        """Does every choice with the pool no higher than this top cost more than `most`? Once all is bounded without that. None: not answered within the work.

        A piece whose best choice is no higher by itself keeps its bound, and what was proven below a higher top holds here, too.
        """
        end, asked, raised = self._asking.work + work, 0, 0
        missing = self._scale * most + 1 - self._total()
        least = [self._least(n, pool, top) for n in range(len(self._members))]
        missing -= sum(each - (self._known[n].bound or 0) for n, each in enumerate(least))
        order = [n for n in self._by_need(pool, top) if top not in self._below.get((n, pool), {})]
        while order and raised < missing:
            if raised * (asked + len(order)) * UNEVEN < missing * asked:  # the others will hardly do
                break
            piece, _ = self._write(order[0])
            if end - self._asking.work < budget.LEAST_PER_ENTRY * piece.entries:
                return None
            n = order.pop(0)
            tops = tuple(top if each == pool else None for each in range(len(self._program.rooms)))
            near, enough, crowds = self._known[n].pools, least[n] + missing - raised, tuple(self._crowds(n))
            question = Question(0, tops=tops, near=near, enough=enough, crowds=crowds)
            answer = self._asking.ask(piece, question, (end - self._asking.work) // (2 if order else 1))
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

    @property
    def _least_cost(self) -> int:
        return -(-self._total() // self._scale)

    def _total(self) -> int:
        """What all pieces cost at least, in parts of a unit."""
        least = sum(self._write(n)[1] for n in range(self.count))
        return self._rest + least + sum(answer.bound or 0 for answer in self._known.values())

    def _by_need(self, pool: int, top: int) -> list[int]:
        """The pieces in whose best choice the pool is higher than this top, the easiest first; and at last those of which none is known."""
        room, need = self._program.rooms[pool], dict[int, int]()
        for n, answer in self._known.items():
            if answer.stopped is not None or answer.pools is None:
                need[n] = 0
                continue
            inside = {group for group, at in zip(self._members[n], answer.pools, strict=True) if at == pool}
            here = (row for row in map(self._program.rows.__getitem__, self._rows[n]) if row.pool == pool)
            loads = (row.always + sum(units for group, units in row.members if group in inside) for row in here)
            if rows := sum(load > room.below(top) + room.spare for load in loads):
                need[n] = rows
        return sorted(need, key=lambda n: (not need[n], self._known[n].work, -need[n], n))

    def _write(self, n: int) -> tuple[Program, int]:
        """The program of one piece, in which each class costs so much more than in its cheapest home; and what these cost together."""
        due, known = self._due[n], self._written.get(n)
        if known is None or known[0] is not due:
            known = self._written[n] = due, self._program_of(n), sum(map(min, due.values()))
        return known[1:]

    def _program_of(self, n: int) -> Program:
        program, members = self._program, self._members[n]
        number_of = {group: number for number, group in enumerate(members)}
        due = (self._due[n][group] for group in members)
        return Program(
            homes=tuple(program.homes[group] for group in members),
            rooms=program.rooms,
            rows=tuple(
                program.rows[row]._replace(
                    members=tuple((number_of[g], units) for g, units in program.rows[row].members)
                )
                for row in self._rows[n]
            ),
            terms=(
                Costs(tuple(tuple(cost - min(costs) for cost in costs) for costs in due), (0,) * len(program.rooms)),
            ),
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
