"""PyTorch's memory snapshots: what the history allocates and frees, what existed before it, and what was reserved.

Segments and events have the fields that `torch.cuda.memory._snapshot` documents, and addresses and sizes of an A100.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner import Problem, plan, read_problem, verify
from tests.planner.formats import reading

SMALL, LARGE = 140370157502464, 140366409891840
FRAMES = [
    {"name": "at::native::convolution", "filename": "??", "line": 0},
    {"name": "_conv_forward", "filename": "/opt/site-packages/torch/nn/modules/conv.py", "line": 549},
    {"name": "forward", "filename": "/home/me/model.py", "line": 17},
    {"name": "main", "filename": "/home/me/train.py", "line": 88},
]


def block(size: int, state: str = "active_allocated", requested: int | None = None, **more: Any) -> dict[str, Any]:
    return {
        "size": size,
        "requested_size": size if requested is None else requested,
        "state": state,
        "frames": [],
        **more,
    }


def segment(address: int, *blocks: dict[str, Any], device: int = 0) -> dict[str, Any]:
    """Return a segment of adjacent blocks."""
    at = address
    for each in blocks:
        each.setdefault("address", at)
        at += each["size"]
    used = [each for each in blocks if each["state"].startswith("active")]
    return {
        "device": device,
        "address": address,
        "total_size": sum(each["size"] for each in blocks),
        "allocated_size": sum(each["size"] for each in used if each["state"] == "active_allocated"),
        "active_size": sum(each["size"] for each in used),
        "requested_size": sum(each["requested_size"] for each in used),
        "stream": 0,
        "segment_type": "small" if len(blocks) > 1 else "large",
        "segment_pool_id": (0, 0),
        "is_expandable": False,
        "frames": [],
        "blocks": list(blocks),
    }


def event(action: str, addr: int, size: int, **more: Any) -> dict[str, Any]:
    return {"action": action, "addr": addr, "size": size, "stream": 0, "time_us": 1, "frames": [], **more}


def snapshot(events: list[Any], *segments: Any, **more: Any) -> str:
    whole = {"segments": list(segments), "device_traces": [events], "allocator_settings": {}, **more}
    return json.dumps(whole)


def read(text: str) -> Problem:
    return read_problem(text.encode())[0]


def lives(problem: Problem) -> dict[Any, Any]:
    return {buffer.id: (buffer.size, buffer.live) for buffer in problem.buffers}


def refused(text: str | bytes) -> tuple[str, str]:
    return reading.refused(text.encode() if isinstance(text, str) else text, format="torch-snapshot")[:2]


def test_allocations_begin_and_end_with_their_events() -> None:
    events = [
        event("segment_alloc", 1, 4096),
        event("alloc", 1 << 63, 64),
        event("free_completed", 5, 16),
        event("free_requested", 1 << 63, 64),
        event("free_completed", 1 << 63, 64),
        event("alloc", 1 << 63, 32),
    ]
    problem = read(snapshot([], device_traces=[[], events]))
    assert lives(problem) == {"1/2": (16, ((0, 3),)), "1/1": (64, ((1, 5),)), "1/3": (32, ((5, 6),))}
    assert refused(b"\x80\x04\x95.")[0] == "invalid_json"


def test_every_action_that_pytorch_writes_is_a_step() -> None:
    events = [
        event("segment_map", LARGE, 2 << 20),
        event("alloc", LARGE, 1000, frames=FRAMES),
        event("user_defined", 0, 0),
        {"action": "oom", "size": 1 << 40, "device_free": 77, "stream": 0, "frames": []},
        event("free_requested", LARGE, 1000),
        event("snapshot", 0, 0),
        event("free_completed", LARGE, 1000),
        event("segment_unmap", LARGE, 2 << 20),
    ]
    problem = read(snapshot(events))
    assert lives(problem) == {"1 model.py:17 forward": (1000, ((1, 7),))}
    assert problem.name == "PyTorch's own allocator: 2097152 bytes"
    assert refused(snapshot([event("explode", 1, 2)])) == ("invalid_value", "/device_traces/0/0/action")


def test_blocks_in_use_from_before_until_the_end_live_throughout() -> None:
    weights = block(4 << 20, requested=4_000_000, frames=FRAMES[:2])
    events = [
        event("alloc", SMALL, 8),
        event("alloc", SMALL + 512, 700),
        event("free_requested", SMALL + 512, 700),  # another stream still uses it when the snapshot is taken
        event("segment_alloc", LARGE + (64 << 20), 8 << 20),
        event("segment_free", LARGE + (64 << 20), 8 << 20),
    ]
    small = segment(
        SMALL, block(512, requested=8), block(1024, "active_awaiting_free", 700), block((2 << 20) - 1536, "inactive", 0)
    )
    problem = read(snapshot(events, segment(LARGE, weights), small))
    assert lives(problem) == {
        "1": (8, ((0, 5),)),
        "2": (700, ((1, 5),)),
        "3 conv.py:549 _conv_forward": (4_000_000, ((0, 5),)),
    }
    assert problem.name == f"PyTorch's own allocator: {(4 + 2 + 8) << 20} bytes"
    found = plan(problem)
    assert problem.pools[0].alignment == 512
    assert (found.peak, verify(problem, found)) == (1024 + 4_000_256 + 8, ())  # each at a multiple of 512


def test_without_a_history_the_blocks_in_use_are_read() -> None:
    nothing: tuple[list[list[Any]], ...] = ([], [[], []])
    for traces in nothing:
        text = snapshot([], segment(LARGE, block(512, requested=8), device=1), device_traces=traces)
        problem = read(text)
        assert lives(problem) == {"1/1": (8, ((0, 1),))}
        assert [pool.name for pool in problem.pools] == ["device 1"]


def test_blocks_without_an_address_lie_behind_the_one_before() -> None:
    rows = [block(1024, "inactive"), block(512), block(256)]
    whole = segment(SMALL, *rows)
    for each in rows:
        del each["address"]  # as PyTorch's profiler writes them
    problem = read(snapshot([event("alloc", SMALL + 1024, 512)], whole))
    assert sorted(lives(problem).values()) == [(256, ((0, 1),)), (512, ((0, 1),))]


@pytest.mark.parametrize(
    ("segments", "code", "place"),
    [
        ({"segments": 7}, "wrong_type", "/segments"),
        ({"segments": [7]}, "wrong_type", "/segments/0"),
        ({"segments": [{**segment(1, block(2)), "device": 1 << 30}]}, "out_of_range", "/segments/0/device"),
        ({"segments": [{**segment(1, block(2)), "blocks": {}}]}, "wrong_type", "/segments/0/blocks"),
        ({"segments": [{**segment(1, block(2)), "address": None}]}, "wrong_type", "/segments/0/address"),
        ({"segments": [segment(1, block(2, "idle"))]}, "invalid_value", "/segments/0/blocks/0/state"),
        ({"segments": [{**segment(1, block(2)), "blocks": [block(-2)]}]}, "out_of_range", "/segments/0/blocks/0/size"),
        ({"segments": [segment(1, block(2)), segment(1, block(2))]}, "duplicate_id", "/segments/1/blocks/0"),
        (
            {"segments": [segment(1, block(2), block(2)), *[segment(3, block(1), block(1), device=1)] * 2]},
            "duplicate_id",
            "/segments/2/blocks/0",
        ),
        ({"device_traces": [7]}, "wrong_type", "/device_traces/0"),
        ({"device_traces": {}}, "wrong_type", "/device_traces"),
        ({"device_traces": [[{"action": "alloc", "addr": 1}]]}, "missing_field", "/device_traces/0/0/size"),
        ({"device_traces": [[event("alloc", 1, 2), event("alloc", 1, 2)]]}, "duplicate_id", "/device_traces/0/1/addr"),
    ],
)
def test_wrong_snapshots_are_refused_with_the_place(segments: dict[str, Any], code: str, place: str) -> None:
    assert refused(snapshot([], **segments)) == (code, place)
