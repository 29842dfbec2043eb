"""A problem with buffers in columns equals the same problem in rows: in checks, digest, arrays, plan and bytes."""

from __future__ import annotations

import random
from dataclasses import fields, replace

import numpy as np
import pytest

from planner import Options, plan, verify, write_plan, write_problem
from planner.checks import check
from planner.facts.digest import digest
from planner.facts.figures import figures
from planner.model.columns.buffers import NO_HINT, BufferColumns, KeptBuffers, buffer_columns
from planner.model.columns.placements import PlacementColumns
from planner.model.columns.rows import FEW
from planner.model.problem import MAX_TEXT, Buffer, BufferId, Pool, Problem
from planner.planning.interfaces.session import Session
from planner.planning.placing.lowering import lower
from solvers.model.instance import Instance

QUICK = Options(time_limit=None, work_limit=20_000)


def made_up(seed: int, count: int = 30) -> tuple[Buffer, ...]:
    chance = random.Random(seed)
    ids: list[BufferId] = [*range(count)] if seed % 2 else [f"b{chance.randrange(10**6)}.{i}" for i in range(count)]
    starts = [chance.randrange(-20, 40) for _ in ids]
    kinds = (None, "output", 'a "kind"') if seed % 8 >= 4 else (None,)
    hints = (None, 0, 64, 1000) if seed >= 6 else (None,)
    return tuple(
        Buffer(
            id_,
            chance.randrange(60),
            chance.choice((1, 4, 6)),
            ((start, start + steps),) if steps else (),
            kind=chance.choice(kinds),
            hint=chance.choice(hints),
        )
        for id_, start, steps in zip(ids, starts, (chance.randrange(12) for _ in ids), strict=True)
    )


def in_columns(buffers: tuple[Buffer, ...]) -> BufferColumns:
    numbers = [(b.size, b.alignment, *(b.live or ((0, 0),))[0]) for b in buffers]
    ids: list[BufferId] = [buffer.id for buffer in buffers]
    size, alignment, start, end = np.array(numbers, dtype=np.int64).reshape(-1, 4).T
    kinds = [buffer.kind for buffer in buffers] if any(buffer.kind for buffer in buffers) else None
    hints = np.array([NO_HINT if buffer.hint is None else buffer.hint for buffer in buffers])
    names = range(len(ids)) if ids == [*range(len(ids))] else ids
    return BufferColumns(names, size, alignment, start, end, kinds, None if (hints == NO_HINT).all() else hints)


@pytest.mark.parametrize("seed", range(12))
def test_problems_in_columns_and_rows_are_equal(seed: int) -> None:
    buffers = made_up(seed)
    columns = in_columns(buffers)
    assert columns == buffers
    assert buffers == columns
    assert hash(columns) == hash(buffers)
    assert columns[-1] == buffers[-1]
    assert columns[3:7] == buffers[3:7]
    pool = Pool("sram", (None, 200, 4000)[seed % 3], alignment=seed % 2 * 4 + 1, base=16 if seed % 4 == 0 else None)
    rows = Problem(buffers, (replace(pool, alignment=4) if pool.base else pool,))
    same = replace(rows, buffers=columns)
    assert check(same) == check(rows) == ()
    assert digest(same) == digest(rows)
    assert write_problem(same) == write_problem(rows)
    one, other = figures(rows), figures(same)
    assert one is not None
    assert other is not None
    assert all(np.array_equal(a, b) for a, b in zip(one[:6], other[:6], strict=True))
    low, same_low = lower(rows), lower(same)
    assert np.array_equal(low.times, same_low.times)
    for field in fields(Instance):
        if field.name not in ("pools", "terms", "source", "was", "peak_price", "sections"):
            here, there = getattr(low.instance, field.name), getattr(same_low.instance, field.name)
            assert np.array_equal(here, there), field.name
    made, made_same = plan(rows, QUICK), plan(same, QUICK)
    assert write_plan(replace(made_same, run=made.run)) == write_plan(made)
    assert isinstance(made_same.placements, PlacementColumns) == made.status.has_plan
    assert verify(same, made_same) == verify(rows, made_same) == ()
    assert Session().plan(same, QUICK).peak == made.peak


@pytest.mark.parametrize("seed", range(6))
def test_a_wrong_plan_in_columns_fails_verification(seed: int) -> None:
    problem = Problem(in_columns(made_up(seed)))
    right = plan(problem, QUICK)
    assert isinstance(right.placements, PlacementColumns)
    moved = right.placements.offset.copy()
    moved[np.argmax(moved)] = 0
    for wrong in (
        replace(right, placements=replace(right.placements, offset=moved)),
        replace(right, placements=replace(right.placements, pools=["elsewhere"])),
        replace(right, placements=replace(right.placements, size=right.placements.size + 1)),
        replace(right, placements=replace(right.placements, ids=[*right.placements.ids[1:], "new"])),
        replace(right, peak=right.bound - 1),
        replace(right, bound=right.bound + 1),
        replace(right, gap=0.5),
    ):
        in_rows = replace(wrong, placements=tuple(wrong.placements))
        assert verify(problem, wrong) == verify(problem, in_rows) != ()


@pytest.mark.parametrize(
    "change",
    [
        {"size": -1},
        {"alignment": 0},
        {"size": 1 << 62},
        {"live": ((5, 3),)},
        {"live": ((-(1 << 62) - 1, 3),)},
        {"live": ((0, (1 << 62) + 1),)},
        {"id": ""},
        {"id": "x" * (MAX_TEXT + 1)},
        {"id": (1 << 62) + 1},
        {"id": "b"},
    ],
)
def test_errors_in_columns_and_rows_have_the_same_place(change: dict[str, object]) -> None:
    buffers = (Buffer("a", 1, live=((0, 1),)), Buffer("b", 1, live=((0, 1),)), Buffer("c", 1, live=((0, 1),)))
    wrong = (*buffers[:2], replace(buffers[2], **change))  # type: ignore[arg-type]
    found = check(Problem(in_columns(wrong)))
    assert found == check(Problem(wrong)) != ()


def test_few_buffers_are_kept_as_objects() -> None:
    ones = np.ones(FEW + 1, dtype=np.int64)
    assert isinstance(buffer_columns(range(FEW + 1), ones, ones, ones, ones), BufferColumns)
    assert isinstance(buffer_columns(range(FEW), *[ones[:-1]] * 4), tuple)


def test_an_object_made_of_columns_stays_the_same() -> None:
    numbers = np.arange(1, 101)
    kept = KeptBuffers([*range(100)], numbers, numbers, numbers, numbers + 5)
    one, last = kept[3], kept[-1]
    assert kept[3] is one
    assert kept[99] is last
    every = [kept[i] for i in range(100)]
    assert every == [*BufferColumns.__iter__(kept)]
    assert all(a is b for a, b in zip(kept, every, strict=True))
    assert kept[2:4] == (every[2], one)
    assert (kept[3], kept[-1]) == (one, last)
    assert kept[3] is one
    with pytest.raises(IndexError):
        KeptBuffers([*range(100)], numbers, numbers, numbers, numbers + 5)[100]
