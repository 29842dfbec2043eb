"""The time kept for the work after the solvers grows with the problem's lists and with other load on the machine."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from planner import Options, Problem
from planner.formats import read_problem
from planner.model.columns.buffers import buffer_columns
from planner.model.columns.rows import FEW
from planner.planning.placing import watching
from planner.planning.placing.time_to_finish import seconds_to_finish, seconds_to_write_sweep
from planner.planning.placing.watching import RESERVED_AT_LEAST, Clock
from planner.planning.sharing.lowering import lower_sharing
from planner.planning.sharing.solving import _SharingPipeline
from tests.property.long_lists import LISTS, problem

LEFT_OUT = {"crowd", "costs", "inside", "longer", "own", "steps", "symbols"}
"""Long lists that lie within an alternative, take no time after the solvers, or whose length is limited."""


@pytest.mark.parametrize("name", sorted(LISTS.keys() - LEFT_OUT))
def test_the_length_of_each_list_counts(name: str) -> None:
    short, long = (seconds_to_finish(read_problem(problem(name, count))[0]) for count in (300, 3000))
    assert long > 2 * short > 0


def test_excluded_pairs_count_more_than_others() -> None:
    """Their plans are weighed and coloured pair by pair: with too little time kept they were lost while verified."""
    excluded, others = (read_problem(problem(name, 3000))[0] for name in ("exclusions", "conflicts"))
    assert seconds_to_finish(excluded) > 2 * seconds_to_finish(others)


def test_writing_the_plans_of_a_sweep_takes_time_for_each_and_more_in_files() -> None:
    problem_ = read_problem(problem("buffers", 1000))[0]
    one, many = (seconds_to_write_sweep(problem_, count, in_files=False) for count in (1, 1000))
    assert many == pytest.approx(1000 * one)
    assert 0 < many < seconds_to_write_sweep(problem_, 1000, in_files=True) < 2


def test_sharings_are_kept_the_time_of_their_own_verification() -> None:
    """It looks at each buffer, where plans of plain ones are verified in arrays: a sharing was lost though there was time for it."""
    ones = np.ones(2 * FEW, dtype=np.int64)
    plain = Problem(buffer_columns(range(2 * FEW), ones, ones, ones, ones + 1))
    pipeline = _SharingPipeline(plain, lower_sharing(plain), Options(), Clock(None))
    assert pipeline.seconds_after_solving > 5 * seconds_to_finish(plain)


@pytest.mark.parametrize(
    ("wall", "processor", "kept"),
    [
        (0.1, 0.1, 0.5 + 0.6),
        (0.2, 0.1, 2 * 0.5 + 1.2),
        (0.7, 0.1, 4.0 - RESERVED_AT_LEAST),
        (1.0, 0.1, 10 * 0.5 - RESERVED_AT_LEAST),
        (0.2, 0.001, 0.5 + 1.2),
    ],
    ids=["idle", "busy", "at most a third", "what is counted in any case", "too little to tell"],
)
def test_more_time_is_kept_on_a_busy_machine(
    monkeypatch: pytest.MonkeyPatch, wall: float, processor: float, kept: float
) -> None:
    walls, processors = iter([100.0, 100.0, 100.0 + wall]), iter([7.0, 7.0 + processor])
    fake = SimpleNamespace(monotonic=lambda: next(walls), thread_time=lambda: next(processors))
    monkeypatch.setattr(watching, "time", fake)
    clock = Clock(12.0)
    with clock.while_lowering():
        pass
    assert clock.deadline(0.5) == pytest.approx(112.0 - RESERVED_AT_LEAST - kept)


def test_more_than_a_third_is_kept_where_the_work_needs_it() -> None:
    assert Clock(12.0, begun=0.0).deadline(9.0) == 3.0
