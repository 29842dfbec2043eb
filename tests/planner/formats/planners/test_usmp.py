"""Problems in the JSON of TVM's USMP are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner import Options, Preference, plan
from planner.formats import read_problem, write_problem
from planner.formats.planners.usmp import SPEEDS
from planner.model.problem import Buffer, Constraints, Fixed, Lifetimes, Pool, Problem, Speed
from tests.planner.formats.reading import corpus, read, refusal, wrong


def buffer(name: str, *conflicts: str, **rest: Any) -> dict[str, Any]:
    return {"name_hint": name, "size_bytes": 8, "alignment": 4, "conflicts": list(conflicts), **rest}


def document(*buffers: dict[str, Any], **rest: Any) -> dict[str, Any]:
    pools = [{"pool_name": "fast", "size_hint_bytes": 100}, {"pool_name": "slow", "size_hint_bytes": -1}]
    return {"name": "n", "pools": pools, "buffers": list(buffers), **rest}


def test_conflicts_become_symmetric() -> None:
    problem, warnings = read_problem(
        json.dumps(
            document(
                buffer("a", "b", "a", "c"),
                buffer("b", pool_candidates=["slow", "fast"], kind="input"),
                buffer("c", "a", "b"),
                memory_pressure=5,
                expected_peak={},
                note="x",
            )
        ).encode()
    )
    assert problem == Problem(
        (Buffer("a", 8, 4), Buffer("b", 8, 4, pools=("slow", "fast"), kind="input"), Buffer("c", 8, 4)),
        (Pool("fast", 100, rank=0), Pool("slow", None, rank=1)),
        Constraints(conflicts=(("a", "b"), ("a", "c"), ("b", "c"))),
        name="n",
    )
    assert warnings == ("ignored, because no part of the problem: expected_peak, note",)


def test_every_field_of_pool_info_and_buffer_info_is_read() -> None:
    pool = {
        "pool_name": "sram",
        "size_hint_bytes": -1,
        "clock_frequency_hz": 10**9,
        "read_bandwidth_bytes_per_cycle": 16,
        "write_bandwidth_bytes_per_cycle": -1,
        "read_latency_cycles": 0,
        "write_latency_cycles": None,
        "target_burst_bytes": {"c": 8, "ethos-u": 0},
    }
    given = document(
        *(buffer(f"b{kind}", kind=kind, pool_candidates=["sram"]) for kind in (0, 1, 2, "workspace")),
        pools=[pool, {**pool, "pool_name": "flash", "target_burst_bytes": 64}],
        memory_pressure=None,
    )
    problem, warnings = read_problem(json.dumps(given).encode())
    assert [b.kind for b in problem.buffers] == ["intermediate", "input", "output", "workspace"]
    assert problem.pools == (Pool("sram", None, rank=0), Pool("flash", None, rank=1))
    assert warnings == (SPEEDS,)


def test_speeds_constants_and_uses_survive_reading_and_writing() -> None:
    speed = {"clock_frequency_hz": 10**9, "read_bandwidth_bytes_per_cycle": 16, "write_bandwidth_bytes_per_cycle": 8}
    rest = {"read_latency_cycles": 3, "write_latency_cycles": -1, "target_burst_bytes": {"c": 8, "ethos-u": 64}}
    constants = [
        {"name_hint": "w", "byte_alignment": 16, "byte_offset": -1, "data": "AAECAw=="},
        {"name_hint": "v", "byte_offset": 32, "size_bytes": 8},
    ]
    pools = [
        {"pool_name": "sram", "size_hint_bytes": 64, **speed, **rest},
        {"pool_name": "flash", **speed, "constant_info_arr": constants},
    ]
    given = document(
        buffer("a", reads=3, writes=1, accesses=2), buffer("b", kind="constant", data="AAECAwQFBgc="), pools=pools
    )
    problem, warnings = read_problem(json.dumps(given).encode())
    assert warnings == ()
    assert problem.pools == (
        Pool("sram", 64, rank=0, speed=Speed(10**9, 16, 8, 3, 0, 64)),
        Pool("flash", None, rank=1, speed=Speed(10**9, 16, 8), read_only=True),
    )
    assert problem.buffers == (
        Buffer("a", 8, 4, accesses=2, reads=3, writes=1),
        Buffer("b", 8, 4, kind="constant", data=bytes(range(8))),
        Buffer("w", 4, 16, fixed=Fixed("flash"), kind="constant", data=bytes(range(4))),
        Buffer("v", 8, fixed=Fixed("flash", 32), kind="constant"),
    )
    assert read_problem(write_problem(problem)) == (problem, ())
    made = plan(problem, Options(prefer=Preference.SPEED))
    assert {place.id: place.pool for place in made.placements} == {
        "a": "sram",
        "b": "flash",
        "w": "flash",
        "v": "flash",
    }


def test_a_list_of_constants_that_is_null_is_not_there() -> None:
    pools = [{"pool_name": "sram", "constant_info_arr": None}]
    assert read(document(buffer("a"), pools=pools)).pools == (Pool("sram"),)
    error = refusal(
        document(buffer("a", pool_candidates=["rom"]), pools=[{"pool_name": "rom", "constant_info_arr": []}])
    )
    assert error.findings[0].message == "buffer 'a' is no constant, but all pools that it may use are read-only"


@pytest.mark.parametrize(("lifetimes", "extra"), [("inclusive", 1), ("half_open", 0)])
def test_intervals_are_read(lifetimes: str, extra: int) -> None:
    problem = read({"name": "n", "lifetimes": lifetimes, "intervals": [[0, 3, 8], [2, 4, 0]]})
    assert problem.buffers == (Buffer(0, 8, live=((0, 3 + extra),)), Buffer(1, 0, live=((2, 4 + extra),)))
    assert problem.lifetimes is Lifetimes(lifetimes)
    assert problem.pools == (Pool("default"),)


def test_unknown_fields_are_warned_of_once() -> None:
    speedy = {"pool_name": "p", "size_hint_bytes": None, "read_latency_cycles": 3, "colour": "red"}
    given = document(buffer("a", speed=1), buffer("b", speed=2), pools=[speedy], origin="\x1b[31mhere")
    _, warnings = read_problem(json.dumps(given).encode())
    assert warnings == ("ignored, because their meaning is not known: origin, colour, speed", SPEEDS)
    _, warnings = read_problem(json.dumps(document(buffer("a"), **{f"\x1b{i}" * 300: 1 for i in range(40)})).encode())
    assert all(len(warning) < 300 and warning.isprintable() for warning in warnings)


@pytest.mark.parametrize(
    ("given", "code", "place"),
    [
        (document(buffer("a", "x")), "unknown_buffer", "/buffers/0/conflicts/0"),
        (document(buffer("a"), buffer("a")), "duplicate_id", "/buffers/1/name_hint"),
        (document(buffer("a", pool_candidates=["x"])), "unknown_pool", "/buffers/0/pools/0"),
        (document(buffer("a", size_bytes="8")), "wrong_type", "/buffers/0/size_bytes"),
        (document(buffer("a", kind=3)), "out_of_range", "/buffers/0/kind"),
        (document(buffer("a", kind=True)), "wrong_type", "/buffers/0/kind"),
        (document(buffer("a"), memory_pressure="5"), "wrong_type", "/memory_pressure"),
        (
            document(buffer("a"), pools=[{"pool_name": "p", "clock_frequency_hz": 1.5}]),
            "wrong_type",
            "/pools/0/clock_frequency_hz",
        ),
        (
            document(buffer("a"), pools=[{"pool_name": "p", "read_latency_cycles": -2}]),
            "out_of_range",
            "/pools/0/read_latency_cycles",
        ),
        (
            document(buffer("a"), pools=[{"pool_name": "p", "target_burst_bytes": "8"}]),
            "wrong_type",
            "/pools/0/target_burst_bytes",
        ),
        (
            document(buffer("a"), pools=[{"pool_name": "p", "target_burst_bytes": {"c": -8}}]),
            "out_of_range",
            "/pools/0/target_burst_bytes",
        ),
        (
            document(buffer("a"), pools=[{"pool_name": "p", "size_hint_bytes": -2}]),
            "out_of_range",
            "/pools/0/size_hint_bytes",
        ),
        (
            document(
                buffer("a"), pools=[{"pool_name": "p", "constant_info_arr": [{"name_hint": "a", "size_bytes": 1}]}]
            ),
            "duplicate_id",
            "/pools/0/constant_info_arr/0/name_hint",
        ),
        (
            document(pools=[{"pool_name": "p", "constant_info_arr": [{"name_hint": "w"}]}]),
            "missing_field",
            "/pools/0/constant_info_arr/0/size_bytes",
        ),
        (document(buffer("a", kind="constant", data="?")), "invalid_value", "/buffers/0/data"),
        ({"lifetimes": "inclusive", "intervals": [[3, 1, 8]]}, "interval_reversed", "/intervals/0"),
        ({"lifetimes": "inclusive", "intervals": [[3, 1 << 62, 8]]}, "out_of_range", "/intervals/0/1"),
        ({"lifetimes": "inclusive", "intervals": [[0, 1, -8]]}, "out_of_range", "/intervals/0/2"),
        ({"lifetimes": "inclusive", "intervals": [[0, 1]]}, "invalid_value", "/intervals/0"),
        ({"intervals": [[0, 1, 1]]}, "missing_field", "/lifetimes"),
    ],
)
def test_wrong_fields_are_named(given: Any, code: str, place: str) -> None:
    assert wrong(given) == [(code, place)]


def test_many_bad_rows_are_counted() -> None:
    error = refusal({"lifetimes": "inclusive", "intervals": [[0, 1, "x"]] * 2000})
    assert (len(error.findings), error.more) == (20, 1980)


@pytest.mark.parametrize("path", corpus("usmp/*.json"))
def test_the_corpus_is_read_and_its_expected_results_ignored(path: Path) -> None:
    given = json.loads(path.read_bytes())
    problem, warnings = read_problem(path.read_bytes(), name=path.name)
    assert len(problem.buffers) == len(given.get("buffers", given.get("intervals")))
    (warning,) = warnings
    assert warning.startswith("ignored, because no part of the problem: expected")
