"""Divisions followed through time: both kernels answer alike, and as if all choices were tried where none is left out."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from solvers.kernels.interface import BadKernelInput, Change, Course, Divisions, Floats, Kernels
from solvers.model.instance import Ints
from tests.solvers.kernels.kernel_sets import native, of_origin, reference

ALL = 1 << 20


def flat(rows: object) -> Ints:
    return np.array(rows, dtype=np.int64).reshape(-1)


class Given:
    """Random classes that come and go, where some are and what they take changes, and a few divisions of those that are there at first."""

    def __init__(self, seed: int, classes: int = 12, divisions: int = 6, room: int = 25) -> None:
        draw = np.random.default_rng(seed)
        self.pools, steps = int(draw.integers(1, 5)), int(draw.integers(2, 14))
        self.cost: Floats = draw.choice([0.0, 0.5, 1.0, 2.5, 7.0], (classes, self.pools))
        self.cost[draw.random(self.cost.shape) < 0.2] = np.inf
        self.cost[np.arange(classes), draw.integers(0, self.pools, classes)] = 1.0
        first, length = draw.integers(-3, steps, classes), draw.integers(1, steps + 3, classes)
        here = np.flatnonzero((first <= 0) & (first + length > 0))
        self.rows: list[list[tuple[Change, int, list[int]]]] = []
        sizes = draw.integers(0, 9, (classes, self.pools))
        for step in range(steps):
            row = []
            for who in range(classes):
                more = draw.integers(-2, 4, self.pools)
                if step == first[who] + length[who] and (who in here or first[who] > 0):
                    row.append((Change.GOES, who, (-sizes[who]).tolist()))
                elif first[who] < step < first[who] + length[who] and draw.random() < 0.1:
                    row.append((Change.OTHER, who, more.tolist()))
                    sizes[who] += more
            row += [
                (Change.COMES, who, sizes[who].tolist())
                for who in np.flatnonzero((first == step) & (first > 0)).tolist()
            ]
            self.rows.append(row)
        self.always: Ints = draw.integers(-2, 3, (steps, self.pools))
        self.here = here.tolist()
        self.chosen = draw.integers(0, self.pools, (divisions, len(here)))
        self.room = draw.integers(0, room, (divisions, self.pools))

    @property
    def divisions(self) -> Divisions:
        return Divisions(flat(self.here), flat(self.chosen), flat(self.room))

    @property
    def course(self) -> Course:
        changes = [change for row in self.rows for change in row]
        kind, who, more = zip(*changes, strict=True) if changes else ((), (), ())
        begin = np.cumsum([0, *map(len, self.rows)])
        return Course(flat(self.always), begin, flat(kind), flat(who), flat(more))

    def best(self, division: int) -> float | None:
        """What the cheapest choice of this division costs that always fits, if all are tried."""
        coming = [who for row in self.rows for kind, who, _ in row if kind is Change.COMES]
        homes = [np.flatnonzero(np.isfinite(self.cost[who])).tolist() for who in coming]
        costs = [
            sum(self.cost[who, pool] for who, pool in zip(coming, pools, strict=True))
            for pools in product(*homes)
            if self.fits(division, dict(zip(coming, pools, strict=True)))
        ]
        return min(costs, default=None)

    def fits(self, division: int, pools: dict[int, int]) -> bool:
        where = pools | dict(zip(self.here, self.chosen[division].tolist(), strict=True))
        room = self.room[division].copy()
        for row, always in zip(self.rows, self.always, strict=True):
            room -= always
            for is_coming in (False, True):
                for kind, who, more in row:
                    if (kind is Change.COMES) == is_coming:
                        room[where[who]] -= more[where[who]]
                if (room < 0).any():
                    return False
        return True


def followed(
    kernels: Kernels, given: Given, most: int = ALL, with_pools: bool = True
) -> tuple[list[int], list[float], list[int], int]:
    left, cost, pools, work = kernels.follow(
        given.pools, given.divisions, given.course, given.cost.reshape(-1), most, with_pools, lambda _: False
    )
    return left.tolist(), cost.tolist(), pools.tolist(), work


@pytest.mark.parametrize("most", [1, 7, 50, ALL])
@pytest.mark.parametrize("seed", range(40))
def test_both_kernels_follow_alike(seed: int, most: int) -> None:
    given = Given(seed)
    found = followed(native(), given, most)
    assert found == followed(reference(), given, most)
    left, cost, pools, work = followed(native(), given, most, with_pools=False)
    assert (left, cost, work) == (found[0], found[1], found[3])
    assert not pools


@pytest.mark.parametrize("seed", range(10))
def test_many_choices_are_followed_alike(seed: int) -> None:
    given = Given(seed, classes=60, divisions=40, room=300)
    assert followed(native(), given, 500) == followed(reference(), given, 500)


@pytest.mark.parametrize("seed", range(30))
def test_if_none_is_left_out_the_cheapest_choice_of_each_division_is_found(seed: int) -> None:
    given = Given(seed, classes=7)
    left, cost, pools, _ = followed(native(), given)
    best = [given.best(division) for division in range(len(given.room))]
    assert left == [division for division, one in enumerate(best) if one is not None]
    assert cost == [one for one in best if one is not None]
    for division, row in zip(left, np.reshape(pools, (-1, len(given.cost))).tolist(), strict=True):
        assert given.fits(division, {who: pool for who, pool in enumerate(row) if pool >= 0})


def test_some_drawn_divisions_are_left_and_some_are_not() -> None:
    left = sum(len(followed(native(), Given(seed))[0]) for seed in range(40))
    assert 60 < left < 180


@pytest.mark.parametrize("origin", ["native", "reference"])
def test_without_divisions_or_steps_there_is_nothing_to_follow(origin: str) -> None:
    given = Given(3, divisions=0)
    assert followed(of_origin(origin), given)[:3] == ([], [], [])
    given = Given(3)
    given.rows, given.always = [], given.always[:0]
    left, cost, pools, work = followed(of_origin(origin), given)
    assert (left, cost, work) == (list(range(6)), [0.0] * 6, 0)
    assert set(pools) == {-1}


@pytest.mark.parametrize("origin", ["native", "reference"])
def test_a_stop_leaves_no_division(origin: str) -> None:
    given = Given(1, classes=4_000, divisions=200, room=1 << 20)
    asked: list[object] = []

    def report(better: object) -> bool:
        asked.append(better)
        return True

    left, cost, pools, work = of_origin(origin).follow(
        given.pools, given.divisions, given.course, given.cost.reshape(-1), 5_000, True, report
    )
    assert (len(left), len(cost), len(pools), asked) == (0, 0, 0, [None])
    assert work < 200_000


def test_what_a_report_raises_is_raised() -> None:
    given = Given(1, classes=4_000, divisions=200, room=1 << 20)

    def report(_: object) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        native().follow(given.pools, given.divisions, given.course, given.cost.reshape(-1), 5_000, True, report)


def changed(array: Ints, index: int, value: int) -> Ints:
    copy = array.copy()
    copy[index] = value
    return copy


@pytest.mark.parametrize("origin", ["native", "reference"])
@pytest.mark.parametrize(
    ("column", "index", "value"),
    [
        ("classes", 0, -1),
        ("classes", 0, 1 << 40),
        ("classes", 0, 3),
        ("chosen", 0, 2),
        ("chosen", 0, -1),
        ("begin", 0, 1),
        ("begin", 1, 5),
        ("begin", -1, 9),
        ("kind", 0, 3),
        ("kind", 0, 0),
        ("kind", 2, 2),
        ("kind", 3, 1),
        ("who", 0, -1),
        ("who", 0, 9),
        ("who", 0, 3),
        ("who", 3, 1),
    ],
)
def test_wrong_input_is_refused(origin: str, column: str, index: int, value: int) -> None:
    divisions, course = flat([0, 3]), flat([0, 1, 4])
    start = Divisions(divisions, flat([0, 1]), flat([9, 9]))
    steps = Course(flat([0] * 4), course, flat([2, 0, 1, 2]), flat([1, 1, 1, 2]), flat([1] * 8))
    cost = np.ones(8)
    kernels = of_origin(origin)
    assert len(kernels.follow(2, start, steps, cost, 5, False, lambda _: False)[0]) == 1
    if column in Divisions._fields:
        start = start._replace(**{column: changed(getattr(start, column), index, value)})
    else:
        steps = steps._replace(**{column: changed(getattr(steps, column), index, value)})
    with pytest.raises(BadKernelInput):
        kernels.follow(2, start, steps, cost, 5, False, lambda _: False)


@pytest.mark.parametrize("origin", ["native", "reference"])
@pytest.mark.parametrize(
    "wrong",
    [
        {"pools": 0},
        {"pools": -1},
        {"pools": 256},
        {"pools": 3},
        {"most": 0},
        {"most": -1},
        {"cost": np.full(8, np.nan)},
        {"cost": np.full(8, -np.inf)},
        {"cost": np.ones(7)},
        {"cost": np.ones(4)},
        {"divisions": Divisions(flat([0]), flat([0]), flat([9]))},
        {"divisions": Divisions(flat([0]), flat([0, 0]), flat([9, 9]))},
        {"divisions": (flat([0]), flat([0]))},
        {"course": Course(flat([0]), flat([0, 0]), flat([]), flat([]), flat([]))},
        {"course": Course(flat([]), flat([]), flat([]), flat([]), flat([]))},
        {"course": Course(flat([0, 0]), flat([0, 1]), flat([]), flat([1]), flat([1, 1]))},
        {"course": Course(flat([0, 0]), flat([0, 1]), flat([2]), flat([1]), flat([1]))},
        {"course": (flat([0]),)},
    ],
)
def test_wrong_shapes_are_refused(origin: str, wrong: dict[str, object]) -> None:
    right: dict[str, object] = {
        "pools": 2,
        "divisions": Divisions(flat([0]), flat([0]), flat([9, 9])),
        "course": Course(flat([0, 0]), flat([0, 1]), flat([2]), flat([3]), flat([1, 1])),
        "cost": np.ones(8),
        "most": 5,
        "with_pools": True,
        "report": lambda _: False,
    }
    call = getattr(of_origin(origin), "follow")  # noqa: B009
    assert len(call(**right)[0]) == 1
    with pytest.raises(BadKernelInput):
        call(**right | wrong)
