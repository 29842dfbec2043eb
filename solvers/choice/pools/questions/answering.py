"""Answers questions about programs with CP-SAT.

Importing this module imports nothing heavy; answering does, so it happens in a child process (see solvers.sandbox).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import gcd
from typing import Any

from ....exact.cpsat import engine
from ....exact.cpsat.sums import Sums
from ....model.errors import StopReason, Unsupported
from ....model.solver import Control
from .. import budget
from ..prices.crowds import Crowd
from ..prices.division_tree import DivisionTree
from ..prices.hulls import Hulls
from ..prices.relaxation import AT_ONCE, OF_BOX, WHOLE, Relaxation
from ..program.program import Costs, Pools, Program, Row
from .question import THOUSAND, Answer, Question, write_answer, write_relaxed

WORKERS = 1
"""Constant, so that every machine gives the same answer."""
LARGEST_IN_THOUSANDTHS = 1 << 50
"""Peaks up to this are weighed in thousandths, as rows may be stretched by some; larger ones only where they are stretched."""


class Answering:
    """Answers one question after another, each within its budget."""

    def __init__(self, subject: object) -> None:
        self._program: Program | None = None
        self._relaxation: Relaxation | None = None
        """The last one."""
        self._tree: DivisionTree | None = None
        """The same,"""
        self._hulls: Hulls | None = None
        """and that of narrow boxes."""

    def answer(self, question: Mapping[str, Any], control: Control) -> Mapping[str, object]:
        """Answer in the child process."""
        if question["program"] is not None:
            self._program = question["program"]
        assert self._program is not None, "the first question comes with its program"
        if question["question"] is None:
            if "full" in question:
                return self._bound_by_heights(question, control)
            if "below" in question:
                return self._heights_below(question)
            if "narrow" in question:
                return self._relax_narrow(question, control)
            is_known = question["crowds"] is not None
            return self._relax_with(question, control) if is_known else self._relax(question, control)
        asked: Question = question["question"]
        weighs_peaks = asked.weighs_peaks(self._program)
        first = self._program.terms[0]
        begins_with_choice = not (first.counts_peaks or asked.tops)
        is_small = self._program.entries <= budget.MOST_ENTRIES_OF_SMALL
        is_easy = begins_with_choice and is_small
        holds_peaks = asked.holds_peaks(self._program)
        limits = engine.Budget(
            question["work"],
            question["deadline"],
            question["seed"],
            WORKERS,
            rate=budget.DETERMINISTIC_SECOND_WITH_PEAKS if weighs_peaks else budget.DETERMINISTIC_SECOND,
            later_rate=budget.LATER_SECOND if is_small else budget.LATER_SECOND_OF_LARGE,
            relaxations=engine.Relaxations.ALL,
            # where earlier terms hold the peaks, cuts take most of the time; without them more is proven
            rounding_cuts=not holds_peaks,
            tableau_cuts=not (is_easy or holds_peaks),
            is_soon_simplified=is_easy or holds_peaks,
        )
        covers = self._relaxation.covers if self._relaxation is not None and question["goes_on"] else ()
        try:
            found = _Model(self._program, asked, covers).solve(limits, control)
        except Unsupported:  # its numbers are too large, which no work mends
            found = Answer(None, None, None, StopReason.WORK_LIMIT)
        return write_answer(found)

    def _relax(self, question: Mapping[str, Any], control: Control) -> Mapping[str, object]:
        held = question["held"]
        assert self._program is not None
        making = 0
        known = self._relaxation if question["goes_on"] else None
        if known is None or known.held != held:
            self._relaxation = Relaxation(self._program, held, () if known is None else known.covers)
            making = self._relaxation.making
        assert self._relaxation is not None
        before = self._relaxation.work - making
        self._relaxation.restrict(question["heights"])
        rounds, work, enough = question["rounds"], question["work"], question["enough"]
        relaxed = self._relaxation.solve(rounds, work, control.stopped, enough, goes_on=not question["heights"])
        return write_relaxed(relaxed, self._relaxation.work - before) | {"is_cut": self._relaxation.is_cut}

    def _relax_with(self, question: Mapping[str, Any], control: Control) -> Mapping[str, object]:
        """The linear program with these crowds: with pools of given heights, which has its own levels between them, with charges, or once without levels."""
        assert self._program is not None
        program, fineness, charged = self._program, AT_ONCE, question.get("charged")
        if question["heights"]:
            program, fineness = program.between(question["heights"]), OF_BOX
        fineness = WHOLE if charged else fineness
        relaxation = Relaxation(program, question["held"], (), fineness, question["crowds"], charged)
        enough = question["enough"]
        relaxed = relaxation.solve(question["rounds"], question["work"], control.stopped, enough, goes_on=False)
        return write_relaxed(relaxed, relaxation.work + relaxation.making)

    def _relax_narrow(self, question: Mapping[str, Any], control: Control) -> Mapping[str, object]:
        program, enough, before = self._program, question["enough"], 0
        assert program is not None
        if self._hulls is None or self._hulls.program is not program:
            self._hulls = Hulls(program, (), enough)
        else:
            before = self._hulls.work
        hulls = self._hulls
        hulls.enough = enough
        hulls.know(question["crowds"])
        lowest = [room.below(room.lowest) for room in program.rooms]
        both = zip(question["narrow"], lowest, strict=True)
        heights = tuple((min(max(low, least), high), high) for (low, high), least in both)
        hulls.solve(heights, frozenset(), 0, hulls.work + question["work"], control.stopped)
        return write_relaxed(hulls.relaxed(), hulls.work - before)

    def _bound_by_heights(self, question: Mapping[str, Any], control: Control) -> Mapping[str, object]:
        assert self._program is not None
        (most,) = question["held"]
        known, best = question["known"]
        self._tree = tree = DivisionTree(self._program, most, question["full"], best, control.stopped)
        bound = tree.run(known, question["work"])
        first, last = (write_relaxed(each, 0) for each in (tree.first, tree.last))
        found = [(division.heights, write_relaxed(division.relaxed, 0)) for division in tree.found]
        return {"bound": bound, "work": tree.work, "first": first, "last": last, "divisions": found}

    def _heights_below(self, question: Mapping[str, Any]) -> Mapping[str, object]:
        """The heights that the last tree leaves for what costs less than some value; none where the process with that tree has died, and this is another."""
        if self._tree is None:
            return {"heights": (), "work": 0}
        before = self._tree.work
        heights = self._tree.heights_below(question["below"], question["work"])
        return {"heights": heights, "work": self._tree.work - before}


class _Model:
    """CP-SAT's model of a question, with the lifted covers that are known: it finds such rows itself, but not as many, and later."""

    def __init__(self, program: Program, question: Question, covers: Sequence[Crowd]) -> None:
        self._program, self._question, self._covers = program, question, (*covers, *question.crowds)
        self._model = model = Sums()
        one = model.variable(1, 1)
        self._inside: list[dict[int, int]] = [
            {p: one if len(homes) == 1 else model.variable(0, 1) for p in homes} for homes in program.homes
        ]
        for inside in self._inside:
            if len(inside) > 1:
                model.exactly_one(inside.values())
        self._add_rooms()
        for a, b in program.apart:
            for p in self._inside[a].keys() & self._inside[b].keys():
                model.limit([(self._inside[a][p], 1), (self._inside[b][p], 1)], high=1)
        for pool, classes in question.clashes:
            if all(pool in self._inside[group] for group in classes):
                model.limit([(self._inside[group][pool], 1) for group in classes], high=len(classes) - 1)
        for term, most in zip(program.terms, question.held, strict=False):
            costs, fixed = self._of(term)
            model.limit(costs, high=most - fixed)
        self._goal, self._fixed = self._of(program.terms[question.term])
        if question.least is not None:
            model.limit(self._goal, low=question.least - self._fixed)
        if question.most is not None:
            model.limit(self._goal, high=question.most - self._fixed)
        model.minimise(self._goal, self._fixed)
        if question.near is not None:
            for inside, pool in zip(self._inside, question.near, strict=True):
                if len(inside) > 1:
                    model.hint((literal, int(p == pool)) for p, literal in inside.items())

    def solve(self, budget: engine.Budget, control: Control) -> Answer:
        """The answer within the budget."""
        reply = engine.solve(self._model, budget, control, enough=self._question.enough)
        if reply.answer is engine.Answer.INFEASIBLE:
            return Answer(None, None, None, None, reply.work)
        pools: Pools | None = None
        value: int | None = None
        if reply.values:
            values = reply.values
            pools = tuple(next(p for p, literal in each.items() if values[literal]) for each in self._inside)
            value = self._fixed + sum(weight * values[variable] for variable, weight in self._goal)
        if reply.answer is engine.Answer.OPTIMAL:
            return Answer(pools, value, value, None, reply.work)
        return Answer(pools, value, reply.bound, reply.stopped, reply.work)

    def _add_rooms(self) -> None:
        """Add how full each pool may be and, where a term counts it, how high it is."""
        program, question, model = self._program, self._question, self._model
        counted = program.terms[: question.term + 1]
        loads: dict[int, list[Row]] = {}
        for row in program.rows:
            loads.setdefault(row.pool, []).append(row)
        self._peaks: dict[int, int] = {}
        self._highest: list[int] = []
        for p, room in enumerate(program.rooms):
            rows = loads.get(p, [])
            full = THOUSAND + (question.stretch[p] if question.stretch else 0)
            top = _least_of(room.capacity, question.tops[p] if question.tops else None)
            if not question.are_peaks and any(term.counts(p) for term in counted):
                self._peaks[p] = self._peak(p, top, full, rows)
            elif top is not None:
                most = room.below(top) + room.spare
                for row in rows:
                    units = question.most_in(row, most)
                    if row.always + sum(each for _, each in row.members) > units:
                        model.limit(self._load(row), high=units - row.always)
                if question.with_ends:
                    self._add_tops(p, room.below(top), rows)
                self._add_covers(p, most * THOUSAND // full - room.spare)

    def _add_tops(self, p: int, room: int, rows: list[Row]) -> None:
        """Add that a row exceeds this room by no more than a block there was rounded up by, which is then on top. Of blocks that are live together one is."""
        step, tops = self._program.rooms[p].step, dict[int, int]()
        for row in rows:
            free = room - row.always
            over = -free % step
            if over <= row.pad or sum(units for _, units in row.members) <= free:
                continue
            here = {group: self._inside[group][p] for group, _ in row.members if self._program.pad_of(group, p) >= over}
            if self._program.is_by_block:
                for group in [each for each in here if each not in tops]:
                    tops[group] = self._model.variable(0, 1)
                    self._model.limit([(here[group], 1), (tops[group], -1)], low=0)
                here = {group: tops[group] for group in here}
                self._model.limit(((top, 1) for top in here.values()), high=1)
            exceeds = self._model.variable(0, 1)
            self._model.limit([*self._load(row), (exceeds, -step)], high=free)
            self._model.limit([*((literal, 1) for literal in here.values()), (exceeds, -1)], low=0)

    def _add_ends(self, p: int, peak: int, highest: int, rows: list[Row]) -> None:
        """Add that the pool ends below a whole step by no more than a block is rounded up that is there, in each row that reaches into that step."""
        room, model, pad_of = self._program.rooms[p], self._model, self._program.pad_of
        steps = model.variable(0, -(-highest // room.step))
        pads = sorted({pad_of(group, p) for row in rows for group, _ in row.members} | {row.pad for row in rows} | {0})
        lower = {pad: model.variable(0, 1) for pad in pads[1:]}
        """Does it end below a whole step by at least so much?"""
        for less, more in pairwise(lower.values()):
            model.limit([(less, 1), (more, -1)], low=0)
        gains = [(variable, pad - less) for (less, pad), variable in zip(pairwise(pads), lower.values(), strict=True)]
        model.limit([(peak, 1), (steps, -room.step), *gains], low=0)
        for row in rows:
            if row.always + sum(units for _, units in row.members) <= room.lowest:
                continue
            reaches = model.variable(0, 1)
            model.limit([*self._load(row), (steps, -room.step), (reaches, -room.step)], high=-room.step - row.always)
            known = row.pad
            for pad, variable in lower.items():
                if pad > known:
                    inside = {group: pad_of(group, p) for group, _ in row.members if pad_of(group, p) >= pad}
                    literals = [(self._inside[group][p], 1) for group in inside]
                    model.limit([*literals, (reaches, -1), (variable, -1)], low=-1)
                    known = min(inside.values(), default=pads[-1])

    def _load(self, row: Row) -> list[tuple[int, int]]:
        """What the row's classes take there, as a sum."""
        return [(self._inside[group][row.pool], units) for group, units in row.members]

    def _add_covers(self, p: int, highest: int) -> None:
        """Add how many votes there are room for below this height."""
        for crowd in self._covers:
            if self._program.rows[crowd.row].pool == p:
                allowed = bisect_right(crowd.steps(self._program), highest)
                if allowed < sum(crowd.votes):
                    literals = [self._inside[group][p] for group in crowd.classes]
                    self._model.limit(zip(literals, crowd.votes, strict=True), high=allowed)

    def _peak(self, p: int, top: int | None, full: int, rows: list[Row]) -> int:
        """The pool's peak: no lower than any row demands, and not inside a reserved range."""
        room, model = self._program.rooms[p], self._model
        most = max((row.always + sum(units for _, units in row.members) for row in rows), default=0)
        highest = max(most * full // THOUSAND + 1 + sum(end - begin for begin, end in room.reserved), room.lowest)
        highest = highest if top is None else min(highest, top)
        self._highest.append(highest)
        peak = model.variable(min(room.lowest, highest), highest)
        units = [(peak, 1)]
        for begin, end in room.reserved:  # what ends above the range leaves it free
            if begin < room.lowest < end:
                continue
            above = model.variable(0, 1)
            model.limit_if(-1 - above, [(peak, 1)], high=begin)
            model.limit_if(above, [(peak, 1)], low=end)
            units.append((above, begin - end))
        of = THOUSAND
        if highest > LARGEST_IN_THOUSANDTHS:
            full, of = full // gcd(full, of), of // gcd(full, of)
        room_for = [(variable, -of * weight) for variable, weight in units]
        for row in rows:
            load = [(variable, full * weight) for variable, weight in self._load(row)]
            model.limit([*load, *room_for], high=of * room.spare - full * row.always)
        if self._question.with_ends and room.step > 1 and not room.reserved:
            self._add_ends(p, peak, highest, rows)
        if self._question.heights:
            least, most = self._question.heights[p]
            model.limit(units, least, most)
        self._add_covers(p, room.below(highest) * of // full)
        return peak

    def _of(self, term: Costs) -> tuple[list[tuple[int, int]], int]:
        """The term, as a sum and what is always added to it."""
        if term.is_largest:
            level = self._model.variable(0, max(self._highest, default=0))
            for peak in self._peaks.values():
                self._model.limit([(level, 1), (peak, -1)], low=0)
            return [(level, 1)], 0
        literals = [literal for inside in self._inside for literal in inside.values()]
        costs = [cost for of_homes in term.of_homes for cost in of_homes]
        prices = [(peak, term.of_peaks[p]) for p, peak in self._peaks.items()]
        tops = self._question.tops if self._question.are_peaks else ()
        fixed = sum(price * top for price, top in zip(term.of_peaks, tops, strict=False) if top is not None)
        return [*zip(literals, costs, strict=True), *prices], fixed


def _least_of(*numbers: int | None) -> int | None:
    return min((number for number in numbers if number is not None), default=None)
