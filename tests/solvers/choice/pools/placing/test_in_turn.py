"""Pools packed slice by slice agree with trying all offsets; who leaves is among those who lose least, and nobody leaves who must stay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.model.problem import Problem
from planner.planning.placing.lowering import lower
from solvers.choice.pools.placing import clashes, in_turn
from solvers.choice.pools.placing.clashes import Clashes
from solvers.choice.pools.placing.in_turn import NEVER, InTurn
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Question
from solvers.geometry.rules import violation
from solvers.model.instance import Instance, Ints, Placement
from solvers.model.objective import evaluate

from .test_clashes import MOST_BUFFERS, WORK, clashing, fit, full, least_cost, packing_of


def problems() -> list[Problem]:
    some = [full(seed) for seed in range(40)]
    return [*clashing(), *(each for each in some if len(each.buffers) <= MOST_BUFFERS)]


def leaving_of(instance: Instance) -> Ints:
    return np.arange(instance.blocks, dtype=np.int64)


@pytest.mark.parametrize("size", [4, 80])
def test_all_that_stay_have_room_and_nobody_leaves_who_need_not(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_turn, "SLICE", size)
    left = 0
    for problem in problems():
        instance, everybody = lower(problem).instance, np.arange(len(problem.buffers))
        packed = InTurn(packing_of(instance), 0, everybody, WORK, leaving_of(instance)).packed()
        assert packed is not None
        pools = np.where(np.isin(everybody, packed.out), 1, 0)
        apart = replace(instance, allowed=np.ones_like(instance.allowed))
        at = np.where(pools == 0, packed.offset, np.cumsum(instance.block_high) * pools)
        assert violation(apart, Placement(pools, at)) is None
        has_room = fit(problem.buffers, problem.pools[0].size or 0)
        if size >= len(everybody):
            assert has_room == (not len(packed.out))
        left += len(packed.out)
    assert left


def test_nobody_leaves_who_must_stay() -> None:
    for problem in clashing():
        instance = lower(problem).instance
        stay = np.full(instance.blocks, NEVER)
        assert InTurn(packing_of(instance), 0, np.arange(instance.blocks), WORK, stay).packed() is None
        stay[0] = 0
        packed = InTurn(packing_of(instance), 0, np.arange(instance.blocks), WORK, stay).packed()
        assert packed is None or packed.out.tolist() == [0]


def test_without_work_nothing_is_packed() -> None:
    for problem in clashing():
        instance = lower(problem).instance
        assert InTurn(packing_of(instance), 0, np.arange(instance.blocks), 0, leaving_of(instance)).packed() is None


def test_those_that_leave_are_placed_elsewhere(asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clashes, "MOST_BLOCKS", 0)
    for problem in clashing():
        instance = lower(problem).instance
        program, packing = program_of(instance), packing_of(instance)
        search = Clashes(program, instance.class_number, asking, packing)
        found = search.placement(Question(0), (0,) * len(program.homes), WORK, WORK)
        assert found is not None
        assert violation(instance, found) is None
        assert evaluate(instance, found)[0] >= least_cost(problem)
        assert packing.pack(np.zeros(instance.blocks, dtype=np.int64), frozenset(), 1)[0] is None
        assert not search.found
