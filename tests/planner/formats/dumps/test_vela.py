"""Logs of Vela: its own form and that of its older core, several memories, and what is only read."""

from __future__ import annotations

import pytest

from planner import plan, read_problem, verify
from planner.formats import FORMATS
from planner.formats.contents import of_vela
from planner.formats.documents import Source
from planner.formats.tables.problems import recognised
from planner.model.errors import BadInput
from planner.model.problem import Colocation, Problem

OLD = FORMATS["vela-log"].example
NEW = """Tensor 'input' has a dynamic signature in axis 0. Setting shape axis 0 to 1 and proceeding.
################################################################################
Allocation, memory Dram, usage mask: FeatureMap
Start Time - End Time  : Start Addr -   End Addr: Tensor Size: Memory Usage: Format         : Name
         0 -          1:        0x0 -      0x1f0:         496:          496: NHWC           : input_1
        76 -         79:        0x0 -       0x10:          16:           16: NHWC           : Identity: 2
Allocation Peak Tensor Size: 496 bytes == 0.484375 KiB
################################################################################
Allocation, memory Sram, usage mask: Staging
Start Time - End Time  : Start Addr -   End Addr: Tensor Size: Memory Usage: Format         : Name
         0 -          0:      0xf00 -     0x1360:        1120:        12480: Unknown        : WB_double_1120_op0
         0 -          3:        0x0 -      0xf00:        3840:        22080: NHCWB16        : Relu
         0 -          3:        0x0 -      0xf00:        3840:        22080: NHCWB16        : Relu
Allocation Peak Tensor Size: 4960 bytes == 4.84375 KiB
################################################################################
Tensor Allocation for read-only NPU tensors:
Start Time - End Time  : Start Addr -   End Addr: Tensor Size: Memory Usage: Format         : Name
         0 -          1:        0x0 -     0x1180:        4480:         4480: Unknown        : Conv2D
Allocation Peak Tensor Size: 4480 bytes == 4.375 KiB

Network summary for kws_ref_model
Design peak SRAM bandwidth                       3.73 GB/s
"""
"""As Vela 5.2.0 prints it for an Ethos-U65 with a memory of its own, cut short."""
FLASH = """################################################################################
Tensor Allocation for mem_area OffChipFlash, of mem_type_set (Permanent_NPU), using allocator LinearAlloc, in Npu subgraph:
Start Time -   End Time: Start Addr -   End Addr: Tensor Size: Memory Usage: Purpose     : Format            : Name
         0 -          1:      0x880 -      0x890:          16:        14400: FeatureMap  : NHWC              : one_const
Allocation Peak Tensor Size:      14400 (    0x3840) Bytes    14.06 KiB

################################################################################
Tensor Allocation for mem_area OffChipFlash, of mem_type_set (Permanent_CPU), using allocator LinearAlloc, in Cpu subgraph:
Start Time -   End Time: Start Addr -   End Addr: Tensor Size: Memory Usage: Purpose     : Format            : Name
         0 -          3:     0xa820 -     0xe060:       14400:        57440: FeatureMap  : NHWC              : main_split_1_flash
         0 -          3:        0x0 -     0xa820:       43040:        57440: FeatureMap  : NHWC              : main_split_1_command_stream
"""


def read(data: str) -> Problem:
    return read_problem(data.encode())[0]


def test_a_log_of_vela_is_recognised_and_each_memory_planned() -> None:
    assert recognised(Source(NEW.encode(), "vela.log")).name == "vela-log"
    problem = read(NEW)
    assert [(pool.name, pool.alignment) for pool in problem.pools] == [("Dram", 16), ("Sram", 16)]
    assert [(each.id, each.size, each.live, each.pools, each.hint) for each in problem.buffers] == [
        ("input_1", 496, ((0, 2),), ("Dram",), 0),
        ("Identity: 2", 16, ((76, 80),), ("Dram",), 0),
        ("WB_double_1120_op0", 1120, ((0, 1),), ("Sram",), 0xF00),
        ("Relu", 3840, ((0, 4),), ("Sram",), 0),
        ("Relu#2", 3840, ((0, 4),), ("Sram",), 0),
    ]
    assert {each.kind for each in problem.buffers} == {None}
    assert problem.constraints.colocations == (Colocation("Relu#2", "Relu", 0),)
    assert problem.name == "Vela's own plan: 5456 bytes"
    found = plan(problem)
    assert (found.peak, verify(problem, found)) == (5456, ())


def test_what_vela_only_reads_is_counted_and_not_planned() -> None:
    assert of_vela(Source(NEW.encode()))[1:] == (1, 4480)
    old = OLD + FLASH
    assert read(old).buffers == read(OLD).buffers
    assert [pool.name for pool in read(old).pools] == ["Sram"]
    assert of_vela(Source(old.encode()))[1:] == (2, 16 + 43040)


@pytest.mark.parametrize(("text", "line"), [(NEW, 5), (OLD, 4)])
def test_a_line_of_another_form_is_refused_with_its_number(text: str, line: int) -> None:
    with pytest.raises(BadInput) as caught:
        read(_spoilt(text, line))
    assert caught.value.findings[0].pointer == f"/lines/{line}"


@pytest.mark.parametrize(
    "columns", [("Purpose",), ("Format",), (), ("Format", "Purpose"), ("Purpose", "Shape", "Format"), ("Purpose",) * 2]
)
def test_the_line_above_a_table_names_its_columns(columns: tuple[str, ...]) -> None:
    head, names, *_ = OLD.splitlines()[1:]
    first = names.partition(" Purpose")[0] + "".join(f" {name:12}:" for name in columns) + " Name"
    numbers = "         0 -          1:        0x0 -       0x40:          64:           96: "
    cells = {"Purpose": "FeatureMap  ", "Format": "NHWC        ", "Shape": "1, 2, 3     "}
    row = numbers + "".join(f"{cells[name]}: " for name in columns) + "a: 2"
    problem = read(f"{head}\n{first}\n{row}")
    assert [(each.id, each.kind) for each in problem.buffers] == [
        ("a: 2", "FeatureMap" if "Purpose" in columns else None)
    ]
    with pytest.raises(BadInput) as caught:
        read(f"{head}\n{first}\n{row.replace('0x40:', '0x40')}")
    sample = caught.value.findings[0].message.partition("look like ")[2]
    assert read(f"{head}\n{first}\n{sample}").buffers[0].size == 64


def _spoilt(text: str, line: int) -> str:
    """Return the log without the size in that line."""
    rows = text.splitlines()
    cells = rows[line - 1].split(": ")
    rows[line - 1] = ": ".join(cells[:2] + cells[4:])
    return "\n".join(rows)


def test_tables_of_vela_are_memories_and_fused_tensors_one_piece() -> None:
    second = OLD.replace("Sram", "Dram").replace(" a\n", " c\n").replace(" b\n", " b\n")
    fused = OLD.splitlines()[3].replace(": a", ": fused")
    problem = read(OLD + fused + "\n" + second)
    assert [pool.name for pool in problem.pools] == ["Sram", "Dram"]
    assert {each.id: each.live for each in problem.buffers} == {
        "a": ((0, 2),),
        "b": ((1, 3),),
        "fused": ((0, 2),),
        "c": ((0, 2),),
        "b#2": ((1, 3),),
    }
    found = plan(problem)
    assert (found.peak, verify(problem, found)) == (192, ())


@pytest.mark.parametrize("count", [9, 5_000])
def test_a_tensor_of_vela_may_write_its_addresses_in_another_way(count: int) -> None:
    row = "{} - {}: {} - {}: 64: 64: FeatureMap: NHWC: t{}"
    rows = [row.format(i, i + 1, "0x0", "0x40", i) for i in range(count)]
    again = row.format(3, 4, "0x00", "0x040", "again")
    later = row.format(3, 4, "0x00", "0x080", "larger")
    problem = read("\n".join([*OLD.splitlines()[:3], *rows, again, later]))
    assert problem.constraints.colocations == (Colocation("tagain", "t3", 0),)
    assert [buffer.id for buffer in problem.buffers][-3:] == [f"t{count - 1}", "tagain", "tlarger"]


def test_a_log_that_breaks_off_within_a_row_is_refused() -> None:
    last = OLD.splitlines()[-1]
    for length in range(len("         1 - "), last.rindex(":")):
        with pytest.raises(BadInput) as caught:
            read_problem(OLD.replace(last, last[:length]).rstrip("\n").encode(), format="vela-log")
        assert caught.value.findings[0].pointer == "/lines/5"
