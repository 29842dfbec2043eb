"""ST Edge AI's network_c_info.json: activations with their epochs, without weights."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner import BadInput, plan, read_problem, verify

NETWORK = (
    ("obs", 52, 204, 2, 4, "STAI_FLAG_INPUTS|STAI_FLAG_PREALLOCATED|STAI_FLAG_ACTIVATIONS"),
    ("gemm0", 256, 256, 3, 6, "STAI_FLAG_PREALLOCATED|STAI_FLAG_ACTIVATIONS"),
    ("relu1", 256, 256, 5, 8, "STAI_FLAG_PREALLOCATED|STAI_FLAG_ACTIVATIONS"),
    ("gemm2", 256, 0, 7, 10, "STAI_FLAG_PREALLOCATED|STAI_FLAG_ACTIVATIONS"),
    ("relu3", 256, 256, 9, 12, "STAI_FLAG_PREALLOCATED|STAI_FLAG_ACTIVATIONS"),
    ("gemm4", 12, 0, 11, 14, "STAI_FLAG_PREALLOCATED|STAI_FLAG_ACTIVATIONS"),
    ("action", 12, 12, 13, 15, "STAI_FLAG_OUTPUTS|STAI_FLAG_PREALLOCATED|STAI_FLAG_ACTIVATIONS"),
)
"""Sizes, places and epochs as ST Edge AI Core 2.2 wrote them for a policy of three layers (github: Lotfi-kh/PID_adaptive_gain)."""


def document() -> dict[str, Any]:
    rows = [
        {
            "id": i,
            "name": name,
            "size_bytes": size,
            "offset_start": at,
            "mpool_id": 0,
            "alignment": 4,
            "is_param": False,
        }
        | {"epochs": {"start": start, "end": end}, "flags": flags}
        for i, (name, size, at, start, end, flags) in enumerate(NETWORK)
    ]
    weights = {"id": 99, "name": "weights", "size_bytes": 3328, "offset_start": 0, "mpool_id": 1, "is_param": True}
    outside = {**rows[0], "id": 98, "name": "the caller's", "mpool_id": -1, "offset_start": -1}
    pools = [
        {
            "id": 0,
            "name": "heap_overlay_pool",
            "size_bytes": -1,
            "alignment": 4,
            "rights": "ACC_WRITE",
            "address": "NULL",
        },
        {"id": 1, "name": "weights_array", "size_bytes": -1, "alignment": 0, "rights": "ACC_READ"},
    ]
    return {"json_schema_version": "2.0", "memory_pools": pools, "buffers": [weights, outside, *rows]}


def test_activations_are_planned_and_what_was_in_place_stays_so() -> None:
    problem, warnings = read_problem(json.dumps(document()).encode(), name="network_c_info.json")
    assert [(b.id, b.live, b.hint, b.kind) for b in problem.buffers][:2] == [
        ("obs", ((2, 5),), 204, "input"),
        ("gemm0", ((3, 7),), 256, None),
    ]
    assert [(each.buffer, each.base) for each in problem.constraints.colocations] == [("relu1", "gemm0")]
    assert [pool.name for pool in problem.pools] == ["heap_overlay_pool"]
    assert (problem.name, warnings) == ("ST Edge AI's own plan: 512 bytes", ())
    found = plan(problem)
    assert (found.peak, found.status, verify(problem, found)) == (512, "optimal", ())


@pytest.mark.parametrize(
    ("change", "code", "pointer"),
    [
        (lambda d: d.pop("memory_pools"), "missing_field", "/memory_pools"),
        (lambda d: d["buffers"].append(7), "wrong_type", "/buffers/9"),
        (lambda d: d["buffers"][2].update(mpool_id=5), "unknown_pool", "/buffers/2/mpool_id"),
        (lambda d: d["buffers"][3].update(name="obs"), "duplicate_id", "/buffers/3/name"),
        (lambda d: d["buffers"][3].update(epochs={"start": 4, "end": 3}), "interval_reversed", "/buffers/3/epochs"),
        (lambda d: d["buffers"][3]["epochs"].pop("end"), "missing_field", "/buffers/3/epochs/end"),
        (lambda d: d["buffers"][3].update(size_bytes=1 << 63), "out_of_range", "/buffers/3/size_bytes"),
        (lambda d: d["buffers"][3].pop("epochs"), "missing_field", "/buffers/3/epochs/start"),
        (lambda d: d["memory_pools"][0].update(name=[]), "wrong_type", "/memory_pools/0/name"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(change: Any, code: str, pointer: str) -> None:
    broken = document()
    change(broken)
    with pytest.raises(BadInput) as caught:
        read_problem(json.dumps(broken).encode(), format="st-edge-ai")
    assert (caught.value.findings[0].code, caught.value.findings[0].pointer) == (code, pointer)
