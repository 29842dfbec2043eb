"""`plan_memory`, the one call for compilers: its answers, their order, and its refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner import BadInput, Buffer, BufferInfo, CannotSolve, NoPlan, Options, PlanStatus, Pool, plan_memory
from planner.model.problem import BufferId
from tests.planner.formats.reading import corpus

GREEDY = Options(solver="greedy", workers=1)

FAN: tuple[BufferInfo, ...] = (
    BufferInfo("a", 10, conflicts=("b", "c")),
    BufferInfo("b", 20, conflicts=("c",)),
    BufferInfo("c", 100),
    BufferInfo("d", 30, conflicts=("c",)),
)


def overlap(first: tuple[int, int], second: tuple[int, int]) -> bool:
    return first[0] < second[0] + second[1] and second[0] < first[0] + first[1]


def test_the_answer_is_tensor_pool_and_offset_in_the_order_of_the_buffers() -> None:
    answer = plan_memory(
        [("sram", 96)],
        [Buffer("image", 64, live=((0, 2),)), Buffer("edges", 20, live=((1, 3),)), Buffer(7, 40, live=((2, 4),))],
        GREEDY,
    )
    assert answer == [("image", "sram", 0), ("edges", "sram", 64), (7, "sram", 0)]
    assert answer[1].tensor_id == "edges"
    assert (answer[1].pool_name, answer[1].pool_offset) == ("sram", 64)


def test_one_sided_conflicts_alone_keep_tensors_apart() -> None:
    places = {
        tensor: (offset, info.size_bytes)
        for (tensor, _, offset), info in zip(plan_memory([("p", 130)], FAN), FAN, strict=True)
    }
    for one, other in ("ab", "ac", "bc", "cd"):
        assert not overlap(places[one], places[other])
    assert max(sum(place) for place in places.values()) == 130


def test_lifetimes_and_conflicts_go_together() -> None:
    timed = BufferInfo("t", 8, live=((0, 4),))
    later = BufferInfo("u", 8, live=((4, 6),), conflicts=("t",))
    assert {place.pool_offset for place in plan_memory([("p", None)], [timed, later], GREEDY)} == {0, 8}


def test_tensors_of_different_devices_name_different_pools() -> None:
    buffers = [
        BufferInfo("on_gpu", 64, ("gpu",), alignment=64, live=((0, 9),)),
        BufferInfo("small", 3, ("cpu",), live=((0, 9),)),
        BufferInfo("on_cpu", 64, ("cpu",), alignment=16, live=((0, 9),)),
    ]
    answer = plan_memory([Pool("cpu", 128), Pool("gpu", 64, base=0x1000)], buffers, GREEDY)
    assert [place.pool_name for place in answer] == ["gpu", "cpu", "cpu"]
    assert answer[2].pool_offset % 16 == 0


def test_the_order_of_the_pools_is_the_order_of_preference() -> None:
    cost_nothing_apart = [BufferInfo("a", 8, live=((0, 1),))]
    assert plan_memory([("fast", 8), ("slow", 8)], cost_nothing_apart, GREEDY) == [("a", "fast", 0)]
    assert plan_memory([("slow", 8), ("fast", 8)], cost_nothing_apart, GREEDY) == [("a", "slow", 0)]


def test_no_buffers_give_no_placements() -> None:
    assert plan_memory([("p", 0)], [], GREEDY) == []


def test_buffers_that_do_not_fit_raise_an_error_with_the_plan() -> None:
    with pytest.raises(NoPlan) as caught:
        plan_memory([("p", 129)], FAN, GREEDY)
    assert caught.value.answer.status is PlanStatus.INFEASIBLE
    (finding,) = caught.value.findings
    assert finding.code == "infeasible"
    assert "pool 'p' is 1 byte too small" in finding.message


def test_giving_up_raises_an_error_of_its_own() -> None:
    above_each_other = [BufferInfo("x", 8, live=((0, 1),)), BufferInfo("y", 8, live=((1, 2),)), BufferInfo("z", 8)]
    with pytest.raises(NoPlan) as caught:
        plan_memory([("p", 8)], above_each_other, Options(solver="exir_naive"))
    assert caught.value.answer.status is PlanStatus.UNKNOWN
    assert [finding.code for finding in caught.value.findings] == ["no_plan_found"]


@pytest.mark.parametrize(
    ("pools", "buffers", "code", "place"),
    [
        ([("p", 1)], [BufferInfo("a", 1, conflicts=("b",))], "unknown_buffer", "/buffers/0/conflicts/0"),
        ([("p", 1)], [BufferInfo("a", 1), BufferInfo("a", 1)], "duplicate_id", "/buffers/1/id"),
        ([("p", 1)], [BufferInfo("a", 1, ("q",))], "unknown_pool", "/buffers/0/pools/0"),
        ([("p", -1)], [BufferInfo("a", 1)], "out_of_range", "/pools/0/size"),
        ([], [BufferInfo("a", 1)], "invalid_value", "/pools"),
    ],
)
def test_wrong_input_is_named_with_its_place(
    pools: list[tuple[str, int | None]], buffers: list[BufferInfo], code: str, place: str
) -> None:
    with pytest.raises(BadInput) as caught:
        plan_memory(pools, buffers)
    assert [(finding.code, finding.pointer) for finding in caught.value.findings] == [(code, place)]


def test_an_unknown_solver_is_refused() -> None:
    with pytest.raises(CannotSolve):
        plan_memory([("p", 1)], [BufferInfo("a", 1)], Options(solver="nobody"))


@pytest.mark.parametrize("path", corpus("usmp/*_subgraph.json"))
@pytest.mark.parametrize("solver", ["usmp_by_size", "usmp_by_conflicts", "usmp_hill_climb"])
def test_published_buffers_give_the_published_peaks(path: Path, solver: str) -> None:
    given = json.loads(path.read_bytes())
    pools = [
        (pool["pool_name"], None if pool["size_hint_bytes"] < 0 else pool["size_hint_bytes"]) for pool in given["pools"]
    ]
    buffers = [
        BufferInfo(b["name_hint"], b["size_bytes"], tuple(b["pool_candidates"]), b["alignment"], tuple(b["conflicts"]))
        for b in given["buffers"]
    ]
    peaks: dict[str, int] = {}
    sizes: dict[BufferId, int] = {b.name_hint: b.size_bytes for b in buffers}
    for tensor, pool, offset in plan_memory(pools, buffers, Options(solver=solver)):
        peaks[pool] = max(peaks.get(pool, 0), offset + sizes[tensor])
    assert peaks == {name: peak for name, peak in given["expected_peak"][solver].items() if peak}
