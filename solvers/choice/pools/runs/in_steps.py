"""Sizes that are no multiples of what all addresses are multiples of: first as if they were, and then pools end as low as the blocks on top allow.

Of the last step of a pool only as much is used as the topmost block is rounded up by. The program knows that block only as the one that is rounded up by
most; a peak that counts before all else must be known to the last byte, or what comes after it is chosen below peaks that no placement has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import gcd
from operator import mul

from ....bounds.first_bounds import first_bounds, peaks_at_least
from ....geometry.simpler import Stepped
from ....model.instance import Instance, Placement
from ....model.objective import peaks
from ....model.outcome import Outcome, Value
from ....model.solver import Control, Task
from .. import budget
from ..program.entries import at_fullest, classes_in_time
from ..program.program import Costs, Heights, Pools, Program, settled_in
from ..program.writing import pools_of_classes, program_of
from ..questions.question import Question
from ..searches.peaks import Choice, are_peaks_after_choice, is_held_by_peaks
from .held_peaks import HeldPeaks

AROUND, FAR_AROUND = 3, 30
"""Pools end at most so many steps higher or lower than they did in whole steps; then, where no choice near has the least peaks, so many."""

MOST_CHOSEN = 400
"""At most so many classes are chosen again: those where a pool is filled to its last steps, and their neighbours in time."""


class Passing:
    """The Control of a run in whole steps: its placements are worth something else here, and its bounds do not hold."""

    def __init__(self, control: Control, take: Callable[[Placement], object]) -> None:
        self.log, self.stopped, self._take = control.log, control.stopped, take

    def incumbent(self, placement: Placement) -> None:
        self._take(placement)

    def bound(self, bound: Value) -> None: ...


class InSteps(HeldPeaks):
    """What is known of one instance, with what is proven of it in whole steps."""

    wide: Stepped | None = None
    """The instance in whole steps, once something is proven of it,"""
    bound_in_steps: Value = ()
    """and that."""

    def begin_in_steps(self, wide: Stepped, solve: Callable[[Instance, Task, Control], Outcome]) -> bool:
        """Begin with what is best in whole steps, and lower the ends of pools from there; false if there is too little work for that."""
        if self._is_over():
            return True
        at_ends = Question(0, with_ends=True)
        self._learn(0, self.asking.ask(at_fullest(self.program), at_ends, self._share(budget.AT_FULLEST)))
        if self._some(budget.WHOLE) < budget.IN_STEPS_PER_ENTRY * self.program.entries:
            return False
        known = first_bounds(wide.instance, self.control.stopped)
        task = replace(
            self.task,
            limits=replace(self.task.limits, work=self._some(budget.IN_STEPS)),
            start=self.best,
            bound=known.value,
            target=(),
            pool_bounds=peaks_at_least(wide.instance, known.pools),
        )
        outcome = solve(wide.instance, task, Passing(self.control, self._take))
        self.packing.work += outcome.work
        self.infeasible |= outcome.infeasible
        self.wide, self.bound_in_steps = wide, outcome.bound
        self._take(outcome.placement)
        if outcome.placement is not None and not self._is_over():
            self._lower_ends(outcome.placement)
        return True

    def _choose_at_ends(self, index: int) -> None:
        """Choose for a later term with peaks to the last unit."""
        if not index or not self.program.pads or self.value is None or self.best is None or self._is_over():
            return
        if self._is_settled(index) or not self._is_for_ends(index):
            return
        share = budget.FAR_AT_ENDS if is_held_by_peaks(self.program, index) else budget.PEAKS_AT_ENDS
        near, most = pools_of_classes(self.number, self.best), self.value[index]
        question = Question(index, self.value[:index], most=most, near=near, with_ends=True)
        answer = self.asking.ask(self.program, question, self._share(share))
        self._learn(index, answer)
        if answer.pools is not None and answer.value is not None and answer.value < most:
            choice = Choice(answer.value, self.program.ends(answer.pools), answer.pools)
            self._pack_below(choice, self._some(budget.CLASHES))

    def _is_for_ends(self, index: int) -> bool:
        """Is much open of a term of choices after peaks, where the best in whole steps is known; or little of one of peaks after the choice?"""
        if is_held_by_peaks(self.program, index):
            return self.wide is not None and not self._is_reached(index, budget.FAR)
        return are_peaks_after_choice(self.program, index) and self._is_reached(index, budget.NEAR)

    def _lower_ends(self, found: Placement) -> None:
        """Choose again where pools are full, as near to this placement as the least peaks allow, and pack that."""
        near, steps = pools_of_classes(self.number, found), [room.step for room in self.program.rooms]
        ends = [top + -top % step for top, step in zip(peaks(self.instance, found), steps, strict=True)]
        for held, around in ((self.bound[:1], AROUND), (self.bound[:1], FAR_AROUND), ((), AROUND)):
            heights = tuple(
                (max(end - (around + 1) * step + 1, 0), end + around * step)
                for end, step in zip(ends, steps, strict=True)
            )
            program = self._around_full(near, tuple(low for low, _ in heights))
            asked = self._choose_near(program, near, heights, held)
            if asked is not None:
                self._pack_at_ends(program, *asked)
                return

    def _around_full(self, near: Pools, lows: tuple[int, ...]) -> Program:
        """The program in which only those may change that are live where a pool is higher than this, and their neighbours in time."""
        program, full = self.program, set[int]()
        for row in program.rows:
            units = row.always + sum(units for group, units in row.members if near[group] == row.pool)
            if units > lows[row.pool]:
                full.update(group for group, _ in row.members)
        order = classes_in_time(program)
        at = [n for n, group in enumerate(order) if group in full]

        def within(around: int) -> set[int]:
            return {group for n in at for group in order[max(n - around, 0) : n + around + 1]}

        around = 0
        while len(within(around)) < len(within(around + 1)) <= MOST_CHOSEN:
            around += 1
        chosen = within(around)
        settled = settled_in(program, {group: near[group] for group in order if group not in chosen})
        rows = {(row.pool, row.always, row.pad, row.members): row for row in settled.rows}
        return replace(settled, rows=tuple(rows.values()))

    def _choose_near(self, program: Program, near: Pools, heights: Heights, held: Value) -> tuple[int, Choice] | None:
        """The best choice with pools of about these heights, and the last term that it was chosen for; None if none was found."""
        found: tuple[int, Choice] | None = None
        for index in range(len(held), len(program.terms)):
            question = Question(index, held, near=near, heights=heights, with_ends=True)
            answer = self.asking.ask(program, question, self._share(budget.AT_ENDS if index else budget.FIRST_AT_ENDS))
            if answer.pools is None:
                break
            near, tops = answer.pools, program.ends(answer.pools)
            held = (*held, program.value(index, near, tops))
            found = index, Choice(held[-1], tops, near)
        return found

    def _pack_at_ends(self, program: Program, index: int, choice: Choice) -> None:
        """Pack the choice, or one nearby in which no two blocks that are live together must both be on top."""
        if self._pack_below(choice, self._some(budget.PACKING_AT_ENDS)) or self._is_over():
            return
        rooms = (room._replace(capacity=top) for room, top in zip(program.rooms, choice.tops, strict=True))
        below = replace(program, rooms=tuple(rooms), terms=(program.terms[index],))
        answer = self.asking.ask(below, Question(0, near=choice.pools, with_ends=True), self._share(budget.AT_ENDS))
        if answer.pools is not None and answer.value is not None:
            self._pack_near_below(index, Choice(answer.value, choice.tops, answer.pools), budget.WHOLE)

    def _learn_from_steps(self) -> None:
        """What is proven in whole steps of a term holds where the earlier ones are so low that they are no higher in whole steps."""
        if self.wide is None or self.value is None:
            return
        terms = zip(self.program.terms, program_of(self.wide.instance).terms, self.bound_in_steps, strict=False)
        for index, (term, in_steps, bound) in enumerate(terms):
            if term.of_homes != in_steps.of_homes:
                return  # it counts the bytes of blocks: by how much they are rounded up depends on which are where
            earlier = zip(self.program.terms[:index], self.value, self.bound_in_steps, strict=False)
            if any(self._in_steps(one, value) > most for one, value, most in earlier):
                return
            self._learn_bound(index, max(bound - self._waste(term), 0), is_of_program=False)

    def _in_steps(self, term: Costs, value: int) -> int:
        """The most that a term of this value can be in whole steps."""
        assert self.wide is not None
        steps = [pool.step for pool in self.wide.instance.pools]
        if term.is_largest:
            return max((value + waste) // step * step for waste, step in zip(self.wide.waste, steps, strict=True))
        most, unit = value + self._waste(term), gcd(*map(mul, term.of_peaks, steps))
        return most - most % unit if unit and not any(map(any, term.of_homes)) else most

    def _waste(self, term: Costs) -> int:
        """By how much the term is less than in whole steps at most."""
        assert self.wide is not None
        return max(self.wide.waste) if term.is_largest else term.of_tops(self.wide.waste)
