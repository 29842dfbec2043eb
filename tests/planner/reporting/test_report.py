"""The report's figures for each memory and for all together, and the buffers that would have to shrink."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from planner import Options, PlanStatus, plan
from planner.model.plan import Plan
from planner.model.problem import Buffer, Colocation, Constraints, Lifetimes, Pool, Problem
from planner.reporting.report import LiveBuffer, MemoryReport, memory_report
from tests.small.strategies import effort, problems

GREEDY = Options(solver="greedy", workers=1)


def reported(problem: Problem) -> MemoryReport:
    return memory_report(problem, plan(problem, GREEDY))


TWO = Problem(
    (
        Buffer("a", 60, live=((0, 3),), pools=("sram",)),
        Buffer("b", 50, live=((2, 6),), pools=("sram",)),
        Buffer("large", 7000, live=((2, 4),), pools=("dram",)),
        Buffer("late", 7000, live=((5, 6),), pools=("dram",)),
    ),
    (Pool("sram", 200, 16, 0x57BE0000, reserved=((0, 16), (190, 300))), Pool("dram", 10000), Pool("empty")),
    name="two",
    lifetimes=Lifetimes.HALF_OPEN,
)


def test_every_memory_has_its_figures() -> None:
    report = reported(TWO)
    sram, dram, empty = report.pools
    assert (sram.name, sram.base, sram.size, sram.peak, sram.bound) == ("sram", 0x57BE0000, 200, 130, 130)
    assert (sram.free, sram.most_live, sram.step) == (200 - 10 - 130, 110, 2)
    assert sram.fragmentation == 1 - 110 / (130 - 16)
    assert (dram.base, dram.peak, dram.free, dram.most_live, dram.step, dram.fragmentation) == (
        None,
        7000,
        3000,
        7000,
        2,
        0.0,
    )
    assert (empty.size, empty.peak, empty.free, empty.most_live, empty.fragmentation, empty.cause) == (
        None,
        0,
        None,
        0,
        None,
        None,
    )
    assert (report.problem, report.status, report.peak, report.bound) == ("two", PlanStatus.OPTIMAL, 7130, 7130)


def test_the_peak_over_all_memories_is_of_one_step() -> None:
    live = reported(TWO).live
    assert live is not None
    assert (live.bytes, live.step, live.moments) == (7110, 2, 1)
    assert [(b.id, b.pool, b.size, b.live) for b in live.buffers] == [
        ("a", "sram", 60, ((0, 3),)),
        ("b", "sram", 50, ((2, 6),)),
        ("large", "dram", 7000, ((2, 4),)),
    ]
    assert isinstance(live.buffers[0], LiveBuffer)


def test_a_proof_names_the_buffers_that_would_have_to_shrink() -> None:
    made = plan(TWO, GREEDY)
    cause = memory_report(TWO, made).pools[1].cause
    assert cause is not None
    assert (cause.proven, cause.buffers, cause.step) == (True, ("large",), 2)
    shrunk = replace(TWO, buffers=tuple(replace(b, size=6999) if b.id == "large" else b for b in TWO.buffers))
    assert plan(shrunk, GREEDY).pools[1].peak == 7000  # "late" is as large; the proof does not need it


def test_without_a_proof_the_plan_itself_is_the_reason() -> None:
    made = plan(TWO, GREEDY)
    cause = memory_report(TWO, replace(made, certificates=())).pools[0].cause
    assert cause is not None
    assert cause.proven is False
    assert cause.step is None
    assert len(cause.buffers) == 2


def test_a_report_without_a_plan_has_no_figures_of_use() -> None:
    problem = replace(TWO, pools=(Pool("sram", 20), *TWO.pools[1:]))
    report = reported(problem)
    assert report.status is PlanStatus.INFEASIBLE
    assert (report.peak, report.live) == (None, None)
    assert {(p.peak, p.free, p.most_live, p.fragmentation, p.cause) for p in report.pools} == {(None,) * 5}


def test_buffers_without_lifetimes_have_no_live_figures() -> None:
    problem = Problem(
        (Buffer("a", 8), Buffer("b", 8), Buffer("c", 4, live=((0, 1),))),
        (Pool("p", 32),),
        Constraints(conflicts=(("a", "b"),)),
    )
    report = reported(problem)
    assert report.untimed == 2
    assert (report.pools[0].peak, report.pools[0].most_live, report.pools[0].fragmentation) == (16, None, None)
    assert report.live is not None
    assert report.live.bytes == 4


def test_a_report_without_buffers_has_figures_of_zero() -> None:
    report = reported(Problem((), (Pool("p", 8),)))
    assert (report.pools[0].peak, report.pools[0].free, report.live, report.untimed) == (0, 8, None, 0)


def test_a_capacity_that_was_tried_is_the_plan_s() -> None:
    problem = Problem((Buffer("a", 8, live=((0, 1),)),), (Pool("p", 8),))
    made: Plan = plan(problem, replace(GREEDY, capacity=20))
    assert (memory_report(problem, made).pools[0].size, memory_report(problem, made).pools[0].free) == (20, 12)


def test_an_empty_buffer_may_define_the_peak() -> None:
    """An empty buffer has an aligned address, too, and the peak reaches up to it."""
    problem = Problem(
        (Buffer("a", 0, alignment=3, live=((0, 1),)), Buffer("b", 1, live=((2, 3),))), (Pool("p", None, base=1),)
    )
    report = reported(problem)
    assert report.pools[0].peak == 2
    cause = report.pools[0].cause
    assert cause is not None
    assert cause.buffers == ("a",)


def test_views_do_not_count_twice() -> None:
    problem = Problem(
        (Buffer("base", 64, live=((0, 4),)), Buffer("view", 32, live=((0, 4),))),
        constraints=Constraints(colocations=(Colocation("view", "base", 8),)),
    )
    report = reported(problem)
    assert (report.pools[0].peak, report.pools[0].most_live, report.pools[0].fragmentation) == (64, 64, 0.0)


@effort(15, 2000)
@given(problems())
def test_figures_agree_with_each_other(problem: Problem) -> None:
    made = plan(problem, GREEDY)
    report = memory_report(problem, made)
    for pool in report.pools:
        if pool.peak is None:
            continue
        assert pool.bound <= pool.peak
        assert pool.free is None or pool.free >= 0
        assert pool.most_live is None or 0 <= pool.most_live <= pool.peak
        assert pool.fragmentation is None or 0 <= pool.fragmentation < 1
        assert (pool.cause is None) == (pool.peak == 0)
        if pool.cause is not None:
            inside = {place.id for place in made.placements if place.pool == pool.name}
            assert pool.cause.buffers
            assert set(pool.cause.buffers) <= inside or pool.cause.proven
    if report.live is not None:
        most = [pool.most_live for pool in report.pools if pool.most_live is not None]
        assert report.live.bytes >= max(most, default=0)
        assert set(report.live.throughout) <= {buffer.id for buffer in report.live.buffers}
