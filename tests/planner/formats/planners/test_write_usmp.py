"""Problems are written in USMP's field names, with plans and constants' data."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import pytest

from planner import (
    BadInput,
    Buffer,
    Colocation,
    Constraints,
    Fixed,
    Options,
    Pool,
    Preference,
    Problem,
    Speed,
    plan,
    read_problem,
)
from planner.formats import write_usmp
from planner.generate import Request, generate

SPEED = Speed(10**9, 16, 8, 3, 0, 64)
PROBLEM = Problem(
    (
        Buffer("a", 8, live=((0, 2),), kind="input", reads=3),
        Buffer(7, 8, 4, live=((1, 4),), pools=("ram",), writes=1),
        Buffer("c", 8, live=((3, 6),), fixed=Fixed("ram"), kind="workspace", accesses=2),
        Buffer("w", 4, kind="constant", data=b"\x00\x01\x02\x03"),
        Buffer("v", 6, live=((0, 1),), fixed=Fixed("flash", 16), kind="constant"),
    ),
    (Pool("ram", 64, 8, speed=SPEED), Pool("flash", speed=SPEED, rank=1, read_only=True)),
    Constraints(conflicts=(("a", "c"),), exclusions=(("a", 7),)),
    name="n",
)


def written(problem: Problem, **rest: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(write_usmp(problem, **rest))
    return answer


def test_every_part_of_a_problem_has_its_field() -> None:
    document = written(PROBLEM)
    speed = {"clock_frequency_hz": 10**9, "read_bandwidth_bytes_per_cycle": 16, "write_bandwidth_bytes_per_cycle": 8}
    speed |= {"read_latency_cycles": 3, "target_burst_bytes": 64}
    assert document["pools"] == [
        {"pool_name": "ram", "size_hint_bytes": 64, **speed},
        {
            "pool_name": "flash",
            "size_hint_bytes": -1,
            **speed,
            "constant_info_arr": [
                {"name_hint": "w", "byte_alignment": 8, "byte_offset": -1, "size_bytes": 4, "data": "AAECAw=="},
                {"name_hint": "v", "byte_alignment": 8, "byte_offset": 16, "size_bytes": 6},
            ],
        },
    ]
    assert [buffer["conflicts"] for buffer in document["buffers"]] == [["c"], ["c"], ["a", "7"]]
    assert document["buffers"][0] | {"kind": 0, "reads": 0} != document["buffers"][0]
    assert (document["buffers"][0]["kind"], document["buffers"][2]["kind"]) == (1, "workspace")
    assert (document["buffers"][1]["pool_candidates"], document["buffers"][2]["pool_candidates"]) == (["ram"], ["ram"])


def test_a_written_problem_is_planned_alike() -> None:
    again, warnings = read_problem(write_usmp(PROBLEM))
    assert warnings == ()
    assert plan(again).peak == plan(PROBLEM).peak
    made = generate("memories", Request(40, 1))
    again, _ = read_problem(write_usmp(made))
    fastest = [plan(problem, Options(prefer=Preference.SPEED)).objective.terms[0] for problem in (again, made)]
    assert fastest[0].value == fastest[1].value


def test_a_plan_gives_every_constant_its_offset_and_the_rest_its_allocation() -> None:
    made = plan(PROBLEM)
    document = written(PROBLEM, plan=made)
    at = {str(place.id): {"pool_name": place.pool, "byte_offset": place.offset} for place in made.placements}
    assert document["pool_allocations"] == at
    flash = document["pools"][1]["constant_info_arr"]
    assert [c["byte_offset"] for c in flash] == [at["w"]["byte_offset"], 16]


def test_buffers_in_conflict_are_those_with_a_time_in_common_and_no_exclusion_and_those_said() -> None:
    lives = [((0, 2), (5, 9)), ((2, 5), (8, 9)), ((1, 1),), (), ((3, 6),), None, ((0, 9),)]
    problem = Problem(
        tuple(Buffer(i, 8, live=live) for i, live in enumerate(lives)),
        constraints=Constraints(conflicts=((5, 1), (6, 0)), exclusions=((0, 6), (1, 4), (3, 5))),
    )
    conflicts = [buffer["conflicts"] for buffer in written(problem)["buffers"]]
    assert conflicts == [["1", "4", "6"], ["0", "5", "6"], [], [], ["0", "6"], ["1"], ["0", "1", "4"]]


def test_conflicts_are_found_without_comparing_all_buffers() -> None:
    problem = Problem(tuple(Buffer(i, 8, live=((i, i + 10),)) for i in range(16_000)))
    began = time.process_time()
    assert len(write_usmp(problem)) > 1_000_000
    assert time.process_time() - began < 8


@pytest.mark.parametrize(
    ("problem", "code", "place"),
    [
        (
            replace(PROBLEM, pools=(Pool("ram", reserved=((0, 1),)), PROBLEM.pools[1])),
            "not_supported_yet",
            "/pools/0/reserved",
        ),
        (Problem((Buffer("a", 1, fixed=Fixed("default", 0)),)), "not_supported_yet", "/buffers/0/fixed/offset"),
        (
            Problem((Buffer("a", 1), Buffer("b", 1)), constraints=Constraints(colocations=(Colocation("a", "b", 0),))),
            "not_supported_yet",
            "/constraints/colocations",
        ),
        (Problem((Buffer(1, 1), Buffer("1", 1))), "duplicate_id", "/buffers/1/id"),
        (
            replace(PROBLEM, pools=(*PROBLEM.pools, Pool("rom", read_only=True))),
            "invalid_value",
            "/buffers/3/pools",
        ),
        (Problem(tuple(Buffer(i, 1, live=((0, 1),)) for i in range(1_416))), "too_large", "/buffers"),
    ],
)
def test_problems_that_usmp_cannot_express_are_refused(problem: Problem, code: str, place: str) -> None:
    with pytest.raises(BadInput) as caught:
        write_usmp(problem)
    assert [(str(f.code), f.pointer) for f in caught.value.findings] == [(code, place)]
