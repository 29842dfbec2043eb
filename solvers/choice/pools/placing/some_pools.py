"""Chooses again for all that is in two or three of many pools, everybody else staying, where peaks have a price.

A program of sixteen pools is far too hard to ask about as a whole, and pools that are alike make it harder: each choice is there in every order.
What is in two or three of them is a small program, which is mostly answered at once. Where all pools together are higher than what is live, their
peaks come at different times; those of two or three are brought together, and then those of others.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from ....model.instance import Instance, Ints, Placement
from ....model.objective import peaks
from .. import budget
from ..program.entries import entries_of
from ..program.program import Costs, Program, Row
from ..program.writing import pools_of_classes
from ..questions.asking import Asking
from ..questions.question import Clash, Question
from .packing import Packing
from .windows import stretched

MANY = 5
"""With fewer pools to choose from, the program is asked about as a whole."""
TOGETHER = (2, 3)
"""In so many pools all is chosen again, in turn."""
MOST = 24
"""Of more pools, only so many, the dearest, are looked at."""
STRETCHES = (4, 15, 40)
"""By how many thousandths the rows of a pool are longer, in turn, after what was chosen could not be packed as low as it seemed."""


def has_many_pools(program: Program) -> bool:
    """Are there so many pools to choose from?"""
    return len(_chosen(program)) >= MANY


def _chosen(program: Program) -> set[int]:
    return {pool for homes in program.homes if len(homes) > 1 for pool in homes}


class SomePools:
    """Of one placement, which keeps the limits on the earlier terms."""

    def __init__(
        self,
        instance: Instance,
        program: Program,
        asking: Asking,
        packing: Packing,
        question: Question,
        start: Placement,
    ) -> None:
        self._instance, self._program, self._question = instance, program, question
        self._asking, self._packing = asking, packing
        packing.work += budget.WINDOW_PER_ENTRY * program.entries
        self._number = instance.class_number
        self._offset = start.offset.copy()
        self._pools = list(pools_of_classes(self._number, start))
        """Where each class is now;"""
        self._peaks = list(peaks(instance, start))
        """how high the pools are;"""
        self._apart = program.kept_apart()
        self._all = sorted(_chosen(program))
        terms = program.terms[: question.term + 1]
        self._counted = [any(term.of_peaks[pool] for term in terms) for pool in range(len(program.rooms))]
        self._entries = entries_of(program)
        self._pool_of_row = np.array([row.pool for row in program.rows], dtype=np.int64)
        self._counts = np.zeros((len(program.homes), len(program.rooms)), dtype=np.int64)
        """The rows of each class in each pool."""
        np.add.at(self._counts, (self._entries.group, self._pool_of_row[self._entries.row]), 1)
        self._always = np.array([row.always for row in program.rows], dtype=np.int64)
        sections = np.array([row.section for row in program.rows], dtype=np.int64)
        self._time = np.unique(sections, return_inverse=True)[1].reshape(-1)
        self._rows_of: list[list[int]] = [[] for _ in program.rooms]
        for number, row in enumerate(program.rows):
            self._rows_of[row.pool].append(number)
        self._has_costs = any(len(set(costs)) > 1 for costs in program.terms[question.term].of_homes)
        self._changed = [0] * len(program.rooms)
        """and how often each was chosen for."""
        self._most = 0
        """One question takes no more work."""
        self._tried: dict[tuple[int, ...], tuple[int, ...]] = {}
        """For some pools, how often each was chosen for when they were last asked about."""

    @property
    def placement(self) -> Placement:
        """Where everybody is now."""
        return Placement(np.array(self._pools, dtype=np.int64)[self._number], self._offset)

    @property
    def work(self) -> int:
        return self._asking.work + self._packing.work

    def improve(self, work: int, on_better: Callable[[], bool]) -> None:
        """Lower the term until nothing is gained any more or so much work is done; `on_better` is called after each gain, and false ends it all."""
        end, self._most = self.work + work, work // budget.PART_OF_SOME_POOLS
        while any(self._choose_again(some, end) for some in self._promising()):
            if not on_better():
                break

    def _promising(self) -> Iterator[tuple[int, ...]]:
        """Pools to choose for again, those first whose peaks come at the most different times; more together where fewer gave nothing."""
        loads = self._loads()
        price = self._program.terms[self._question.term].of_peaks
        dearest = sorted(self._all, key=lambda pool: (-price[pool] * self._peaks[pool], pool))[:MOST]
        for count in TOGETHER:
            sets = list(combinations(sorted(dearest), count))
            gains = []
            for some in sets:
                least = int(sum(loads[pool] for pool in some).max(initial=0)) * min(price[pool] for pool in some)
                gains.append(sum(price[pool] * self._peaks[pool] for pool in some) - least)
            for gain, some in sorted(zip(gains, sets, strict=True), key=lambda each: (-each[0], each[1])):
                if gain > 0 or self._has_costs:
                    yield some

    def _loads(self) -> Ints:
        """(P, sections) what is in each pool at each time at which it has a row."""
        entries, loads = self._entries, self._always.copy()
        here = np.array(self._pools, dtype=np.int64)[entries.group] == self._pool_of_row[entries.row]
        np.add.at(loads, entries.row[here], entries.units[here])
        found = np.zeros((len(self._program.rooms), int(self._time.max(initial=-1)) + 1), dtype=np.int64)
        found[self._pool_of_row, self._time] = loads
        return found

    def _choose_again(self, some: tuple[int, ...], end: int) -> bool:
        """Choose for these pools, unless nothing has changed since that was last tried; true if something better came of it."""
        state = tuple(self._changed[pool] for pool in some)
        if self._tried.get(some) == state or self.work >= end or self._asking.stop is not None:
            return False
        self._tried[some] = state
        inside, homes = set(some), self._program.homes
        members = [group for group, pool in enumerate(self._pools) if pool in inside and len(homes[group]) > 1]
        entries = int(self._counts[np.ix_(members, some)].sum())
        if not entries or entries * budget.LEAST_PER_ENTRY_WITH_PEAKS > min(self._most, end - self.work):
            return False
        part = self._part(some, members)
        self._packing.work += budget.WINDOW_PER_ENTRY * part.entries
        question = self._question_about(part, members)
        stretch = list(question.stretch or [0] * len(part.rooms))
        while self.work < end:
            asked = replace(question, stretch=tuple(stretch), near=None if any(stretch) else question.near)
            work = max(budget.SOME_POOLS_A_CLASS * len(members), budget.SOME_POOLS_PER_ENTRY * part.entries)
            work = min(work, self._most, end - self.work)
            answer = self._asking.ask(part, asked, work)
            if answer.pools is None:
                return False
            missed = self._pack(part, dict(zip(members, answer.pools, strict=True)), some, asked)
            if not missed:
                return True
            if not stretched(stretch, missed, STRETCHES):
                return False
        return False

    def _pack(self, part: Program, chosen: dict[int, int], some: Sequence[int], asked: Question) -> list[int]:
        """Pack these pools and remember that, if it is better; else those that do not end where it seemed."""
        pools = list(self._pools)
        for group, pool in chosen.items():
            pools[group] = pool
        tops = part.least_tops(tuple(chosen.values()))
        pool_of = np.array(pools, dtype=np.int64)[self._number]
        offset, ends, missed = self._offset.copy(), list(self._peaks), list[int]()
        packed = list[Ints | None]()
        for pool in some:
            blocks = np.flatnonzero(pool_of == pool)
            work = budget.PACKING_SOME + budget.PACKING_SOME_A_BLOCK * len(blocks)
            found = self._packing.packed(pool, blocks, self._counted[pool], work) if len(blocks) else blocks
            packed.append(found)
            if found is None:
                missed.append(pool)
                continue
            offset[blocks] = found
            end = int((found + self._instance.block_high[blocks]).max(initial=0))
            ends[pool] = self._instance.pools[pool].whole(end)
            if self._counted[pool] and ends[pool] > tops[pool]:
                missed.append(pool)
        if missed and (any(each is None for each in packed) or not self._is_better(part, chosen, ends, asked)):
            return missed
        self._pools, self._offset, self._peaks = pools, offset, ends
        for pool in some:
            self._changed[pool] += 1
        return []

    def _question_about(self, part: Program, members: Sequence[int]) -> Question:
        """Is there a better choice for these, the earlier terms within their limits?"""
        index, program = self._question.term, self._program
        pools, tops = tuple(self._pools), tuple(self._peaks)
        near = tuple(self._pools[group] for group in members)
        held = tuple(
            most - program.value(term, pools, tops) + part.value(term, near, tops)
            for term, most in enumerate(self._question.held)
        )
        number_of = {group: number for number, group in enumerate(members)}
        clashes = tuple(
            Clash(pool, tuple(number_of[group] for group in classes))
            for pool, classes in self._question.clashes
            if all(group in number_of for group in classes)
        )
        most = part.value(index, near, tops) - 1
        return Question(index, held, most=most, stretch=self._question.stretch, near=near, clashes=clashes)

    @staticmethod
    def _is_better(part: Program, chosen: dict[int, int], ends: Sequence[int], asked: Question) -> bool:
        """Is the choice better than what is known, with pools of these heights?"""
        pools, tops = tuple(chosen.values()), tuple(ends)
        held = all(part.value(term, pools, tops) <= most for term, most in enumerate(asked.held))
        return held and asked.most is not None and part.value(asked.term, pools, tops) <= asked.most

    def _taken(self, group: int, members: Container[int]) -> set[int]:
        """The pools in which somebody stays who must not be in one with this class."""
        return {self._pools[other] for other in self._apart.get(group, ()) if other not in members}

    def _part(self, some: Sequence[int], members: Sequence[int]) -> Program:
        """The program of these classes in these pools. Whoever has his only home there is there in any case."""
        program, inside = self._program, set(some)
        number_of = {group: number for number, group in enumerate(members)}
        homes = [inside.difference(self._taken(group, number_of)) for group in members]
        rows = list[Row]()
        for pool in some:
            here_too = {group: number for group, number in number_of.items() if pool in homes[number]}
            here, seen = list[Row](), set[tuple[int, tuple[tuple[int, int], ...]]]()
            for number in self._rows_of[pool]:
                row = program.rows[number]
                mine = tuple((here_too[group], units) for group, units in row.members if group in here_too)
                asked = row._replace(members=mine)
                if not self._question.term:
                    add_fullest(here, asked)
                elif (row.always, mine) not in seen:
                    here.append(asked)
                seen.add((row.always, mine))
            rows += here
        kept = [
            [n for n, pool in enumerate(program.homes[group]) if pool in mine]
            for group, mine in zip(members, homes, strict=True)
        ]
        return Program(
            homes=tuple(tuple(program.homes[g][n] for n in mine) for g, mine in zip(members, kept, strict=True)),
            rooms=program.rooms,
            rows=tuple(rows),
            terms=tuple(
                Costs(
                    tuple(tuple(term.of_homes[g][n] for n in mine) for g, mine in zip(members, kept, strict=True)),
                    tuple(price if pool in inside else 0 for pool, price in enumerate(term.of_peaks)),
                    term.is_largest,
                )
                for term in program.terms[: self._question.term + 1]
            ),
            apart=tuple((number_of[a], number_of[b]) for a, b in program.apart if a in number_of and b in number_of),
        )


def add_fullest(rows: list[Row], row: Row) -> None:
    """Add a row to those of its pool that are before it in time, without such as ask for no more than the next: most are live at few of them."""
    while rows and _asks_no_more(rows[-1], row):
        rows.pop()
    if not (rows and _asks_no_more(row, rows[-1])):
        rows.append(row)


def _asks_no_more(row: Row, other: Row) -> bool:
    return row.always <= other.always and set(row.members) <= set(other.members)
