"""A choice where the linear program decides most classes: these keep what it says, and only the others are chosen.

A class is decided if it is whole in one home, and loses much in any other at the program's prices. What is left, the *core*, is small, so a program that is
far too hard as a whole is soon answered. What it costs more than at the prices shows where to go on: there, all classes of one time are chosen anew.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from .. import budget
from ..prices.crowds import Priced, Relaxed, prices_of
from ..program.entries import classes_in_time
from ..program.program import Pools, Program, settled_in
from ..questions.asking import Asking
from ..questions.question import Answer, Question

CORE, CORE_WITH_PEAKS = 100, 25
"""Classes that the linear program decides least clearly, besides those that it divides; fewer where peaks are weighed, which is far harder."""
WHOLE = 0.999
"""A class with more than that in one home is not divided."""
FEW = (3, 10)
"""Few classes are divided if they are no more than so many of so many: more are where the program mixes heights that are far apart, and then it says little."""
SOON = 3
"""The core grows where the best choice took no more than such a part of what is left."""
LARGER = 4
"""It is so many times larger where there is no choice."""
WINDOW, WORK_A_CLASS = 150, 600
"""Classes of one time that are chosen anew, and the work for each."""


def homes_of(program: Program, relaxed: Relaxed) -> Pools:
    """Where most of each class is."""
    both = zip(program.homes, relaxed.shares, strict=True)
    return tuple(homes[max(range(len(homes)), key=lambda n: shares[n])] for homes, shares in both)


def divides_few(relaxed: Relaxed) -> bool:
    """Does the linear program divide few classes?"""
    part, of = FEW
    return sum(max(shares) <= WHOLE for shares in relaxed.shares) * of <= part * len(relaxed.shares)


class CoreSearch:
    """The search for one term, its linear program being solved. Questions say how long rows are, and what is to be kept apart.

    Only a choice may be asked for where the term counts peaks.
    """

    def __init__(self, asking: Asking, program: Program, term: int, relaxed: Relaxed) -> None:
        self._asking, self._program, self._term = asking, program, term
        prices = prices_of(relaxed.of_rows, relaxed.of_crowds, relaxed.of_held)
        priced = Priced(program, prices, held=(0,) * term)
        self._due = [priced.due(group) for group in range(len(program.homes))]
        """What each class costs in each pool at the prices."""
        self.homes = homes_of(program, relaxed)
        self._loss = [
            self._least_loss(group) if max(shares) > WHOLE else -1 for group, shares in enumerate(relaxed.shares)
        ]
        """What it loses if it is not where most of it is. Less than nothing: it is divided."""
        self._in_time = classes_in_time(program)
        self._divided = sum(self._loss[group] < 0 for group in self._in_time)
        self._least_clear = sorted(self._in_time, key=lambda group: self._loss[group])

    @property
    def work(self) -> int:
        """That of all questions so far."""
        return self._asking.work

    def value(self, pools: Pools) -> int:
        """What the choice costs."""
        return self._program.value(self._term, pools, (0,) * len(self._program.rooms))

    def choice(self, question: Question, work: int, crowded: Set[int] = frozenset()) -> Pools | None:
        """A choice, perhaps none of the best; None if none was found within the work. Where there is none, the crowded classes are chosen next."""
        size = CORE_WITH_PEAKS if question.weighs_peaks(self._program) else CORE
        end, found, beside = self.work + work, None, set[int]()
        while True:
            free = beside.union(self._least_clear[: self._divided + size])
            self._free_where_full(free, question)
            begun, left = self.work, end - self.work
            answer = self._asked(question, free, found or self.homes, found, left)
            found = answer.pools or found
            is_hard = answer.stopped is not None or (found is not None and self.work - begun > left // SOON)
            if is_hard:
                return found
            if found is None and not crowded <= free:
                beside.update(crowded)
                continue
            if 2 * len(free) >= len(self._in_time):
                return found
            size = 2 * size if found is not None else LARGER * max(size, 1)

    def improved(self, question: Question, pools: Pools, work: int) -> Pools:
        """The same or a better one: around the class that costs most more than at the prices, those of its time are chosen anew; then around the next."""
        end, done, order = self.work + work, set[int](), self._in_time
        while self.work < end and self._asking.stop is None:
            over = {rank: self._over(group, pools) for rank, group in enumerate(order) if group not in done}
            rank = max(over, key=lambda each: over[each], default=0)
            if over.get(rank, 0) <= 0:
                break
            begin = min(max(rank - WINDOW // 2, 0), max(len(order) - WINDOW, 0))
            free = order[begin : begin + WINDOW]
            work_of_one = min(end - self.work, WORK_A_CLASS * len(free))
            chosen = self._asked(question, set(free), pools, pools, work_of_one).pools
            done.add(order[rank])
            if chosen is None or self.value(chosen) >= self.value(pools):
                done.update(order[max(rank - WINDOW // 4, 0) : rank + WINDOW // 4])
            else:
                done -= {group for group in free if chosen[group] != pools[group]}
                pools = chosen
        return pools

    def _least_loss(self, group: int) -> int:
        due, home = self._due[group], self.homes[group]
        return min((cost - due[home] for pool, cost in due.items() if pool != home), default=0)

    def _over(self, group: int, pools: Pools) -> int:
        """By how much the class costs more than it would at the prices."""
        due = self._due[group]
        return due[pools[group]] - min(due.values())

    def _asked(self, question: Question, free: set[int], others: Pools, near: Pools | None, work: int) -> Answer:
        """The answer for these classes, all others being where they are."""
        part = settled_in(self._program, {group: pool for group, pool in enumerate(others) if group not in free})
        self._asking.work += self._program.entries // budget.SETTLED_A_UNIT
        return self._asking.ask(part, replace(question, least=None, most=None, near=near), max(work, 1))

    def _free_where_full(self, free: set[int], question: Question) -> None:
        """Also choose those that lose least for the room they take, until no row is too full of what is not chosen."""
        rooms, homes = self._program.rooms, self._program.homes
        for row in self._program.rows:
            room = rooms[row.pool]
            if room.capacity is None:
                continue
            most = question.most_in(row, room.below(room.capacity) + room.spare)
            here = [(g, units) for g, units in row.members if g not in free and self.homes[g] == row.pool]
            load = row.always + sum(units for _, units in here)
            if load > most:
                for group, units in sorted(here, key=lambda each: (self._loss[each[0]] / each[1], each[0])):
                    if load > most and len(homes[group]) > 1:
                        free.add(group)
                        load -= units
