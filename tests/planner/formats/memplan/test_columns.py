"""Files of numpy columns are read strictly, refused with the place, and never run as code."""

from __future__ import annotations

import io
import pickle
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planner import BadInput, Buffer, Constraints, Pool, Problem
from planner.formats import read_problem
from planner.formats.memplan.columns import MOST_TIMES, write
from planner.model.errors import Finding
from solvers.model.instance import Term

GOOD: dict[str, Any] = {"size": [64, 20, 40], "start": [0, 1, 2], "end": [2, 3, 4]}


def saved(**columns: Any) -> bytes:
    written = io.BytesIO()
    np.savez(written, allow_pickle=True, **{name: np.array(column) for name, column in columns.items()})
    return written.getvalue()


def refusal(data: bytes) -> Finding:
    with pytest.raises(BadInput) as caught:
        read_problem(data, name="x.npz")
    return caught.value.findings[0]


def test_all_columns_are_read() -> None:
    data = saved(**GOOD, alignment=[1, 4, 8], id=["a", "b", "c"], capacity=96)
    problem, warnings = read_problem(data)
    assert problem.buffers == (
        Buffer("a", 64, 1, ((0, 2),)),
        Buffer("b", 20, 4, ((1, 3),)),
        Buffer("c", 40, 8, ((2, 4),)),
    )
    assert (problem.pools, warnings) == ((Pool("default", 96),), ())


@pytest.mark.parametrize("dtype", ["<i8", ">i4", "u1", "<u8"])
def test_integers_of_every_kind_are_read(dtype: str) -> None:
    columns = {name: np.array(column, dtype=dtype) for name, column in GOOD.items()}
    assert [buffer.size for buffer in read_problem(saved(**columns))[0].buffers] == GOOD["size"]
    packed = io.BytesIO()
    np.savez_compressed(packed, allow_pickle=False, **columns)
    assert [buffer.id for buffer in read_problem(packed.getvalue())[0].buffers] == [0, 1, 2]


@pytest.mark.parametrize(
    ("columns", "place"),
    [
        ({"size": [64, -1, 40]}, "/size/1"),
        ({"size": [64, 1.5, 40]}, "/size"),
        ({"size": [True, False, True]}, "/size"),
        ({"id": [b"a", b"b", b"c"]}, "/id"),
        ({"end": [[2], [3], [4]]}, "/end"),
        ({"size": [64, 20]}, "/start"),
        ({"size": 64}, "/size"),
        ({"size": ["1", "2", "3"]}, "/size"),
        ({"size": np.array([1, 2, (1 << 64) - 1], dtype=np.uint64)}, "/size/2"),
        ({"size": [1 << 61, 1 << 61, 1]}, "/buffers"),
        ({"start": [[0, 1, 2]]}, "/start"),
        ({"end": [2, 0, 4]}, "/end/1"),
        ({"alignment": [1, 0, 1]}, "/alignment/1"),
        ({"capacity": [96]}, "/capacity"),
        ({"capacity": -1}, "/capacity"),
        ({"pool": ["arena"]}, "/pool"),
        ({"pool": 7}, "/pool"),
        ({"pool": ""}, "/pools/0/name"),
        ({"pool": "\ud800"}, "/pool"),
        ({"id": [1, 2, 1]}, "/buffers/2/id"),
        ({"id": ["a", "", "c"]}, "/buffers/1/id"),
        ({"id": ["a", "\ud800", "c"]}, "/id"),
        ({"colour": [1, 2, 3]}, "/bytes"),
    ],
)
def test_wrong_columns_are_refused_with_their_place(columns: dict[str, Any], place: str) -> None:
    assert refusal(saved(**(GOOD | columns))).pointer.startswith(place)


def test_a_column_that_is_missing_is_named() -> None:
    assert "'end'" in refusal(saved(size=[1], start=[0])).message


def test_single_numbers_in_place_of_columns_are_refused_in_words() -> None:
    for columns in ({"size": 8, "start": 0, "end": 2}, GOOD | {"size": 8}, GOOD | {"end": 2}, GOOD | {"id": "a"}):
        found = refusal(saved(**columns))
        assert np.ndim(columns[found.pointer[1:]]) == 0
        assert "a column is wanted, with an entry for each buffer (an array of one dimension)" in found.message


def test_objects_are_refused_and_nothing_runs(tmp_path: Path) -> None:
    mark = tmp_path / "ran"

    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (open, (str(mark), "w"))

    assert pickle.dumps(Trap())
    finding = refusal(saved(**(GOOD | {"size": np.array([Trap(), 1, 2], dtype=object)})))
    assert (finding.pointer, finding.message) == ("/size", "integers are wanted, not object")
    assert not mark.exists()


def archive(**members: bytes) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in members.items():
            made.writestr(f"{name}.npy", data)
    return written.getvalue()


def member(column: Any) -> bytes:
    written = io.BytesIO()
    np.save(written, column)
    return written.getvalue()


def test_archives_that_expand_too_much_are_not_unpacked() -> None:
    zeros = member(np.zeros(1 << 20, dtype=np.int64))
    finding = refusal(archive(size=zeros, start=zeros, end=zeros))
    assert f"more than {MOST_TIMES} times" in finding.message


def test_false_headers_are_refused() -> None:
    short = member(np.zeros(4, dtype=np.int64)).replace(b"(4,)", b"(9999999999,)"[:4].ljust(4))
    huge = member(np.zeros(4, dtype=np.int64)).replace(b"'shape': (4,), }", b"'shape': (1<<9,)")
    long = member(np.zeros(4, dtype=np.int64))[:-8]
    empty = (
        member(np.array(["a"]))[:-4]
        .replace(b"<U1", b"<U0")
        .replace(b"(1,), }".ljust(22), b"(999999999999999,), }".ljust(22))
    )
    assert b"<U0" in empty
    assert b"(999999999999999,)" in empty
    for bad in (short, huge, long, empty, b"", b"\x93NUMPY\x07\x00"):
        assert refusal(archive(size=bad, start=bad, end=bad)).code == "unreadable"


def test_written_columns_can_be_read_again() -> None:
    buffers = tuple(Buffer(f"b{i}", size, 4, ((i, i + 3),)) for i, size in enumerate((5, 0, 9)))
    problem = Problem(buffers, (Pool("default", 64),))
    again, _ = read_problem(write(problem))
    assert (again.buffers, again.pools) == (problem.buffers, problem.pools)


def test_properties_of_the_only_memory_are_written_with_the_buffers() -> None:
    buffers = tuple(Buffer(f"b{i}", 5, 6, ((i, i + 3),), pools=("p",), hint=12) for i in range(3))
    again, _ = read_problem(write(Problem(buffers, (Pool("p", 64, 4),))))
    assert [(b.alignment, b.pools, b.hint) for b in again.buffers] == [(12, None, None)] * 3
    assert again.pools == (Pool("p", 64),)


ALIVE = Buffer("a", 1, live=((0, 1),))


@pytest.mark.parametrize(
    ("problem", "place"),
    [
        (Problem((Buffer("a", 1, live=((0, 1), (2, 3))),)), "/buffers/0/live"),
        (Problem((Buffer("a", 1),)), "/buffers/0/live"),
        (Problem((replace(ALIVE, max_offset=8),)), "/buffers/0/max_offset"),
        (Problem((ALIVE,), (Pool("p"), Pool("q"))), "/pools"),
        (Problem((ALIVE,), (Pool("p", base=64),)), "/pools/0"),
        (Problem((ALIVE,), terms=(Term.LARGEST_PEAK,)), "/objective"),
        (Problem((ALIVE, Buffer(1, 1, live=((0, 1),)))), "/buffers"),
        (Problem((Buffer("a" * 300, 1, live=((0, 1),)),)), "/buffers"),
        (
            Problem((ALIVE, Buffer("b", 1, live=((2, 3),))), constraints=Constraints(conflicts=(("a", "b"),))),
            "/constraints/conflicts",
        ),
    ],
)
def test_problems_that_columns_cannot_hold_are_refused_with_their_place(problem: Problem, place: str) -> None:
    with pytest.raises(BadInput) as refused:
        write(problem)
    assert [finding.pointer for finding in refused.value.findings] == [place]
