"""Plans for all shapes overlap in none, their expressions are true, and fixed offsets need the least arena."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from planner import (
    BadInput,
    Buffer,
    CannotSolve,
    Code,
    Colocation,
    Constraints,
    Fixed,
    NoPlan,
    Plan,
    Pool,
    Problem,
)
from planner.generate import shaped_transformer
from planner.planning.shapes import (
    Mode,
    ShapedProblem,
    ShapesPlan,
    parse_shape,
    plan_shapes,
    shaped,
    usual_shapes,
    verify_shapes,
)
from planner.planning.shapes.order import Order, order_of
from planner.verifying.objective import term_value
from scripts.measure.planning.shapes import faults
from solvers.model.instance import Term
from tests.planner.planning.shapes.shaped_problems import OPTIONS, SHAPES, TWO, random_problem
from tests.small.strategies import NIGHTLY


def overlaps(problem: ShapedProblem, found: ShapesPlan, values: dict[str, int]) -> bool:
    """True if any two buffers overlap, found by comparing every pair."""
    offsets, buffers = found.offsets(values), problem.at(values).buffers
    constraints = problem.largest.constraints
    for i, a in enumerate(buffers):
        for b in buffers[:i]:
            pair = {a.id, b.id}
            meet = any(s < v and u < t for s, t in a.live or () for u, v in b.live or ())
            apart = (meet and pair not in map(set, constraints.exclusions)) or pair in map(set, constraints.conflicts)
            if (
                apart
                and offsets[a.id] < offsets[b.id] + b.size
                and offsets[b.id] < offsets[a.id] + a.size
                and a.size
                and b.size
            ):
                return True
    return False


@pytest.mark.parametrize("seed", range(30 if NIGHTLY else 12))
def test_expressions_are_right_in_every_shape(seed: int) -> None:
    problem = random_problem(seed)
    found = plan_shapes(problem, Mode.EXPRESSIONS, SHAPES[::7], OPTIONS)
    assert verify_shapes(problem, found) == ()
    for values in SHAPES:
        assert not overlaps(problem, found, values)
        offsets, at = found.offsets(values), problem.at(values)
        for each in found.behind:
            closed = each.offset.at(values)
            assert closed == offsets[each.id] if each.exact else closed >= offsets[each.id]
        for buffer in at.buffers:
            assert (
                offsets[buffer.id]
                % (
                    buffer.alignment * at.pools[0].alignment // 2
                    if buffer.alignment % 2 == 0 and at.pools[0].alignment == 2
                    else buffer.alignment
                )
                == 0
            )
        peak = max(offsets[buffer.id] + buffer.size for buffer in at.buffers)
        assert peak <= found.pools[0].peak.at(values)
        if found.pools[0].exact:
            assert peak == found.pools[0].peak.at(values)
    for row in found.rows:
        assert row.optimum is not None
        assert row.used >= row.optimum


@pytest.mark.parametrize("seed", range(6))
def test_without_time_the_peak_is_one_sum(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem(seed)
    monkeypatch.setattr("planner.planning.shapes.modes.SharedLimits.is_over", lambda _: True)
    found = plan_shapes(problem, Mode.EXPRESSIONS, SHAPES[::7], OPTIONS)
    assert verify_shapes(problem, found) == ()
    for values in SHAPES:
        offsets = found.offsets(values)
        peak = max(offsets[buffer.id] + buffer.size for buffer in problem.at(values).buffers)
        assert peak <= found.pools[0].peak.at(values)


def test_without_time_only_one_order_is_derived(monkeypatch: pytest.MonkeyPatch) -> None:
    derived: list[Plan] = []

    def counted(plan: Plan, apart: Sequence[Sequence[int]]) -> Order:
        derived.append(plan)
        return order_of(plan, apart)

    monkeypatch.setattr("planner.planning.shapes.modes.SharedLimits.is_over", lambda _: True)
    monkeypatch.setattr("planner.planning.shapes.modes.order_of", counted)
    problem = random_problem(1)
    assert verify_shapes(problem, plan_shapes(problem, Mode.EXPRESSIONS, SHAPES[::7], OPTIONS)) == ()
    assert len(derived) == 1


@pytest.mark.parametrize("seed", range(12))
def test_one_arena_holds_the_largest_sizes_of_every_shape(seed: int) -> None:
    problem = random_problem(seed)
    found = plan_shapes(problem, Mode.MAXIMUM, SHAPES[::9], OPTIONS)
    assert verify_shapes(problem, found) == ()
    assert found.exact
    assert not any(overlaps(problem, found, values) for values in SHAPES)
    for buffer, size in zip(problem.largest.buffers, problem.sizes, strict=True):
        assert buffer.size == max(size.at(values) for values in SHAPES)


def least_fixed_arena(problem: ShapedProblem, shapes: list[dict[str, int]]) -> int:
    """Return the least arena in which one set of offsets fits all shapes, found by trying all offsets."""
    at = [problem.at(values).buffers for values in shapes]
    top = sum(max(buffers[i].size for buffers in at) for i in range(len(at[0])))
    best = top
    for offsets in product(range(top), repeat=len(at[0])):
        peak = max((o + b.size for buffers in at for o, b in zip(offsets, buffers, strict=True) if b.size), default=0)
        if peak < best and not any(
            o < p + b.size and p < o + a.size and a.size and b.size
            for buffers in at
            for i, (o, a) in enumerate(zip(offsets, buffers, strict=True))
            for p, b in list(zip(offsets, buffers, strict=True))[:i]
            if any(s < v and u < t for s, t in a.live or () for u, v in b.live or ())
        ):
            best = peak
    return best


@pytest.mark.parametrize("seed", range(15))
def test_offsets_for_a_list_of_shapes_are_optimal(seed: int) -> None:
    chance = random.Random(seed)
    buffers = tuple(Buffer(f"b{i}", 0, live=((chance.randrange(2), 2 + chance.randrange(2)),)) for i in range(3))
    sizes: dict[int | str, str] = {
        b.id: chance.choice(("n", "3 - n", "2*n", "max(2 - n, 0)", "1", "3*max(n - 2, 0)")) for b in buffers
    }
    problem = shaped(Problem(buffers, (Pool("p"),)), {"n": (0, 3)}, sizes)
    shapes = [{"n": n} for n in chance.sample(range(4), 2)]
    found = plan_shapes(problem, Mode.BUCKETS, shapes, OPTIONS)
    assert verify_shapes(problem, found) == ()
    assert found.exact
    assert max(row.used for row in found.rows) == least_fixed_arena(problem, shapes)


def test_buffers_never_live_in_one_shape_may_share() -> None:
    buffers = (Buffer("prefill", 0, live=((0, 1),)), Buffer("decode", 0, live=((0, 1),)))
    problem = shaped(Problem(buffers), {"k": (0, 1)}, {"prefill": "64*k", "decode": "64 - 64*k"})
    found = plan_shapes(problem, Mode.BUCKETS, [{"k": 0}, {"k": 1}], OPTIONS)
    assert [row.used for row in found.rows] == [64, 64]
    assert verify_shapes(problem, found) == ()


@pytest.mark.parametrize("term", [Term.ACCESS_COST, Term.SPILLED_BYTES, Term.BALANCED])
def test_buffers_that_are_empty_in_some_shapes_count_in_every_objective(term: Term) -> None:
    """Each counts once, and with its uses."""
    buffers = tuple(Buffer(id_, 4, live=((0, 2),), accesses=uses) for id_, uses in zip("abc", (9, 1, 5), strict=True))
    pools = (Pool("slow", rank=5), Pool("fast", 6, rank=0))
    problem = shaped(Problem(buffers, pools, terms=(term,)), {"n": (0, 4)}, {"a": "n", "b": "4 - n"})
    found = plan_shapes(problem, Mode.BUCKETS, [{"n": 0}, {"n": 2}, {"n": 4}], OPTIONS)
    assert verify_shapes(problem, found) == ()
    assert found.plan is not None
    assert found.plan.objective.value == term_value(
        problem.largest, found.plan.placements, {use.name: use.peak or 0 for use in found.plan.pools}, term
    )
    assert not found.exact


@pytest.mark.parametrize("mode", list(Mode))
def test_empty_buffers_take_no_room_wherever_they_lie(mode: Mode) -> None:
    buffers = (Buffer("below", 9, 16, live=((0, 1),)), Buffer("above", 0, 4, live=((0, 1),)))
    problem = shaped(Problem(buffers), {"k": (0, 1)}, {"above": "3*k"})
    found = plan_shapes(problem, mode, [{"k": 0}, {"k": 1}], OPTIONS)
    assert [row.used for row in found.rows] == [9, 15]
    assert verify_shapes(problem, found) == ()
    claimed = replace(found, rows=(replace(found.rows[0], used=12), found.rows[1]))
    assert verify_shapes(problem, claimed) == ("where k=0, 9 bytes are used, not 12",)


@pytest.mark.parametrize("decode", [False, True])
def test_a_transformer_takes_the_least_at_every_length(*, decode: bool) -> None:
    problem = shaped_transformer(longest=512, decode=decode)
    found = plan_shapes(problem, Mode.EXPRESSIONS, (), OPTIONS)
    assert verify_shapes(problem, found) == ()
    assert found.exact
    assert all(row.used == row.optimum for row in found.rows)
    assert faults(problem, found, 20_000) == (0, 0)


def test_colocations_hold_where_offsets_are_fixed() -> None:
    buffers = (Buffer("a", 0, live=((0, 2),)), Buffer("view", 0, live=((1, 3),)), Buffer("b", 0, live=((1, 2),)))
    ties = Constraints(colocations=(Colocation("view", "a", 8),))
    problem = shaped(Problem(buffers, (Pool("p"),), ties), {"n": (1, 9)}, {"a": "8 + 4*n", "view": "4*n", "b": "2*n"})
    for mode, shapes in ((Mode.MAXIMUM, ()), (Mode.BUCKETS, ({"n": 3}, {"n": 9}))):
        found = plan_shapes(problem, mode, shapes, OPTIONS)
        assert verify_shapes(problem, found) == ()
        assert found.plan is not None
        moved = tuple(replace(p, offset=1000) if p.id == "view" else p for p in found.plan.placements)
        wrong = verify_shapes(problem, replace(found, plan=replace(found.plan, placements=moved)))
        assert any("8 bytes apart" in each for each in wrong)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"buffers": (Buffer("a", 4, fixed=Fixed("p", 0)),)}, "/buffers/0/fixed"),
        ({"buffers": (Buffer("a", 4, max_offset=4),)}, "/buffers/0/max_offset"),
        ({"pools": (Pool("p", reserved=((0, 4),)),)}, "/pools/0/reserved"),
        ({"pools": (Pool("p", base=4),), "buffers": (Buffer("a", 4, alignment=8),)}, "/pools/0/base"),
        (
            {
                "buffers": (Buffer("a", 4), Buffer("b", 4)),
                "constraints": Constraints(colocations=(Colocation("b", "a", 0),)),
            },
            "/constraints/colocations",
        ),
    ],
)
def test_rules_that_expressions_cannot_keep_are_refused(change: dict[str, object], place: str) -> None:
    problem = Problem((Buffer("a", 4),), (Pool("p"),))
    with pytest.raises(CannotSolve) as refused:
        plan_shapes(shaped(replace(problem, **change), {}, {}), Mode.EXPRESSIONS, (), OPTIONS)  # type: ignore[arg-type]
    assert [(f.code, f.pointer) for f in refused.value.findings] == [(Code.UNSUPPORTED, place)]


def test_a_base_matters_only_to_buffers_that_may_be_in_its_pool() -> None:
    buffers = (Buffer("a", 8, 16, ((0, 2),), pools=("p",)), Buffer("b", 8, live=((0, 2),)))
    problem = shaped(Problem(buffers, (Pool("p"), Pool("odd", base=3))), {"n": (1, 9)}, {"a": "n"})
    assert verify_shapes(problem, plan_shapes(problem, Mode.EXPRESSIONS, (), OPTIONS)) == ()


def test_a_capacity_must_be_enough_for_every_shape() -> None:
    problem = Problem((Buffer("a", 0, live=((0, 1),)),), (Pool("p", 100),))
    found = plan_shapes(shaped(problem, {"n": (1, 10)}, {"a": "10*n"}), Mode.EXPRESSIONS, (), OPTIONS)
    assert str(found.pools[0].peak) == "10*n"
    with pytest.raises(CannotSolve, match="110 where n=11"):
        plan_shapes(shaped(problem, {"n": (1, 11)}, {"a": "10*n"}), Mode.EXPRESSIONS, (), OPTIONS)
    with pytest.raises(NoPlan):
        plan_shapes(shaped(problem, {"n": (11, 12)}, {"a": "10*n"}), Mode.EXPRESSIONS, (), OPTIONS)
    with pytest.raises(NoPlan):
        plan_shapes(shaped(problem, {"n": (1, 11)}, {"a": "10*n"}), Mode.MAXIMUM, (), OPTIONS)


def test_several_pools_are_planned() -> None:
    buffers = tuple(Buffer(i, 0, live=((0, 2),), pools=(name,)) for i, name in enumerate(("p", "q", "p", "q")))
    problem = shaped(
        Problem(buffers, (Pool("p"), Pool("q", 1000))), {"n": (1, 50)}, {0: "n", 1: "2*n", 2: "3*n", 3: "4*n"}
    )
    found = plan_shapes(problem, Mode.EXPRESSIONS, (), OPTIONS)
    assert verify_shapes(problem, found) == ()
    assert [str(pool.peak) for pool in found.pools] == ["4*n", "6*n"]


def test_bad_sizes_symbols_and_shapes_are_named() -> None:
    problem = Problem((Buffer("a", 1), Buffer("b", 1)))
    with pytest.raises(BadInput) as refused:
        shaped(problem, {"n": (1, 5)}, {"a": "k", "b": "n - 2"})
    assert [(f.code, f.pointer) for f in refused.value.findings] == [
        (Code.INVALID_EXPRESSION, "/buffers/0/size"),
        (Code.INVALID_EXPRESSION, "/buffers/1/size"),
    ]
    for symbols in (
        {"max": (1, 2)},
        {"1n": (1, 2)},
        {"n": (2, 1)},
        {"n": (0, 1 << 62)},
        {f"n{i}": (0, 1) for i in range(17)},
        {"n": ("1", "2")},
        {"n": 5},
    ):
        with pytest.raises(BadInput):
            shaped(problem, symbols, {})  # type: ignore[arg-type]
    with pytest.raises(BadInput):
        shaped(problem, {}, {"z": "1"})
    with pytest.raises(BadInput, match="it must be text"):
        shaped(problem, {}, {"a": 1.5})  # type: ignore[dict-item]
    refused_shapes: list[list[dict[str, Any]]] = [[{}], [{"n": 0}], [{"n": 1.5}], [{"n": 1, "k": 1}], [{"n": 1}] * 5000]
    for shapes in refused_shapes:
        with pytest.raises(BadInput):
            plan_shapes(TWO, Mode.EXPRESSIONS, shapes, OPTIONS)
    with pytest.raises(BadInput, match="say which shapes"):
        plan_shapes(TWO, Mode.BUCKETS, (), OPTIONS)


def test_shapes_are_parsed_or_refused() -> None:
    assert parse_shape("n=128,m=-4") == {"n": 128, "m": -4}
    for text in ("n", "n=", "n=x", "n=1,n=2", "n=1.5", "n=\u0663", "n=" + "9" * 30):
        with pytest.raises(BadInput):
            parse_shape(text)


def test_usual_shapes_are_few_and_include_both_ends() -> None:
    assert [shape["n"] for shape in usual_shapes(TWO)] == [1, 3, 10, 32, 100]
    many = shaped(Problem((Buffer("a", 1),)), {f"n{i}": (1, 9) for i in range(12)}, {})
    assert len(usual_shapes(many)) == 2
    assert usual_shapes(shaped(Problem(()), {}, {})) == [{}]


@pytest.mark.parametrize("mode", [Mode.MAXIMUM, Mode.BUCKETS])
def test_where_a_fixed_empty_buffer_ends_highest_nothing_is_claimed_of_the_bytes_used(mode: Mode) -> None:
    """A plan's peak counts where it ends, the bytes used do not: a bound of one is none of the other."""
    buffers = (Buffer("a", 2, live=((0, 2),)), Buffer("v", 0, live=((0, 2),), fixed=Fixed("p", 7)))
    problem = shaped(Problem(buffers, (Pool("p"),)), {"n": (1, 2)}, {"a": "n"})
    found = plan_shapes(problem, mode, [{"n": 1}, {"n": 2}], OPTIONS)
    assert verify_shapes(problem, found) == ()
    assert [(row.used, row.optimum, row.bound) for row in found.rows] == [(1, None, 0), (2, None, 0)]


@pytest.mark.parametrize("mode", Mode)
def test_where_nothing_is_ever_live_buffers_may_lie_anywhere(mode: Mode) -> None:
    problem = shaped(Problem((Buffer("a", 4, live=()), Buffer("b", 3)), (Pool("p"),)), {"n": (1, 4)}, {"a": "n"})
    found = plan_shapes(problem, mode, [{"n": 1}, {"n": 4}], OPTIONS)
    assert verify_shapes(problem, found) == ()
    assert [row.used for row in found.rows] == [3, 4]


@pytest.mark.parametrize("mode", [Mode.MAXIMUM, Mode.BUCKETS])
def test_a_base_may_keep_an_empty_buffer_from_the_beginning(mode: Mode) -> None:
    problem = shaped(
        Problem((Buffer("a", 5, 64, live=((0, 1),)),), (Pool("p", None, 16, base=16),)), {"n": (0, 5)}, {"a": "n"}
    )
    found = plan_shapes(problem, mode, [{"n": 0}, {"n": 5}], OPTIONS)
    assert verify_shapes(problem, found) == ()
    assert [(row.used, row.bound) for row in found.rows] == [(0, 0), (53, 53)]


def test_expressions_that_no_reader_would_take_are_refused() -> None:
    """The offset of b, multiplied out, has factors beyond all sizes."""
    low = 1 << 40
    cube = "*".join([f"(n-{low})"] * 3)
    buffers = (Buffer("a", 1000, live=((0, 2),)), Buffer("b", low + 10, live=((0, 2),)))
    problem = shaped(Problem(buffers, (Pool("p"),)), {"n": (low, low + 10)}, {"a": cube, "b": "n"})
    with pytest.raises(CannotSolve, match="cannot be written as an expression: the number"):
        plan_shapes(problem, Mode.EXPRESSIONS, [{"n": low + 3}], OPTIONS)
    assert verify_shapes(problem, plan_shapes(problem, Mode.MAXIMUM, [], OPTIONS)) == ()


@pytest.mark.parametrize("values", [{}, {"n": 0}, {"n": 1 << 40}, {"n": 1.5}, {"m": 1}])
def test_shapes_outside_the_ranges_have_no_offsets(values: dict[str, Any]) -> None:
    found = plan_shapes(shaped_transformer(1, 8, 1), options=OPTIONS)
    with pytest.raises(BadInput) as caught:
        found.offsets(values)
    assert [(str(f.code), f.pointer) for f in caught.value.findings] == [("out_of_range", "/n")]


@pytest.mark.parametrize("values", [None, 5, [1], "n", [("n", 1)]])
def test_values_without_names_are_no_shape(values: Any) -> None:
    problem = shaped_transformer(1, 8, 1)
    found = plan_shapes(problem, options=OPTIONS)
    calls = (found.offsets, problem.at, lambda each: plan_shapes(problem, Mode.MAXIMUM, [each], OPTIONS))
    for call in calls:
        with pytest.raises(BadInput, match="a shape gives each symbol its value, as in"):
            call(values)
