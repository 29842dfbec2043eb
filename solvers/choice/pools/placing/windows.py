"""Improves a placement one window of time after the other: the blocks that begin to live there are chosen again, by the same program, and packed beside all others.

Everybody else stays where he is, so each step is small however large the instance is, and what comes of it is a placement again. Windows overlap,
and move from sweep to sweep, so that what one window's border was in the way of, another has in its middle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import zip_longest

import numpy as np

from ....model.errors import StopReason
from ....model.instance import Instance, Ints, Placement
from .. import budget
from ..program.entries import classes_in_time, entries_of
from ..program.program import Costs, Pools, Program, Row
from ..program.writing import pools_of_classes
from ..questions.asking import Asking, Next, Wish
from ..questions.question import Question
from .packing import Packing

WINDOWS = (100, 150, 200, 300)
"""How many classes are chosen anew at once: in the first sweep, in the next, and so on."""
STEP = 5, 8
"""The next window begins that part of one later."""
STRETCHES = (4, 15, 40, 100, 200)
"""By how many thousandths the rows of a pool are longer, in turn, after what was chosen could not be packed into it."""
SURE = 2
"""What a window will ask is foreseen where it gets at least so many times what its question may take."""
NEIGHBOURS = (0, 40, 80)
"""Where pools are too high, so many more on each side are chosen anew, in turn, as long as they stay too high."""

APART = 40
"""Classes wanted elsewhere are chosen anew together, unless so many others begin between them."""


class Windows:
    """Of one placement. `number` is the class of each block."""

    def __init__(
        self, instance: Instance, program: Program, number: Ints, asking: Asking, packing: Packing, start: Placement
    ) -> None:
        self._instance, self._program, self._number = instance, program, number
        self._asking, self._packing = asking, packing
        packing.work += budget.WINDOW_PER_ENTRY * program.entries
        entries = entries_of(program)
        by_class = np.argsort(entries.group, kind="stable")
        self._row, self._units = entries.row[by_class], entries.units[by_class]
        """Which rows count a class, and so many units each: class by class,"""
        self._begin = np.searchsorted(entries.group[by_class], np.arange(len(program.homes) + 1))
        """where each class begins;"""
        self._pool_of_row = np.array([row.pool for row in program.rows], dtype=np.int64)
        """and the pool of each row."""
        self._order = classes_in_time(program)
        self._rank = {group: n for n, group in enumerate(self._order)}
        self._apart = program.kept_apart()
        order = np.argsort(number, kind="stable")
        self._blocks = np.split(order, np.cumsum(np.bincount(number, minlength=len(program.homes)))[:-1])
        self._pools = list(pools_of_classes(number, start))
        """Where each class is now,"""
        self._offset = start.offset
        """and each block;"""
        self._loads = np.array([row.always for row in program.rows], dtype=np.int64)
        here = np.array(self._pools, dtype=np.int64)[entries.group] == self._pool_of_row[entries.row]
        np.add.at(self._loads, entries.row[here], entries.units[here])
        """and what each row counts."""
        self._foreseen: tuple[int, list[int], Program, Pools] | None = None
        """The term and the window that may come next, and the window's program as long as nobody moves."""

    @property
    def placement(self) -> Placement:
        """Where everybody is now."""
        return Placement(np.array(self._pools, dtype=np.int64)[self._number], self._offset)

    @property
    def work(self) -> int:
        return self._asking.work + self._packing.work

    def improve(self, index: int, tops: tuple[int | None, ...], work: int, on_better: Callable[[], bool]) -> None:
        """Lower a term, the earlier ones no worse, below these peaks: sweep after sweep, until none gains anything or so much work is done.

        `on_better` is called after each step that gained something; false ends it all.
        """
        end = self.work + work
        idle = number = 0
        while idle < 2 or number < len(WINDOWS):
            groups = far_apart(list(self._windows(number)))
            gained = False
            for done, members in enumerate(groups):
                left = end - self.work
                if left <= 0 or self._asking.stop is not None:
                    return
                of_one = 2 * left // (len(groups) - done)
                further = (
                    groups[done + 1] if done + 1 < len(groups) and of_one >= self._most(groups[done + 1]) * SURE else []
                )
                if self._anew(index, members, tops, max(of_one, 1), partial(self._next, index, further, tops)):
                    gained = True
                    if not on_better():
                        return
            idle = 0 if gained else idle + 1
            number += 1

    def adopt(self, wanted: Mapping[int, int], tops: tuple[int | None, ...], work: int) -> None:
        """Choose anew, below these peaks, the classes that these pools would move and that would then cost less in the first term.

        Where that finds nothing better, their neighbours are chosen with them.
        """
        end = self.work + work
        for members in self._others(wanted):
            for around in NEIGHBOURS:
                left = end - self.work
                if left <= 0 or self._asking.stop is not None:
                    return
                if self._anew(0, self._with_neighbours(members, around), tops, left, lambda: None):
                    break

    def _others(self, wanted: Mapping[int, int]) -> Iterator[list[int]]:
        """The classes wanted elsewhere, those together that begin one soon after the other, where that costs less."""
        found: list[list[int]] = []
        for group in self._order:
            if wanted.get(group, self._pools[group]) != self._pools[group]:
                if not found or self._rank[group] - self._rank[found[-1][-1]] > APART or len(found[-1]) >= WINDOWS[-1]:
                    found.append([])
                found[-1].append(group)
        homes, due = self._program.homes, self._program.terms[0].of_homes
        for some in found:
            pools = ((homes[group], due[group], self._pools[group], wanted[group]) for group in some)
            if sum(costs[mine.index(new)] - costs[mine.index(old)] for mine, costs, old, new in pools) < 0:
                yield some

    def _with_neighbours(self, members: list[int], around: int) -> list[int]:
        """These, and so many that begin before the first of them, and after the last."""
        at = [self._rank[group] for group in members]
        first, last = max(min(at) - around, 0), max(at) + around
        return list(dict.fromkeys([*members, *(self._order[first : last + 1] if around else ())]))

    def _windows(self, sweep: int) -> Iterator[list[int]]:
        window = WINDOWS[min(sweep, len(WINDOWS) - 1)]
        step = max(window * STEP[0] // STEP[1], 1)
        first = 0 if sweep % 2 == 0 else -step // 2
        for begin in range(first, max(len(self._order) - window + step, 1), step):
            members = self._order[max(begin, 0) : begin + window]
            if members:
                yield members

    @staticmethod
    def _most(members: list[int]) -> int:
        """The work of a window's question."""
        return budget.WINDOW_A_CLASS * len(members)

    def _next(self, index: int, members: list[int], tops: tuple[int | None, ...]) -> Wish | None:
        """What this window will ask, if nobody moves before."""
        if not members:
            return None
        if self._foreseen is None or self._foreseen[:2] != (index, members):
            self._foreseen = index, members, *self.part_of(index, members)
        *_, part, near = self._foreseen
        return Wish(part, first_question(index, part, near, tops), self._most(members))

    def _anew(self, index: int, members: list[int], tops: tuple[int | None, ...], work: int, then: Next) -> bool:
        """Choose and pack the members of a window anew; was something gained?"""
        end = self.work + work
        part, near = self._part(index, members)
        first = first_question(index, part, near, tops)
        stretch = [0] * len(part.rooms)
        while self.work < end:
            question = replace(first, stretch=tuple(stretch), near=near if not any(stretch) else None)
            pools = self._answer(part, question, min(end - self.work, self._most(members)), end, then)
            if pools is None:
                return False
            chosen = dict(zip(members, pools, strict=True))
            missed = self._pack(chosen, tops)
            if not missed:
                return True
            if not stretched(stretch, missed, STRETCHES):
                return False
        return False

    def _answer(self, part: Program, question: Question, work: int, end: int, then: Next) -> Pools | None:
        """A better choice. Where much is open it is asked again, with more work each time."""
        assert question.most is not None
        pools, most, bound = question.near, question.most + 1, 0
        is_better, times = False, 1
        while times <= budget.MOST_TIMES and (work <= end - self.work or times == 1):
            answer = self._asking.ask(part, replace(question, most=most - 1, near=pools), work, then)
            if answer.pools is not None and answer.value is not None:
                pools, most, is_better = answer.pools, answer.value, True
            bound = max(bound, answer.bound or 0)
            if answer.stopped is not StopReason.WORK_LIMIT or (most - bound) * budget.OPEN <= self._value(
                question.term
            ):
                break
            times, work = 2 * times, 2 * work
        return pools if is_better else None

    def _value(self, index: int) -> int:
        """The term's current value, without peaks."""
        term = self._program.terms[index]
        return cost_of(term, self._program.homes, tuple(self._pools))

    def _part(self, index: int, members: list[int]) -> tuple[Program, Pools]:
        """The program of these classes, everybody else staying; and where they are now."""
        foreseen, self._foreseen = self._foreseen, None
        if foreseen is not None and foreseen[:2] == (index, members):
            *_, part, near = foreseen
        else:
            part, near = self.part_of(index, members)
        self._packing.work += budget.WINDOW_PER_ENTRY * part.entries
        return part, near

    def part_of(self, index: int, members: list[int]) -> tuple[Program, Pools]:
        """The terms up to this one, of these classes alone; and where they are now."""
        program = self._program
        number_of = {group: number for number, group in enumerate(members)}
        homes: list[tuple[int, ...]] = []
        for group in members:
            taken = {self._pools[other] for other in self._apart.get(group, ()) if other not in number_of}
            homes.append(tuple(p for p in program.homes[group] if p not in taken) if taken else program.homes[group])
        near = tuple(self._pools[group] for group in members)
        rows = tuple(self._rows(members, homes, near))
        terms = []
        for term in program.terms[: index + 1]:
            of_homes = []
            for group, pools in zip(members, homes, strict=True):
                due = term.of_homes[group]
                if pools != program.homes[group]:
                    due = tuple(cost for p, cost in zip(program.homes[group], due, strict=True) if p in pools)
                of_homes.append(due)
            terms.append(Costs(tuple(of_homes), (0,) * len(program.rooms)))
        apart = tuple((number_of[a], number_of[b]) for a, b in program.apart if a in number_of and b in number_of)
        return Program(tuple(homes), program.rooms, rows, tuple(terms), apart), near

    def _rows(self, members: list[int], homes: list[tuple[int, ...]], near: Pools) -> Iterator[Row]:
        """The rows that count one of these classes, everybody else staying."""
        order = np.argsort(members)
        begin, end = self._begin[np.sort(members)], self._begin[np.sort(members) + 1]
        which = np.concatenate([np.arange(a, b) for a, b in zip(begin.tolist(), end.tolist(), strict=True)])
        in_time = np.argsort(self._row[which], kind="stable")
        number, units = self._row[which][in_time], self._units[which][in_time]
        at = np.repeat(order, end - begin)[in_time]
        pool = self._pool_of_row[number]
        may_be = np.zeros((len(members), len(self._program.rooms)), dtype=bool)
        for one, pools in enumerate(homes):
            may_be[one, list(pools)] = True
        is_here, is_open = np.array(near)[at] == pool, may_be[at, pool]
        numbers, first = np.unique(number, return_index=True)
        always = self._loads[numbers] - np.add.reduceat(np.where(is_here, units, 0), first)
        ends = np.cumsum(np.add.reduceat(is_open.astype(np.int64), first))
        pairs, begun = list(zip(at[is_open].tolist(), units[is_open].tolist(), strict=True)), 0
        for n, load, ended in zip(numbers.tolist(), always.tolist(), ends.tolist(), strict=True):
            row = self._program.rows[n]
            yield Row(row.pool, row.section, load, tuple(pairs[begun:ended]))
            begun = ended

    def _pack(self, chosen: dict[int, int], tops: tuple[int | None, ...], anyway: Iterable[int] = ()) -> list[int]:
        """Pack these classes into these pools, and remember where; the pools that they do not fit into. Some are packed `anyway`, also if nobody comes."""
        coming = sorted({*anyway, *(pool for group, pool in chosen.items() if self._pools[group] != pool)})
        moving = np.sort(np.concatenate([self._blocks[group] for group in chosen]))
        pool_of = np.array(self._pools, dtype=np.int64)[self._number]
        for group, pool in chosen.items():
            pool_of[self._blocks[group]] = pool
        offset = self._offset.copy()
        missed = []
        for pool in coming:
            found = self._packing.beside(pool, moving, pool_of, self._offset, tops[pool] if tops else None)
            if found is None:
                missed.append(pool)
            else:
                blocks, bases = found
                offset[blocks] = bases
        if missed:
            return missed
        self._offset, self._foreseen = offset, None
        for group, pool in chosen.items():
            old = self._pools[group]
            if old == pool:
                continue
            self._pools[group] = pool
            mine = slice(self._begin[group], self._begin[group + 1])
            rows, units = self._row[mine], self._units[mine]
            self._loads[rows] += units * (self._pool_of_row[rows] == pool) - units * (self._pool_of_row[rows] == old)
        return []


def stretched(stretch: list[int], missed: list[int], steps: tuple[int, ...]) -> bool:
    """Goes on to the next step for the pools that were missed; False if there is none for one of them."""
    for p in missed:
        further = [step for step in steps if step > stretch[p]]
        if not further:
            return False
        stretch[p] = further[0]
    return True


def far_apart(windows: list[list[int]]) -> list[list[int]]:
    """The same in an order in which neighbours are far from each other in time, so that what one gains rarely matters to the next."""
    half = (len(windows) + 1) // 2
    return [window for pair in zip_longest(windows[:half], windows[half:]) for window in pair if window is not None]


def first_question(index: int, part: Program, near: Pools, tops: tuple[int | None, ...]) -> Question:
    """Is there a better choice, the earlier terms no worse, below these peaks?"""
    costs = [cost_of(term, part.homes, near) for term in part.terms]
    held, stretch = tuple(costs[:index]), (0,) * len(part.rooms)
    return Question(index, held, most=costs[index] - 1, stretch=stretch, tops=tops, are_peaks=True, near=near)


def cost_of(term: Costs, homes: tuple[tuple[int, ...], ...], pools: Pools) -> int:
    """The term's value for this choice, without peaks."""
    chosen = zip(homes, term.of_homes, pools, strict=True)
    return sum(costs[mine.index(pool)] for mine, costs, pool in chosen)
