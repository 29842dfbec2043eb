"""Numbers, sums and lengths of names that are out of range are refused."""

from __future__ import annotations

import pytest

from planner.checks import check, examine, require_sound
from planner.model.errors import BadInput, Code
from planner.model.problem import Fixed, Pool, Problem, ReusePenalty
from solvers.model.instance import Term
from tests.planner.checks.made import TOP, at, follows, found, make, problem


@pytest.mark.parametrize(
    ("bad", "code", "place"),
    [
        (problem(make("a"), make("a")), "duplicate_id", "/buffers/1/id"),
        (problem(make(True)), "wrong_type", "/buffers/0/id"),
        (problem(make("")), "wrong_type", "/buffers/0/id"),
        (problem(make(TOP + 1)), "out_of_range", "/buffers/0/id"),
        (problem(make("a", -1)), "out_of_range", "/buffers/0/size"),
        (problem(make("a", 1.5)), "wrong_type", "/buffers/0/size"),  # type: ignore[arg-type]
        (problem(make("a", alignment=0)), "out_of_range", "/buffers/0/alignment"),
        (problem(make("a", live=((3, 2),))), "interval_reversed", "/buffers/0/live/0"),
        (problem(make("a", live=((0, TOP + 1),))), "out_of_range", "/buffers/0/live/0/1"),
        (problem(make("a", pools=())), "invalid_value", "/buffers/0/pools"),
        (problem(make("a", pools=("x",))), "unknown_pool", "/buffers/0/pools/0"),
        (problem(make("a", pools=("default", "default"))), "invalid_value", "/buffers/0/pools/1"),
        (problem(make("a", fixed=Fixed("x"))), "unknown_pool", "/buffers/0/fixed/pool"),
        (problem(at("a", -1)), "out_of_range", "/buffers/0/fixed/offset"),
        (problem(make("a", hint=-1)), "out_of_range", "/buffers/0/hint"),
        (problem(make("a", accesses=True)), "wrong_type", "/buffers/0/accesses"),
        (problem(pools=()), "invalid_value", "/pools"),
        (problem(pools=(Pool("p"), Pool("p"))), "duplicate_id", "/pools/1/name"),
        (problem(pools=(Pool(""),)), "invalid_value", "/pools/0/name"),
        (problem(pools=(Pool("p", alignment=16, base=8),)), "contradiction", "/pools/0/base"),
        (problem(pools=(Pool("p", reserved=((3, 2),)),)), "interval_reversed", "/pools/0/reserved/0"),
        (problem(make("a"), conflicts=(("a", "x"),)), "unknown_buffer", "/constraints/conflicts/0/1"),
        (problem(make("a"), listed=(("a", "a"), ("a", "x"))), "unknown_buffer", "/constraints/listed/1/1"),
        (
            problem(make("a"), make("b"), colocations=follows(("a", "b", -1))),
            "out_of_range",
            "/constraints/colocations/0/offset",
        ),
        (
            problem(make("a"), make("b"), reuse_penalties=(ReusePenalty("a", "b", -1),)),
            "out_of_range",
            "/constraints/reuse_penalties/0/cost",
        ),
        (Problem((), terms=()), "invalid_value", "/objective/terms"),
        (Problem((), terms=(Term.REUSE_COST,) * 2), "invalid_value", "/objective/terms/1"),
    ],
)
def test_numbers_and_names_are_checked(bad: Problem, code: str, place: str) -> None:
    assert [(f.code, f.pointer) for f in check(bad)] == [(code, place)]


def test_findings_are_listed_up_to_a_number_and_counted_beyond() -> None:
    bad = problem(*[make("a")] * 1001)
    assert len(check(bad)) == 20
    assert examine(bad).found == 1000
    with pytest.raises(BadInput) as caught:
        require_sound(bad)
    assert (len(caught.value.findings), caught.value.more) == (20, 980)


@pytest.mark.parametrize(
    ("large", "place"),
    [
        (problem(make("a", TOP // 2), make("b", TOP // 2)), "/buffers"),
        (problem(make("a", TOP)), "/buffers"),
        (problem(make("a", alignment=TOP)), "/buffers"),
        (problem(make("a", alignment=(1 << 40) + 1), pools=(Pool("p", alignment=1 << 40),)), "/buffers"),
        (problem(at("a", TOP - 8)), "/buffers"),
        (problem(make("a"), make("b"), colocations=follows(("a", "b", TOP))), "/buffers"),
        (problem(make("a"), pools=(Pool("p", reserved=((TOP - 1, TOP),)),)), "/pools/0/reserved"),
        (problem(make("a", 1 << 40), pools=(Pool("p", cost=1 << 40),)), "/pools"),
        (problem(make("a", accesses=1 << 61), pools=(Pool("p", rank=4),), terms=(Term.ACCESS_COST,)), "/buffers"),
        (problem(make("a", 1 << 60), pools=(Pool("p", 1 << 61, rank=4),), terms=(Term.SPILLED_BYTES,)), "/pools"),
        (
            problem(make("a", 1 << 40), pools=(Pool("p", 1 << 50),), terms=(Term.BALANCED,), peak_price=1 << 30),
            "/objective/peak_price",
        ),
        (
            problem(make("a"), make("b"), reuse_penalties=(ReusePenalty("a", "b", TOP // 2),) * 2),
            "/constraints/reuse_penalties",
        ),
    ],
)
def test_sums_beyond_the_number_range_are_refused(large: Problem, place: str) -> None:
    first = check(large)[0]
    assert (first.code, first.pointer) == (Code.TOO_LARGE, place)


def test_large_numbers_within_the_range_are_accepted() -> None:
    assert found(*(make(i, 1 << 40) for i in range(1000))) == []
    assert found(make("a", TOP // 2 - 8), make("b", TOP // 2 - 8)) == []
    assert found(make("a"), pools=(Pool("p", TOP - 1, reserved=((TOP - 2, TOP - 1),)),)) == []
    assert found(make("a", accesses=TOP)) == []


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        (Problem((make("a"),), name="n" * 1025), "/name"),
        (problem(make("b" * 1025)), "/buffers/0/id"),
        (problem(make("a"), pools=(Pool("p" * 1025),)), "/pools/0/name"),
        (problem(make("a", kind="k" * 1025)), "/buffers/0/kind"),
        (problem(make("a", device="d" * 1025)), "/buffers/0/device"),
        (problem(make("a", dtype="t" * 1025)), "/buffers/0/dtype"),
    ],
)
def test_names_and_ids_have_a_greatest_length(wrong: Problem, pointer: str) -> None:
    assert [(found.code, found.pointer) for found in check(wrong)] == [(Code.TOO_LARGE, pointer)]


def test_names_and_ids_of_the_greatest_length_are_accepted() -> None:
    named = Problem((make("b" * 1024),), pools=(Pool("p" * 1024),), name="n" * 1024)
    assert not check(named)


def test_an_unknown_name_among_many_is_refused() -> None:
    buffers = [make(0), make(1), make("a")]
    assert found(*buffers, same_pool=((0, 1, "a"), (0, True))) == [("unknown_buffer", "/constraints/same_pool/1/1")]
    assert found(*buffers, different_pool=((0, 1), ("a", "b"))) == [
        ("unknown_buffer", "/constraints/different_pool/1/1")
    ]


def test_a_wrong_range_among_many_is_refused() -> None:
    for wrong, code in (((9, 8), "interval_reversed"), ((9, 1 << 63), "out_of_range"), ((9, True), "wrong_type")):
        [(found_code, place)] = found(make(0, live=((0, 1), (2, 3), wrong)))
        assert found_code == code
        assert place.startswith("/buffers/0/live/2")
