"""Reserved ranges in columns: whatever takes tuples takes them, and gives the same."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from planner import Options, Session, memory_report, plan, read_problem, verify
from planner.drawing.memory_map import memory_map
from planner.drawing.svg import svg
from planner.facts.digest import digest
from planner.facts.intervals import merged
from planner.formats import FORMATS
from planner.model.columns.ranges import GatheredRanges, RangeColumns
from planner.model.errors import BadInput
from planner.model.problem import Buffer, Fixed, Pool, Problem

RANGES = ((3, 5), (8, 16), (40, 41))
AS_COLUMNS = RangeColumns(*(np.array(each) for each in zip(*RANGES, strict=True)))
LONG = 80_000
OPTIONS = Options(work_limit=100_000, workers=1)


def with_ranges(reserved: Any) -> Problem:
    buffers = tuple(
        Buffer(str(i), 4 + i, live=((i, i + 3),), fixed=Fixed("p", 16) if i == 2 else None) for i in range(9)
    )
    return Problem(buffers, (Pool("p", 100, reserved=reserved), Pool("q", 10)))


def document(*ranges: list[int], before: int = 0) -> bytes:
    pools: list[dict[str, Any]] = [{"name": f"q{i}", "reserved": []} for i in range(before)]
    pools.append({"name": "p", "reserved": [[10 * i, 10 * i + 1] for i in range(LONG)] + [*ranges]})
    buffers = [{"id": 0, "size": 2, "live": [[0, 1]], "fixed": {"pool": "p", "offset": 1}}]
    return json.dumps({"format": "memplan/1", "lifetimes": "half_open", "pools": pools, "buffers": buffers}).encode()


def test_columns_are_as_tuples() -> None:
    assert AS_COLUMNS == RANGES
    assert RANGES == AS_COLUMNS
    assert hash(AS_COLUMNS) == hash(RANGES)
    assert AS_COLUMNS[1:] == RANGES[1:]
    assert AS_COLUMNS[-1] == RANGES[-1]
    assert repr(AS_COLUMNS) == repr(RANGES)
    assert pickle.loads(pickle.dumps(AS_COLUMNS)) == RANGES
    assert RANGES[:2] != AS_COLUMNS
    assert merged(AS_COLUMNS) == RANGES


def test_whatever_takes_a_problem_takes_its_ranges_in_columns() -> None:
    held, plain = with_ranges(AS_COLUMNS), with_ranges(RANGES)
    assert held == plain
    assert digest(held) == digest(plain)
    found, expected = (plan(problem, OPTIONS) for problem in (held, plain))
    assert found.placements == expected.placements
    assert found.bound == expected.bound
    assert verify(held, expected) == verify(plain, expected) == ()
    moved = replace(expected, placements=tuple(replace(each, offset=4) for each in expected.placements))
    assert verify(held, moved) == verify(plain, moved) != ()
    assert memory_report(held, expected) == memory_report(plain, expected)
    assert svg(memory_map(held, expected)) == svg(memory_map(plain, expected))
    session = Session()
    assert session.plan(held, OPTIONS).peak == session.plan(plain, OPTIONS).peak == expected.peak


@pytest.mark.parametrize("name", [row.name for row in FORMATS.values() if row.writer])
def test_every_writer_takes_ranges_in_columns(name: str) -> None:
    answers = []
    for reserved in (AS_COLUMNS, RANGES):
        try:
            answers.append(FORMATS[name].write(with_ranges(reserved)))
        except BadInput as error:
            answers.append(str(error).encode())
    assert answers[0] == answers[1]


def test_gathered_ranges_are_merged_as_others_are() -> None:
    random = Random(5)
    for _ in range(500):
        ranges = [(start, start + random.randrange(4)) for start in random.choices(range(20), k=random.randrange(9))]
        assert GatheredRanges(ranges).all() == merged(ranges)
    assert GatheredRanges([(0, 1), (3, 2)]).all() is None


@pytest.mark.parametrize("before", [0, 1])
def test_ranges_of_long_documents_are_columns(before: int) -> None:
    (*_, pool) = read_problem(document([5, 6], [9, 12], before=before))[0].pools
    assert isinstance(pool.reserved, RangeColumns)
    assert pool.reserved == merged([*((10 * i, 10 * i + 1) for i in range(LONG)), (5, 6), (9, 12)])


@pytest.mark.parametrize("before", [0, 1])
def test_wrong_ranges_of_long_documents_are_reported_with_their_places(before: int) -> None:
    with pytest.raises(BadInput) as caught:
        read_problem(document([7, 7], [9, 8], [6, 5], before=before))
    at = f"/pools/{before}/reserved"
    assert [(each.code, each.pointer) for each in caught.value.findings] == [
        ("interval_reversed", f"{at}/{LONG + 1}"),
        ("interval_reversed", f"{at}/{LONG + 2}"),
    ]
    with pytest.raises(BadInput) as caught:
        read_problem(document([7, 1 << 62], [9, (1 << 62) + 1], before=before))
    assert [each.pointer for each in caught.value.findings] == [f"{at}/{LONG + 1}/1"]
    with pytest.raises(BadInput, match="touches the reserved range"):
        read_problem(document([2, 3], before=before))
