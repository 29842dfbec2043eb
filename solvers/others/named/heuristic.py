"""The common part of all named planners: one placement, made as the other system makes it, or the block that fits nowhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from ...fitting.gaps import Span
from ...fitting.neighbours import neighbours
from ...fitting.orders import Fit
from ...fitting.pool_choice import PoolChoice
from ...geometry.rules import violation
from ...model.errors import SolverError, StopReason, Unsupported
from ...model.instance import Instance, Placement
from ...model.needs import is_joint, needs, refusal
from ...model.objective import evaluate
from ...model.outcome import Outcome
from ...model.solver import Control, Feature, Goal, Input, Solver, Task
from .rigid import Rigid, rigid

CHECK_EVERY = 64
"""Blocks placed between two checks whether to stop."""

ASYMMETRIC = (
    "the planner went by conflict lists that are not symmetric, as its own system does, and let two buffers that conflict share addresses; "
    "what it found is withheld"
)


class NothingFits(SolverError):
    """The planner found no place for a block."""

    def __init__(self, block: int) -> None:
        super().__init__(f"block {block} fits nowhere")
        self.block = block


class Interrupted(SolverError):
    """The caller wants the planner to end now."""


@dataclass(slots=True)
class Run:
    """One run: the planner's task, its deadline, and its best answer."""

    control: Control
    task: Task
    answer: Placement | None = None
    work: int = 0
    interrupted: bool = False
    """True if it was stopped before its end."""
    notes: list[str] = field(default_factory=list)

    def spend(self, work: int) -> None:
        """Counts work. Raises Interrupted when the caller says stop."""
        before, self.work = self.work, self.work + work
        if before // CHECK_EVERY != self.work // CHECK_EVERY and self.control.stopped() is not None:
            raise Interrupted

    def is_spent(self, rounds: int) -> bool:
        """True if the work limit is reached after this many rounds: a planner with rounds then ends. The first round is always made."""
        limit = self.task.limits.work
        if limit is None or self.work < limit or not rounds:
            return False
        self.notes.append(
            f"the work limit ended the planner after {rounds} rounds; by its own rules it would have gone on"
        )
        return True


class Heuristic(Solver, ABC):
    """A planner of another system."""

    name: ClassVar[str]
    features: ClassVar[frozenset[Feature]]
    wants: ClassVar[Input] = Input.AS_WRITTEN

    @abstractmethod
    def place(self, instance: Instance, blocks: Rigid, run: Run) -> Placement:
        """Return the other system's placement. Raises NothingFits; improving planners keep the best one in `run.answer`."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        missing = needs(instance, is_joint(instance)) - self.features
        if missing:
            raise Unsupported(self.name, refusal(missing))
        run = Run(control, task)
        stuck: int | None = None
        try:
            run.answer = self.place(instance, rigid(instance), run)
        except NothingFits as error:
            run.answer, stuck = None, first_part(instance, error.block)
        except Interrupted:
            run.interrupted = True  # the best answer so far counts
        return self._outcome(instance, run, stuck)

    def _outcome(self, instance: Instance, run: Run, stuck: int | None) -> Outcome:
        answer, notes = run.answer, run.notes
        if answer is not None and instance.source is not None and len(instance.source.listed):
            broken = violation(instance, answer)
            if broken is not None:
                answer = None
                notes.append(ASYMMETRIC)
        value = None if answer is None else evaluate(instance, answer)
        stop = run.control.stopped() or StopReason.WORK_LIMIT
        if (
            stop is StopReason.TIME_LIMIT and not run.interrupted
        ):  # it had ended by its own rules, so more time would change nothing
            stop = StopReason.WORK_LIMIT
        if answer is not None and value is not None:
            run.control.incumbent(answer)
            if value <= run.task.enough:
                stop = StopReason.PROVED
            elif run.task.goal is Goal.FIT:
                stop = StopReason.GOAL_MET
        found = run.task.outcome(stop, answer, value, None if answer is None else self.name, run.work)
        return replace(found, notes=tuple(notes), stuck=stuck)


def first_part(instance: Instance, block: int) -> int:
    """A part of the block, since names belong to parts."""
    return int((instance.part_block == block).argmax())


SpanOf = Callable[[int, int], Span]
"""The bases that a block may have in a pool."""


def place_in_order(blocks: Rigid, order: Iterable[int], fit: Fit, run: Run, span_of: SpanOf | None = None) -> Placement:
    """Places one block after the other, each in the first pool that has room. Raises NothingFits for the first block that fits in none."""
    near = neighbours(blocks.instance)
    choice = PoolChoice(blocks.instance)
    span_of = span_of or blocks.span
    pool_of, offset = np.zeros(len(blocks), dtype=np.int64), np.zeros(len(blocks), dtype=np.int64)
    for block in order:
        run.spend(near.work // max(len(blocks), 1) + 1)
        for pool in choice.open(block):
            base = near.open_base(block, pool, span_of(block, pool), blocks.reserved(block, pool), fit)
            if base is not None:
                break
        else:
            raise NothingFits(block)
        near.place(block, pool, base)
        choice.put(block, pool)
        pool_of[block], offset[block] = pool, base
    return Placement(pool_of, offset)
