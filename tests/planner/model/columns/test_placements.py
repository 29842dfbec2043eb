"""Placements in columns: equal to rows in whatever is verified, written or found about them."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from planner import Buffer, Fixed, Options, Plan, Pool, Problem, plan, verify, write_plan
from planner.facts.rows import AT_ONCE
from planner.model.columns.buffers import BufferColumns
from planner.model.columns.placements import (
    PlacementColumns,
    ids_of,
    peaks_of,
    placement_columns,
    pool_numbers,
    pools_of,
)
from planner.model.columns.rows import FEW
from planner.model.plan import Placement
from planner.model.problem import Constraints

QUICK = Options(work_limit=1, workers=1)


def several_pools(seed: int, count: int) -> Problem:
    """Return a problem whose buffers need several pools, some of them fixed in one, with names that JSON escapes."""
    dice = random.Random(seed)
    pools = (Pool('a "b"', 4000, 4), Pool("unused"), Pool("é", 1 << 40), Pool("c", base=64, alignment=2))
    buffers = []
    for i in range(count):
        start = dice.randrange(count)
        live, fixed = ((start, start + 1 + dice.randrange(9)),), Fixed("c") if dice.random() < 0.2 else None
        allowed = None if fixed or dice.random() < 0.9 else ("é", 'a "b"')
        buffers.append(
            Buffer(f"b{i}", 1 + dice.randrange(500), 1 << dice.randrange(3), live, fixed=fixed, pools=allowed)
        )
    return Problem(tuple(buffers), pools, Constraints(same_pool=(("b0", "b1"),)))


def in_rows(made: Plan) -> Plan:
    """Return the same plan with an object for each placement."""
    return replace(made, placements=tuple(made.placements))


@pytest.fixture(scope="module")
def large() -> tuple[Problem, Plan]:
    """Return a problem of several pools with more buffers than are written at once, and its plan."""
    problem = several_pools(1, AT_ONCE + 100)
    return problem, plan(problem, QUICK)


def test_a_large_plan_in_several_pools_is_in_columns_and_written_as_rows_are(large: tuple[Problem, Plan]) -> None:
    problem, made = large
    assert isinstance(made.placements, PlacementColumns)
    assert len(pools_of(made.placements)) > 1
    assert made.placements == in_rows(made).placements
    assert write_plan(made) == write_plan(in_rows(made))
    assert verify(problem, made) == verify(problem, in_rows(made)) == ()


@pytest.mark.parametrize("change", ["pool", "offset", "size", "ids", "pools", "order", "below"])
def test_what_is_wrong_in_columns_is_found_as_in_rows(large: tuple[Problem, Plan], change: str) -> None:
    problem, made = large
    right = made.placements
    assert isinstance(right, PlacementColumns)
    moved = {
        "pool": replace(right, pool=np.where(np.arange(len(right)) % 7, right.pool, 0)),
        "offset": replace(right, offset=right.offset + (np.arange(len(right)) % 5 == 0)),
        "size": replace(right, size=right.size + (np.arange(len(right)) == 70)),
        "ids": replace(right, ids=[*right.ids[:-1], "another"]),
        "pools": replace(right, pools=['a "b"', "unused", "é", "elsewhere"]),
        "order": replace(right, ids=[*right.ids[::-1]]),
        "below": replace(right, offset=right.offset - 1),
    }
    wrong = replace(made, placements=moved[change])
    assert verify(problem, wrong) == verify(problem, in_rows(wrong)) != ()


def test_places_that_no_array_can_add_up_are_found_wrong() -> None:
    problem = several_pools(2, 30)
    made = plan(problem, QUICK)
    places = [(place.id, place.pool, place.offset, place.size) for place in made.placements]
    ids, pools, offsets, sizes = zip(*places, strict=True)
    names = [pool.name for pool in problem.pools]
    columns = PlacementColumns(
        [*ids], names, np.array([*map(names.index, pools)]), np.array([(1 << 63) - 8, *offsets[1:]]), np.array(sizes)
    )
    wrong = replace(made, placements=columns)
    assert verify(problem, wrong) == verify(problem, in_rows(wrong)) != ()


def test_plain_buffers_in_columns_go_to_the_pools_that_solvers_chose() -> None:
    number = np.arange(3)
    ones = np.ones(3, dtype=np.int64)
    columns = BufferColumns(range(3), 8 * ones, ones, 0 * number, ones)
    problem = Problem(columns, tuple(Pool(f"p{i}", 8) for i in range(3)))
    made = plan(problem, QUICK)
    assert pools_of(made.placements) == {"p0", "p1", "p2"}
    assert not verify(problem, made)


@pytest.mark.parametrize("count", [0, 5, FEW + 1])
def test_facts_of_placements_are_the_same_in_columns_and_rows(count: int) -> None:
    dice = np.random.default_rng(count)
    names = ["p", "q", "r"]
    ids = [f"b{i}" for i in range(count)]
    pool = dice.integers(2, size=count)
    columns = PlacementColumns(ids, names, pool, dice.integers(99, size=count), dice.integers(9, size=count))
    rows = tuple(columns)
    assert all(type(row) is Placement for row in rows)
    assert columns == rows
    assert repr(columns) == repr(rows)
    assert [columns[i] for i in range(count)] == [*rows]
    assert columns[1:3] == rows[1:3]
    assert ids_of(columns) == ids_of(rows)
    assert pools_of(columns) == pools_of(rows)
    assert peaks_of(columns) == peaks_of(rows)
    for order in names, names[::-1], ["new", *names]:
        assert pool_numbers(columns, order).tolist() == pool_numbers(rows, order).tolist()
    made = placement_columns(ids, names, pool, columns.offset, columns.size)
    assert isinstance(made, tuple) == (count <= FEW)
    assert made == rows
