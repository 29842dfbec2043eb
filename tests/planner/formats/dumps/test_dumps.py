"""Prints and dumps of other tools: lifetimes, addresses, and which entries share one piece of memory."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner import plan, read_problem
from planner.formats import FORMATS
from planner.formats.dumps.chrome import write
from planner.model.errors import BadInput
from planner.model.problem import Buffer, Problem
from tests.planner.formats import reading
from tests.planner.formats.models.onnx.models import inside, number
from tests.planner.formats.reading import lives


def read(data: str | bytes, name: str | None = None) -> Problem:
    return read_problem(data.encode() if isinstance(data, str) else data, format=name)[0]


def refused(data: str | bytes, name: str) -> tuple[str, str]:
    return reading.refused(data.encode() if isinstance(data, str) else data, format=name)[:2]


def test_a_plan_of_tflite_micro_is_found_among_other_lines_and_counts_once() -> None:
    row = "{} (id={}): size={}, offset={}, first_used={} last_used={}"
    rows = [row.format("0", 0, 64, 0, 0, 1), row.format("1", 1, 32, 64, 1, 1)]
    problem = read("boot ok\r\n" + "\n".join(f"[12:00] {each}\r" for each in rows + rows) + "\n====\n", None)
    assert lives(problem) == {"0": ((0, 2),), "1": ((1, 2),)}
    assert [buffer.hint for buffer in problem.buffers] == [0, 64]
    assert problem.name == "TFLite Micro's own plan: 96 bytes"
    for apart in ("\r", " ", ""):
        assert lives(read(apart.join(rows), "tflm-log")) == lives(problem), "a console may lose the ends of lines"
        assert refused((apart or " ").join([*rows, "first_used="]), "tflm-log") == ("invalid_value", "/lines/1")
    assert refused("x first_used=", "tflm-log") == ("invalid_value", "/lines/1")
    for length in range(len("1 (id=1): size="), len(rows[1]) - 1):
        assert refused(f"{rows[0]}\n{rows[1][:length]}", "tflm-log")[1] == "/lines/2", "a log that breaks off"
    assert refused("nothing", "tflm-log")[0] == "missing_field"
    assert refused(row.format("0", 0, 64, 0, 3, 1), "tflm-log") == ("interval_reversed", "/lines/1")


def changed(time: float, amount: int, address: int) -> dict[str, Any]:
    return {"ph": "i", "name": "[memory]", "ts": time, "args": {"Addr": address, "Bytes": amount, "Device Id": 0}}


def test_memory_events_of_a_profiler_are_paired_by_address() -> None:
    events = [changed(1.5, 64, 8), changed(2.25, 32, 9), changed(3.0, -64, 8), {"ph": "X", "name": "conv", "ts": 1}]
    problem = read(json.dumps(events))
    assert lives(problem) == {"1": ((0, 2),), "2": ((1, 3),)}


def test_memory_events_without_an_address_are_refused() -> None:
    events = [changed(1.5, 64, 8), changed(2.25, 32, 9)]
    del events[1]["args"]["Addr"]
    assert refused(json.dumps(events), "chrome-trace") == ("missing_field", "/1/args/Addr")


def test_memory_events_of_a_long_trace_are_paired_like_those_of_a_short_one() -> None:
    """Long documents are read in pieces, each of which is forgotten before the next."""
    steps = range(2_000)
    events = [changed(2 * i, 64, 8 + i % 7) for i in steps] + [changed(2 * i + 1, -64, 8 + i % 7) for i in steps]
    assert len(json.dumps(events)) > 1 << 18
    problem = read(json.dumps({"traceEvents": events}))
    assert lives(problem) == {str(i + 1): ((2 * i, 2 * i + 1),) for i in steps}


@pytest.mark.parametrize(
    ("rows", "expected", "peak"),
    [
        ([(5, -64, 1), (1, 64, 1), (6, 64, 2), (7, -64, 2)], {"1": ((1, 5),), "2": ((6, 7),)}, 64),
        ([(5, 64, 2), (6, -1000, 1), (7, -64, 2)], {"1": ((5, 7),), "2": ((5, 6),)}, 1064),
        ([(5, 64, 1), (1, -64, 1), (6, 64, 2), (7, -64, 2)], {"1": ((0, 1),), "2": ((5, 8),), "3": ((6, 7),)}, 128),
        ([(5, -8, 1), (6.5, -16, 2), (7, 64, 2)], {"1": ((-1, 0),), "2": ((-1, 1),), "3": ((2, 3),)}, 64),
    ],
)
def test_memory_events_go_by_time_and_what_is_only_freed_was_there_from_the_start(
    rows: list[tuple[float, int, int]], expected: dict[str, Any], peak: int
) -> None:
    problem = read(json.dumps([changed(*row) for row in rows]))
    assert (lives(problem), plan(problem).peak) == (expected, peak)


def test_a_plan_is_written_as_bars_and_read_again_with_its_places() -> None:
    problem = read(FORMATS["minimalloc"].example)
    found = plan(problem)
    again = read(write(problem, found))
    assert lives(again) == lives(problem)
    assert [buffer.hint for buffer in again.buffers] == [place.offset for place in found.placements]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("0.1", "0.2"), ("0.3", "0.2")),
        (("1700000000000.123", "0.001"), ("1700000000000.124", "5")),
        (("-0.3", "0.1"), ("-0.2", "0.2")),
        (("0.1234567", "0.1111111"), ("0.2345678", "1e-9")),
        (("0.1000000000000001", "0.1999999999999999"), ("0.3", "1")),
        (("1000000000000", "0.0625"), ("1000000000000.0625", "0.5")),
    ],
)
def test_bars_that_touch_in_decimals_do_not_overlap(first: tuple[str, str], second: tuple[str, str]) -> None:
    bar = '{"ph": "X", "name": "%s", "ts": %s, "dur": %s, "args": {"size": 64}}'
    problem = read(f'{{"traceEvents": [{bar % ("a", *first)}, {bar % ("b", *second)}]}}')
    assert lives(problem) == {"a": ((0, 1),), "b": ((1, 2),)}


def test_bars_that_do_not_say_when_they_end_last_and_those_that_end_before_they_begin_are_refused() -> None:
    bars = [{"ph": "X", "name": name, "ts": 2, "args": {"size": 64}} for name in "abc"]
    ended = [{**bars[1], "dur": 0}, {**bars[2], "dur": 3}]
    assert lives(read(json.dumps([bars[0], *ended]))) == {"a": ((2, 6),), "b": (), "c": ((2, 5),)}
    assert refused(json.dumps([*ended, {**bars[0], "dur": -1}]), "chrome-trace") == ("interval_reversed", "/2/dur")


def logical(number_: int, size: int, color: int = 0) -> bytes:
    return inside(1, number(1, number_) + number(2, size) + inside(3, inside(2, f"add.{number_}")) + number(4, color))


def events(*rows: tuple[int, int, int], whole_module: bool = False) -> bytes:
    made = [inside(1, number(1, kind) + number(2, id_) + number(5, other)) for kind, id_, other in rows]
    return inside(4, b"".join(made) + number(2, int(whole_module)))


def test_values_shared_by_the_heap_simulator_are_one_piece() -> None:
    made = logical(1, 64) + logical(2, 64) + logical(3, 32, 1)
    made += events(
        (0, 1, 0), (1, 1, 0), (2, 2, 1), (0, 3, 0), (1, 2, 0), (1, 3, 0)
    )  # 1 is freed before 2 shares it, as in XLA
    for data in (made, inside(1, inside(1, "module")) + inside(3, made)):
        problem = read(data)
        assert [pool.name for pool in problem.pools] == ["memory", "memory 1"]
        assert {buffer.id: buffer.size for buffer in problem.buffers} == {"add.1": 64, "add.2": 64, "add.3": 32}
        assert lives(problem) == {"add.1": ((0, 1),), "add.2": ((2, 4),), "add.3": ((3, 5),)}
        assert [(tie.buffer, tie.base) for tie in problem.constraints.colocations] == [("add.2", "add.1")]
        assert plan(problem).peak == 96
    twice = logical(1, 64) + logical(2, 64)
    assert refused(twice + events((0, 1, 0), (2, 2, 1), (2, 1, 2)), "xla")[0] == "duplicate_id"
    assert refused(inside(1, inside(1, "module")), "xla") == ("missing_field", "/buffer_assignment")
    assert refused(logical(1, 64), "xla")[0] == "missing_field"
    assert refused(logical(1, 64) + events((0, 7, 0)), "xla") == ("unknown_buffer", "/heap_simulator_traces/0/events/0")
    assert refused(logical(1, 64) + events((1, 1, 0)), "xla")[0] == "unknown_buffer"


def test_a_first_buffer_whose_number_is_left_out_because_it_is_0_is_read() -> None:
    place = inside(3, inside(2, "a"))
    rest = logical(1, 32) + inside(4, inside(1, b"") + inside(1, number(2, 1)))
    for first, size in ((number(2, 64) + place, 64), (place, 0)):
        problem = read(inside(1, first) + rest)
        assert [(each.id, each.size) for each in problem.buffers] == [("a", size), ("add.1", 32)]
    assert len(read(inside(1, b"") + rest, "xla").buffers) == 2


def assigned(size: int, *rows: tuple[int, int]) -> bytes:
    return inside(3, number(2, size) + b"".join(inside(9, number(1, id_) + number(2, at)) for id_, at in rows))


def test_places_of_an_assignment_become_hints_and_its_alignment() -> None:
    made = (
        logical(1, 64) + logical(2, 4) + logical(3, 4) + assigned(8, (9, 0)) + assigned(196, (1, 0), (2, 64), (3, 192))
    )
    made += events((0, 1, 0), (0, 2, 0), (0, 3, 0))
    problem = read(made)
    assert [buffer.hint for buffer in problem.buffers] == [0, 64, 192]
    assert (problem.pools[0].alignment, problem.name) == (64, "XLA's own plan: 196 bytes")
    assert plan(problem).peak == 132
    apart = made.replace(assigned(196, (1, 0), (2, 64), (3, 192)), assigned(68, (1, 0), (2, 64)) + assigned(4, (3, 0)))
    problem = read(apart)  # in several allocations, whose places in memory are not known
    assert [buffer.hint for buffer in problem.buffers] == [None] * 3
    assert (problem.pools[0].alignment, problem.name) == (1, None)


def test_names_of_buffers_are_read_where_files_have_them() -> None:
    """Today's files name the instruction that makes a buffer in the events alone. What several have, or none has, gets its number."""
    made = b"".join(inside(1, number(1, id_) + number(2, 64) + inside(3, number(4, 7 + id_))) for id_ in range(5))
    names = {0: "sort.0", 1: "loop", 2: "loop", 4: "tuple"}
    rows = [
        inside(1, number(1, kind) + number(2, id_) + (inside(4, names[id_]) if id_ in names else b""))
        for id_ in range(5)
        for kind in (0, 1)
    ]
    assert [each.id for each in read(made + inside(4, b"".join(rows))).buffers] == [
        "sort.0",
        "loop#1",
        "loop#2",
        "3",
        "tuple",
    ]
    told = logical(1, 64) + inside(4, inside(1, number(2, 1) + inside(4, "other")))
    assert [each.id for each in read(told).buffers] == ["add.1"]


def test_buffers_without_events_beside_planned_ones_are_told() -> None:
    made = b"".join(logical(each, size) for each, size in ((1, 64), (2, 8), (3, 8), (4, 32), (5, 0)))
    places = assigned(200, (1, 0), (2, 64), (3, 192), (5, 192)) + assigned(32, (4, 0))
    problem, warnings = read_problem(made + places + events((0, 1, 0)), format="xla")
    assert ([each.id for each in problem.buffers], problem.name) == (["add.1"], "XLA's own plan: 64 bytes")
    (warning,) = warnings
    assert warning.startswith(
        "16 bytes in 2 buffers (mostly tuples), which XLA has beside these up to byte 200, are not planned"
    )
    assert read_problem(made + places + events((0, 1, 0), (0, 2, 0), (0, 3, 0)), format="xla")[1] == ()


def test_computations_simulated_one_by_one_have_disjoint_memory() -> None:
    made = logical(1, 64) + logical(2, 32) + logical(3, 8) + logical(4, 4, 1)
    first = [(0, 1, 0), (0, 4, 0), (1, 4, 0), (1, 1, 0)]
    second = [(0, 2, 0), (1, 2, 0), (0, 3, 0), (1, 3, 0)]
    places = assigned(64, (1, 0)) + assigned(32, (2, 0), (3, 0)) + assigned(4, (4, 0))
    problem = read(made + places + events(*first) + events(*second))
    assert [(each.id, each.pools, each.hint) for each in problem.buffers] == [
        ("add.1", ("memory",), 0),
        ("add.2", ("memory of trace 1",), 0),
        ("add.3", ("memory of trace 1",), 0),
        ("add.4", ("memory 1",), 0),
    ]
    assert (plan(problem).peak, problem.name) == (64 + 32 + 4, "XLA's own plan: 100 bytes")
    together = assigned(96, (1, 0), (2, 64), (3, 64)) + assigned(4, (4, 0))
    problem = read(made + together + events(*first) + events(*second))
    assert [each.hint for each in problem.buffers] == [None, None, None, 0]
    whole = read(made + places + events(*first, whole_module=True) + events(*second, whole_module=True))
    assert (plan(whole).peak, len(whole.pools)) == (64 + 4, 2)


def test_what_shares_memory_with_another_computation_is_where_that_is() -> None:
    made = logical(1, 64) + logical(2, 32) + logical(3, 32) + events((0, 1, 0)) + events((0, 2, 0), (2, 3, 1))
    problem = read(made)
    assert [each.pools for each in problem.buffers] == [("memory",), ("memory of trace 1",), ("memory",)]
    assert plan(problem).peak == 96


def test_a_gap_with_a_window_keeps_that_part() -> None:
    csv = "id,lower,upper,size,gaps\na,0,4,64,1-3@16:48\nb,1,3,16,\nc,1,3,16,\n"
    problem = read(csv)
    assert lives(problem)["a.window0"] == ((1, 3),)
    assert plan(problem).peak == 64
    assert plan(read(csv.replace("@16:48", "@0:64"))).peak == 96


def test_a_file_of_omnimalloc_states_kinds_and_the_begin_of_memory() -> None:
    problem = read("# pool_offset=4096\r\nid,lower,upper,size,kind\n7,0,2,64,INPUT\n", "minimalloc")
    assert (problem.pools[0].base, problem.buffers[0].kind) == (4096, "input")


def test_bars_keep_alignments() -> None:
    problem = read_problem(b"id,lower,upper,size,alignment\na,0,2,8,64\nb,1,3,8,1\n")[0]
    assert [buffer.alignment for buffer in read(write(problem)).buffers] == [64, 1]


def test_ids_that_are_the_same_text_are_not_written_as_bars() -> None:
    two = (Buffer(1, 10, live=((0, 2),)), Buffer("1", 10, live=((1, 3),)))
    with pytest.raises(BadInput) as caught:
        write(Problem(two))
    assert [(each.code.value, each.pointer) for each in caught.value.findings] == [("duplicate_id", "/buffers/1/id")]


def test_a_buffer_that_is_never_needed_has_a_bar_without_length() -> None:
    problem = read_problem(b"id,lower,upper,size\na,5,5,8\nb,1,3,8\n")[0]
    assert lives(read(write(problem))) == {"a": (), "b": ((1, 3),)}
