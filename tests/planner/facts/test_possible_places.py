"""A buffer counts as homeless exactly if no pool can take it; the quick look at offset 0 changes no answer."""

from __future__ import annotations

import random

import pytest
from hypothesis import given

from planner.facts import possible_places
from planner.facts.possible_places import Places
from planner.model import deadline
from planner.model.problem import Buffer, Colocation, Constraints, Pool, Problem
from planner.verifying.proofs.blocks import Blocks
from tests.small.strategies import effort, problems


@effort(20, 2000)
@given(problems())
def test_buffers_with_a_place_have_a_possible_pool(problem: Problem) -> None:
    places = Places(problem)
    for i in range(len(problem.buffers)):
        spots = [places.spot(places.group(i), name) for name in places.allowed_pools(places.tied(i))]
        if len(places.tied(i)) == 1:
            assert places.is_homeless(i) == (not any(spots))
            with_spots = [n for n in places.allowed_pools(places.tied(i)) if places.spot(places.group(i), n)]
            assert places.possible_pools(i) == with_spots
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


def test_a_group_beside_reserved_ranges_lies_where_trying_every_address_finds_it() -> None:
    for seed in range(300):
        chance = random.Random(seed)
        ends = [0, *sorted(chance.sample(range(1, 20), 2 * chance.randint(0, 4))), 20]
        walls = tuple(zip(ends[1:-1:2], ends[2:-1:2], strict=True))
        buffers = [Buffer(i, chance.randint(0, 4), chance.randint(1, 3), live=((0, 1),)) for i in range(4)]
        low = [0, *(chance.randint(0, 12) for _ in range(3))]
        ties = tuple(Colocation(i, 0, low[i]) for i in (1, 2, 3))
        problem = Problem(buffers, (Pool("p", reserved=walls),), Constraints(colocations=ties))
        right = [
            x for x in range(60) if all(may_begin(b, x + below, walls) for b, below in zip(buffers, low, strict=True))
        ]
        places, blocks = Places(problem), Blocks(problem, 100)
        spot = places.spot(places.group(0), "p")
        assert (spot is None) == (not right)
        if spot is not None:
            assert spot.least == blocks.block(0).first == right[0]
            for floor in range(0, right[-1], 5):
                least = min(x for x in right if x >= floor)
                assert places.lowest(places.group(0), "p", floor, spot.rule) == least
                assert blocks.start(blocks.block(0), floor) == least


def may_begin(buffer: Buffer, address: int, walls: tuple[tuple[int, int], ...]) -> bool:
    is_clear = all(end <= address or address + buffer.size <= begin for begin, end in walls)
    return address % buffer.alignment == 0 and (is_clear or not buffer.size)


def test_each_reserved_range_is_looked_at_once_for_each_member(monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other has to get past all ranges, in steps of two bytes; the others need not be looked at after each."""
    members, ranges = 60, 40
    apart = 2 * ranges
    last = (members - 1) * apart
    walls = tuple((last + 2 * j, last + 2 * j + 1) for j in range(ranges))
    buffers = [Buffer(i, 1, 2, live=((0, 1),)) for i in range(members)]
    ties = tuple(Colocation(i, 0, i * apart) for i in range(1, members))
    problem = Problem(buffers, (Pool("p", reserved=walls),), Constraints(colocations=ties))
    looks = []
    usual = possible_places._denied
    monkeypatch.setattr(possible_places, "_denied", lambda *args: looks.append(args) or usual(*args))  # type: ignore[func-returns-value]
    places, blocks = Places(problem), Blocks(problem, 10 * last)
    spot = places.spot(places.group(0), "p")
    assert spot is not None
    assert spot.least == blocks.block(0).first
    assert members <= len(looks) <= members * (ranges + 2)
    assert members <= blocks.looks <= members * (ranges + 2)
