"""memplan/1: its fields, their meaning, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from planner.model.problem import Buffer, Colocation, Constraints, Fixed, Lifetimes, Pool, Problem, ReusePenalty
from solvers.model.instance import Term
from tests.planner.formats.reading import corpus, encoded, problem, read, refusal, wrong

EMPTY: dict[str, Any] = {"format": "memplan/1", "buffers": []}


def test_every_field_is_read() -> None:
    document = {
        "format": "memplan/1",
        "name": "all of it",
        "lifetimes": "inclusive",
        "pools": [
            {
                "name": "fast",
                "size": 4096,
                "alignment": 16,
                "base": 64,
                "reserved": [[8, 16], [0, 8], [32, 32]],
                "cost": 3,
            },
            {"name": "slow", "size": None, "rank": 7},
        ],
        "buffers": [
            {
                "id": "a",
                "size": 10,
                "alignment": 2,
                "live": [[5, 6], [0, 1], [2, 2]],
                "pools": ["slow", "fast"],
                "fixed": {"pool": "slow", "offset": 2},
                "hint": 32,
                "max_offset": 64,
                "kind": "input",
                "accesses": 9,
            },
            {"id": 1, "size": 0},
            {"id": "1", "size": 5, "fixed": {"pool": "fast"}},
            {"id": -2, "size": 2},
        ],
        "constraints": {
            "conflicts": [["a", 1]],
            "exclusions": [["1", 1]],
            "colocations": [{"buffer": 1, "base": "1", "offset": 16}],
            "same_pool": [["1", 1]],
            "different_pool": [["a", 1]],
            "reuse_penalties": [{"first": "a", "second": "1", "cost": 5}],
        },
        "objective": {"terms": ["access_cost", "reuse_cost"]},
    }
    assert read(document) == Problem(
        name="all of it",
        lifetimes=Lifetimes.INCLUSIVE,
        pools=(
            Pool("fast", 4096, 16, 64, ((0, 16),), 3, 0),
            Pool("slow", None, rank=7),
        ),
        buffers=(
            Buffer("a", 10, 2, ((0, 3), (5, 7)), ("slow", "fast"), Fixed("slow", 2), 32, 64, "input", 9),
            Buffer(1, 0),
            Buffer("1", 5, fixed=Fixed("fast")),
            Buffer(-2, 2),
        ),
        constraints=Constraints(
            conflicts=(("a", 1),),
            exclusions=(("1", 1),),
            colocations=(Colocation(1, "1", 16),),
            same_pool=(("1", 1),),
            different_pool=(("a", 1),),
            reuse_penalties=(ReusePenalty("a", "1", 5),),
        ),
        terms=(Term.ACCESS_COST, Term.REUSE_COST),
    )


def test_missing_fields_have_their_defaults() -> None:
    assert read(EMPTY) == Problem(())
    nulls = {"id": 1, "size": 1, **dict.fromkeys(("live", "pools", "fixed", "hint", "max_offset", "kind"))}
    document = {**EMPTY, "name": None, "lifetimes": None, "buffers": [nulls], "constraints": {}, "objective": {}}
    assert read(document) == Problem((Buffer(1, 1),))


def test_half_open_intervals_may_be_empty_and_touch() -> None:
    assert read(problem({"id": 1, "live": [[5, 5]]})).buffers[0].live == ()
    assert read(problem({"id": 1, "live": []})).buffers[0].live == ()
    assert read(problem({"id": 1, "live": [[3, 5], [0, 3], [7, 9]]})).buffers[0].live == ((0, 5), (7, 9))


@pytest.mark.parametrize("live", [[[3, 2]], [[0, 1], [5, -5]]])
@pytest.mark.parametrize("lifetimes", ["half_open", "inclusive"])
def test_an_end_before_its_start_is_refused(live: list[list[int]], lifetimes: str) -> None:
    place = f"/buffers/0/live/{len(live) - 1}"
    assert wrong(problem({"id": 1, "live": live}, lifetimes=lifetimes)) == [("interval_reversed", place)]


def test_an_inclusive_interval_cannot_be_empty() -> None:
    assert wrong(problem({"id": 1, "live": [[3, 2]]}, lifetimes="inclusive")) == [
        ("interval_reversed", "/buffers/0/live/0")
    ]
    assert read(problem({"id": 1, "live": [[3, 3]]}, lifetimes="inclusive")).buffers[0].live == ((3, 4),)


def test_lifetimes_must_be_declared_as_soon_as_a_buffer_lives() -> None:
    document = {**EMPTY, "buffers": [{"id": 1, "size": 1, "live": [[0, 1]]}]}
    assert wrong(document) == [("lifetimes_missing", "/lifetimes")]


def test_numbers_beyond_the_range_are_refused() -> None:
    top = 1 << 62
    read(problem({"id": 1, "live": [[-top, top]]}))
    assert wrong(problem({"id": 1, "live": [[-top, top + 1]]})) == [("out_of_range", "/buffers/0/live/0/1")]
    assert wrong(problem({"id": 1, "live": [[-top - 1, 0]]})) == [("out_of_range", "/buffers/0/live/0/0")]
    read(problem({"id": 1, "live": [[0, top - 1]]}, lifetimes="inclusive"))
    assert wrong(problem({"id": 1, "live": [[0, top]]}, lifetimes="inclusive")) == [
        ("out_of_range", "/buffers/0/live/0/1")
    ]
    assert wrong(problem({"id": 1, "size": top + 1})) == [("out_of_range", "/buffers/0/size")]
    assert wrong(problem({"id": 1, "size": -1})) == [("out_of_range", "/buffers/0/size")]
    assert wrong(problem({"id": 1, "size": top})) == [("too_large", "/buffers")]


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("size", "8", "wrong_type"),
        ("size", True, "wrong_type"),
        ("size", 8.0, "wrong_type"),
        ("size", 1e3, "wrong_type"),
        ("size", None, "wrong_type"),
        ("size", [8], "wrong_type"),
        ("id", True, "wrong_type"),
        ("id", 1.0, "wrong_type"),
        ("id", None, "wrong_type"),
        ("id", [1], "wrong_type"),
        ("id", "", "wrong_type"),
        ("alignment", 0, "out_of_range"),
        ("alignment", -4, "out_of_range"),
        ("alignment", None, "wrong_type"),
        ("live", {}, "wrong_type"),
        ("live", "0-3", "wrong_type"),
        ("pools", "default", "wrong_type"),
        ("pools", [], "invalid_value"),
        ("fixed", 0, "wrong_type"),
        ("hint", -1, "out_of_range"),
        ("max_offset", -1, "out_of_range"),
        ("kind", 1, "wrong_type"),
        ("accesses", -1, "out_of_range"),
        ("accesses", None, "wrong_type"),
        ("colour", "red", "unknown_field"),
        ("size_range", [1, 2], "invalid_value"),
        ("variants", [], "not_supported_yet"),
        ("extensions", {}, "not_supported_yet"),
    ],
)
def test_a_bad_field_of_a_buffer_is_named(field: str, value: Any, code: str) -> None:
    assert wrong(problem({"id": "x", field: value})) == [(code, f"/buffers/0/{field}")]


@pytest.mark.parametrize(
    ("extra", "code", "place"),
    [
        ({"pools": []}, "invalid_value", "/pools"),
        ({"pools": None}, "wrong_type", "/pools"),
        ({"pools": [{}]}, "missing_field", "/pools/0/name"),
        ({"pools": [{"name": ""}]}, "invalid_value", "/pools/0/name"),
        ({"pools": [{"name": "a"}, {"name": "a"}]}, "duplicate_id", "/pools/1/name"),
        ({"pools": [{"name": "a", "size": -1}]}, "out_of_range", "/pools/0/size"),
        ({"pools": [{"name": "a", "alignment": 0}]}, "out_of_range", "/pools/0/alignment"),
        ({"pools": [{"name": "a", "alignment": 16, "base": 8}]}, "contradiction", "/pools/0/base"),
        ({"pools": [{"name": "a", "reserved": [[4, 3]]}]}, "interval_reversed", "/pools/0/reserved/0"),
        ({"pools": [{"name": "a", "reserved": [[4]]}]}, "invalid_value", "/pools/0/reserved/0"),
        ({"pools": [{"name": "a", "cost": -1}]}, "out_of_range", "/pools/0/cost"),
        ({"pools": [{"name": "a", "variants": 1}]}, "not_supported_yet", "/pools/0/variants"),
        ({"lifetimes": "closed"}, "invalid_value", "/lifetimes"),
        ({"name": 5}, "wrong_type", "/name"),
        ({"buffers": None}, "wrong_type", "/buffers"),
        ({"buffers": [3]}, "wrong_type", "/buffers/0"),
        ({"size_range": 1}, "not_supported_yet", "/size_range"),
        ({"variants": 1}, "wrong_type", "/variants"),
        ({"extensions": {}}, "not_supported_yet", "/extensions"),
        ({"x~/y": 1}, "unknown_field", "/x~0~1y"),
        ({"objective": {"terms": []}}, "invalid_value", "/objective/terms"),
        ({"objective": {"terms": ["peak"]}}, "invalid_value", "/objective/terms/0"),
        ({"objective": {"terms": ["reuse_cost", "reuse_cost"]}}, "invalid_value", "/objective/terms/1"),
        ({"objective": ["reuse_cost"]}, "wrong_type", "/objective"),
        ({"constraints": []}, "wrong_type", "/constraints"),
        ({"constraints": {"conflicts": [[1, 2, 3]]}}, "invalid_value", "/constraints/conflicts/0"),
        ({"constraints": {"conflicts": [[1, True]]}}, "wrong_type", "/constraints/conflicts/0/1"),
        ({"constraints": {"same_pool": [1]}}, "wrong_type", "/constraints/same_pool/0"),
        ({"constraints": {"same_pool": [[1, "b"]]}}, "unknown_buffer", "/constraints/same_pool/0/1"),
    ],
)
def test_a_bad_field_elsewhere_is_named(extra: dict[str, Any], code: str, place: str) -> None:
    assert wrong({**EMPTY, "buffers": [{"id": 1, "size": 1}], **extra}) == [(code, place)]


def test_unknown_names_are_named() -> None:
    document = problem(
        {"id": "a", "pools": ["p", "default"]},
        {"id": "b", "fixed": {"pool": "q"}},
        constraints={
            "conflicts": [["a", "x"]],
            "exclusions": [["x", "a"]],
            "colocations": [{"buffer": "x", "base": "y", "offset": 0}],
            "different_pool": [["a", "x"]],
            "reuse_penalties": [{"first": "x", "second": "a", "cost": 0}],
        },
    )
    assert set(wrong(document)) == {
        ("unknown_pool", "/buffers/0/pools/0"),
        ("unknown_pool", "/buffers/1/fixed/pool"),
        ("unknown_buffer", "/constraints/conflicts/0/1"),
        ("unknown_buffer", "/constraints/exclusions/0/0"),
        ("unknown_buffer", "/constraints/colocations/0/buffer"),
        ("unknown_buffer", "/constraints/colocations/0/base"),
        ("unknown_buffer", "/constraints/different_pool/0/1"),
        ("unknown_buffer", "/constraints/reuse_penalties/0/first"),
    }


def test_a_number_is_not_the_string_of_its_digits() -> None:
    read(problem({"id": 1}, {"id": "1"}))
    error = refusal(problem({"id": 1}, {"id": "a"}, constraints={"conflicts": [["1", "a"]]}))
    assert "number 1" in error.findings[0].message
    error = refusal(problem({"id": "1"}, {"id": "a"}, constraints={"conflicts": [[1, "a"]]}))
    assert "string '1'" in error.findings[0].message


@pytest.mark.parametrize(
    ("document", "code", "place"),
    [
        ({}, "unknown_format", ""),
        ({"buffers": []}, "unknown_format", ""),
        ({"format": "memplan/2", "buffers": 7}, "unknown_format", "/format"),
        ({"format": "memplan-plan/1"}, "unknown_format", "/format"),
        ({"format": None}, "unknown_format", "/format"),
        ([], "wrong_type", ""),
        (3, "unknown_format", ""),
        ({"format": "memplan/1"}, "missing_field", "/buffers"),
    ],
)
def test_other_documents_are_refused_once(document: Any, code: str, place: str) -> None:
    assert wrong(document) == [(code, place)]


@pytest.mark.parametrize("answer", ["memplan-plan/1", "memplan-frontier/1", "memplan-sharing/1"])
def test_a_refused_answer_names_the_command_that_takes_it(answer: str) -> None:
    assert "'memplan report'" in refusal({"format": answer}).findings[0].message


def test_an_unknown_format_name_is_a_bad_option() -> None:
    assert wrong(EMPTY, format="yaml") == [("invalid_option", "")]
    assert read(EMPTY).buffers == ()


@pytest.mark.parametrize(
    ("document", "listed", "more"),
    [
        ({**EMPTY, "buffers": [{"id": i, "size": -1} for i in range(20_000)]}, 20, 19_980),
        ({**EMPTY, "buffers": [{"id": i, "size": "1", "x": 0} for i in range(1_000)]}, 20, 1_980),
        ({**EMPTY, "buffers": [7] * 20_000}, 20, 19_980),
        ({**EMPTY, "buffers": [{"id": 1, "size": 1}] * 20_000}, 20, 19_979),
        ({**EMPTY, **{f"key {i}": i for i in range(4_000)}}, 20, 3_980),
        (problem({"id": 1, "live": [[1, "a"]] * 20_000}), 20, 19_980),
        (problem({"id": 1, "live": [[1, 0]] * 20_000}), 20, 19_980),
        ({**EMPTY, "constraints": {"conflicts": [1] * 20_000}}, 20, 19_980),
        ({**EMPTY, "constraints": {"same_pool": [[None] * 20_000]}}, 20, 19_980),
        ({**EMPTY, "constraints": {"conflicts": [[1, 2]] * 10_000}}, 20, 19_980),
        ({**EMPTY, "buffers": [{"id": 1, "size": 1, **{f"k{i}": 0 for i in range(3_000)}}]}, 20, 2_980),
    ],
)
def test_many_bad_items_are_counted(document: Any, listed: int, more: int) -> None:
    error = refusal(document)
    assert (len(error.findings), error.more) == (listed, more)


def test_long_texts_of_the_input_are_not_repeated() -> None:
    long = "x\x1b" * 100_000
    refusal({**EMPTY, long: 1, "name": [long], "buffers": [{"id": 1, "size": long, long: 1, "pools": [long]}]})
    refusal(problem({"id": long}, {"id": long}, constraints={"conflicts": [[long, long + "y"]]}))


@pytest.mark.parametrize("path", corpus("nets/*.json"))
def test_the_networks_of_the_corpus_are_read(path: Any) -> None:
    networks = read(encoded(path.read_bytes()))
    assert networks.lifetimes is Lifetimes.INCLUSIVE
    assert 31 <= len(networks.buffers) <= 1635


@pytest.mark.parametrize(
    ("pool", "code", "place"),
    [
        ({"read_latency_cycles": 3}, "missing_field", "/pools/0/clock_frequency_hz"),
        (
            {"clock_frequency_hz": 1, "write_bandwidth_bytes_per_cycle": 1},
            "missing_field",
            "/pools/0/read_bandwidth_bytes_per_cycle",
        ),
        ({"clock_frequency_hz": 0}, "out_of_range", "/pools/0/clock_frequency_hz"),
        ({"target_burst_bytes": {"c": 8}}, "wrong_type", "/pools/0/target_burst_bytes"),
        ({"read_only": 1}, "wrong_type", "/pools/0/read_only"),
    ],
)
def test_an_incomplete_speed_is_refused(pool: dict[str, Any], code: str, place: str) -> None:
    assert wrong({**EMPTY, "pools": [{"name": "p", **pool}]}) == [(code, place)]


@pytest.mark.parametrize(("data", "code"), [("?", "invalid_value"), ("é", "invalid_value"), (7, "wrong_type")])
def test_data_must_be_base64(data: Any, code: str) -> None:
    assert wrong(problem({"id": 1, "kind": "constant", "data": data})) == [(code, "/buffers/0/data")]


@pytest.mark.parametrize(
    ("wrong_one", "meant"),
    [
        ({"bufers": []}, "buffers"),
        ({"buffers": [{"id": 1, "szie": 1, "size": 1}]}, "size"),
        ({"pools": [{"name": "a", "algnment": 1}]}, "alignment"),
        ({"constraints": {"conflict": []}}, "conflicts"),
        ({"objective": {"term": []}}, "terms"),
        ({"buffers": [{"id": 1, "size": 1, "colour": 1}]}, None),
    ],
)
def test_the_field_that_a_misspelt_one_may_mean_is_named(wrong_one: dict[str, Any], meant: str | None) -> None:
    message = refusal({**EMPTY, **wrong_one}).findings[0].message
    assert message.startswith("there is no field '")
    assert message.endswith("here" if meant is None else f"here; did you mean '{meant}'?")
