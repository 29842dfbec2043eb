"""The map for programs is written as columns of equal length, which every reader reads exactly."""

from __future__ import annotations

import json
from typing import Any

from planner import Buffer, Options, Pool, Problem, plan
from planner.drawing import memory_map
from planner.formats.answers.write_map import write_map
from planner.generate import Request, generate
from planner.model.problem import Lifetimes


def document(problem: Problem) -> dict[str, Any]:
    data = write_map(memory_map(problem, plan(problem, Options(work_limit=0, workers=1))))
    found: dict[str, Any] = json.loads(data)
    assert data.isascii()
    return found


def test_columns_have_equal_lengths_and_agree_with_the_plan() -> None:
    problem = generate("pools", Request(60, seed=4))
    found = document(problem)
    assert found["format"] == "memplan-map/1"
    assert not found["in_bytes"]
    assert {len(found["buffers"][name]) for name in ("id", "size", "alignment", "kind")} == {60}
    for pool in found["pools"]:
        assert len({len(column) for column in pool["boxes"].values()}) == 1
        assert len(pool["profile"]["time"]) == len(pool["profile"]["bytes"])
        sizes = [found["buffers"]["size"][buffer] for buffer in pool["boxes"]["buffer"]]
        ends = [low + size for low, size in zip(pool["boxes"]["offset"], sizes, strict=True)]
        assert max(ends, default=0) == pool["peak"]
        assert pool["top"] >= pool["peak"]


def test_times_count_from_the_first_one() -> None:
    stamp = 1_700_000_000_000_000_001
    problem = Problem((Buffer("a", 8, live=((stamp, stamp + 3),)),), lifetimes=Lifetimes.HALF_OPEN)
    found = document(problem)
    assert found["axis"] == {"begin": str(stamp), "end": 3, "untimed_from": 3, "right": 3}
    assert found["pools"][0]["boxes"] == {"buffer": [0], "start": [0], "end": [3], "offset": [0]}


def test_integers_beyond_javascript_s_range_are_strings() -> None:
    size = (1 << 53) + 1
    problem = Problem((Buffer(size, size, live=((0, 1),)),), (Pool("a", base=16),), lifetimes=Lifetimes.INCLUSIVE)
    found = document(problem)
    assert found["buffers"]["id"] == found["buffers"]["size"] == [str(size)]
    assert (found["pools"][0]["base"], found["pools"][0]["peak"], found["lifetimes"]) == (
        "0x10",
        str(size),
        "inclusive",
    )
