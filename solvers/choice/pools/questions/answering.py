"""Answers questions about programs with CP-SAT.

Importing this module imports nothing heavy; answering does, so it happens in a child process (see solvers.sandbox).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from ....exact.cpsat import engine
from ....model.solver import Control
from .. import budget
from ..prices.crowds import Crowd
from ..prices.relaxation import OF_BOX, Relaxation
from ..program.program import Costs, Pools, Program
from .question import (
    Answer,
    Question,
    read_crowd,
    read_heights,
    read_program,
    read_question,
    write_answer,
    write_relaxed,
)

WORKERS = 1
"""Constant, so that every machine gives the same answer."""
THOUSAND = 1_000


class Answering:
    """Answers one question after another, each within its budget."""

    def __init__(self, subject: object) -> None:
        self._program: Program | None = None
        self._relaxation: Relaxation | None = None
        """The last one."""

    def answer(self, question: Mapping[str, Any], control: Control) -> Mapping[str, object]:
        """Answer in the child process."""
        if question["program"] is not None:
            self._program = read_program(question["program"])
        assert self._program is not None, "the first question comes with its program"
        if question["question"] is None:
            return self._relax_box(question, control) if question["heights"] else self._relax(question, control)
        asked = read_question(question["question"])
        weighs_peaks = asked.weighs_peaks(self._program)
        limits = engine.Budget(
            question["work"],
            question["deadline"],
            question["seed"],
            WORKERS,
            rate=budget.DETERMINISTIC_SECOND_WITH_PEAKS if weighs_peaks else budget.DETERMINISTIC_SECOND,
            relaxations=engine.Relaxations.ALL,
            rounding_cuts=not asked.holds_peaks(self._program)
            or self._program.entries <= budget.MOST_ENTRIES_FOR_ROUNDING,
        )
        covers = self._relaxation.covers if self._relaxation is not None and question["goes_on"] else ()
        return write_answer(_Model(self._program, asked, covers).solve(limits, control))

    def _relax(self, question: Mapping[str, Any], control: Control) -> Mapping[str, object]:
        held = tuple(question["held"])
        assert self._program is not None
        making = 0
        known = self._relaxation if question["goes_on"] else None
        if known is None or known.held != held:
            self._relaxation = Relaxation(self._program, held, () if known is None else known.covers)
            making = budget.RELAXATION_PER_ENTRY * self._program.entries
        assert self._relaxation is not None
        before = self._relaxation.work - making
        relaxed = self._relaxation.solve(question["rounds"], question["work"], control.stopped)
        return write_relaxed(relaxed, self._relaxation.work - before)

    def _relax_box(self, question: Mapping[str, Any], control: Control) -> Mapping[str, object]:
        """The linear program with pools of given heights, which has its own levels between them."""
        assert self._program is not None
        box = self._program.between(read_heights(question["heights"]))
        crowds = [read_crowd(each) for each in question["crowds"]]
        relaxation = Relaxation(box, (), fineness=OF_BOX, crowds=crowds)
        relaxed = relaxation.solve(None, question["work"], control.stopped, question["enough"])
        return write_relaxed(relaxed, relaxation.work + budget.RELAXATION_PER_ENTRY * self._program.entries)


class _Model:
    """CP-SAT's model of a question, with the lifted covers that are known: it finds such rows itself, but not as many, and later."""

    def __init__(self, program: Program, question: Question, covers: Sequence[Crowd]) -> None:
        self._program, self._question, self._covers = program, question, covers
        self._cp = model = engine.new_model()
        one = model.new_constant(1)
        self._inside: list[dict[int, Any]] = [
            {p: one if len(homes) == 1 else model.new_bool_var("") for p in homes} for homes in program.homes
        ]
        for inside in self._inside:
            if len(inside) > 1:
                model.add_exactly_one(inside.values())
        self._add_rooms()
        for a, b in program.apart:
            for p in self._inside[a].keys() & self._inside[b].keys():
                model.add(self._inside[a][p] + self._inside[b][p] <= 1)
        for pool, classes in question.clashes:
            if all(pool in self._inside[group] for group in classes):
                model.add(sum(self._inside[group][pool] for group in classes) <= len(classes) - 1)
        for term, most in zip(program.terms, question.held, strict=False):
            model.add(self._of(term) <= most)
        self._goal = self._of(program.terms[question.term])
        if question.least is not None:
            model.add(self._goal >= question.least)
        if question.most is not None:
            model.add(self._goal <= question.most)
        model.minimize(self._goal)
        if question.near is not None:
            for inside, pool in zip(self._inside, question.near, strict=True):
                for p, literal in inside.items():
                    if len(inside) > 1:
                        model.add_hint(literal, p == pool)

    def solve(self, budget: engine.Budget, control: Control) -> Answer:
        """The answer within the budget."""
        best: list[tuple[Pools, int]] = []

        def on_solution(value: engine.ReadValue) -> None:
            pools = tuple(next(p for p, literal in each.items() if value(literal)) for each in self._inside)
            best[:] = [(pools, value(self._goal))]

        reply = engine.solve(self._cp, budget, control, on_solution, enough=self._question.enough)
        if reply.answer is engine.Answer.INFEASIBLE:
            return Answer(None, None, None, None, reply.work)
        pools, value = best[0] if best else (None, None)
        if reply.answer is engine.Answer.OPTIMAL:
            return Answer(pools, value, value, None, reply.work)
        return Answer(pools, value, reply.bound, reply.stopped, reply.work)

    def _add_rooms(self) -> None:
        """Add how full each pool may be and, where a term counts it, how high it is."""
        program, question, model = self._program, self._question, self._cp
        counted = program.terms[: question.term + 1]
        loads: dict[int, list[tuple[int, Any, int]]] = {}
        for row in program.rows:
            literals = [self._inside[group][row.pool] for group, _ in row.members]
            total = engine.weighted_sum(literals, [units for _, units in row.members])
            most = row.always + sum(units for _, units in row.members)
            loads.setdefault(row.pool, []).append((row.always, total, most))
        self._peaks: dict[int, Any] = {}
        self._highest: list[int] = []
        for p, room in enumerate(program.rooms):
            rows = loads.get(p, [])
            full = THOUSAND + (question.stretch[p] if question.stretch else 0)
            top = _least_of(room.capacity, question.tops[p] if question.tops else None)
            if not question.are_peaks and any(term.of_peaks[p] or term.is_largest for term in counted):
                self._peaks[p] = self._peak(p, top, full, rows)
            elif top is not None:
                units = (room.below(top) + room.spare) * THOUSAND // full
                for always, total, most in rows:
                    if most > units:
                        model.add(total <= units - always)
                self._add_covers(p, units - room.spare)

    def _add_covers(self, p: int, highest: int) -> None:
        """Add how many votes there are room for below this height."""
        for crowd in self._covers:
            if self._program.rows[crowd.row].pool == p:
                allowed = bisect_right(crowd.steps(self._program), highest)
                if allowed < sum(crowd.votes):
                    literals = [self._inside[group][p] for group in crowd.classes]
                    self._cp.add(engine.weighted_sum(literals, crowd.votes) <= allowed)

    def _peak(self, p: int, top: int | None, full: int, rows: list[tuple[int, Any, int]]) -> Any:
        """The pool's peak: no lower than any row demands, and not inside a reserved range."""
        room, model = self._program.rooms[p], self._cp
        most = max((most for _, _, most in rows), default=0)
        highest = max(most * full // THOUSAND + 1 + sum(end - begin for begin, end in room.reserved), room.lowest)
        highest = highest if top is None else min(highest, top)
        self._highest.append(highest)
        peak = model.new_int_var(min(room.lowest, highest), highest, "")
        units: Any = peak
        for begin, end in room.reserved:  # what ends above the range leaves it free
            if begin < room.lowest < end:
                continue
            above = model.new_bool_var("")
            model.add(peak <= begin).only_enforce_if(above.negated())
            model.add(peak >= end).only_enforce_if(above)
            units = units - (end - begin) * above
        for always, total, _ in rows:
            model.add(full * total <= THOUSAND * (units + room.spare) - full * always)
        if self._question.heights:
            least, most = self._question.heights[p]
            model.add_linear_constraint(units, least, most)
        self._add_covers(p, room.below(highest) * THOUSAND // full)
        return peak

    def _of(self, term: Costs) -> Any:
        """The term, as an expression."""
        literals = [literal for inside in self._inside for literal in inside.values()]
        costs = [cost for of_homes in term.of_homes for cost in of_homes]
        if term.is_largest:
            level = self._cp.new_int_var(0, max(self._highest, default=0), "")
            for peak in self._peaks.values():
                self._cp.add(level >= peak)
            return level
        prices = [term.of_peaks[p] for p in self._peaks]
        tops = self._question.tops if self._question.are_peaks else ()
        fixed = sum(price * top for price, top in zip(term.of_peaks, tops, strict=False) if top is not None)
        return engine.weighted_sum([*literals, *self._peaks.values()], [*costs, *prices]) + fixed


def _least_of(*numbers: int | None) -> int | None:
    return min((number for number in numbers if number is not None), default=None)
