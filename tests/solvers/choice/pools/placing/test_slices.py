"""Slices of a pool, settled one by one, agree with trying all offsets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from planner import Options, Preference, plan, verify
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools import budget
from solvers.choice.pools.placing import slices
from solvers.choice.pools.placing.packing import Packing
from solvers.choice.pools.placing.slices import Slices
from solvers.geometry.rules import violation
from solvers.model.instance import Ints, Placement
from solvers.model.outcome import Outcome

from .test_clashes import MOST_BUFFERS, WORK, clashing, fit, full, packing_of


@pytest.mark.parametrize("size", [4, 80])
@pytest.mark.parametrize("by_search", [1, 10_000])
def test_blocks_are_packed_or_some_are_named_that_have_no_room(
    size: int, by_search: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "SLICE", size)
    monkeypatch.setattr(budget, "SLICE_BY_SEARCH", by_search)
    problems = [full(seed) for seed in range(40)]
    settled = 0
    for problem in (*clashing(), *(each for each in problems if len(each.buffers) <= MOST_BUFFERS)):
        instance = lower(problem).instance
        room, everybody = problem.pools[0].size or 0, np.arange(instance.blocks)
        offset, clashes = Slices(packing_of(instance), 0, everybody, WORK).settle()
        if offset is not None:
            assert not clashes
            assert violation(instance, Placement.in_one_pool(offset)) is None
        for clash in clashes:
            some = [problem.buffers[block] for block in clash]
            assert not fit(some, room)
            assert all(fit([other for other in some if other is not each], room) for each in some)
        settled += offset is not None or bool(clashes)
    assert settled >= len(clashing()) // 2


def test_where_slices_have_room_the_search_has_more_work_before_cp_sat_is_asked_about_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, usual = list[int](), Packing.in_order

    def noted(self: Packing, pool: int, blocks: Ints, *rest: Any) -> Outcome | None:
        asked.append(len(blocks))
        return usual(self, pool, blocks, *rest)

    monkeypatch.setattr(Packing, "in_order", noted)
    problem = generate("hot", Request(300, 116021))
    made = plan(problem, Options(time_limit=None, work_limit=1_500_000, workers=1, prefer=Preference.SIZE))
    assert made.status == "optimal"
    assert max(asked, default=0) <= slices.SLICE


def test_without_work_nothing_is_said() -> None:
    for problem in clashing():
        instance = lower(problem).instance
        assert Slices(packing_of(instance), 0, np.arange(instance.blocks), 0).settle() == (None, [])


@pytest.mark.parametrize("seed", [83003, 31001])
def test_a_pool_with_a_short_time_that_is_hard_to_pack_is_packed(seed: int) -> None:
    """By the search alone it was not, with any work; both terms then ended above their bounds."""
    problem = generate("hot", Request(300, seed))
    made = plan(problem, Options(time_limit=None, work_limit=7_500_000, workers=1, prefer=Preference.SPEED))
    assert not verify(with_preference(problem, Preference.SPEED), made)
    assert made.status == "optimal"
