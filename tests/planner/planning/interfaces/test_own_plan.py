"""The places that a file gives its buffers become a plan of ours, measured against what is proven, or explained where they are wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner import (
    Buffer,
    Fixed,
    Options,
    Plan,
    PlanStatus,
    Pool,
    Problem,
    own_plan,
    plan,
    read_plan,
    read_problem,
    verify,
    write_plan,
)
from planner.formats import FORMATS
from planner.model.errors import BadInput
from planner.reporting.own_places import own_peaks
from solvers.model.instance import Term

PLACED = ("tflm-log", "vela-log", "st-edge-ai", "executorch", "xla-text", "idealloc")
A, B = Buffer("a", 64, live=((0, 2),), hint=0), Buffer("b", 32, live=((1, 3),), hint=128)
PROBLEM = Problem((A, B, Buffer("none", 0, live=((0, 9),))), (Pool("fast"),))


def right(problem: Problem) -> Plan:
    found, wrong = own_plan(problem)
    assert wrong == verify(problem, found) == ()
    assert read_plan(write_plan(found)) == found
    return found


@pytest.mark.parametrize("name", PLACED)
def test_the_plan_in_a_file_is_a_plan_of_its_problem(name: str) -> None:
    problem, _ = read_problem(FORMATS[name].document)
    found = right(problem)
    assert [place.offset for place in found.placements] == [buffer.hint for buffer in problem.buffers]
    assert (found.status, found.peak, found.bound) == (PlanStatus.OPTIMAL, 96, 96)


def test_bounds_are_those_proven_of_every_plan() -> None:
    found = right(PROBLEM)
    assert (found.status, found.peak, found.bound, found.gap) == (PlanStatus.FEASIBLE, 160, 96, 160 / 96 - 1)
    assert [(use.peak, use.bound) for use in found.pools] == [(160, 96)]
    assert own_plan(PROBLEM, best=plan(PROBLEM, Options(solver="greedy")))[0].bound == 96
    several = replace(PROBLEM, terms=(Term.SUM_OF_PEAKS, Term.LARGEST_PEAK))
    assert [term.bound for term in right(several).objective.terms] == [96, None]


def test_each_memory_has_its_own_peak_and_what_is_fixed_counts_before_hints() -> None:
    fixed = replace(B, fixed=Fixed("slow", 8), hint=None)
    problem = Problem((replace(A, pools=("fast", "slow")), fixed), (Pool("fast"), Pool("slow", rank=1)))
    assert own_peaks(problem) == {"fast": 64, "slow": 40}
    assert [use.peak for use in right(problem).pools] == [64, 40]


def test_what_is_wrong_with_the_places_is_told_and_nothing_proven() -> None:
    problem = replace(PROBLEM, buffers=(A, replace(B, hint=32)))
    found, (finding,) = own_plan(problem)
    assert "overlap" in finding.message
    assert (found.bound, found.certificates, found.peak) == (0, (), 64)
    assert verify(problem, found) == (finding,)
    assert own_plan(replace(problem, pools=(Pool("fast", 63),)))[1]


def test_a_file_that_leaves_places_open_has_no_plan() -> None:
    with pytest.raises(BadInput, match="gives no place to 'b'"):
        own_plan(replace(PROBLEM, buffers=(A, replace(B, hint=None))))
    assert own_peaks(replace(PROBLEM, buffers=(A, replace(B, hint=None)))) is None
