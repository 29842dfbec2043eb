"""Blocks that have no room together are named rightly, and what is chosen instead is the best there is."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import compress, product

import numpy as np
import pytest

from planner import Options, plan, verify
from planner.model.problem import Buffer, Pool, Problem
from planner.planning.placing.lowering import lower
from solvers.choice.pools import budget
from solvers.choice.pools.placing import slices
from solvers.choice.pools.placing.clashes import Clashes, clash_among
from solvers.choice.pools.placing.packing import Packing
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Question
from solvers.geometry.rules import violation
from solvers.model.instance import Instance, Term
from solvers.model.objective import evaluate
from solvers.model.solver import Limits, Silent, Task

WORK = 1_000_000
MOST = 6_000
"""Problems that are looked at."""
ROOM, END = 6, 8
MOST_BUFFERS = 12
"""With more, trying everything takes too long."""


def full(seed: int) -> Problem:
    """A fast pool that is full to the last unit as long as all are there, and a slow one without an end: where some end, others begin that need as much room."""
    chance = random.Random(seed)
    buffers, ending = list[Buffer](), {0: ROOM}
    for time in range(END):
        free = ending.pop(time, 0)
        while free:
            size = chance.randint(1, free)
            end = min(time + chance.randint(1, 4), END)
            buffers.append(Buffer(len(buffers), size=size, live=((time, end),), reads=chance.randint(1, 9)))
            ending[end] = ending.get(end, 0) + size
            free -= size
    pools = Pool("fast", size=ROOM, rank=0), Pool("slow", rank=1)
    return Problem(tuple(buffers), pools, terms=(Term.ACCESS_COST, Term.SUM_OF_PEAKS))


def live(buffer: Buffer) -> tuple[int, int]:
    assert buffer.live is not None
    return buffer.live[0]


def fit(buffers: Sequence[Buffer], room: int) -> bool:
    """Return whether the buffers fit into so much room, by trying all offsets."""

    def rest(number: int, placed: tuple[tuple[Buffer, int], ...]) -> bool:
        if number == len(buffers):
            return True
        (start, end), size = live(buffers[number]), buffers[number].size
        beside = [(low, b.size) for b, low in placed if live(b)[0] < end and start < live(b)[1]]
        return any(
            all(low + size <= other or other + length <= low for other, length in beside)
            and rest(number + 1, (*placed, (buffers[number], low)))
            for low in range(room - size + 1)
        )

    return rest(0, ())


@cache
def clashing() -> tuple[Problem, ...]:
    """The problems in which not all have room in the fast pool together, although at each moment they have."""

    def found() -> Iterator[Problem]:
        for seed in range(MOST):
            problem = full(seed)
            is_small = len(problem.buffers) <= MOST_BUFFERS
            if is_small and not fit(sorted(problem.buffers, key=lambda b: -b.size), problem.pools[0].size or 0):
                yield problem

    return tuple(found())


def packing_of(instance: Instance) -> Packing:
    return Packing(instance, Task(Limits(work=WORK)), Silent())


def test_what_clashes_has_no_room_and_nobody_can_be_spared() -> None:
    assert len(clashing()) >= 3
    for problem in clashing():
        room = problem.pools[0].size or 0
        named = clash_among(packing_of(lower(problem).instance), 0, np.arange(len(problem.buffers)), WORK)
        assert named is not None
        some = [problem.buffers[block] for block in named]
        assert not fit(some, room)
        assert all(fit([other for other in some if other is not each], room) for each in some)


def test_what_fits_does_not_clash() -> None:
    for seed in range(MOST // 100):
        problem = full(seed)
        if len(problem.buffers) <= MOST_BUFFERS and problem not in clashing():
            instance = lower(problem).instance
            assert clash_among(packing_of(instance), 0, np.arange(instance.blocks), WORK) is None


def least_cost(problem: Problem) -> int:
    """Return the least access cost: choices are tried, cheapest first, until one fits."""
    room, buffers = problem.pools[0].size or 0, problem.buffers
    costs = [b.reads for b in buffers]
    some = sorted(product((False, True), repeat=len(buffers)), key=lambda slow: sum(compress(costs, slow)))
    return next(
        sum(compress(costs, slow))
        for slow in some
        if fit([b for b, is_slow in zip(buffers, slow, strict=True) if not is_slow], room)
    )


@pytest.fixture(params=["by search", "by slices"])
def proven(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How it is proven that blocks have no room."""
    if request.param == "by slices":
        monkeypatch.setattr(budget, "PROOF_OF_CLASH", 0)
        monkeypatch.setattr(slices, "SLICE", 6)


@pytest.mark.usefixtures("proven")
@pytest.mark.parametrize("work", [WORK, 1])
def test_the_choice_nearby_is_the_best_that_can_be_packed(work: int, asking: Asking) -> None:
    for problem in clashing():
        instance = lower(problem).instance
        program, packing = program_of(instance), packing_of(instance)
        clashes = Clashes(program, instance.class_number, asking, packing)
        found = clashes.placement(Question(0), (0,) * len(program.homes), WORK, work)
        if found is None:
            assert work == 1
            continue
        assert violation(instance, found) is None
        least = evaluate(instance, found)[0]
        assert least == least_cost(problem)
        assert asking.ask(program, Question(0), WORK).bound == 0
        assert asking.ask(program, Question(0, clashes=clashes.found), WORK).bound == least


@pytest.mark.usefixtures("proven")
def test_plans_where_blocks_clash_are_the_best_and_their_bounds_are_true() -> None:
    for problem in clashing():
        made = plan(problem, Options(solver="pools_first", time_limit=None, work_limit=WORK))
        first = made.objective.terms[0]
        assert first.value == first.bound == least_cost(problem)
        assert not verify(problem, made)
