"""A problem that contradicts itself is refused as bad input; one that merely does not fit is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from planner.checks import require_sound
from planner.checks.fixed import MOST_COUNTED
from planner.model.errors import BadInput
from planner.model.problem import Buffer, Colocation, Constraints, Fixed, Pool, Problem, ReusePenalty
from tests.planner.checks.made import TWO, at, follows, found, make

# Fixed buffers


@pytest.mark.parametrize(
    ("first", "second", "rest"),
    [
        (at("a", 0), at("b", 8), {}),
        (at("a", 0), at("b", 4, live=((10, 20),)), {}),
        (at("a", 0), at("b", 4, live=None), {}),
        (at("a", 0), at("b", 4, live=()), {}),
        (at("a", 0), at("b", 4, live=((5, 5),)), {}),
        (at("a", 0), at("b", 4, live=((-3, 0), (10, 11))), {}),
        (at("a", 0), at("b", 4, size=0), {}),
        (at("a", 0), at("b", 4), {"exclusions": (("b", "a"),)}),
        (at("a", 0, pool="p"), at("b", 4, pool="q"), {"pools": TWO}),
        (at("a", 0), at("b", 4), {"colocations": follows(("b", "a", 4))}),
        (at("a", 0), at("b", 8, live=None), {"conflicts": (("a", "b"),)}),
        (at("a", 0), at("b", 4, size=0), {"conflicts": (("a", "b"),)}),
        (at("a", 0), make("b", fixed=Fixed("default")), {}),
    ],
)
def test_compatible_fixed_buffers_are_accepted(first: Buffer, second: Buffer, rest: dict[str, Any]) -> None:
    assert found(first, second, **rest) == []


@pytest.mark.parametrize(
    ("first", "second", "rest", "place"),
    [
        (at("a", 0), at("b", 4), {}, "/buffers/1/fixed"),
        (at("a", 4), at("b", 0), {}, "/buffers/1/fixed"),
        (at("a", 0), at("b", 7, live=((-3, -2), (9, 20))), {}, "/buffers/1/fixed"),
        (at("a", 0), at("b", 2, size=1), {}, "/buffers/1/fixed"),
        (at("a", 0), at("b", 4, live=((10, 20),)), {"conflicts": (("b", "a"),)}, "/constraints/conflicts/0"),
        (at("a", 0, live=None), at("b", 4, live=None), {"conflicts": (("a", "b"),)}, "/constraints/conflicts/0"),
        (at("a", 0, pool="p"), at("b", 4, pool="p"), {"pools": TWO}, "/buffers/1/fixed"),
        (at("a", 0), at("b", 4), {"exclusions": (("b", "c"),)}, "/buffers/1/fixed"),
    ],
)
def test_overlapping_fixed_buffers_that_conflict_are_refused(
    first: Buffer, second: Buffer, rest: dict[str, Any], place: str
) -> None:
    third = make("c")
    assert found(first, second, third, **rest) == [("contradiction", place)]


def test_overlaps_are_counted_up_to_a_limit() -> None:
    """500 buffers at one place overlap in 124 750 pairs."""
    with pytest.raises(BadInput) as refused:
        require_sound(Problem(tuple(at(f"b{i}", 0) for i in range(500))))
    assert len(refused.value.findings) + refused.value.more == MOST_COUNTED


@pytest.mark.parametrize(
    ("buffer", "pool"),
    [
        (at("a", 93, pool="p"), Pool("p", 100)),
        (at("a", 101, size=0, pool="p"), Pool("p", 100)),
        (at("a", 4, pool="p"), Pool("p", 100, reserved=((0, 5),))),
        (at("a", 4, pool="p"), Pool("p", 100, reserved=((20, 30), (11, 12), (0, 1)))),
        (at("a", 4, pool="p", alignment=3), Pool("p", 100)),
        (at("a", 6, pool="p", alignment=3), Pool("p", 100, alignment=4)),
        (at("a", 8, pool="p", alignment=16), Pool("p", 100, base=16)),
        (at("a", 8, pool="p", max_offset=7), Pool("p", 100)),
        (make("a", fixed=Fixed("p"), pools=("q",)), Pool("p", 100)),
    ],
)
def test_a_fixed_buffer_in_a_forbidden_place_is_refused(buffer: Buffer, pool: Pool) -> None:
    [(code, place)] = found(buffer, pools=(pool, Pool("q", rank=1)))
    assert code == "contradiction"
    assert place.startswith("/buffers/0/fixed/")


@pytest.mark.parametrize(
    ("buffer", "pool"),
    [
        (at("a", 92, pool="p"), Pool("p", 100)),
        (at("a", 100, size=0, pool="p"), Pool("p", 100)),
        (at("a", 5, pool="p"), Pool("p", 100, reserved=((0, 5), (13, 20)))),
        (at("a", 5, size=0, pool="p"), Pool("p", 100, reserved=((0, 10),))),
        (at("a", 12, pool="p", alignment=3), Pool("p", 100, alignment=4)),
        (at("a", 8, pool="p", alignment=16), Pool("p", 100, base=8)),
        (at("a", 8, pool="p", max_offset=8), Pool("p", 100)),
    ],
)
def test_a_fixed_buffer_in_an_allowed_place_is_accepted(buffer: Buffer, pool: Pool) -> None:
    assert found(buffer, pools=(pool, Pool("q", rank=1))) == []


def test_a_lack_of_room_is_no_contradiction() -> None:
    assert found(make("a", 1000), pools=(Pool("p", 100),)) == []
    assert found(make("a", 60), make("b", 60), pools=(Pool("p", 100),)) == []
    assert found(make("a", 60), pools=(Pool("p", 100, reserved=((50, 51),)),)) == []
    assert found(make("a", max_offset=0), make("b", max_offset=0)) == []
    assert found(make("a"), make("b"), different_pool=(("a", "b"),)) == []
    assert found(make("a", pools=("p",)), make("b", pools=("q",)), pools=TWO, same_pool=(("a", "b"),)) == []
    assert found(make("a", alignment=64, max_offset=3), pools=(Pool("p", base=8),)) == []


# Pairs


def test_conflicting_pairs_must_not_exclude_each_other() -> None:
    conflicts = (("a", "b"), ("b", "c"))
    found_here = found(make("a"), make("b"), make("c"), conflicts=conflicts, exclusions=(("a", "c"), ("b", "a")))
    assert found_here == [("contradiction", "/constraints/exclusions/1")]


@pytest.mark.parametrize(
    ("constraints", "place"),
    [
        ({"conflicts": (("a", "a"),)}, "conflicts/0"),
        ({"exclusions": (("a", "b"), ("a", "a"))}, "exclusions/1"),
        ({"colocations": follows(("a", "a", 0))}, "colocations/0"),
        ({"reuse_penalties": (ReusePenalty("a", "a", 1),)}, "reuse_penalties/0"),
        ({"different_pool": (("a", "b", "a"),)}, "different_pool/0/2"),
    ],
)
def test_no_buffer_is_related_to_itself(constraints: dict[str, Any], place: str) -> None:
    assert found(make("a"), make("b"), **constraints) == [("self_reference", f"/constraints/{place}")]


def test_doubled_pairs_are_harmless() -> None:
    pairs = (("a", "b"), ("b", "a"), ("a", "b"))
    assert found(make("a"), make("b"), conflicts=pairs) == []
    assert found(make("a"), make("b"), exclusions=pairs, same_pool=(("a", "a"), (), ("b",))) == []


# Colocations


@pytest.mark.parametrize(
    ("ties", "code", "place"),
    [
        (follows(("a", "b", 0), ("b", "a", 0)), "cyclic_colocation", 1),
        (follows(("a", "b", 0), ("b", "c", 4), ("c", "d", 0), ("d", "b", 0)), "cyclic_colocation", 3),
        (follows(("c", "a", 0), ("a", "b", 0), ("a", "d", 0), ("d", "a", 0)), "cyclic_colocation", 3),
        (follows(("a", "b", 4), ("a", "b", 5)), "contradiction", 1),
        (follows(("a", "b", 4), ("b", "c", 4), ("a", "c", 9)), "contradiction", 2),
        (follows(("a", "c", 4), ("a", "d", 0), ("b", "c", 4), ("b", "d", 1)), "contradiction", 3),
    ],
)
def test_contradictory_colocations_are_refused(ties: tuple[Colocation, ...], code: str, place: int) -> None:
    findings = found(*map(make, "abcd"), colocations=ties)
    assert findings[0][0] == code
    if code == "cyclic_colocation":
        assert findings[0] == (code, f"/constraints/colocations/{place}")
    else:
        assert len(findings) == 1


@pytest.mark.parametrize(
    "ties",
    [
        follows(("a", "b", 4), ("a", "b", 4)),
        follows(("a", "b", 4), ("b", "c", 4), ("a", "c", 8)),
        follows(("a", "c", 4), ("a", "d", 0), ("b", "c", 5), ("b", "d", 1)),
        follows(("a", "b", 0), ("b", "c", 0), ("d", "c", 0)),
    ],
)
def test_consistent_colocations_are_accepted(ties: tuple[Colocation, ...]) -> None:
    assert found(*map(make, "abcd"), colocations=ties) == []


def test_two_circles_are_both_named() -> None:
    ties = follows(("a", "b", 0), ("b", "a", 0), ("c", "d", 0), ("d", "c", 0), ("a", "c", 0))
    assert [code for code, _ in found(*map(make, "abcd"), colocations=ties)].count("cyclic_colocation") == 2


def test_a_long_chain_does_not_recurse() -> None:
    many = [make(i) for i in range(20_000)]
    chain = [(i + 1, i, 1) for i in range(len(many) - 1)]
    assert found(*many, colocations=follows(*chain)) == []
    [(code, _)] = found(*many, colocations=follows(*chain, (0, len(many) - 1, 0)))[:1]
    assert code == "cyclic_colocation"


def test_a_conflict_inside_a_group_must_be_possible() -> None:
    conflicts = (("a", "b"),)
    overlapping = found(make("a"), make("b"), colocations=follows(("a", "b", 7)), conflicts=conflicts)
    assert overlapping == [("contradiction", "/constraints/conflicts/0")]
    assert found(make("a"), make("b"), colocations=follows(("a", "b", 8)), conflicts=conflicts) == []
    assert found(make("a", 0), make("b"), colocations=follows(("a", "b", 7)), conflicts=conflicts) == []


@pytest.mark.parametrize(
    ("first", "second", "distance", "pools", "fine"),
    [
        (16, 16, 8, (Pool("p"),), False),
        (16, 16, 32, (Pool("p"),), True),
        (16, 8, 8, (Pool("p"),), True),
        (8, 16, 4, (Pool("p"),), False),
        (4, 6, 3, (Pool("p"),), False),
        (4, 6, 2, (Pool("p"),), True),
        (4, 9, 5, (Pool("p"),), True),
        (1, 1, 8, (Pool("p", alignment=16),), False),
        (1, 1, 8, (Pool("p", alignment=16), Pool("q", alignment=8)), True),
        (1, 1, 4, (Pool("p", alignment=16), Pool("q", alignment=8)), False),
        (16, 1, 8, (Pool("p", base=8),), True),
        (16, 16, 8, (Pool("p", base=8),), False),
        (1 << 61, 3**38, 1, (Pool("p", 1 << 40),), True),
    ],
)
def test_a_group_must_have_an_aligned_address(
    first: int, second: int, distance: int, pools: tuple[Pool, ...], fine: bool
) -> None:
    ties = follows(("b", "a", distance))
    pools = tuple(replace(pool, size=100) if pool.size is None else pool for pool in pools)
    codes = {
        code
        for code, _ in found(make("a", alignment=first), make("b", alignment=second), pools=pools, colocations=ties)
    }
    assert codes - {"too_large"} == (set() if fine else {"contradiction"})


def test_only_pools_that_the_whole_group_may_use_count() -> None:
    pools = (Pool("p", 100, alignment=16), Pool("q", 100, alignment=8))
    ties = follows(("b", "a", 8))
    assert found(make("a", pools=("p",)), make("b"), pools=pools, colocations=ties) == [
        ("contradiction", "/constraints/colocations/0")
    ]
    assert found(make("a", pools=("p",)), make("b", pools=("q",)), pools=pools, colocations=ties) == []
    fixed = make("c", fixed=Fixed("p"))
    same = {"colocations": ties, "same_pool": (("a", "c"),)}
    assert found(make("a"), make("b"), fixed, pools=pools, **same) == [("contradiction", "/constraints/colocations/0")]


@pytest.mark.parametrize(
    ("buffers", "place"),
    [
        ((at("a", 0), at("b", 5)), "/buffers/1/fixed/offset"),
        ((make("a"), at("b", 3)), "/buffers/1/fixed/offset"),
        ((at("a", 2), make("b", alignment=4)), "/buffers/0/fixed/offset"),
        ((at("a", 0), make("b", max_offset=3)), "/buffers/0/fixed/offset"),
        ((at("a", 90), make("b", 20)), "/buffers/0/fixed/offset"),
        ((at("a", 0), make("b"), at("c", 9)), "/buffers/2/fixed"),
    ],
)
def test_buffers_colocated_with_a_fixed_one_are_fixed_too(buffers: tuple[Buffer, ...], place: str) -> None:
    found_here = found(*buffers, pools=(Pool("default", 100),), colocations=follows(("b", "a", 4)))
    assert found_here == [("contradiction", place)]


# Pools


@pytest.mark.parametrize(
    ("buffers", "constraints", "place"),
    [
        (
            (make("a", fixed=Fixed("p")), make("b", fixed=Fixed("q"))),
            {"same_pool": (("a", "b"),)},
            "/buffers/1/fixed/pool",
        ),
        (
            (make("a", fixed=Fixed("p")), make("b", fixed=Fixed("q"))),
            {"colocations": follows(("a", "b", 0))},
            "/buffers/1/fixed/pool",
        ),
        (
            (make("a", fixed=Fixed("p")), make("c"), make("b", fixed=Fixed("q"))),
            {"same_pool": (("a", "c"),), "colocations": follows(("c", "b", 0))},
            "/buffers/2/fixed/pool",
        ),
        ((make("a", fixed=Fixed("p")), make("b", pools=("q",))), {"same_pool": (("a", "b"),)}, "/buffers/1/pools"),
        (
            (make("a"), make("c"), make("b")),
            {"same_pool": (("a", "c"), ("c", "b")), "different_pool": (("a", "b"),)},
            "/constraints/different_pool/0/1",
        ),
        (
            (make("a"), make("b")),
            {"colocations": follows(("a", "b", 0)), "different_pool": (("b", "a"),)},
            "/constraints/different_pool/0/1",
        ),
        (
            (make("a", fixed=Fixed("p")), make("b", fixed=Fixed("p"))),
            {"different_pool": (("b", "a"),)},
            "/constraints/different_pool/0/1",
        ),
        (
            (make("a", fixed=Fixed("p")), make("c", fixed=Fixed("p")), make("b")),
            {"same_pool": (("b", "c"),), "different_pool": (("b", "a"),)},
            "/constraints/different_pool/0/1",
        ),
    ],
)
def test_contradictory_choices_of_pools_are_refused(
    buffers: tuple[Buffer, ...], constraints: dict[str, Any], place: str
) -> None:
    assert found(*buffers, pools=TWO, **constraints) == [("contradiction", place)]


def test_consistent_choices_of_pools_are_accepted() -> None:
    buffers = (make("a", fixed=Fixed("p")), make("b", fixed=Fixed("q")), make("c"), make("d", pools=("q",)))
    together = {"same_pool": (("a", "c"), ("b", "d")), "different_pool": (("a", "b"), ("c", "d"))}
    assert found(*buffers, pools=TWO, **together) == []


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_a_buffer_barred_from_its_group_s_fixed_pool_is_refused(names: str) -> None:
    both = {"a": Buffer("a", 1, pools=("p0",)), "b": Buffer("b", 1, fixed=Fixed("p1"))}
    problem = Problem(
        tuple(both[name] for name in names), (Pool("p0"), Pool("p1")), Constraints(same_pool=(("a", "b"),))
    )
    with pytest.raises(BadInput, match="may not use pool 'p1'"):
        require_sound(problem)
