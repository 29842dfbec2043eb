"""Choices that are placed side by side lead to the same frontier with any number of workers, and to the right one."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from planner.formats import write_plan
from planner.generate import Request, generate
from planner.model.deadline import time_limit
from planner.model.plan import Frontier
from planner.planning.options.options import Options
from planner.planning.placing.solving import pareto
from planner.planning.placing.variants.placing import Placing, side_by_side
from solvers.choice.alternatives.instance import Choice
from solvers.choice.alternatives.points import Placed

OPTIONS = Options(time_limit=None, work_limit=10_000_000)


def said(found: Frontier) -> str:
    """All that does not depend on the machine."""
    whole = b"".join(
        write_plan(replace(point, run=replace(point.run, seconds=0.0, trace=()))) for point in found.points
    )
    return hashlib.sha256(whole + repr((found.is_complete, found.stop, found.within)).encode()).hexdigest()


def test_points_are_the_same_with_any_number_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    of_both = Placing.place_both
    pairs = list[int]()

    def counting(self: Placing, wanted: Sequence[tuple[Choice, int | None]]) -> list[Placed]:
        pairs.append(len(wanted))
        return of_both(self, wanted)

    monkeypatch.setattr(Placing, "place_both", counting)
    monkeypatch.setattr("solvers.choice.alternatives.search.HARD", 0)
    problem = generate("variants", Request(25, 7, parameters={"groups": 8, "alternatives": 3}))
    found = [pareto(problem, replace(OPTIONS, workers=workers)) for workers in (1, 2, 4)]
    assert set(pairs) == {2}
    assert found[0].is_complete
    assert len({said(each) for each in found}) == 1


def test_calls_run_at_the_same_time_within_the_limit_of_time() -> None:
    meeting = threading.Barrier(2, timeout=30)
    with time_limit(60.0):
        assert side_by_side([meeting.wait, meeting.wait]) in ([0, 1], [1, 0])
