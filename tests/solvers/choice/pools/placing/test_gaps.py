"""Where a pool is stuck with a choice, another one nearby is packed, and nothing is looked for without end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.model.problem import Problem
from planner.planning.placing.lowering import lower
from solvers.choice.pools.placing.gaps import Gaps
from solvers.choice.pools.program.program import Program
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking, Next
from solvers.choice.pools.questions.question import Answer, Question
from solvers.geometry.rules import violation
from solvers.model.instance import Instance, Placement
from solvers.model.solver import Limits, Silent

from .test_clashes import ROOM, WORK, clashing, packing_of


class Asked(Asking):
    """Counts the questions."""

    count = 0

    def ask(self, program: Program, question: Question, work: int | None, then: Next = lambda: None) -> Answer:
        self.count += 1
        return super().ask(program, question, work, then)


def packed(problem: Problem, slow: int) -> tuple[Instance, Placement | None, int]:
    """What comes of a choice with everybody in the fast pool, where not all have room, beside a slow one of this size."""
    fast, last = problem.pools
    instance = lower(replace(problem, pools=(fast, replace(last, size=slow)))).instance
    program = program_of(instance)
    program = replace(program, terms=program.terms[:1])
    asking = Asked(Limits(work=WORK), 0, Silent())
    found = Gaps(program, instance.class_number, asking, packing_of(instance))
    placement = found.placement((0,) * len(program.homes), WORK)
    return instance, placement, asking.count


def test_some_go_elsewhere_until_all_are_packed() -> None:
    for problem in clashing():
        instance, placement, asked = packed(problem, ROOM)
        assert placement is not None
        assert violation(instance, placement) is None
        gone = np.flatnonzero(placement.pool)
        assert 0 < len(gone) < instance.blocks
        assert asked


def test_nothing_is_found_and_the_search_ends_where_no_room_is_free() -> None:
    for problem in clashing():
        _, placement, asked = packed(problem, 0)
        assert placement is None
        assert asked <= 10  # twice as much each time, up to the whole height
