"""Where pools are filled for a second term of choices: what follows where nothing was filled, or little came of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner import Preference
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools import budget
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.runs.held_peaks import HeldPeaks
from solvers.choice.pools.searches.filling import Filling
from solvers.choice.pools.searches.peaks import Choice
from solvers.geometry.rules import violation
from solvers.model.instance import Instance, Placement
from solvers.model.solver import Limits, Silent, Task

WORK = 2_000_000


@pytest.fixture
def instance() -> Instance:
    return lower(with_preference(generate("hot", Request(120, 3)), Preference.SIZE)).instance


@pytest.fixture
def filled_again(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Nothing is filled by gains; the sums of the peaks with which pools were to be filled at prices."""
    sums = list[int]()
    monkeypatch.setattr(Filling, "run", lambda *_: None)
    monkeypatch.setattr(HeldPeaks, "_fill_at_prices", lambda _, least: sums.append(least))
    return sums


def all_in_one(instance: Instance) -> HeldPeaks:
    """A run whose blocks are all in the last pool, which is as high as all pools must be together."""
    run = HeldPeaks(instance, program_of(instance), Task(Limits(work=WORK)), Silent())
    pools = (len(instance.pools) - 1,) * len(run.program.homes)
    tops = run.program.least_tops(pools)
    assert run._pack(0, Choice(run.program.value(0, pools, tops), tops, pools)) == []
    run._learn_bound(0, sum(tops))
    run._bound_where_homes_are_left(1)
    return run


def test_a_choice_is_packed_below_heights_that_hold(instance: Instance, filled_again: list[int]) -> None:
    run = all_in_one(instance)
    before = run.value
    run._fill(at_prices=False)
    assert before is not None
    assert run.value is not None
    assert run.best is not None
    assert run.is_filled
    assert run.value[0] == before[0]
    assert run.value[1] < before[1]
    assert violation(instance, run.best) is None
    assert filled_again == []


@pytest.mark.parametrize("is_poor", [False, True])
def test_a_small_program_is_not_filled_again_unless_it_is_poor(
    is_poor: bool, instance: Instance, filled_again: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HeldPeaks, "_is_reached", lambda *_: not is_poor)
    run = all_in_one(instance)
    run._fill(at_prices=True)
    assert run._is_small()
    assert bool(filled_again) == is_poor
    assert run.is_filled == is_poor


def test_a_large_one_is(instance: Instance, filled_again: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MOST_ENTRIES_OF_SMALL", 1)
    run = all_in_one(instance)
    run._fill(at_prices=True)
    assert run.value is not None
    assert filled_again == [run.value[0]]


def test_blocks_that_may_share_addresses_have_no_such_heights(instance: Instance, filled_again: list[int]) -> None:
    run = all_in_one(replace(instance, exclusions=np.array([[0, 1]])))
    run._fill(at_prices=False)
    assert not run.is_filled
    assert filled_again == []


def test_where_nothing_is_found_filling_takes_more_work_but_no_more_than_for_some_attempts(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = list[int]()

    def run_in_vain(_: Filling, work: int) -> None:
        given.append(work)

    def run_at_once(_: Filling, work: int) -> Placement | None:
        given.append(work)
        return run.best

    monkeypatch.setattr(Filling, "run", run_in_vain)
    run = all_in_one(instance)
    run._fill(at_prices=False)
    assert given[0] > given[1] == budget.VAIN_PER_BLOCK * instance.blocks
    monkeypatch.setattr(Filling, "run", run_at_once)
    run._fill(at_prices=False)
    assert len(given) == 3
