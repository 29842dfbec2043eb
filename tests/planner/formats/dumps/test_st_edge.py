"""ST Edge AI's network_c_info.json is read: activations with their epochs, but no weights."""

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
"""Sizes, places and epochs as ST Edge AI Core 2.2 wrote them for three layers (github: Lotfi-kh/PID_adaptive_gain)."""


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


def test_activations_are_planned_and_stay_in_place_where_they_were() -> None:
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


NPU = (
    ("Input_0_out_0", 3200, 0, 0, 2),
    ("Quantize_37_out_0", 4, 1040, 11, 12),
    ("Transpose_1_out_0", 3200, 0, 0, 2),
    ("Cast_2_out_0", 12800, 0, 2, 3),
    ("Quantize_3_out_0", 3200, 12800, 3, 4),
    ("Conv2D_5_zero_off_out_13", 3200, 12800, 4, 5),
    ("Conv2D_11_zero_off_out_22", 12800, 0, 5, 6),
    ("Conv2D_17_zero_off_out_31", 6144, 12800, 6, 7),
    ("Conv2D_23_zero_off_out_40", 2304, 0, 7, 8),
    ("Conv2D_23_out_0_cp_in_19_cp_in_20", 768, 2304, 8, 9),
    ("Gemm_29_conv_4_zero_off_out_49", 64, 3072, 8, 9),
    ("Gemm_33_conv_10_zero_off_out_58", 32, 0, 9, 10),
    ("Gemm_33_conv_10_off_bias_out_64", 4, 1056, 10, 11),
    ("Gemm_33_out_0", 4, 1056, 10, 11),
    ("SCRATCH_Softmax_36_PORT_OUT", 1028, 0, 11, 12),
)
"""Names, sizes, places and epochs as ST Edge AI wrote them for an STM32N6's NPU (github: NetanelUnger/N6_tof)."""
MEMORIES: tuple[tuple[int, str, int, int, list[int]], ...] = (
    (1, "npuRAM6", 875888640, 458752, []),
    (2, "npuRAM5", 875429888, 458752, []),
    (5, "cpuRAM2", 873463808, 1048576, []),
    (6, "cpuRAM1", 872824832, 0, []),
    (8, "hyperRAM", 2415919104, 33554432, []),
    (10, "cpuRAM2_npuRAM5_npuRAM6", 873463808, 2883584, [5, 2, 1]),
)
"""The memories in the file of NPU: numbers, names, addresses, sizes and parts."""


def pool_of(id_: int, name: str, at: int, size: int, parts: list[int]) -> dict[str, Any]:
    return {
        "id": id_, "name": name, "address": str(at), "size_bytes": size, "alignment": 8, "offset_start": 0,
        "rights": "ACC_WRITE", "subpools": parts, "used_size_bytes": 0,
    }  # fmt: skip


def on_npu(**homes: int) -> dict[str, Any]:
    """Return a document of the network of NPU, with some buffers in other memories."""
    pools = [pool_of(*each) for each in MEMORIES]
    buffers = [
        {"id": i, "name": name, "size_bytes": size, "offset_start": at, "alignment": 1, "is_param": False, "flags": ""}
        | {"mpool_id": homes.get(name, 2), "epochs": {"start": start, "end": end}}
        for i, (name, size, at, start, end) in enumerate(NPU)
    ]
    return {"json_schema_version": "2.0", "memory_pools": pools, "buffers": buffers}


def test_the_memories_of_an_npu_have_their_addresses_and_sizes() -> None:
    problem, warnings = read_problem(json.dumps(on_npu(Cast_2_out_0=8, SCRATCH_Softmax_36_PORT_OUT=5)).encode())
    assert [(pool.name, pool.base, pool.size, pool.alignment, pool.rank) for pool in problem.pools] == [
        ("npuRAM5", 875429888, 458752, 8, 1),
        ("cpuRAM2", 873463808, 1048576, 8, 2),
        ("hyperRAM", 2415919104, 33554432, 8, 4),
    ]
    assert {buffer.id: buffer.pools for buffer in problem.buffers}["Cast_2_out_0"] == ("hyperRAM",)
    assert (problem.name, warnings) == (f"ST Edge AI's own plan: {18944 + 12800 + 1028} bytes", ())
    found = plan(problem)
    assert (found.status, verify(problem, found)) == ("optimal", ())
    assert {pool.name: pool.peak for pool in found.pools} == {"npuRAM5": 18944, "cpuRAM2": 1028, "hyperRAM": 12800}


def test_a_part_of_another_memory_is_planned_with_it() -> None:
    """npuRAM5 begins at byte 1 966 080 of the whole; two separate plans could use the same bytes twice."""
    problem, warnings = read_problem(json.dumps(on_npu(Cast_2_out_0=10, Input_0_out_0=8)).encode())
    assert warnings == ("the memory 'npuRAM5' is a part of 'cpuRAM2_npuRAM5_npuRAM6', and planned as one with it",)
    assert [(pool.name, pool.size) for pool in problem.pools] == [("hyperRAM", 33554432), (MEMORIES[-1][1], 2883584)]
    hints = {buffer.id: buffer.hint for buffer in problem.buffers}
    assert (hints["Cast_2_out_0"], hints["Transpose_1_out_0"], hints["Input_0_out_0"]) == (0, 1966080, 0)
    found = plan(problem)
    assert verify(problem, found) == ()
    assert found.pools[1].peak == 18944


def test_parts_of_parts_and_parts_of_several_are_planned_as_one() -> None:
    """Two memories become one range if a memory without buffers connects them, or if they overlap in part."""
    made = on_npu(Cast_2_out_0=10, Input_0_out_0=1)
    made["memory_pools"].append(pool_of(11, "middle", MEMORIES[1][2], 2 * 458752, [2, 1]))
    made["memory_pools"][5]["subpools"] = [5, 11]
    assert [pool.name for pool in read_problem(json.dumps(made).encode())[0].pools] == [MEMORIES[-1][1]]
    made = on_npu(Cast_2_out_0=11, Input_0_out_0=12, Transpose_1_out_0=11)
    first = MEMORIES[0][2]
    for i, at in ((11, first), (12, first + 64)):
        made["memory_pools"].append(pool_of(i, f"m{i}", at, 20000, [13]))
    made["memory_pools"].append(pool_of(13, "common", first + 64, 128, []))
    problem, warnings = read_problem(json.dumps(made).encode())
    assert (problem.pools[-1].name, problem.pools[-1].base, problem.pools[-1].size) == ("m11+m12", first, 20064)
    hints = {buffer.id: (buffer.pools, buffer.hint) for buffer in problem.buffers}
    assert hints["Input_0_out_0"] == (("m11+m12",), 64 + NPU[0][2])
    assert len(warnings) == 2


def test_memories_with_common_addresses_are_planned_as_one() -> None:
    made = on_npu(Cast_2_out_0=10, Input_0_out_0=8)
    for pool in made["memory_pools"]:
        pool["subpools"] = []
    assert [pool.name for pool in read_problem(json.dumps(made).encode())[0].pools] == ["hyperRAM", MEMORIES[-1][1]]


def test_a_memory_begins_at_its_own_offset_from_the_address() -> None:
    made = on_npu()
    made["memory_pools"][1]["offset_start"] = 64
    assert read_problem(json.dumps(made).encode())[0].pools[0].base == 875429888 + 64


def test_weights_keep_their_bytes_of_a_memory_that_holds_activations_too() -> None:
    made = on_npu()
    places: list[tuple[int, Any, Any]] = [
        (2, 0, 4096),
        (10, 1966080 + 4096, 100),
        (8, 0, 64),
        (2, -1, 9),
        (77, 0, 9),
        (2, 8, None),
    ]
    for i, (memory, at, size) in enumerate(places):
        weights = {"id": 100 + i, "name": f"w{i}", "is_param": True, "mpool_id": memory}
        made["buffers"].append(weights | {"offset_start": at, "size_bytes": size})
    problem, _ = read_problem(json.dumps(made).encode())
    assert [(pool.name, pool.reserved) for pool in problem.pools] == [("npuRAM5", ((0, 4196),))]
    found = plan(problem)
    assert verify(problem, found) == ()
    assert min(each.offset for each in found.placements) >= 4196


def test_a_buffer_with_a_memory_and_no_place_is_planned_and_said_so() -> None:
    made = document()
    made["buffers"][2]["offset_start"] = -1
    problem, warnings = read_problem(json.dumps(made).encode())
    assert next((each.id, each.hint) for each in problem.buffers) == ("obs", None)
    assert len(problem.buffers) == len(NETWORK)
    assert [text.partition(",")[0] for text in warnings] == ["the buffer 'obs'"]
    for row in made["buffers"][3:]:
        row["offset_start"] = -1
    problem, warnings = read_problem(json.dumps(made).encode())
    assert [pool.alignment for pool in problem.pools] == [4]
    assert [text.partition(",")[0] for text in warnings] == [f"{len(NETWORK)} buffers"]
    assert verify(problem, plan(problem)) == ()


def test_states_are_kept_throughout() -> None:
    made = document()
    made["buffers"][4]["flags"] = "STAI_FLAG_STATES|STAI_FLAG_PREALLOCATED"
    problem, _ = read_problem(json.dumps(made).encode())
    assert [(b.kind, b.live) for b in problem.buffers if b.id == "relu1"] == [("mutable", ((2, 16),))]
    assert {each.buffer for each in problem.constraints.colocations} == {"relu1"}


def test_alignments_are_reduced_to_those_the_file_keeps() -> None:
    made = on_npu()
    made["buffers"][3].update(alignment=64)
    made["buffers"][1].update(offset_start=1042)
    problem, _ = read_problem(json.dumps(made).encode())
    assert (problem.pools[0].alignment, problem.buffers[3].alignment, problem.buffers[1].alignment) == (2, 64, 1)


def test_memories_that_overlap_ambiguously_are_refused() -> None:
    def fault(**changes: Any) -> tuple[str, str]:
        made = on_npu(Cast_2_out_0=10)
        made["memory_pools"][5].update(changes)
        with pytest.raises(BadInput) as caught:
            read_problem(json.dumps(made).encode())
        return caught.value.findings[0].code, caught.value.findings[0].pointer

    place = "/memory_pools/5/subpools"
    assert fault(subpools=[77]) == ("unknown_pool", place)
    assert fault(subpools=7) == ("wrong_type", place)
    assert fault(subpools=[8]) == ("contradiction", place)
    assert fault(subpools=[10]) == ("contradiction", place)
    assert fault(address="here") == ("wrong_type", "/memory_pools/5/address")
    assert fault(address="٣") == ("wrong_type", "/memory_pools/5/address")
    assert fault(id=8) == ("duplicate_id", "/memory_pools/5/id")


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
def test_wrong_files_are_refused_with_the_place(change: Any, code: str, pointer: str) -> None:
    broken = document()
    change(broken)
    with pytest.raises(BadInput) as caught:
        read_problem(json.dumps(broken).encode(), format="st-edge-ai")
    assert (caught.value.findings[0].code, caught.value.findings[0].pointer) == (code, pointer)
