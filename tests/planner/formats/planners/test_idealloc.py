"""idealloc's binary files, records of eight words, are read."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from planner import BadInput, Pool, plan, read_problem
from planner.facts.digest import digest
from planner.formats.documents import Source
from planner.formats.tables.problems import recognised
from planner.model.columns.pools import PoolColumns
from planner.model.columns.rows import FEW

RECORDS = ((7, 0, 40, 64, 4096, 0, 16, 60), (8, 40, 50, 32, 4096, 0, 0, 32), (9, 10, 41, 16, 1 << 40, 8, 8, 16))


def file(*records: tuple[int, ...]) -> bytes:
    return b"".join(struct.pack(">8Q", *record) for record in records)


def test_buffers_are_needed_between_birth_and_death_in_their_heap() -> None:
    problem, warnings = read_problem(file(*RECORDS), name="trace.plc")
    assert [(b.id, b.size, b.alignment, b.live, b.pools, b.hint) for b in problem.buffers] == [
        (7, 64, 16, ((0, 40),), ("heap 1",), 0),
        (8, 32, 1, ((40, 50),), ("heap 1",), 0),
        (9, 16, 8, ((10, 41),), ("heap 2",), 8),
    ]
    assert (problem.pools, warnings) == ((Pool("heap 1"), Pool("heap 2")), ())
    assert plan(problem).peak == 64 + 16


@pytest.mark.parametrize(
    ("data", "code", "pointer"),
    [
        (b"", "unreadable", "/bytes/0"),
        (file(*RECORDS)[:-1], "unreadable", "/bytes/191"),
        (file(RECORDS[0], RECORDS[0]), "duplicate_id", "/bytes/64"),
        (file((1, 5, 4, 1, 0, 0, 0, 1)), "interval_reversed", "/bytes/16"),
        (file((1, 0, 4, 1 << 63, 0, 0, 0, 1)), "out_of_range", "/bytes/24"),
        (file((1, 0, 4, 8, 0, 1 << 63, 0, 1)), "out_of_range", "/bytes/40"),
    ],
)
def test_wrong_files_are_refused_with_the_byte(data: bytes, code: str, pointer: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_problem(data, format="idealloc")
    (finding,) = caught.value.findings
    assert (finding.code, finding.pointer) == (code, pointer)


def test_files_with_the_mark_of_another_format_have_that_format() -> None:
    """A file with the mark of a format has that format, even if its bytes could be idealloc's numbers."""
    words = [[0x54464C33 + row, 1, 2, 3, 0, 0, 0, 0] for row in range(4)]
    data = file(*(tuple(each) for each in words))
    assert data[4:8] == b"TFL3"
    assert recognised(Source(data)).name == "tflite"
    assert recognised(Source(file(*RECORDS))).name == "idealloc"


def test_many_heaps_are_columns_and_mean_the_same() -> None:
    count = FEW + 2
    problem, _ = read_problem(file(*((i, 0, 1, 1, i, 0, 0, 1) for i in range(count))), format="idealloc")
    assert isinstance(problem.pools, PoolColumns)
    heaps = tuple(Pool(f"heap {i + 1}") for i in range(count))
    assert problem.pools == heaps
    assert digest(problem) == digest(replace(problem, pools=heaps))
    few, _ = read_problem(file(*((i, 0, 1, 1, i, 0, 0, 1) for i in range(3))), format="idealloc")
    assert few.pools == heaps[:3]
    assert isinstance(few.pools, tuple)
