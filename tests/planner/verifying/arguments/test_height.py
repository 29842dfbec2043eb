"""The height that buffers need at least is worked out with an eye on the clock."""

from __future__ import annotations

import pytest

from planner.facts.possible_places import Places
from planner.model import deadline
from planner.model.problem import Buffer, Pool, Problem
from planner.verifying.arguments.height import least_height


def test_the_height_of_many_buffers_looks_at_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "LEAST_SECONDS", 0.0)
    many = deadline.LOOK_EVERY + 1
    places = Places(Problem(tuple(Buffer(i, 8, live=((0, 1),)) for i in range(many)), (Pool("p"),)))
    assert least_height(places, "p", range(many)) == 8 * many
    with deadline.time_limit(0.0, begun=-1e9), pytest.raises(deadline.OutOfTime):
        least_height(places, "p", range(many))
