"""Each point of a sweep equals the optimum found by brute force, and the verifier finds false points."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from typing import Any

import pytest

from planner import (
    BadInput,
    Buffer,
    Code,
    Fixed,
    Options,
    Plan,
    Pool,
    Problem,
    Term,
    plan,
    sweep,
    verify,
    verify_sweep,
    with_capacity,
)
from planner.facts.digest import digest, digest_for_sizes
from planner.generate import Request, generate
from planner.model.deadline import look
from planner.model.plan import PlanStatus
from planner.planning.sweeping import Sweep, SweepPoint, capacity_range, carrying, parse_ranges
from tests.running.forked import forking_companions
from tests.small.oracle import solve
from tests.small.strategies import NIGHTLY

OPTIONS = Options(time_limit=60, workers=1)


def small_problem(seed: int) -> Problem:
    """Return a random problem with a few buffers, a small fast pool and a large slow one."""
    chance = random.Random(seed)
    buffers = []
    for i in range(chance.randint(2, 4)):
        start = chance.randrange(4)
        live = ((start, start + chance.randint(1, 3)),)
        pools = ("fast",) if chance.random() < 0.3 else None
        buffers.append(
            Buffer(f"b{i}", chance.randint(1, 4), chance.choice((1, 1, 2)), live, pools, accesses=chance.randrange(5))
        )
    terms = chance.choice(((Term.SUM_OF_PEAKS,), (Term.ACCESS_COST, Term.SUM_OF_PEAKS), (Term.SPILLED_BYTES,)))
    return Problem(tuple(buffers), (Pool("fast", 8, rank=0), Pool("slow", 12, rank=1)), terms=terms)


@pytest.mark.parametrize("seed", range(40 if NIGHTLY else 20))
def test_every_point_agrees_with_trying_everything(seed: int) -> None:
    problem = small_problem(seed)
    sizes = range(13)
    found = sweep(problem, {"fast": sizes}, OPTIONS, processes=1)
    assert verify_sweep(problem, found) == ()
    fits = []
    for size, point in zip(sizes, found.points, strict=True):
        truth = solve(with_capacity(problem, {"fast": size}))
        assert point.status is (PlanStatus.OPTIMAL if truth.is_feasible else PlanStatus.INFEASIBLE)
        assert point.value == truth.value
        fits += [size] * truth.is_feasible
    assert found.smallest is not None
    assert found.smallest.is_proven
    assert found.smallest.capacity == min(fits)
    assert found.reproducible


@pytest.mark.parametrize("seed", range(6))
def test_several_pools_are_swept_in_all_combinations(seed: int) -> None:
    problem = small_problem(seed)
    found = sweep(problem, {"fast": (2, 4, 8), "slow": (0, 3, 12)}, OPTIONS, processes=1)
    assert [tuple(p.capacity.values()) for p in found.points] == [(a, b) for a in (2, 4, 8) for b in (0, 3, 12)]
    assert found.smallest is None
    assert verify_sweep(problem, found) == ()
    for point in found.points:
        assert point.value == solve(with_capacity(problem, dict(point.capacity))).value


def test_sizes_settled_by_another_are_not_solved_again() -> None:
    problem = generate("random", Request(60, 1))
    found = sweep(problem, {"arena": capacity_range(1000, 1_000_000, 1000)}, OPTIONS)
    assert len(found.points) == 1000
    assert sum(point.solved for point in found.points) <= 2
    for point in found.points[::97]:
        assert point.plan is None or verify(with_capacity(problem, dict(point.capacity)), point.plan) == ()
    assert found.smallest is not None
    assert {p.status.has_plan for p in found.points if p.capacity["arena"] >= (found.smallest.capacity or 0)} == {True}


def test_of_equal_plans_each_size_gets_that_of_a_plan_of_its_own() -> None:
    """The sum of peaks is 4 000 whatever the fast memory holds; what it holds decides, as in a plan."""
    buffers = (Buffer("a", 3_000, 1, ((0, 2),)), Buffer("b", 1_000, 1, ((1, 3),)), Buffer("c", 3_000, 1, ((3, 5),)))
    problem = Problem(buffers, (Pool("sram"), Pool("dram", rank=1)))
    sizes = capacity_range(0, 4_000, 500)
    found = sweep(problem, {"sram": sizes}, OPTIONS)
    own = [plan(with_capacity(problem, {"sram": size}), OPTIONS) for size in sizes]
    assert [point.peaks for point in found.points] == [{use.name: use.peak for use in each.pools} for each in own]
    assert {point.value for point in found.points} == {(4_000,)}
    assert len({point.spilled_bytes for point in found.points}) > 2


def without_the_clock(found: Sweep) -> Sweep:
    def timeless(plan: object) -> object:
        return None if plan is None else replace(plan, run=None)  # type: ignore[type-var]

    points = tuple(replace(point, plan=timeless(point.plan)) for point in found.points)  # type: ignore[arg-type]
    assert found.smallest is not None
    least = replace(found.smallest, plan=timeless(found.smallest.plan))  # type: ignore[arg-type]
    return replace(found, points=points, smallest=least, seconds=0.0)


def test_the_answer_is_the_same_with_one_process_and_with_two(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = generate("pools", Request(12, 2))
    sizes = {"tcm": capacity_range(0, 600, 60)}
    options = Options(time_limit=None, work_limit=3_000_000, workers=1)
    alone = sweep(problem, sizes, options, processes=1)
    monkeypatch.setattr("planner.planning.sweeping.side_by_side.QUICK", 0.0)
    with forking_companions():
        together = sweep(problem, sizes, options, processes=2)
    assert without_the_clock(alone) == without_the_clock(together)
    assert alone.reproducible


def test_no_plan_gets_more_work_with_more_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    work_limits: list[int | None] = []

    def noted(problem: Problem, options: Options, **rest: Any) -> Plan:
        work_limits.append(options.work_limit)
        return plan(problem, replace(options, time_limit=None, work_limit=1), **rest)

    monkeypatch.setattr("planner.planning.sweeping.side_by_side.plan", noted)
    monkeypatch.setattr("planner.planning.sweeping.side_by_side.QUICK", 1e9)
    shares = []
    for processes in (1, 2, 5):
        work_limits.clear()
        sweep(generate("pools", Request(12, 2)), {"tcm": range(0, 600, 60)}, Options(workers=1), processes=processes)
        shares.append(list(work_limits))
    assert shares[0] == shares[1] == shares[2]
    assert len(shares[0]) > 5


def test_solvers_begin_with_the_best_known_plan_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[Problem, Plan]] = []

    def noted(problem: Problem, options: Options, start: Plan | None = None, **rest: Any) -> Plan:
        if start is not None:
            given.append((problem, start))
        return plan(problem, options, start=start, **rest)

    monkeypatch.setattr("planner.planning.sweeping.side_by_side.plan", noted)
    problem = generate("pools", Request(12, 2))
    options = Options(time_limit=None, work_limit=200_000, workers=1)
    assert sweep(problem, {"tcm": capacity_range(0, 600, 60)}, options, processes=1).reproducible
    assert given
    for asked, start in given:
        peaks = {use.name: use.peak or 0 for use in start.pools}
        assert all(each.size is None or peaks[each.name] <= each.size for each in asked.pools)


def test_a_refusal_comes_back_from_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner.planning.sweeping.side_by_side.QUICK", 0.0)
    problem = generate("random", Request(5, 1))
    with pytest.raises(Exception, match="no solver is named"):
        sweep(problem, {"arena": (10, 10**9)}, Options(solver="nobody"))


def test_a_sweep_that_is_cancelled_claims_nothing() -> None:
    problem = generate("random", Request(20, 1))
    found = sweep(problem, {"arena": (1 << 20, 1 << 21)}, OPTIONS, processes=1, cancelled=lambda: True)
    assert {point.status for point in found.points} <= {PlanStatus.UNKNOWN, PlanStatus.FEASIBLE, PlanStatus.OPTIMAL}
    assert verify_sweep(problem, found) == ()


def test_sizes_below_the_end_of_a_fixed_buffer_do_not_fit() -> None:
    problem = Problem((Buffer("a", 4, live=((0, 1),), fixed=Fixed("p", 8)),), (Pool("p"),))
    found = sweep(problem, {"p": (4, 11, 12, 13)}, OPTIONS)
    assert [point.status.has_plan for point in found.points] == [False, False, True, True]
    assert verify_sweep(problem, found) == ()


def test_a_sweep_in_which_nothing_fits_has_no_smallest_size() -> None:
    problem = Problem((Buffer("a", 4, live=((0, 1),), pools=("q",)),), (Pool("p"), Pool("q", 3)))
    found = sweep(problem, {"p": (1, 2)}, OPTIONS)
    assert {point.status for point in found.points} == {PlanStatus.INFEASIBLE}
    assert found.smallest is not None
    assert found.smallest.capacity is None
    assert verify_sweep(problem, found) == ()


PROBLEM = small_problem(3)
FOUND = sweep(PROBLEM, {"fast": range(0, 13, 2)}, OPTIONS, processes=1)


def test_the_verifier_sees_wrong_figures() -> None:
    assert verify_sweep(PROBLEM, FOUND) == ()
    assert verify_sweep(small_problem(4), FOUND) != ()
    last = FOUND.points[-1]
    assert last.plan is not None
    assert last.value is not None
    for wrong in (
        replace(last, value=(last.value[0] - 1, *last.value[1:])),
        replace(last, access_cost=-1),
        replace(last, spilled_bytes=7**9),
        replace(last, peaks={}),
        replace(last, status=PlanStatus.FEASIBLE),
        replace(last, plan=None, value=None, status=PlanStatus.INFEASIBLE),
        replace(last, plan=replace(last.plan, placements=last.plan.placements[1:])),
    ):
        assert verify_sweep(PROBLEM, replace(FOUND, points=(*FOUND.points[:-1], wrong))) != ()


def test_the_verifier_sees_a_wrong_smallest_capacity() -> None:
    least = FOUND.smallest
    assert least is not None
    assert least.capacity is not None
    for wrong in (replace(least, capacity=least.capacity - 1), replace(least, bound=least.bound + 1)):
        assert verify_sweep(PROBLEM, replace(FOUND, smallest=wrong)) != ()


def test_typed_ranges_are_parsed() -> None:
    problem = Problem((), (Pool("sram"), Pool("a=b")))
    assert parse_ranges(["sram=64KiB..96KiB"], problem) == {"sram": (65536, 81920, 98304)}
    assert parse_ranges(["sram=1k..10k"], problem, 4096) == {"sram": (1024, 5120, 9216, 10240)}
    assert parse_ranges(["a=b=3,1,2,1"], problem) == {"a=b": (1, 2, 3)}
    assert parse_ranges(["8"], Problem(())) == {"default": (8,)}
    with pytest.raises(BadInput, match="1 byte or more"):
        parse_ranges(["8,16"], Problem(()), step=0)


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["64k"], "say which one"),
        (["sram=2..1"], "before it begins"),
        (["sram=1..1G"], "larger step"),
        (["sram=1..x"], "is not a number of bytes"),
        (["sram="], "is not a number of bytes"),
        (["sram=1", "sram=2"], "given twice"),
    ],
)
def test_wrong_ranges_are_refused(texts: list[str], says: str) -> None:
    with pytest.raises(BadInput, match=says) as refused:
        parse_ranges(texts, Problem((), (Pool("sram"), Pool("dram"))))
    assert refused.value.findings[0].code is Code.INVALID_OPTION


@pytest.mark.parametrize(
    "sizes",
    [
        {},
        {"q": (1,)},
        {"p": ()},
        {"p": (-1,)},
        {"p": (1 << 63,)},
        {"p": range(2000)},
        {"p": "64k"},
        {"p": 64},
        {"p": (1.5, True)},
    ],
)
def test_wrong_configurations_are_refused(sizes: dict[str, tuple[int, ...]]) -> None:
    with pytest.raises(BadInput):
        sweep(Problem((), (Pool("p"),)), sizes)


def test_zero_processes_are_refused() -> None:
    with pytest.raises(BadInput):
        sweep(Problem((), (Pool("p"),)), {"p": (1,)}, processes=0)


@pytest.mark.parametrize("seed", range(20))
def test_the_digest_for_other_sizes_is_that_of_the_resized_problem(seed: int) -> None:
    problem = small_problem(seed)
    sized = with_capacity(problem, {"fast": seed, "slow": 40})
    assert digest_for_sizes(problem)(sized) == digest(sized)


def ends(problem: Problem, sizes: range) -> list[Plan]:
    """Return the plans of the first and the last size, which a sweep solves first."""
    return [plan(with_capacity(problem, {"default": size}), OPTIONS) for size in (sizes[0], sizes[-1])]


BESIDE = Problem((Buffer("a", 8, live=((0, 2),)), Buffer("b", 8, live=((1, 3),))), (Pool("default", 16),))


def test_no_more_plans_are_carried_over_when_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Carrying a plan over to another size takes as long as its verification, which stops at the time limit."""

    def slow(*_of_a_plan: object) -> tuple[()]:
        for _each in range(3_000_000):
            look("checking")
        return ()

    monkeypatch.setattr(carrying, "verify", slow)
    sizes = range(16, 20)
    found = sweep(
        BESIDE,
        {"default": sizes},
        Options(time_limit=1),
        begun=time.monotonic() - 10,
        start=ends(BESIDE, sizes),
        processes=1,
    )
    assert PlanStatus.UNKNOWN in [point.status for point in found.points]
    assert not found.reproducible


def test_a_verified_plan_is_not_verified_again_for_more_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    verified = []

    def counted(problem: Problem, plan: Plan, *, effort: int) -> tuple[object, ...]:
        verified.append(problem)
        return verify(problem, plan, effort=effort)

    monkeypatch.setattr(carrying, "verify", counted)
    sizes = range(16, 60)
    found = sweep(BESIDE, {"default": sizes}, OPTIONS, start=ends(BESIDE, sizes), processes=1)
    assert {point.status for point in found.points} == {PlanStatus.OPTIMAL}
    assert verify_sweep(BESIDE, found) == ()
    assert len(verified) == 1


def too_small(capacity: dict[str, int]) -> SweepPoint:
    return SweepPoint(capacity, PlanStatus.INFEASIBLE, None, (), None, None, None, None, solved=False)


@pytest.mark.parametrize("size", [1 << 61, 1 << 70])
def test_a_wrong_size_does_not_rule_out_smaller_ones(size: int) -> None:
    """A point with a size that the checks refuse, because cost times size reaches 2^62, proves nothing."""
    problem = Problem((Buffer("b", 10, live=((0, 1),)),), (Pool("p", 100, cost=5),))
    found = sweep(problem, {"p": (9,)}, OPTIONS, processes=1)
    assert verify_sweep(problem, found) == ()
    forged = replace(found, smallest=None, points=(too_small({"p": 50}), too_small({"p": size})))
    assert verify_sweep(problem, forged) != ()


def test_a_smallest_size_proves_nothing_beside_a_larger_memory() -> None:
    problem = Problem(
        (Buffer("a", 10, live=((0, 1),)), Buffer("b", 10, live=((0, 1),))), (Pool("p", 100), Pool("q", 10))
    )
    found = sweep(problem, {"p": (5, 20)}, OPTIONS, processes=1)
    assert verify_sweep(problem, found) == ()
    assert found.smallest is not None
    assert found.smallest.bound == 10
    assert verify_sweep(problem, replace(found, points=(too_small({"p": 5, "q": 20}),))) != ()
