"""Rows written as CSV are the same rows for whoever reads them, whatever their cells hold."""

from __future__ import annotations

import csv
import io

import pytest

from planner import Buffer, Pool, Problem, plan, read_problem
from planner.formats.planners.minimalloc_writer import write_csv, write_plan_csv
from planner.formats.text.lines import decimal, integer, table
from planner.model.errors import BadInput

STRANGE = ["a\r", "\rb", "a\r\nb", "\n", "\r", "a,b", '"', "'", " ", "", "é", "\x85", "\u2028", "=1", "\0"]


UNUSUAL = [
    "1_000",
    "+5",
    "٣",
    "²",
    " 5",
    "5 ",
    "",
    "-",
    "0x",
    "0x1_0",
    "0x+5",
    "-0x5",
    "0X5",
    "0b1",
    "1e3",
    "5.",
    "9" * 21,
]
VELA = "Allocation, memory Sram, new\n{} - 1: 0x0 - 0x40: {}: 64: NHWC: a\n"
MICRO = "a (id=0): size={}, offset=0, first_used={} last_used=1\n"
XLA = """BufferAssignment:
allocation 0: size 64, preallocated-temp:
 value: <1 a @0> (size={1},offset=0): f32[16]{{0}}

HloLiveRange (max 3):
  BufferLiveRange:
    a{{}}:{0}-2
"""
SPACE = (
    "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times,use_names,is_scoped\n1,a,0.5,{},{},1,b,0\n"
)
LOGS = {"vela-log": VELA, "tflm-log": MICRO, "xla-text": XLA, "xla-memory-space": SPACE}


def read_again(text: str) -> list[list[str]]:
    return [*csv.reader(io.StringIO(text, newline=""), strict=True)]


@pytest.mark.parametrize("cell", STRANGE)
def test_every_cell_comes_back(cell: str) -> None:
    text = table(("one", "two"), [{"one": cell, "two": 1}, {"two": cell, "more": 2}])
    assert text.endswith("\n")
    assert not text.endswith("\r\n")
    assert read_again(text) == [["one", "two"], [cell, "1"], ["", cell]]


def test_numbers_are_those_that_programs_print() -> None:
    assert [integer(text) for text in ("0", "64", "-8", "007", "0x40", "0xFf")] == [0, 64, -8, 7, 64, 255]
    assert [integer(text) for text in UNUSUAL] == [None] * len(UNUSUAL)
    assert [decimal(text) for text in ("0", "-0.5", ".5", "2.", "1e+06", "3E-2")] == [0, -0.5, 0.5, 2, 1e6, 0.03]
    assert [decimal(text) for text in ("", ".", "+5", "1_0", "٣", "nan", "inf", "1e999", "0x1", "e5")] == [None] * 10


@pytest.mark.parametrize("format_", LOGS)
@pytest.mark.parametrize("number", ["1_0", "+5", "٣", "0x1_0"])
@pytest.mark.parametrize("is_first", [True, False])
def test_logs_and_tables_refuse_other_numbers_with_the_line(format_: str, number: str, is_first: bool) -> None:
    text = LOGS[format_]
    assert len(read_problem(text.format("0", "0").encode(), format=format_)[0].buffers) == 1
    with pytest.raises(BadInput) as caught:
        read_problem(text.format(*((number, "0") if is_first else ("0", number))).encode(), format=format_)
    found = [(finding.code.value, finding.pointer) for finding in caught.value.findings]
    assert {code for code, _ in found} <= {"wrong_type", "invalid_value"}
    assert {pointer.split("/")[1] for _, pointer in found} == {"lines"}


def test_only_a_negative_number_is_no_place_in_micro_s_log() -> None:
    row = MICRO.format("64", "0")
    assert read_problem(row.replace("offset=0", "offset=-1").encode())[0].buffers[0].hint is None
    with pytest.raises(BadInput, match="the offset must be a number"):
        read_problem(row.replace("offset=0", "offset=-x").encode())


def test_plans_and_problems_of_strange_names_can_be_read_by_others() -> None:
    names = [name for name in STRANGE if name and name != "\0"]
    problem = Problem(tuple(Buffer(name, 4, live=((0, 2),)) for name in names), (Pool("default"),))
    for data in (write_csv(problem), write_plan_csv(problem, plan(problem), b"")):
        assert [row[0] for row in read_again(data.decode())[1:]] == names
        assert [buffer.id for buffer in read_problem(data)[0].buffers] == names
