"""The CSV of minimalloc is read and written."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner import BadInput, plan
from planner.formats import read_problem
from planner.formats.planners.minimalloc import PINNED
from planner.formats.planners.minimalloc_writer import write_csv, write_plan_csv
from planner.model.problem import (
    Alternative,
    Buffer,
    Colocation,
    Constraints,
    Fixed,
    Lifetimes,
    Pool,
    Problem,
    VariantGroup,
    Variants,
)
from tests.planner.formats.reading import corpus, refusal
from tests.small.strategies import NIGHTLY


def csv(*lines: str) -> bytes:
    return "\n".join(lines).encode()


def buffers(*lines: str) -> tuple[Buffer, ...]:
    return tuple(read_problem(csv(*lines))[0].buffers)


def test_the_usual_columns_are_read() -> None:
    problem, warnings = read_problem(csv("id,lower,upper,size", "b1,0,3,4", "7,3,9,0", ""), name="x.12.csv")
    assert problem == Problem(
        (Buffer("b1", 4, live=((0, 3),)), Buffer("7", 0, live=((3, 9),))),
        pools=(Pool("default"),),
        lifetimes=Lifetimes.HALF_OPEN,
    )
    assert warnings == ()


def test_any_order_of_columns_and_line_ends_is_read() -> None:
    assert read_problem(b"size,id,upper,lower\r\n4,a,3,-1\r\n\r\n")[0].buffers == (Buffer("a", 4, live=((-1, 3),)),)
    assert read_problem(b'\xef\xbb\xbf"id","lower","upper","size"\n"a,b",0,1,2\n')[0].buffers[0].id == "a,b"
    assert read_problem(b"id,lower,upper,size\ra,0,1,2\r")[0].buffers[0].id == "a"
    assert read_problem(b"\xef\xbb\xbf# pool_offset=64\nid,lower,upper,size\na,0,1,2\n")[0].pools[0].base == 64


def test_older_column_names_and_inclusive_ends_are_read() -> None:
    assert buffers("buffer_id,start,end,size,gaps", "a,0,3,4,1-1") == (Buffer("a", 4, live=((0, 1), (2, 4))),)
    assert buffers("buffer,begin,upper,size", "a,0,3,4") == (Buffer("a", 4, live=((0, 3),)),)


def test_alignment_offset_and_hint_are_read() -> None:
    problem, warnings = read_problem(
        csv("id,lower,upper,size,alignment,offset,hint", "a,0,3,4,8,16,-1", "b,0,3,4,1,,5", "c,0,3,4,2,,")
    )
    assert problem.buffers == (
        Buffer("a", 4, 8, ((0, 3),), fixed=Fixed("default", 16)),
        Buffer("b", 4, 1, ((0, 3),), hint=5),
        Buffer("c", 4, 2, ((0, 3),)),
    )
    assert warnings == (PINNED,)


@pytest.mark.parametrize(
    ("gaps", "live"),
    [
        ("", ((0, 20),)),
        ("5-7", ((0, 5), (7, 20))),
        ("5-7 9-10", ((0, 5), (7, 9), (10, 20))),
        ("9-12 5-7 6-10", ((0, 5), (12, 20))),
        ("0-3", ((3, 20),)),
        ("15-20", ((0, 15),)),
        ("-5-2 18-30", ((2, 18),)),
        ("0-20", ()),
        ("-9--5 40-50", ((0, 20),)),
        ("4-4", ((0, 20),)),
    ],
)
def test_gaps_become_several_intervals(gaps: str, live: tuple[tuple[int, int], ...]) -> None:
    assert buffers("id,lower,upper,size,gaps", f"a,0,20,4,{gaps}")[0].live == live


@pytest.mark.parametrize(
    ("row", "code", "pointer"),
    [
        ("a,0,3,x,1,", "wrong_type", "/rows/1/size"),
        ("a,0,3,,1,", "wrong_type", "/rows/1/size"),
        ("a,0,3,4.0,1,", "wrong_type", "/rows/1/size"),
        ("a,0,3,1_000,1,", "wrong_type", "/rows/1/size"),
        ("a,0,3,４,1,", "wrong_type", "/rows/1/size"),
        ("a,0,3," + "9" * 5000 + ",1,", "out_of_range", "/rows/1/size"),
        ("a,0,3,-4,1,", "out_of_range", "/rows/1/size"),
        ("a,0,3,4,0,", "out_of_range", "/rows/1/alignment"),
        (f"a,0,{(1 << 62) + 1},4,1,", "out_of_range", "/rows/1/upper"),
        ("a,3,0,4,1,", "interval_reversed", "/rows/1"),
        ("a,0,3,4,1,2", "invalid_value", "/rows/1/gaps"),
        ("a,0,3,4,1,2-1", "interval_reversed", "/rows/1/gaps"),
        ("a,0,3,4,1,1-2@0:5", "out_of_range", "/rows/1/gaps"),
        ("a,0,3,4,1,1-2@", "invalid_value", "/rows/1/gaps"),
        ("a,0,3,4,1", "invalid_value", "/rows/1"),
        ("a,0,3,4,1,,,", "invalid_value", "/rows/1"),
        ("first,0,3,4,1,", "duplicate_id", "/buffers/1/id"),
        (",0,3,4,1,", "wrong_type", "/buffers/1/id"),
    ],
)
def test_a_bad_row_is_named(row: str, code: str, pointer: str) -> None:
    [finding] = refusal(csv("id,lower,upper,size,alignment,gaps", "first,0,1,1,1,", row)).findings
    assert (finding.code, finding.pointer) == (code, pointer)
    if pointer.startswith("/rows"):
        assert "line 3" in finding.message


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (csv("id,lower,upper,size,colour", "a,0,3,4,red"), "unknown_field"),
        (csv("id,lower,upper,size,size", "a,0,3,4,4"), "duplicate_key"),
        (csv("id,lower,upper,end,size", "a,0,3,3,4"), "duplicate_key"),
        (csv("id,lower,upper", "a,0,3"), "missing_field"),
        (b"", "missing_field"),
        (b"\xff\xfe", "unreadable"),
        (csv("id,lower,upper,size", '"a,0,3,4'), "unreadable"),
    ],
)
def test_a_bad_file_is_refused(data: bytes, code: str) -> None:
    assert refusal(data, format="minimalloc").findings[0].code == code
    assert refusal(data, name="problem.CSV").findings[0].code == code


def test_names_of_columns_that_are_not_known_are_told_with_those_that_are() -> None:
    unknown, missing = refusal(csv("name,lower,upper,size", "a,0,3,4"), name="p.csv").findings
    assert (unknown.code, unknown.pointer) == ("unknown_field", "/header/0")
    assert unknown.message.startswith("the column 'name' is not known; known are id, lower, upper, size, alignment")
    assert (missing.code, missing.pointer) == ("missing_field", "/header")
    assert missing.message == "the first line must name the column 'id' (or as 'buffer' or 'buffer_id')"
    misspelt, _ = refusal(csv("id,lower,uper,size", "a,0,3,4"), name="p.csv").findings
    assert misspelt.message == "the column 'uper' is not known; did you mean 'upper'?"
    [twice] = refusal(csv("id,lower,start,upper,size", "a,0,0,3,4"), name="p.csv").findings
    assert twice.message == "the column 'lower' appears twice, as 'lower' and as 'start'"


@pytest.mark.parametrize(("mark", "name"), [(";", "semicolons"), ("\t", "tabs")])
def test_columns_separated_by_something_else_are_told_so(mark: str, name: str) -> None:
    [finding] = refusal(csv(mark.join(("id", "lower", "upper", "size")), "a"), name="p.csv").findings
    assert (finding.pointer, finding.message) == (
        "/header",
        f"the columns must be separated by commas, not by {name}",
    )


def test_a_cell_that_is_too_long_is_refused_with_its_line() -> None:
    [finding] = refusal(csv("id,lower,upper,size", "a,0,1,1", "b" * 200_000 + ",0,1,1")).findings
    assert (finding.code, finding.message) == ("unreadable", "a cell has more than 131072 characters at line 3")


def test_many_bad_rows_are_counted() -> None:
    error = refusal(csv("id,lower,upper,size", *["a,0,3,x"] * 5000))
    assert (len(error.findings), error.more) == (20, 4980)


def test_a_file_without_rows_is_an_empty_problem() -> None:
    assert buffers("id,lower,upper,size") == ()


@pytest.mark.parametrize("path", [*corpus("minimalloc/*.csv"), *corpus("scale/resnet50.csv")])
def test_the_corpus_is_read(path: Path) -> None:
    data = path.read_bytes()
    problem, warnings = read_problem(data)
    assert len(problem.buffers) == data.count(b"\n") - 1
    assert problem.pools == (Pool("default"),)
    assert warnings == ()


def test_an_option_declares_that_ends_are_inclusive() -> None:
    data = b"id,lower,upper,size,gaps\na,0,9,4,2-3\nb,9,9,4,\n"
    plain, _ = read_problem(data)
    assert [buffer.live for buffer in plain.buffers] == [((0, 2), (3, 9)), ()]
    inclusive, _ = read_problem(data, format="minimalloc:inclusive")
    assert [buffer.live for buffer in inclusive.buffers] == [((0, 2), (4, 10)), ((9, 10),)]
    assert inclusive.buffers == read_problem(data.replace(b"upper", b"end"))[0].buffers


def test_properties_of_the_only_memory_are_written() -> None:
    buffers = tuple(Buffer(f"b{i}", 5, 6, ((i, i + 3),), pools=("p",), hint=12) for i in range(3))
    again, _ = read_problem(write_csv(Problem(buffers, (Pool("p", alignment=4, base=64),))))
    assert [(b.alignment, b.pools, b.hint) for b in again.buffers] == [(12, None, 12)] * 3
    assert again.pools == (Pool("p", base=64),)


@pytest.mark.parametrize("rows", [3, 8192])
def test_the_column_pool_names_memories(rows: int) -> None:
    """Few rows are read one by one, many rows in columns."""
    data = b"id,lower,upper,size,pool\n" + b"".join(b"b%d,0,4,8,arena\n" % i for i in range(rows))
    problem, _ = read_problem(data, name="x.csv")
    assert (problem.pools, problem.buffers[0]) == ((Pool("arena"),), Buffer("b0", 8, live=((0, 4),)))
    several, _ = read_problem(data + b"x,0,4,8,\n", name="x.csv")
    assert several.pools == (Pool("arena"), Pool("default"))
    assert several.buffers[-1].pools == ("default",)
    assert (
        "one memory begins, and there are 2"
        in refusal(b"# pool_offset=64\n" + data + b"x,0,4,8,\n").findings[0].message
    )


@pytest.mark.parametrize(
    ("header", "last"),
    [
        (["id", "pool"], "arena"),
        (["size", "pool", "upper", "id", "lower"], "arenas"),
        (["pool", "id"], "aren"),
        (["id", "pool"], ""),
    ],
)
def test_rows_in_columns_are_read_as_rows_one_by_one(header: list[str], last: str) -> None:
    """A quote anywhere makes the reader go row by row."""
    names = [*header, *(name for name in ("lower", "upper", "size") if name not in header)]
    rows = [
        {"id": f"b{i * i}", "lower": i % 7 - 3, "upper": 9, "size": i, "pool": "arena"}
        for i in range(40_000 if NIGHTLY else 10_000)
    ]
    rows[-1]["pool"] = last
    lines = [",".join(str(row[name]) for name in names) for row in rows]
    plain, quoted = (csv(first, *lines) for first in (",".join(names), ",".join([f'"{names[0]}"', *names[1:]])))
    assert read_problem(plain, name="x.csv")[0] == read_problem(quoted, name="x.csv")[0]


def test_a_plan_is_read_back_with_the_memory_s_base() -> None:
    problem = Problem(tuple(Buffer(f"b{i}", 8, 8, ((i, i + 2),)) for i in range(2)), (Pool("p", base=4),))
    found = plan(problem)
    again, _ = read_problem(write_plan_csv(problem, found, b""))
    assert again.pools[0].base == 4
    assert [b.fixed and b.fixed.offset for b in again.buffers] == [each.offset for each in found.placements]
    several = Problem(problem.buffers, (Pool("p", base=4), Pool("q")))
    assert write_plan_csv(several, plan(several), b"").startswith(b"id,")


def test_several_memories_are_written_where_each_buffer_has_one() -> None:
    buffers = (
        Buffer("a", 8, 2, ((0, 4),), pools=("sram",)),
        Buffer("b", 8, live=((1, 5),), fixed=Fixed("dram", 16)),
        Buffer("c", 8, live=((2, 6),), pools=("default",)),
    )
    pools = (Pool("sram", 64, 3), Pool("dram"), Pool("default"))
    text = write_csv(Problem(buffers, pools))
    again, _ = read_problem(text)
    assert [(b.id, b.alignment, b.pools, b.fixed) for b in again.buffers] == [
        ("a", 6, ("sram",), None),
        ("b", 1, ("dram",), Fixed("dram", 16)),
        ("c", 1, ("default",), None),
    ]
    assert write_csv(again) == text


@pytest.mark.parametrize(
    ("buffer", "pool", "place"),
    [
        (Buffer("a", 8, live=((0, 1),)), Pool("q"), "/buffers/0/pools"),
        (Buffer("a", 8, live=((0, 1),), pools=("p", "q")), Pool("q"), "/buffers/0/pools"),
        (Buffer("a", 8, live=((0, 1),), pools=("p",)), Pool("q", base=64), "/pools/1/base"),
        (Buffer("a", 8, live=((0, 1),), pools=("p",)), Pool(" q"), "/pools/1/name"),
        (Buffer("a", 8, live=((0, 1),), pools=("p",)), Pool("q", reserved=((0, 8),)), "/pools/1"),
    ],
)
def test_memories_that_csv_cannot_express_are_refused(buffer: Buffer, pool: Pool, place: str) -> None:
    with pytest.raises(BadInput) as caught:
        write_csv(Problem((buffer,), (Pool("p"), pool)))
    assert caught.value.findings[0].pointer == place


ONE_GROUP = Variants((VariantGroup("g", (Alternative("one"),)),))


@pytest.mark.parametrize(
    ("more", "place", "name"),
    [
        ({"variants": ONE_GROUP}, "/variants", "variants"),
        ({"constraints": Constraints(conflicts=(("a", "b"),))}, "/constraints/conflicts", "conflicts"),
        ({"constraints": Constraints(different_pool=(("a", "b"),)), "variants": ONE_GROUP}, None, "different pool"),
    ],
)
def test_what_ties_buffers_is_refused_at_its_place(more: dict[str, Any], place: str | None, name: str) -> None:
    problem = Problem(tuple(Buffer(id_, 8, live=((0, 1),)) for id_ in "ab"), **more)
    with pytest.raises(BadInput) as caught:
        write_csv(problem)
    finding = caught.value.findings[0]
    assert (finding.pointer, finding.message) == (place or "/constraints/different_pool", f"CSV has no {name}")


@pytest.mark.parametrize(
    "gaps",
    [
        "12-15@0:64",
        "12-15@0:64 20-22",
        "20-22 12-15@8:64",
        "5-7 12-15@0:8 12-15@16:24 14-18@32:40",
        "0-3@0:8 28-30@8:16",
        "40-50@0:1 2-3@0:1",
    ],
)
def test_gaps_with_windows_and_labels_are_written_as_they_were_read(gaps: str) -> None:
    problem, _ = read_problem(f"id,lower,upper,size,gaps,kind\na,0,30,64,{gaps},weight\nb,0,9,8,,\n".encode())
    assert problem.constraints.colocations
    assert read_problem(write_csv(problem))[0] == problem


def test_windows_are_kept_once_while_they_are_read() -> None:
    gaps = " ".join(f"{10 * i}-{10 * i + 5}@0:4" for i in range(20))
    data = csv("id,lower,upper,size,gaps", *(f"a{i},0,100000,64,{gaps}" for i in range(1_000)))
    read_problem(data[: data.index(b"\n", 100)])
    tracemalloc.start()
    try:
        problem = read_problem(data)[0]
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(problem.buffers) == 21_000
    assert most < 80 * len(data)


def test_many_windows_of_one_buffer_are_written_without_comparing_all_gaps() -> None:
    count = 20_000
    base = Buffer("a", 64, live=tuple((10 * i + 5, 10 * i + 10) for i in range(count)))
    parts = [Buffer(f"a.window{i}", 8, live=((10 * i, 10 * i + 5),)) for i in range(count)]
    ties = tuple(Colocation(part.id, "a", 0) for part in parts)
    began = time.process_time()
    written = write_csv(Problem((base, *parts), constraints=Constraints(colocations=ties)))
    assert time.process_time() - began < 4
    assert written.startswith(b"id,lower,upper,size,gaps\na,0,200000,64,0-5@0:8 10-15@0:8 ")


@pytest.mark.parametrize(
    "change",
    [
        lambda part: replace(part, id="a.window01"),
        lambda part: replace(part, id="a.window99"),
        lambda part: replace(part, alignment=2),
        lambda part: replace(part, live=((1, 15),)),
        lambda part: replace(part, size=65),
    ],
)
def test_what_is_no_window_is_refused(change: Callable[[Buffer], Buffer]) -> None:
    problem, _ = read_problem(b"id,lower,upper,size,gaps\na,0,30,64,12-15@0:64\n")
    base, part = problem.buffers
    made = change(part)
    tie = replace(problem.constraints.colocations[0], buffer=made.id)
    with pytest.raises(BadInput):
        write_csv(replace(problem, buffers=(base, made), constraints=Constraints(colocations=(tie,))))


def test_empty_cells_of_optional_columns_say_nothing() -> None:
    found = buffers("id,lower,upper,size,alignment,offset,hint,gaps,kind,pool", "a,0,3,4,,,,,,", "b,0,3,4, ,,,,,")
    assert found == (Buffer("a", 4, live=((0, 3),)), Buffer("b", 4, live=((0, 3),)))
    assert [buffer.alignment for buffer in buffers("id,lower,upper,size,alignment", "a,0,3,4,", "b,0,3,4,8")] == [1, 8]


@pytest.mark.parametrize("half", [Buffer("a\ud800", 8, live=((0, 1),)), Buffer("a", 8, live=((0, 1),), kind="\udfff")])
def test_half_of_a_surrogate_pair_is_not_written(half: Buffer) -> None:
    problem = Problem((half,))
    with pytest.raises(BadInput, match=r"the string '.*ud[8f]..' contains half of a surrogate pair"):
        write_csv(problem)
    if half.kind is None:
        with pytest.raises(BadInput, match=r"the string '.*ud800' contains half"):
            write_plan_csv(problem, plan(problem), b"")
