"""Where heights have a price: the search over them, and how it shares the work with boxes."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from planner import Preference
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools.program.program import Program
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Question
from solvers.choice.pools.runs import standing
from solvers.choice.pools.searches.boxes import BoxSearch
from solvers.choice.pools.searches.peaks import PeakSearch, are_peaks_after_choice
from solvers.choice.pools.solver import PoolsFirst
from solvers.model.instance import Instance
from solvers.model.solver import Limits, Silent, Task

WORK = 1_000_000


def balanced(count: int, seed: int) -> Instance:
    return lower(with_preference(generate("pools", Request(count, seed)), Preference.BALANCED)).instance


def with_free_pool(program: Program) -> Program:
    """The program with a first pool of which room costs nothing."""
    return replace(program, terms=tuple(term._replace(of_peaks=(0, *term.of_peaks[1:])) for term in program.terms))


def fits(program: Program, tops: tuple[int, ...]) -> bool:
    return all(room.capacity is None or top <= room.capacity for room, top in zip(program.rooms, tops, strict=True))


def test_a_pool_whose_peak_costs_nothing_may_be_as_high_as_it_can(asking: Asking) -> None:
    helped = 0
    for seed in range(6):
        program = with_free_pool(program_of(balanced(8, seed)))
        every = [
            (program.value(0, pools, tops := program.least_tops(pools)), tops) for pools in product(*program.homes)
        ]
        fitting = [(value, tops) for value, tops in every if fits(program, tops)]
        least, tops = min(fitting)
        found = PeakSearch(program, asking, Question(0), least + 1, WORK).run([(0, *tops[1:])])
        assert found[0].value == least, seed
        helped += tops[0] > 0
    assert helped


@pytest.mark.parametrize(("work", "has_boxes"), [(400_000, False), (3_000_000, True)])
def test_with_little_work_heights_are_searched_without_boxes(
    work: int, has_boxes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = list[int]()

    class Counted(BoxSearch):
        def __init__(self, *given: Any) -> None:
            begun.append(1)
            super().__init__(*given)

    monkeypatch.setattr(standing, "BoxSearch", Counted)
    monkeypatch.setattr(PoolsFirst, "sandboxed", False)
    PoolsFirst().solve(balanced(200, 2), Task(Limits(work=work)), Silent())
    assert bool(begun) == has_boxes


def test_only_peaks_after_a_choice_are_bounded_pool_by_pool() -> None:
    speed, size = (
        program_of(lower(with_preference(generate("pools", Request(8, 1)), prefer)).instance)
        for prefer in (Preference.SPEED, Preference.SIZE)
    )
    assert are_peaks_after_choice(speed, 1)
    assert not are_peaks_after_choice(speed, 0)
    assert not are_peaks_after_choice(size, 1)
