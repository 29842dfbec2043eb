"""What is kept of the time for after the solvers is counted, whatever lowering took and however busy the machine is."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from planner.formats import read_problem
from planner.planning.placing import watching
from planner.planning.placing.reserve import seconds_to_finish
from planner.planning.placing.watching import RESERVED_AT_LEAST, Clock
from tests.property.long_lists import LISTS, problem

IN_ONE_OBJECT = {"crowd", "costs", "longer", "own"}
"""Lists that are long within an alternative, or where pools grow to a point."""


@pytest.mark.parametrize("name", sorted(LISTS.keys() - IN_ONE_OBJECT))
def test_what_is_in_a_long_list_counts(name: str) -> None:
    short, long = (seconds_to_finish(read_problem(problem(name, count))[0]) for count in (300, 3000))
    assert long > 2 * short > 0


@pytest.mark.parametrize(
    ("wall", "processor", "kept"),
    [(0.1, 0.1, 0.5 + 0.6), (0.2, 0.1, 2 * 0.5 + 1.2), (1.0, 0.1, 4.0 - RESERVED_AT_LEAST), (0.2, 0.001, 0.5 + 1.2)],
    ids=["idle", "busy", "at most a third", "too little to tell"],
)
def test_a_busy_machine_has_more_kept(
    monkeypatch: pytest.MonkeyPatch, wall: float, processor: float, kept: float
) -> None:
    walls, processors = iter([100.0, 100.0, 100.0 + wall]), iter([7.0, 7.0 + processor])
    fake = SimpleNamespace(monotonic=lambda: next(walls), thread_time=lambda: next(processors))
    monkeypatch.setattr(watching, "time", fake)
    clock = Clock(12.0)
    with clock.while_lowering():
        pass
    assert clock.deadline(0.5) == pytest.approx(112.0 - RESERVED_AT_LEAST - kept)


def test_more_than_a_third_is_kept_where_so_much_is_counted() -> None:
    assert Clock(12.0, begun=0.0).deadline(9.0) == 3.0
