"""Where earlier terms hold the peaks: first a choice at the fullest sections, which gives the pools' heights, and then one of all classes below these.

At the fullest section the pools together must often be full to the last unit. Hardly any choice is, so the program as a whole finds none that is
cheap. The few classes that are live there are chosen at once; what they take from the others, and what the others gain where pools are high, is
counted at the linear program's prices. Once the heights are given, the other classes are a matter of room alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from typing import TypeAlias

import numpy as np

from ....model.instance import Instance, Ints
from .. import budget
from ..placing.windows import STRETCHES, stretched
from ..prices.crowds import Crowd, Relaxed
from ..program.program import Costs, Pools, Program, Room, Row, Section, settled_in
from ..questions.asking import Asking
from ..questions.question import Answer, Question
from .dearest_first import choose_dearest_first, choose_with_heights
from .needs import Needs
from .peaks import Choice

MOST_CLASSES = 100
"""At most so many classes are added at once to those that are chosen first."""
FULL = 970
"""In thousandths of the most that is live: classes at sections as full as this keep the pools that were chosen first."""
NEARLY_FULL = 900
"""What is live at sections as full as this may be in the way of whatever is chosen at the fullest one."""
ROUNDS = 4
"""How often heights are chosen, at most."""
HEIGHTS_TRIED = 3
"""Where pools end too low for some classes, so many heights are looked for at most."""
MOST_HEIGHTS = 60
"""Ranges of heights; where more are open, pools need not be so full that few heights are possible."""
SCALE = 64
"""Prices are counted in so many parts of a unit of cost,"""
MOST_SCALED = 1 << 54
"""where all costs together are less than this: CP-SAT's numbers end at 2^63. Larger ones are fine enough as they are."""
STRETCH = 1
"""Rows are longer by so many thousandths at first: otherwise hardly any choice can be packed. Windows gain back what that costs."""
SHARE_OF_WASTE = 2
"""At most the room that is free at a section, divided by this, is given up to gaps."""


HeightsFound: TypeAlias = tuple[tuple[int, ...], dict[int, int]]
"""The pools' heights, and the pools of the classes that are live where they follow from."""


class FullestFirst:
    """The search for one term, with the earlier ones held by the question. `number` is the class of each block."""

    def __init__(
        self,
        instance: Instance,
        program: Program,
        number: Ints,
        asking: Asking,
        question: Question,
        of_crowds: Sequence[tuple[Crowd, float]] = (),
        *,
        only_full: bool = False,
    ) -> None:
        """`of_crowds`: crowds that have a price beside rows. `only_full`: only what is live at sections that are nearly full is chosen first, which ends sooner."""
        self._of_crowds = [(crowd, price, _most_votes(program, crowd)) for crowd, price in of_crowds]
        self._program, self._asking, self._question = program, asking, question
        self._live = _live(instance)
        self._of_rect = number[instance.part_block[instance.rect_part]]
        self._begin, self._end = instance.rect_start, instance.rect_end
        sizes = (instance.part_high - instance.part_low)[instance.rect_part]
        self._sizes = np.stack([pool.whole(sizes) for pool in instance.pools], axis=1)
        self._least_live = FULL * int(self._live.max(initial=0)) if only_full else 0
        self._sections: list[int] = np.argsort(-self._live, kind="stable").tolist()
        self._first, self._kept = set[int](), set[int]()
        """The classes that are chosen first, and those of them that keep their pools."""
        self._add_fullest()
        self._pool_of = dict[int, int]()
        """The pools that were chosen first."""
        self._stay = dict[int, int]()
        """The pools that were kept for the best choice."""
        self.bound = 0
        """A lower bound of the term while the earlier ones are no more than is held, the greatest of all that were found."""
        self.best: Choice | None = None
        """The best choice, and the heights below which it was found."""
        self.stretch = [STRETCH] * len(program.rooms)
        self._scale = SCALE if sum(map(max, program.terms[question.term].of_homes)) < MOST_SCALED else 1

    def run(self, of_rows: Mapping[int, float], work: int) -> None:
        """Find heights and a choice below them, at prices of rows: the linear program's, or any others."""
        end = self._asking.work + work
        for _ in range(ROUNDS):
            each = (end - self._asking.work) // budget.PART_OF_FULLEST
            tops = self._find_tops(of_rows, each) if each > 0 else None
            if tops is None:
                return
            self._stay = self._kept_pools()
            self.best = self._choose(tops, self._stay, each)
            if self.best is not None or not self._add_fullest():
                return

    def first(self, relaxed: Relaxed, work: int) -> Choice | None:
        """A choice below the heights that the fullest sections alone give, with no room left for gaps; None if none was found."""
        each = max(work // budget.PART_OF_FULLEST, 1)
        tops = self._find_tops(dict(relaxed.of_rows), each, is_bounded=False)
        if tops is None:
            return None
        kept = self._kept_pools()
        question = Question(self._question.term, tops=tops, are_peaks=True)
        pools = self._asking.ask(settled_in(self._program, kept), question, each).pools
        return None if pools is None else Choice(self._program.value(question.term, pools, tops), tops, pools)

    def begin_with(self, choice: Choice) -> None:
        """Take this for the best choice, which leaves no room for gaps."""
        self.best, self.stretch = choice, [0] * len(choice.tops)

    def again(self, missed: list[int], work: int) -> bool:
        """Look for another choice below the same heights, with more room left in the pools that could not be packed; false if none was found."""
        if self.best is None or not stretched(self.stretch, missed, STRETCHES):
            return False
        choice = self._ask(self.best.tops, self._stay, self.best.pools, work)
        self.best = choice or self.best
        return choice is not None

    def highest(self, work: int) -> tuple[int | None, ...]:
        """The greatest peak that the held terms leave each pool, the others being as low as the fullest sections allow; None: any."""
        index, end = self._question.term, self._asking.work + work
        part = part_of(self._program, sorted(self._first))
        pools = range(len(self._program.rooms))
        lowest = []
        for pool in pools:
            alone = Costs(tuple((0,) * len(homes) for homes in part.homes), tuple(int(pool == each) for each in pools))
            asked = replace(part, terms=(*part.terms[:index], alone))
            left = max(end - self._asking.work, 0) // (len(pools) - pool)
            lowest.append(self._asking.ask(asked, Question(index, held=self._question.held), left).bound or 0)
        ends: list[int | None] = [room.capacity for room in self._program.rooms]
        for term, most in zip(part.terms, self._question.held, strict=False):
            for pool, price in enumerate(term.of_peaks):
                if term.counts(pool):
                    others = term.of_tops(tuple(low if each != pool else 0 for each, low in enumerate(lowest)))
                    end_here, known = most if term.is_largest else (most - others) // price, ends[pool]
                    ends[pool] = end_here if known is None else min(known, end_here)
        return tuple(ends)

    def heights(self, prices: Mapping[int, float], work: int) -> HeightsFound | None:
        """The pools' heights that a choice at the fullest sections gives, at these prices of rows, and who keeps his pool; None if none was found.

        Prices say nothing of classes that are higher than a pool. Where that costs much, heights are looked for again with this pool higher, and the cheapest of all
        are taken. Each search may take so much work.
        """
        self._asking.work += self._program.entries // budget.SETTLED_A_UNIT
        needs = Needs(self._program, self._question.term, self._outside(prices), self._first)
        if not needs.have_room:
            return None
        best, rooms = None, None
        for _ in range(HEIGHTS_TRIED):
            tops = self._find_tops(dict(prices), work, rooms)
            if tops is None:
                break
            value = needs.value(tops, self._pool_of)
            if best is None or value < best[0]:
                best = value, (tops, self._kept_pools())
            raised = needs.raised(rooms or self._program.rooms, tops)
            if raised is None:
                break
            rooms = raised
        return None if best is None else best[1]

    def _outside(self, prices: Mapping[int, float]) -> dict[int, float]:
        """The prices of rows that are not of those classes alone that are chosen first."""
        rows = self._program.rows
        return {n: price for n, price in prices.items() if not dict(rows[n].members).keys() <= self._first}

    def _kept_pools(self) -> dict[int, int]:
        """The pools that were chosen first for those who keep them."""
        return {group: pool for group, pool in self._pool_of.items() if group in self._kept}

    def add(self, sections: Iterable[int]) -> bool:
        """Choose what is live at these sections first, too; false if it was already."""
        known = len(self._kept)
        for section in dict.fromkeys(sections):
            self._first |= self._classes(section)
            self._kept |= self._classes(section)
        return len(self._kept) > known

    def fullest_section(self) -> Section:
        """What is live at the fullest section."""
        section = int(self._live.argmax())
        is_here = (self._begin <= section) & (section < self._end)
        return list(zip(self._of_rect[is_here].tolist(), map(tuple, self._sizes[is_here].tolist()), strict=True))

    def nearly_full(self) -> set[int]:
        """The classes with a choice that are live at sections nearly as full as the fullest."""
        full = np.flatnonzero(self._live * 1000 >= int(self._live.max()) * NEARLY_FULL)
        return set[int]().union(*(self._classes(section) for section in full.tolist()))

    def over_heights(
        self, prices: Mapping[int, float], most: int, settle: Callable[[tuple[int, ...]], Answer], work: int
    ) -> int:
        """A lower bound of the term, up to `most`, from what `settle` says of all choices below some heights: below as many heights as it takes.

        Every choice is below heights that a choice at the fullest sections gives, or makes one of the pools higher than that: there others are looked for, the
        cheapest first at these prices of rows. No ranges may be reserved.
        """
        end, number = self._asking.work + work, 0
        boxes = [(0, number, self._program.rooms)]
        while boxes:
            bound, _, rooms = heappop(boxes)
            left = end - self._asking.work
            if bound >= most or left <= 0 or number > MOST_HEIGHTS or self._asking.stop is not None:
                return min(bound, most)
            part, rest, worth = self._priced(dict(prices), rooms)
            question = Question(self._question.term, held=self._question.held)
            found = choose_with_heights(self._asking, part, question, left)
            if found.is_impossible:
                continue
            if found.bound is not None:
                bound = max(bound, -(-(found.bound + rest) // self._scale))
            of_others = (boxes[0][0],) if boxes else ()
            if found.pools is None:
                return min(bound, most, *of_others)
            tops = self._raised(part.least_tops(found.pools), worth, rooms)
            below = settle(tops)
            if not below.is_impossible:
                most = min(most, max(bound, below.bound or 0))
            if below.stopped is not None:
                return min(bound, most, *of_others)
            for higher in _higher(rooms, tops, [self._program.highest(pool) for pool in range(len(rooms))]):
                number += 1
                heappush(boxes, (bound, number, higher))
        return most

    def _choose(self, tops: tuple[int, ...], kept: dict[int, int], work: int) -> Choice | None:
        """A choice of all classes below the tops; None if none was found."""
        self.stretch = [STRETCH] * len(tops)
        found = self._ask(tops, kept, None, work)
        if found is None:
            self.stretch = [0] * len(tops)  # the room for gaps may be just what a dear class needs
            found = self._ask(tops, kept, None, work)
        return found

    def _ask(self, tops: tuple[int, ...], kept: dict[int, int], near: Pools | None, work: int) -> Choice | None:
        wasting = self._wasting(tops, kept)
        question = Question(self._question.term, tops=tops, are_peaks=True, near=near)
        pools = choose_dearest_first(self._asking, settled_in(wasting, kept), question, work)
        if pools is None and kept:
            pools = choose_dearest_first(self._asking, wasting, question, work)
        return None if pools is None else Choice(self._program.value(question.term, pools, tops), tops, pools)

    def _add_fullest(self) -> bool:
        """Add the classes live at the fullest sections to those that are chosen first; false if there are no more."""
        most = len(self._first) + MOST_CLASSES
        while self._sections:
            section = self._sections[0]
            free = self._classes(section)
            if self._first and (len(self._first | free) > most or int(self._live[section]) * 1000 < self._least_live):
                return True
            self._first |= free
            if int(self._live[section]) * 1000 >= int(self._live.max()) * FULL:
                self._kept |= free
            del self._sections[0]
        return False

    def _classes(self, section: int) -> set[int]:
        """The classes with a choice that are live at a section."""
        here = self._of_rect[(self._begin <= section) & (section < self._end)].tolist()
        return {group for group in here if len(self._program.homes[group]) > 1}

    def _find_tops(
        self, prices: Mapping[int, float], work: int, rooms: tuple[Room, ...] | None = None, *, is_bounded: bool = True
    ) -> tuple[int, ...] | None:
        """The heights that follow from a choice at the fullest sections, at these prices, in the program's rooms or others; None if no choice was found."""
        is_bounded &= rooms is None
        rooms = rooms or self._program.rooms
        part, rest, worth = self._priced(prices, rooms)
        question = Question(self._question.term, held=self._question.held)
        answer = choose_with_heights(self._asking, part, question, work, is_bounded=is_bounded)
        if answer.bound is not None and is_bounded:
            self.bound = max(self.bound, -(-(answer.bound + rest) // self._scale))
        if answer.pools is None:
            return None
        self._pool_of = dict(zip(sorted(self._first), answer.pools, strict=True))
        return self._raised(part.least_tops(answer.pools), worth, rooms)

    def _priced(self, prices: Mapping[int, float], rooms: tuple[Room, ...]) -> tuple[Program, int, list[int]]:
        """The program of the classes that are chosen first, at prices; the least that all others cost; what a unit of each pool's height is worth.

        A crowd with others in it costs its price for each vote, less that for all votes that it may have; one of these classes alone is counted by the program itself.
        """
        program, index = replace(self._program, rooms=rooms), self._question.term
        prices = self._outside(prices)
        costs = [[self._scale * cost for cost in each] for each in program.terms[index].of_homes]
        worth, rest = [0] * len(program.rooms), 0
        for n, price in prices.items():
            row, scaled = program.rows[n], int(price * self._scale)
            worth[row.pool] += scaled
            rest += scaled * (row.always - program.rooms[row.pool].spare)
            for group, units in row.members:
                costs[group][program.homes[group].index(row.pool)] += scaled * units
        for crowd, price, most in self._of_crowds:
            if not self._first.issuperset(crowd.classes):
                pool, scaled = program.rows[crowd.row].pool, int(price * self._scale)
                rest -= scaled * most
                for group, votes in zip(crowd.classes, crowd.votes, strict=True):
                    costs[group][program.homes[group].index(pool)] += scaled * votes
        rest += sum(min(due) for group, due in enumerate(costs) if group not in self._first)
        term = Costs(tuple(map(tuple, costs)), tuple(-each for each in worth))
        part = part_of(replace(program, terms=(*program.terms[:index], term)), sorted(self._first))
        for pool, each in enumerate(worth):  # a pool may be higher than these classes alone can make it
            rest -= each * max(program.highest(pool) - part.highest(pool), 0)
        return part, rest, worth

    def _raised(self, tops: tuple[int, ...], worth: list[int], rooms: tuple[Room, ...]) -> tuple[int, ...]:
        """These heights raised as far as the earlier terms allow, the pool whose height is worth most first."""
        raised = list(tops)
        held = list(zip(self._program.terms, self._question.held, strict=False))
        for pool in sorted(range(len(tops)), key=lambda pool: (-worth[pool], pool)):
            end = rooms[pool].capacity
            ends = [self._program.highest(pool) if end is None else end]
            for term, most in held:
                if term.is_largest:
                    ends.append(most)
                elif term.of_peaks[pool]:
                    ends.append(raised[pool] + (most - term.of_tops(tuple(raised))) // term.of_peaks[pool])
            raised[pool] = max(raised[pool], min(ends))
        return tuple(raised)

    def _wasting(self, tops: tuple[int, ...], kept: Mapping[int, int]) -> Program:
        """The program with rows that count some room as lost to gaps, but no more than may be free beside the classes that stay."""
        if not any(self.stretch):
            return self._program
        rooms = [room.below(top) for room, top in zip(self._program.rooms, tops, strict=True)]
        rows = []
        for row in self._program.rows:
            room = rooms[row.pool]
            stay = sum(units for group, units in row.members if kept.get(group) == row.pool)
            free = max(sum(rooms) - int(self._live[row.section]), 0) * room // max(sum(rooms), 1)
            free = max(min(free, room - row.always - stay), 0)
            waste = min(room * self.stretch[row.pool] // 1000, free // SHARE_OF_WASTE)
            rows.append(row._replace(always=row.always + waste))
        return replace(self._program, rows=tuple(rows))


def _higher(rooms: tuple[Room, ...], tops: tuple[int, ...], highest: list[int]) -> list[tuple[Room, ...]]:
    """All in which a pool is higher than these tops, without anything twice: one after the other is higher, and those before it are not."""
    found, kept = list[tuple[Room, ...]](), list(rooms)
    for pool, (room, top) in enumerate(zip(rooms, tops, strict=True)):
        if top < (highest[pool] if room.capacity is None else min(room.capacity, highest[pool])):
            kept[pool] = room._replace(lowest=max(room.lowest, top + 1))
            found.append(tuple(kept))
        kept[pool] = room._replace(capacity=top if room.capacity is None else min(room.capacity, top))
    return found


def part_of(program: Program, members: list[int]) -> Program:
    """The program of these classes alone, as if no others with a choice were there."""
    number = {group: n for n, group in enumerate(members)}
    rows = dict[tuple[int, int, tuple[tuple[int, int], ...]], Row]()
    for row in program.rows:
        mine = tuple((number[group], units) for group, units in row.members if group in number)
        if mine or row.always:
            rows.setdefault((row.pool, row.always, mine), row._replace(members=mine))
    return Program(
        tuple(program.homes[group] for group in members),
        program.rooms,
        tuple(rows.values()),
        tuple(term._replace(of_homes=tuple(term.of_homes[group] for group in members)) for term in program.terms),
        tuple((number[a], number[b]) for a, b in program.apart if a in number and b in number),
    )


def _most_votes(program: Program, crowd: Crowd) -> int:
    """How many votes the crowd may have in its pool as it is."""
    pool = program.rows[crowd.row].pool
    capacity = program.rooms[pool].capacity
    height = program.highest(pool) if capacity is None else program.rooms[pool].below(capacity)
    return sum(step <= height for step in crowd.steps(program))


def _live(instance: Instance) -> Ints:
    """(sections) the sum of the sizes of what is live."""
    sizes = (instance.part_high - instance.part_low)[instance.rect_part]
    change = np.zeros(instance.sections + 1, dtype=np.int64)
    np.add.at(change, instance.rect_start, sizes)
    np.subtract.at(change, instance.rect_end, sizes)
    live: Ints = np.cumsum(change)[: instance.sections]
    return live
