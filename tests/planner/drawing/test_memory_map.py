"""The map of a plan shows every buffer at its addresses, for its lifetime."""

from __future__ import annotations

from dataclasses import replace

import pytest

import planner
from planner import BadInput, Buffer, Code, Constraints, Pool, Problem, plan
from planner.drawing import memory_map
from planner.drawing.frame import cut
from planner.drawing.memory_map import Box, ceiling
from planner.model.plan import Placement
from planner.model.problem import Lifetimes, measures_bytes
from solvers.model.instance import Term

THREE = Problem(
    (
        Buffer("image", 64, live=((0, 2),), kind="input"),
        Buffer("edges", 20, live=((1, 3), (3, 4), (6, 8))),
        Buffer("nothing", 0, live=((0, 9),)),
        Buffer("never", 8, live=((5, 5),)),
    ),
    (Pool("arena", 96, alignment=16), Pool("spare")),
    lifetimes=Lifetimes.HALF_OPEN,
)


def test_each_stretch_of_a_life_is_a_box() -> None:
    answer = plan(THREE)
    drawn = memory_map(THREE, answer)
    where = {place.id: place.offset for place in answer.placements}
    (arena, spare) = drawn.pools
    assert arena.boxes == (
        Box(0, 0, 2, where["image"]),
        Box(1, 1, 4, where["edges"]),
        Box(1, 6, 8, where["edges"]),
    )
    assert spare.boxes == ()
    assert (drawn.axis.begin, drawn.axis.end, drawn.axis.right) == (0, 9, 9)
    assert (drawn.kinds, drawn.kind) == (("input", None), (0, 1, 1, 1))
    assert arena.profile == ((0, 64), (1, 84), (2, 20), (4, 0), (6, 20), (8, 0))
    assert (arena.peak, arena.bound, spare.peak) == (84, 0, 0)


def test_buffers_without_lifetimes_have_columns_behind_the_others() -> None:
    buffers = (Buffer("timed", 8, live=((10, 50),)), Buffer("a", 8), Buffer("b", 8))
    problem = Problem(buffers, constraints=Constraints(conflicts=(("a", "b"),)), lifetimes=Lifetimes.HALF_OPEN)
    drawn = memory_map(problem, plan(problem))
    timed, a, b = drawn.pools[0].boxes
    assert (timed.start, timed.end) == (10, 50)
    assert 50 < a.start < a.end == b.start < b.end == drawn.axis.right
    assert a.low != b.low


def test_without_any_lifetime_columns_begin_at_0() -> None:
    problem = Problem((Buffer("a", 8), Buffer("b", 8)))
    drawn = memory_map(problem, plan(problem))
    assert [(box.start, box.end) for box in drawn.pools[0].boxes] == [(0, 1), (1, 2)]
    assert drawn.pools[0].profile == ()


@pytest.mark.parametrize(
    ("place", "code"),
    [
        (Placement("stranger", "arena", 0, 4), Code.UNKNOWN_BUFFER),
        (Placement("image", "elsewhere", 0, 64), Code.UNKNOWN_POOL),
    ],
)
def test_a_plan_of_another_problem_is_refused(place: Placement, code: Code) -> None:
    with pytest.raises(BadInput) as refused:
        memory_map(THREE, replace(plan(THREE), placements=(place,)))
    (found,) = refused.value.findings
    assert (found.code, found.pointer.rpartition("/")[0]) == (code, "/placements/0")


def test_a_wrong_plan_is_drawn_with_its_faults() -> None:
    answer = plan(THREE)
    moved = tuple(replace(place, offset=0) for place in answer.placements)
    wrong = planner.verify(THREE, replace(answer, placements=moved))
    drawn = memory_map(THREE, replace(answer, placements=moved), wrong)
    assert drawn.wrong
    assert {box.low for box in drawn.pools[0].boxes} == {0}


def test_without_a_plan_there_are_no_boxes() -> None:
    tight = replace(THREE, pools=(Pool("arena", 70),))
    drawn = memory_map(tight, plan(tight))
    assert drawn.status is planner.PlanStatus.INFEASIBLE
    assert [pool.boxes for pool in drawn.pools] == [()]


def test_the_end_of_a_pool_is_shown_if_it_is_near() -> None:
    arena = memory_map(THREE, plan(THREE)).pools[0]
    buffers = THREE.buffers
    assert ceiling(arena, buffers) == 96
    assert 84 < ceiling(replace(arena, size=1 << 20), buffers) < 96
    assert 84 < ceiling(replace(arena, size=None), buffers) < 96
    assert ceiling(replace(arena, boxes=(), profile=(), peak=None, bound=0, size=None), buffers) > 0


@pytest.mark.parametrize(
    ("terms", "cost", "expected"),
    [
        ((Term.SUM_OF_PEAKS,), 1, True),
        ((Term.SUM_OF_PEAKS,), 3, False),
        ((Term.LARGEST_PEAK, Term.REUSE_COST), 3, True),
        ((Term.REUSE_COST,), 1, False),
    ],
)
def test_objectives_that_measure_no_bytes_are_recognised(terms: tuple[Term, ...], cost: int, expected: bool) -> None:
    assert measures_bytes(Problem((), (Pool("a", cost=cost),), terms=terms)) is expected


def test_labels_leave_out_the_common_prefix_of_names() -> None:
    names = ["input", "net/a/Relu;net/a/BiasAdd", "net/b/Relu", "net/add"]
    problem = Problem(tuple(Buffer(name, 8, live=((i, i + 2),)) for i, name in enumerate(names)))
    drawn = memory_map(problem, plan(problem))
    assert [drawn.label(i) for i in range(4)] == ["input", "a/Relu", "b/Relu", "add"]


@pytest.mark.parametrize(
    ("room", "shown"), [(18, "conv_block_17/Relu"), (12, "…ock_17/Relu"), (7, "…ck_17…"), (6, ""), (4, "")]
)
def test_names_without_room_keep_their_end_and_last_number(room: int, shown: str) -> None:
    assert cut("conv_block_17/Relu", room, 1, is_name=True) == shown


def test_names_without_a_number_at_their_ends_are_cut() -> None:
    assert cut("a_long_name_of_a_layer", 8, 1, is_name=True) == "…a_layer"
    assert cut("conv_1/activation", 8, 1, is_name=True) == "conv_1/…"
    assert cut("net/conv2d_4/FusedBatchNormV3", 8, 1, is_name=True) == "…nv2d_4…"
    assert cut("net/conv2/activation", 8, 1, is_name=True) == "…/conv2…"
    assert cut("conv_block_17/Relu", 12, 1) == "conv_block_…"


def test_names_of_wide_letters_are_cut_and_very_long_ones_keep_their_end() -> None:
    assert cut("张量" * 6, 9, 1, is_name=True) == "…张量张量"
    assert cut("张量" * 6, 9, 1) == "张量张量…"
    assert cut("a" * 500 + "_17", 8, 1, is_name=True) == "…aaaa_17"
