"""Crowds of rows whose classes may be divided, in C++ and in Python: the same numbers to the last bit, and contracts that are kept."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from random import Random
from types import ModuleType
from typing import Any, cast

import pytest

from solvers.kernels import BadKernelInput
from solvers.kernels.plain import MOST_EXACT, CrowdLines, DividedRows, crowd_lines, divided_rows, native
from solvers.kernels.python.crowds import CrowdLines as ReferenceLines
from solvers.kernels.python.crowds import DividedRows as ReferenceRows

COLUMNS, POOLS = 30, 3
SHARES = (0.0, -1e-9, 1e-7, 0.25, 1 / 3, 0.5, 1 - 1e-7, 1.0)
GREATEST = (9, 1_000, 1 << 40)
"""Of units: many steps are at one height, or some, or none."""


def compiled() -> ModuleType:
    found = native()
    if found is None:
        pytest.skip("no native kernels")
    return found


def solution(random: Random, greatest: int) -> tuple[list[float], tuple[tuple[int, int], ...], list[float]]:
    """Shares, the range of each pool's heights, and a height that is about there."""
    shares = [random.choice((random.random(), *SHARES)) for _ in range(COLUMNS)]
    ranges, at = list[tuple[int, int]](), list[float]()
    for _ in range(POOLS):
        low = random.randint(0, 4 * greatest)
        ranges.append((low, low + random.choice((0, 1, random.randint(0, 4 * greatest)))))
        at.append(random.choice((*map(float, ranges[-1]), random.uniform(*ranges[-1]) + random.uniform(-1e-6, 1e-6))))
    return shares, tuple(ranges), at


def crowd(random: Random, greatest: int) -> tuple[int, list[int], list[int], list[int]]:
    count = random.randint(1, 9)
    votes = [random.randint(1, 3) for _ in range(count)]
    steps = sorted(random.randint(-greatest, 8 * greatest) for _ in range(sum(votes)))
    return random.randrange(POOLS), random.sample(range(COLUMNS), count), votes, steps


@pytest.mark.parametrize("greatest", GREATEST)
def test_both_find_the_same_lines(greatest: int) -> None:
    random, found = Random(greatest), compiled()
    for _ in range(300):
        both: list[CrowdLines] = [found.CrowdLines(), ReferenceLines()]
        for each in [crowd(random, greatest) for _ in range(9)]:
            for lines in both:
                lines.add(*each)
        shares, ranges, at = solution(random, greatest)
        assert both[0].lines(ranges, at, 0) == both[1].lines(ranges, at, 0)
        assert both[0].lines(ranges, at, 7) == both[1].lines(ranges, at, 0)[7:]
        assert both[0].broken(shares, ranges, at, 0.01) == both[1].broken(shares, ranges, at, 0.01)


def test_both_find_the_same_line_in_a_range_that_ends_below_where_it_begins() -> None:
    both: list[CrowdLines] = [compiled().CrowdLines(), ReferenceLines()]
    for lines in both:
        lines.add(0, [0, 1], [1, 1], [3, 4])
    assert both[0].lines(((5, 2),), [4.0], 0) == both[1].lines(((5, 2),), [4.0], 0) == [(0.0, 0.0)]


@pytest.mark.parametrize("greatest", GREATEST)
def test_both_find_the_same_covers(greatest: int) -> None:
    random, found, count = Random(greatest), compiled(), 0
    for _ in range(300):
        rows = []
        for _ in range(9):
            columns = random.sample(range(COLUMNS), random.randint(0, 12))
            units = [random.randint(0, greatest) for _ in columns]
            rows.append((random.randrange(POOLS), random.randint(-greatest, greatest), units, columns))
        shares, ranges, at = solution(random, greatest)
        tops = list(map(int, at))
        rooms = [tuple({top, high}) for top, (_, high) in zip(tops, ranges, strict=True)]
        covers = found.DividedRows(rows).covers(shares, ranges, at, tops, rooms, 0.01)
        assert covers == ReferenceRows(rows).covers(shares, ranges, at, tops, rooms, 0.01)
        count += len(covers)
    assert count > 300


def test_a_line_is_above_all_steps_and_touches_those_where_it_is_asked_for() -> None:
    random, lines, crowds = Random(1), ReferenceLines(), list[list[int]]()
    for _ in range(300):
        crowds.append(list(accumulate(random.randint(1, 9) for _ in range(random.randint(1, 12)))))
        lines.add(0, [], [], crowds[-1])
    low, high = 5, 40
    for height in range(low, high + 1):
        above = lines.lines(((low, high),), [float(height)], 0)
        for steps, (value, slope) in zip(crowds, above, strict=True):
            over = [value + slope * (h - low) - sum(step <= h for step in steps) for h in range(low, high + 1)]
            assert min(over) > -1e-9
            assert min(over) < 1e-9


def test_what_is_too_large_is_left_to_python() -> None:
    assert isinstance(crowd_lines(MOST_EXACT + 1), ReferenceLines)
    rows = [(0, 0, [MOST_EXACT, MOST_EXACT], [0, 1])]
    large: DividedRows = divided_rows(rows, 2 * MOST_EXACT)
    assert isinstance(large, ReferenceRows)
    if native() is not None:
        assert not isinstance(crowd_lines(MOST_EXACT), ReferenceLines)
        assert not isinstance(divided_rows([], MOST_EXACT), ReferenceRows)


LINE: dict[str, Any] = {"pool": 1, "columns": [2], "votes": [1], "steps": [3]}
ROW: tuple[Any, ...] = (1, 0, [5, 5], [0, 2])
ASKED: dict[str, Any] = {"shares": [0.5, 0.5, 0.5], "ranges": ((0, 9), (0, 9)), "at": [4.0, 4.0], "least": 0.01}
LAST = (1 << 64) - 1
"""One more than this is nothing in C++."""
ROOMS: dict[str, Any] = {"tops": [4, 4], "rooms": [[9], [9]]}


@pytest.mark.parametrize(
    "wrong",
    [
        {"shares": [0.5, 0.5]},
        {"shares": [0.5, 0.5, float("nan")]},
        {"ranges": ((0, 9),)},
        {"ranges": ((0, 9), (0, 1 << 52))},
        {"at": [4.0]},
        {"at": [4.0, float("nan")]},
    ],
)
def test_a_broken_contract_is_refused(wrong: dict[str, Any]) -> None:
    found = compiled()
    lines = cast(CrowdLines, found.CrowdLines())
    lines.add(**LINE)
    rows = cast(DividedRows, found.DividedRows([ROW]))
    assert lines.broken(**ASKED) == []
    assert rows.covers(**ASKED, **ROOMS) != []
    with pytest.raises(BadKernelInput):
        lines.broken(**ASKED | wrong)
    with pytest.raises(BadKernelInput):
        rows.covers(**ASKED | ROOMS | wrong)


@pytest.mark.parametrize(
    "call",
    [
        lambda found: found.CrowdLines().add(**LINE | {"votes": [1, 1]}),
        lambda found: found.CrowdLines().add(**LINE | {"steps": [3, 2]}),
        lambda found: found.CrowdLines().add(**LINE | {"steps": [1 << 53]}),
        lambda found: found.CrowdLines().add(**LINE | {"pool": LAST}),
        lambda found: found.CrowdLines().add(**LINE | {"columns": [LAST]}),
        lambda found: found.DividedRows([(LAST, 0, [5, 5], [0, 2])]),
        lambda found: found.DividedRows([(1, 0, [5, 5], [0, LAST])]),
        lambda found: found.DividedRows([(1, 0, [5], [0, 2])]),
        lambda found: found.DividedRows([(1, 0, [5, -5], [0, 2])]),
        lambda found: found.DividedRows([(1, 1 << 52, [5, 5], [0, 2])]),
        lambda found: found.DividedRows([ROW]).covers(**ASKED | ROOMS | {"tops": [4]}),
        lambda found: found.DividedRows([ROW]).covers(**ASKED | ROOMS | {"tops": [4, 1 << 52]}),
        lambda found: found.DividedRows([ROW]).covers(**ASKED | ROOMS | {"rooms": [[9], [1 << 52]]}),
    ],
)
def test_what_cannot_be_is_refused(call: Callable[[ModuleType], object]) -> None:
    with pytest.raises(BadKernelInput):
        call(compiled())
