"""docs/memories.md agrees with the code: costs, presets, constants."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import (
    BadInput,
    Buffer,
    Options,
    PlanStatus,
    Pool,
    Preference,
    Problem,
    Speed,
    Term,
    plan,
    verify,
    with_preference,
)
from planner.checks import check
from planner.facts.constants import spell_out_constants
from planner.facts.costs import access_cost
from planner.facts.digest import digest
from planner.formats import read_problem, write_plan, write_problem
from planner.generate import Request, generate
from planner.planning.options.preference import PRESETS, price_of_all_speed
from planner.reporting.report import memory_report
from planner.verifying.objective import cost_of_use
from tests.small.oracle import solve, use_cost
from tests.small.strategies import SPEEDS, effort

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "memories.md").read_text("utf-8")
EXAMPLE, _ = read_problem((ROOT / "examples" / "two_memories.json").read_bytes())


def test_the_worked_example_ships_and_has_the_stated_results() -> None:
    (shown,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert json.loads(shown) == json.loads((ROOT / "examples" / "two_memories.json").read_text("utf-8"))
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| .* \| (\d+) ps \|$", PAGE, re.MULTILINE)
    pools = {pool.name: pool for pool in EXAMPLE.pools}
    buffers = {buffer.id: buffer for buffer in EXAMPLE.buffers}
    assert {(b, p): int(cost) for b, p, cost in rows} == {
        (b, p): access_cost(buffers[b], pools[p]) for b in ("image", "edges") for p in ("sram", "dram")
    }
    made = plan(EXAMPLE)
    assert made.status is PlanStatus.OPTIMAL
    assert f"= {made.objective.value} ps" in PAGE
    assert [place.pool for place in made.placements] == ["sram", "dram"]


@effort(40, 5000)
@given(SPEEDS, st.integers(0, 100), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.booleans())
def test_three_ways_of_working_out_a_cost_agree(
    speed: Speed, size: int, accesses: int, reads: int, writes: int, known: bool
) -> None:
    buffer = Buffer("b", size, accesses=accesses, reads=reads, writes=writes)
    pool = Pool("p", rank=3, speed=speed if known else None)
    assert access_cost(buffer, pool) == cost_of_use(buffer, pool) == use_cost(buffer, pool)


def test_speeds_missing_for_some_pools_are_refused_where_they_count() -> None:
    pools = (Pool("a", speed=Speed(1, 1, 1)), Pool("b"))
    assert [f.pointer for f in check(Problem((), pools, terms=(Term.ACCESS_COST,)))] == ["/pools/1/clock_frequency_hz"]
    assert check(Problem((), pools)) == ()
    wrong = Problem((), (Pool("a", speed=Speed(0, 1, 1, target_burst_bytes=0)),))
    assert [f.pointer for f in check(wrong)] == ["/pools/0/clock_frequency_hz", "/pools/0/target_burst_bytes"]


SMALL = Problem(
    (
        Buffer("a", 6, live=((0, 3),), reads=5, writes=1),
        Buffer("b", 5, live=((1, 4),), reads=1, writes=1),
        Buffer("c", 4, live=((2, 6),), reads=9, writes=2),
        Buffer("d", 7, live=((3, 6),), reads=2, writes=1, alignment=2),
        Buffer("w", 3, kind="constant", reads=4),
        Buffer("v", 2, kind="constant", reads=1),
    ),
    (
        Pool("tcm", 9, speed=Speed(10**9, 4, 2), cost=3),
        Pool("ram", speed=Speed(10**8, 4, 4, 3, 2, 4), rank=1),
        Pool("flash", 8, speed=Speed(10**7, 1, 1, 8, 8), rank=2, read_only=True),
    ),
)


def test_all_is_known_of_each_preference() -> None:
    assert list(PRESETS) == list(Preference)


@pytest.mark.parametrize("prefer", Preference)
def test_each_preset_is_optimal_by_its_own_measure(prefer: Preference) -> None:
    made = plan(SMALL, Options(prefer=prefer, workers=1))
    wanted = with_preference(SMALL, prefer)
    assert tuple(term.name for term in made.objective.terms) == PRESETS[prefer].terms
    assert made.status is PlanStatus.OPTIMAL
    assert verify(wanted, made) == ()
    assert tuple(term.value for term in made.objective.terms) == solve(spell_out_constants(wanted)).value


@pytest.mark.parametrize("prefer", Preference)
def test_a_preset_may_be_a_word_as_in_options(prefer: Preference) -> None:
    assert with_preference(EXAMPLE, prefer.value) == with_preference(EXAMPLE, prefer)
    with pytest.raises(BadInput, match="'fast' is not one of size, balanced, speed"):
        with_preference(EXAMPLE, "fast")


@pytest.mark.parametrize("prefer", Preference)
def test_an_objective_that_a_preset_replaces_may_be_out_of_range(prefer: Preference) -> None:
    """Such a problem was planned with some presets and refused with others, and no plan of it could be verified."""
    far = (Pool("near", 100), Pool("far", rank=2**56))
    buffers = (Buffer("a", 60, live=((0, 2),)), Buffer("b", 60, live=((1, 3),)))
    problem = Problem(buffers, far, terms=(Term.SPILLED_BYTES,))
    with pytest.raises(BadInput, match="sizes times ranks"):
        plan(problem)
    made = plan(problem, Options(prefer=prefer))
    assert made.status is PlanStatus.OPTIMAL
    assert verify(with_preference(problem, prefer), made) == ()
    with pytest.raises(BadInput, match="/buffers/0/size"):
        with_preference(replace(problem, buffers=(Buffer("a", -1),)), prefer)


def test_the_fair_price_weighs_all_bytes_like_all_gain_of_speed() -> None:
    gain = sum(access_cost(b, EXAMPLE.pools[1]) - access_cost(b, EXAMPLE.pools[0]) for b in EXAMPLE.buffers)
    assert price_of_all_speed(EXAMPLE) == gain // 5000
    dear = replace(EXAMPLE, pools=(replace(EXAMPLE.pools[0], cost=4), EXAMPLE.pools[1]))
    assert price_of_all_speed(dear) == gain // 20000
    small = replace(EXAMPLE, pools=(replace(EXAMPLE.pools[0], size=2000), EXAMPLE.pools[1]))
    edges = access_cost(EXAMPLE.buffers[1], EXAMPLE.pools[1]) - access_cost(EXAMPLE.buffers[1], EXAMPLE.pools[0])
    assert price_of_all_speed(small) == edges // 5000, "the image does not fit into the small one"
    assert price_of_all_speed(Problem(())) == 1


FLASH = (Pool("ram", 16), Pool("flash", 16, read_only=True), Pool("more", read_only=True, rank=2))
CONSTANTS = (
    Buffer("a", 8, live=((0, 2),)),
    Buffer("b", 8, live=((2, 4),)),
    Buffer("w", 6, kind="constant", data=bytes(range(6))),
    Buffer("v", 5, live=((0, 1),), kind="constant"),
)


def test_read_only_pools_hold_constants_apart_and_nothing_else() -> None:
    problem = Problem(CONSTANTS, FLASH)
    made = plan(problem)
    assert {place.id: place.pool for place in made.placements} == {"a": "ram", "b": "ram", "w": "flash", "v": "flash"}
    assert [(use.name, use.peak) for use in made.pools] == [("ram", 8), ("flash", 11), ("more", 0)]
    assert made.status is PlanStatus.OPTIMAL
    assert verify(problem, made) == ()
    report = memory_report(problem, made)
    assert [(pool.name, pool.most_live) for pool in report.pools] == [("ram", 8), ("flash", 11), ("more", 0)]
    w, v = made.placements[2:]
    for broken in (replace(v, offset=4), replace(v, pool="ram", offset=8)):
        spoiled = replace(made, placements=(*made.placements[:2], w, broken))
        assert verify(problem, spoiled) != ()


def test_without_a_read_only_pool_a_constant_is_a_label() -> None:
    made = plan(Problem((*CONSTANTS[:2], replace(CONSTANTS[3], live=((2, 4),))), (Pool("ram"),)))
    assert made.peak == 13


@pytest.mark.parametrize(
    ("buffer", "pools", "place"),
    [
        (Buffer("x", 2, data=b"12"), FLASH, "/buffers/0/data"),
        (Buffer("x", 3, kind="constant", data=b"12"), FLASH, "/buffers/0/data"),
        (Buffer("x", 3, kind="constant", pools=("ram",)), FLASH, "/buffers/0/pools"),
        (Buffer("x", 3, pools=("flash", "more")), FLASH, "/buffers/0/pools"),
        (Buffer("x", 3), FLASH[1:], "/buffers/0/pools"),
    ],
)
def test_contradictions_to_read_only_pools_are_named(buffer: Buffer, pools: tuple[Pool, ...], place: str) -> None:
    assert [(str(f.code), f.pointer) for f in check(Problem((buffer,), pools))] == [("contradiction", place)]


def test_speeds_uses_and_data_survive_writing_and_count_in_the_digest() -> None:
    problem = replace(
        EXAMPLE,
        buffers=(*EXAMPLE.buffers, *CONSTANTS[2:]),
        pools=(*EXAMPLE.pools, Pool("flash", rank=2, speed=Speed(5, 6, 7, 8, 9, 10), read_only=True)),
        terms=(Term.BALANCED,),
        peak_price=77,
    )
    assert read_problem(write_problem(problem)) == (problem, ())
    spelled = replace(problem, buffers=(*problem.buffers[:-1], replace(problem.buffers[-1], live=((0, 3),))))
    assert digest(spelled) == digest(problem), "a constant lives throughout, whatever its live range"
    flash, w = problem.pools[2], problem.buffers[2]
    for other in (
        replace(problem, peak_price=78),
        replace(problem, pools=(*problem.pools[:2], replace(flash, speed=Speed(5, 6, 7, 8, 9, 11)))),
        replace(problem, buffers=(*problem.buffers[:2], replace(w, data=b"abcdef"), problem.buffers[3])),
        replace(problem, buffers=(replace(problem.buffers[0], reads=9), *problem.buffers[1:])),
    ):
        assert digest(other) != digest(problem)


@pytest.mark.parametrize("prefer", Preference)
def test_one_worker_and_two_make_the_same_bytes(prefer: Preference) -> None:
    problem = generate("memories", Request(60, 1))
    plans = [
        plan(problem, Options(time_limit=None, work_limit=150_000, workers=workers, prefer=prefer))
        for workers in (1, 2)
    ]
    one, two = (write_plan(replace(made, run=plans[0].run)) for made in plans)
    assert one == two
    assert all(made.reproducible for made in plans)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_hurried_plan_stacks_no_buffers_needlessly(seed: int) -> None:
    problem = generate("pool_packing", Request(150, seed))
    hurried = plan(problem, Options(time_limit=0.01))
    usual = plan(problem, Options(solver="greedy", time_limit=None))
    assert verify(problem, hurried) == ()
    assert (hurried.objective.value or 0) < 1.5 * (usual.objective.value or 0)


def test_intervals_that_overlap_weigh_once_in_the_price_of_balanced() -> None:
    """The digest does not tell them from the merged ones, so neither may the objective."""
    pools = (Pool("near", 8), Pool("far", rank=3))
    merged, overlapping = (
        Problem((Buffer("a", 4, live=live, reads=9), Buffer("b", 2, live=((0, 4),), reads=9)), pools)
        for live in (((0, 4),), ((0, 4), (1, 3), (1, 4)))
    )
    assert digest(merged) == digest(overlapping)
    prices = [with_preference(each, Preference.BALANCED).peak_price for each in (merged, overlapping)]
    assert prices == [54 // 6] * 2
