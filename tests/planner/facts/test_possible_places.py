"""A buffer counts as homeless exactly if no pool can take it; the quick look at offset 0 changes no answer."""

from __future__ import annotations

import pytest
from hypothesis import given

from planner.facts.possible_places import Places
from planner.model import deadline
from planner.model.problem import Buffer, Colocation, Constraints, Pool, Problem
from tests.small.strategies import effort, problems


@effort(20, 2000)
@given(problems())
def test_buffers_with_a_place_have_a_possible_pool(problem: Problem) -> None:
    places = Places(problem)
    for i in range(len(problem.buffers)):
        spots = [places.spot(places.group(i), name) for name in places.allowed_pools(places.tied(i))]
        if len(places.tied(i)) == 1:
            assert places.is_homeless(i) == (not any(spots))
        assert not (places.is_homeless(i) and places.possible_pools(i))


@pytest.mark.parametrize(
    ("pool", "buffer", "is_homeless"),
    [
        (Pool("p", 16), Buffer(0, 16), False),
        (Pool("p", 16), Buffer(0, 17), True),
        (Pool("p", 16, base=8), Buffer(0, 9, alignment=16), True),
        (Pool("p", 16, base=8, alignment=16), Buffer(0, 9), True),
        (Pool("p", 16, base=16, alignment=16), Buffer(0, 16), False),
        (Pool("p", 16, reserved=((0, 1),)), Buffer(0, 16), True),
        (Pool("p", 16, reserved=((15, 16),)), Buffer(0, 15), False),
    ],
)
def test_a_buffer_is_homeless_exactly_if_the_pool_cannot_take_it(pool: Pool, buffer: Buffer, is_homeless: bool) -> None:
    assert Places(Problem((buffer,), (pool,))).is_homeless(0) == is_homeless


def test_where_a_large_group_can_lie_is_not_asked_after_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "LEAST_SECONDS", 0.0)
    buffers = tuple(Buffer(i, 8, live=((i, i + 2),)) for i in range(deadline.LOOK_EVERY + 1))
    ties = tuple(Colocation(i, i - 1, 0) for i in range(1, len(buffers)))
    places = Places(Problem(buffers, (Pool("p"),), Constraints(colocations=ties)))
    with deadline.time_limit(0.0, begun=-1e9), pytest.raises(deadline.OutOfTime):
        places.spot(places.group(0), "p")
