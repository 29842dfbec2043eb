"""A lower bound on the cost of every choice of pools: cut in time, with each class chosen anew in every piece in which it lives.

Rows are cut in time into pieces. A class with rows in several pieces is chosen in each of them, and what it costs is divided among them. So no
choice costs less than the best choices of all pieces together. This holds for any division. Prices of rows and crowds tell a good one: then the pieces
prove at least what the prices do. Where pieces choose differently, what the class costs there is moved from the one to the other, and they choose again;
where nothing is gained by that any more, the two become one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from operator import add, sub

from .. import budget
from ..prices.crowds import Crowd, renumbered
from ..program.program import Pools, Program, part_of, settled_in
from ..questions.asking import Asking
from ..questions.question import Answer, Question
from .mixture import Known, Mixture

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
SHORTER_MOVE = 0.6
"""Costs move so far that pieces might prove all that is missing; where that gains nothing, from then on only such a part of it, and more again where it does."""
NEXT_TO_NOTHING = 0.1
"""Where moving may gain no more than that part of what is missing, two pieces become one."""


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
        self._tight = {number for number in self._rows[0] if program.is_tight(program.rows[number])}
        self._members = [sorted(self._units)]
        self._due = [{group: [self._scale * cost for cost in of_homes[group]] for group in self._members[0]}]
        """For each piece, what each class costs there in each of its homes."""
        self._pieces_of = {group: [0] for group in self._members[0]}
        rest = (min(each) for group, each in enumerate(of_homes) if group not in self._units)
        self._rest = self._scale * sum(rest)
        """What classes that are in no row cost at least."""
        self._written = dict[tuple[int, int | None], tuple[dict[int, list[int]], Program, int]]()
        """For each piece, and a pool that may be capped: what its classes cost there, its program with these costs, and their least sum."""
        self._known = dict[int, Answer]()
        """What was answered of each piece."""
        self._choices = dict[int, list[Pools]]()
        """All choices of each piece that were found with its classes as they are."""
        self._is_fine = size is not None
        self._most = 2 * (size or PIECE)
        """Classes in pieces that are joined, at most."""
        self._below = dict[tuple[int, int], dict[int, Answer]]()
        """By piece and pool: what was answered of the piece with the pool no higher than a top, by that top."""
        self._tops = tuple[int | None, ...]()
        """How high pools may be, where that is given."""
        self.below: Pieces | None = None
        """These with a pool no higher than was asked for last, if nothing says that this costs too much."""
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
        self._choices.pop(n, None)
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

    def _crowds(self, n: int, pool: int | None) -> tuple[Crowd, ...]:
        """The crowds of a piece, as it numbers rows and classes."""
        return tuple(renumbered(self._of_crowds, self._counted(n, pool), self._members[n]))

    def bound(self, work: int, near: Pools | None = None) -> int | None:
        """A lower bound on the cost of every choice; None if there is no choice. `near` is a choice to begin with."""
        end = self._asking.work + work
        if near is not None:
            for n, members in enumerate(self._members):
                self._known[n] = Answer(tuple(near[group] for group in members), None, None, None)
        if not self._choose_all(range(len(self._members)), end):
            return None
        for _ in range(HALVES if near is not None and self._is_fine else 0):
            before, known = self.count, list(self._known.items())
            pieces = [n for n, answer in known if answer.stopped is not None and self._split(n)]
            pieces += range(before, self.count)
            if not self._choose_all(pieces, end):
                return None
        return self._least_cost

    def improve(self, most: int, work: int) -> int:
        """The bound after moving costs between pieces that choose differently, towards `most`, what some choice costs; where that proves no more, after joining pieces."""
        end, part = self._asking.work + work, 1.0
        while self._least_cost < most and all(map(self._choices.get, range(self.count))):
            missing = self._scale * most - self._total()
            mixture = self._mixture()
            can_rise = mixture.aim(part * missing)
            if not can_rise and mixture.most > NEXT_TO_NOTHING * missing:  # so far, but not as far
                part = mixture.most / missing / 2
                can_rise = mixture.aim(part * missing)
            self._asking.work += budget.MIXED * mixture.sweeps
            moves = mixture.moves(self._program.homes) if can_rise else {}
            needed = sum(self._known[n].work for n in moves)
            if self._asking.is_over(end - needed):
                break
            if not moves:
                if not self._join_two(mixture, end):
                    break
                part = 1.0
            elif self._gain_by(moves, end):
                part = min(part / SHORTER_MOVE, 1.0)
            else:
                part *= SHORTER_MOVE
        self._below.clear()
        return self._least_cost

    def _mixture(self) -> Mixture:
        """All known choices of all pieces, at what their classes cost now."""
        shared = {group: pieces for group, pieces in self._pieces_of.items() if len(pieces) > 1}
        known, homes = list[Known](), self._program.homes
        for n, choices in sorted(self._choices.items()):
            due, proven = self._due[n], self._write(n)[1] + (self._known[n].bound or 0)
            for pools in choices:
                chosen = dict(zip(self._members[n], pools, strict=True))
                cost = sum(due[group][homes[group].index(pool)] for group, pool in chosen.items())
                of_shared = {group: pool for group, pool in chosen.items() if group in shared}
                known.append(Known(n, of_shared, max(cost - proven, 0)))
        return Mixture(known, shared, self._units)

    def _gain_by(self, moves: Mapping[int, Mapping[int, Sequence[int]]], end: int) -> bool:
        """Move costs and choose again; if that proves no more, all is as it was."""
        before, due, known = self._total(), list(self._due), dict(self._known)
        for n, rises in moves.items():
            moved = {group: list(map(add, self._due[n][group], each)) for group, each in rises.items()}
            self._due[n] = self._due[n] | moved
            self._known[n] = self._known[n]._replace(bound=None)
        self._choose_all(sorted(moves, key=lambda n: (self._known[n].work, n)), end)
        if self._total() > before:
            return True
        self._due, self._known = due, known
        return False

    def _join_two(self, mixture: Mixture, end: int) -> bool:
        """Join the two pieces that choose most differently, and choose there again; false if there are none."""
        members = self._members
        two = mixture.most_divided(lambda n, m: len({*members[n], *members[m]}) <= self._most)
        if two is None:
            return False
        n, other = two
        bound = sum(self._write(each)[1] + (self._known[each].bound or 0) for each in two)
        chosen = self._chosen(other) | self._chosen(n)
        self._rows[n] = sorted(self._rows[n] + self._rows[other])
        there = self._due[other]
        both = {group: list(map(add, here, there[group])) for group, here in self._due[n].items() if group in there}
        self._due[n] = there | self._due[n] | both
        members[n] = sorted(self._due[n])
        work = sum(self._known[each].work for each in two)
        self._choices[n] = []
        self._known[n] = Answer(
            tuple(chosen[group] for group in members[n]), None, bound - self._write(n)[1], None, work
        )
        self._remove(other, n)
        return self._choose(n, max(end - self._asking.work, 0))

    def _remove(self, n: int, heir: int) -> None:
        """Remove a piece; the last one takes its number, and its classes live in the heir, too."""
        last = self.count - 1
        number = {n: heir, last: n} if last != n else {n: heir}
        self._rows[n], self._due[n], self._members[n] = self._rows[-1], self._due[-1], self._members[-1]
        del self._rows[-1], self._due[-1], self._members[-1]
        self._known[n], self._choices[n] = self._known[last], self._choices[last]
        del self._known[last], self._choices[last]
        self._pieces_of = {
            group: sorted({number.get(each, each) for each in pieces}) for group, pieces in self._pieces_of.items()
        }

    def choice(self, work: int) -> Pools | None:
        """A choice for all: as pieces choose alike; who is live beside others that they choose differently is chosen again."""
        chosen, apart = dict[int, int](), set[int]()
        for n, members in enumerate(self._members):
            here = self._chosen(n)
            apart.update(each for each in members if chosen.setdefault(each, here.get(each, -1)) != here.get(each))
        rows = ({group for group, _ in row.members} for row in self._program.rows)
        anew = {group for groups in rows if groups & apart for group in groups}
        part = settled_in(self._program, {group: pool for group, pool in chosen.items() if group not in anew})
        return self._asking.ask(part, Question(0, tops=self._tops), work).pools

    def _choose_all(self, pieces: Iterable[int], end: int) -> bool:
        """Choose anew in these pieces; false if there is no choice."""
        pieces = list(pieces)
        left = (max(end - self._asking.work, 0) // (len(pieces) - done) for done in range(len(pieces)))
        return all(self._choose(n, work) for n, work in zip(pieces, left, strict=True))

    def _choose(self, n: int, work: int) -> bool:
        """Choose anew in a piece; false if there is no choice."""
        known = self._known.get(n) or Answer(None, None, None, None)
        pool = next((pool for pool, top in enumerate(self._tops) if top is not None), None)
        question = Question(0, tops=self._tops, near=known.pools, crowds=self._crowds(n, pool))
        answer = self._asking.ask(self._write(n, pool)[0], question, work)
        bound = max(answer.bound or 0, known.bound or 0)
        pools = answer.pools or known.pools
        self._known[n] = answer._replace(bound=bound, pools=pools)
        choices = self._choices.setdefault(n, [])
        if pools is not None and pools not in choices:
            choices.append(pools)
        return not answer.is_impossible

    @property
    def chosen(self) -> dict[int, int]:
        """The pool of each class in the best known choice of a piece, the last one in which it lives."""
        return {group: pool for n in range(self.count) for group, pool in self._chosen(n).items()}

    def _chosen(self, n: int) -> dict[int, int]:
        """The pool of each class in the best known choice of a piece."""
        pools = self._known[n].pools
        return {} if pools is None else dict(zip(self._members[n], pools, strict=True))

    def exceeds(self, most: int, pool: int, top: int, work: int) -> bool | None:
        """Does every choice with the pool no higher than this top cost more than `most`? Once all is bounded without that. None: not answered within the work.

        A piece whose best choice is no higher by itself keeps its bound, and what was proven below a higher top holds here, too.
        """
        end, asked, raised, missing = self._asking.work + work, 0, 0, self._scale * most + 1 - self._total()
        least = [self._least(n, pool, top) for n in range(len(self._members))]
        missing -= sum(each - (self._known[n].bound or 0) for n, each in enumerate(least))
        order = [n for n in self._by_need(pool, top) if top not in self._below.get((n, pool), {})]
        while order and raised < missing:
            if raised * (asked + len(order)) * UNEVEN < missing * asked:  # the others will hardly do
                break
            piece = self._write(order[0], pool)[0]
            needed = budget.LEAST_PER_ENTRY * piece.entries
            if (left := end - self._asking.work) < needed:
                return None
            n = order.pop(0)
            near, enough, crowds = self._known[n].pools, least[n] + missing - raised, self._crowds(n, pool)
            question = Question(0, tops=self._tops_of(pool, top), near=near, enough=enough, crowds=crowds)
            answer = self._asking.ask(piece, question, max(left // (2 if order else 1), needed))
            if answer.is_impossible:
                return True
            found = max(answer.bound or 0, least[n])
            self._below.setdefault((n, pool), {})[top] = answer._replace(bound=found)
            asked, raised = asked + 1, raised + found - least[n]
        if raised >= missing or not self._is_fine:
            return raised >= missing
        below, unknown = self._lowered(pool, top)
        if self._asking.is_over(end - sum(self._known[n].work for n in unknown)):
            return None
        can_be = below._choose_all(unknown, end) and below.improve(most + 1, end - self._asking.work) <= most
        self.below = below if can_be else None
        return not can_be

    def _tops_of(self, pool: int, top: int) -> tuple[int | None, ...]:
        return tuple(top if each == pool else None for each in range(len(self._program.rooms)))

    def _lowered(self, pool: int, top: int) -> tuple[Pieces, list[int]]:
        """The same pieces with the pool no higher than this, and those of which nothing is known there."""
        below, unknown = copy(self), list[int]()
        below._tops, below._below = self._tops_of(pool, top), {}
        below._rows, below._members, below._due = list(self._rows), list(self._members), list(self._due)
        below._written, below._choices, below._known = dict(self._written), {}, {}
        for n, known in self._known.items():
            asked = self._below.get((n, pool), {}).get(top)
            answer = asked or known
            some = self._choices.get(n, []) if answer.pools is None else [answer.pools, *self._choices.get(n, [])]
            low = [pools for pools in dict.fromkeys(some) if not self._too_full(n, pools, pool, top)]
            if asked is None and answer.pools not in low:
                unknown.append(n)
            below._choices[n] = low
            below._known[n] = answer._replace(pools=low[0] if low else None, bound=self._least(n, pool, top))
        return below, unknown

    def _least(self, n: int, pool: int, top: int) -> int:
        """What the piece is known to cost at least with the pool no higher than this top."""
        below = self._below.get((n, pool), {}).items()
        known = (answer.bound or 0 for other, answer in below if other >= top)
        return max([self._known[n].bound or 0, *known])

    @property
    def _least_cost(self) -> int:
        return -(-self._total() // self._scale)

    def _total(self) -> int:
        """What all pieces cost at least, in parts of a unit."""
        least = sum(self._write(n)[1] for n in range(self.count))
        return self._rest + least + sum(answer.bound or 0 for answer in self._known.values())

    def _by_need(self, pool: int, top: int) -> list[int]:
        """The pieces in whose best choice the pool is higher than this top, the easiest first; and at last those of which none is known."""
        need = dict[int, int]()
        for n, answer in self._known.items():
            if answer.stopped is not None or answer.pools is None:
                need[n] = 0
                continue
            if rows := self._too_full(n, answer.pools, pool, top):
                need[n] = rows
        return sorted(need, key=lambda n: (not need[n], self._known[n].work, -need[n], n))

    def _too_full(self, n: int, pools: Pools, pool: int, top: int) -> int:
        """In how many rows this choice of a piece does not end below the top."""
        inside = {group for group, at in zip(self._members[n], pools, strict=True) if at == pool}
        here = (row for row in map(self._program.rows.__getitem__, self._rows[n]) if row.pool == pool)
        return sum(not self._program.has_room(row, inside, top) for row in here)

    def _write(self, n: int, pool: int | None = None) -> tuple[Program, int]:
        """The program of one piece, in which each class costs so much more than in its cheapest home; and what these cost together."""
        due, known = self._due[n], self._written.get((n, pool))
        if known is None or known[0] is not due:
            part = part_of(self._program, self._counted(n, pool), due)
            known = self._written[n, pool] = due, part, sum(map(min, due.values()))
        return known[1:]

    def _counted(self, n: int, pool: int | None) -> list[int]:
        """The rows of a piece for which there may be too little room, and those of a pool that may be capped."""
        return [number for number in self._rows[n] if number in self._tight or self._program.rows[number].pool == pool]
