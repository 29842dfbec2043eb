"""Chrome traces: buffers between a begin and an end, of a thread or of an id."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner import plan, read_problem
from planner.checks.report import Report
from planner.formats.dumps.chrome import write
from planner.formats.dumps.chrome_pairs import Pairs
from planner.formats.dumps.chrome_waiting import Begun, Sized
from planner.model.problem import Buffer, Fixed, Lifetimes, Pool, Problem
from tests.planner.formats import reading
from tests.planner.formats.reading import lives


def event(kind: str, time: float, name: str | None = None, size: int | None = None, **more: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"ph": kind, "ts": time, "pid": 1, "tid": 1, **more}
    row |= {} if name is None else {"name": name}
    return row if size is None else row | {"args": {"size": size}}


def without_time(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "ts"}


def read(*events: dict[str, Any]) -> Problem:
    return read_problem(json.dumps({"traceEvents": events}).encode(), format="chrome-trace")[0]


def refused(*events: dict[str, Any]) -> tuple[str, str]:
    return reading.refused({"traceEvents": events}, format="chrome-trace")[:2]


def test_begin_and_end_of_a_thread_lie_inside_each_other() -> None:
    problem = read(
        event("B", 0, "a", 64),
        event("B", 1, "layer"),
        event("B", 2, "b", 32),
        event("B", 2, "c", 8, tid=2),
        event("E", 3),
        event("E", 4, "layer"),
        event("E", 5, "a"),
        event("E", 9, tid=2),
        event("X", 6, "d", 4, dur=1),
    )
    assert lives(problem) == {"b": ((2, 3),), "a": ((0, 5),), "c": ((2, 9),), "d": ((6, 7),)}
    assert plan(problem).peak == 104


def test_begin_and_end_of_an_id_need_not_nest() -> None:
    problem = read(
        event("b", 0, "a", 64, cat="m", id=1),
        event("b", 1, "a", 64, cat="m", id=2, tid=7),
        event("n", 2, "a", 64, cat="m", id=1),
        event("e", 3, "a", cat="m", id=1, pid=9),
        event("b", 4, "other", cat="ui", id=1),
        event("e", 6, "a", cat="m", id=2),
        event("b", 6, "c", 8, cat="m", id2={"local": "0x1"}),
        event("b", 7, "c", 8, cat="m", id2={"local": "0x1"}, pid=2),
        event("e", 8, "c", cat="m", id2={"local": "0x1"}),
        event("e", 9, "c", cat="m", id2={"local": "0x1"}, pid=2),
    )
    assert lives(problem) == {"a": ((0, 3),), "a#2": ((1, 6),), "c": ((6, 8),), "c#0x1": ((7, 9),)}


def test_what_holds_no_buffer_ends_under_any_name_before_and_after_buffers() -> None:
    nested = [event("B", 0, "x"), event("B", 1, "y"), event("B", 2, "a", 64), event("E", 3, "a")]
    problem = read(*nested, event("E", 4, "x"), event("B", 5, "b", 8), event("E", 6), event("E", 7))
    assert lives(problem) == {"a": ((2, 3),), "b": ((5, 6),)}
    assert refused(*nested, *[event("E", time) for time in (4, 5, 6)]) == ("contradiction", "/traceEvents/6/ph")
    parts = (event("E", 1, tid="1", pid=""), event("B", 0, "a", 8, tid="", pid="1"))  # of two threads
    assert lives(read(*parts)) == {"a": ((0, 1),)}


def test_what_does_not_end_lasts_until_the_end() -> None:
    problem = read(event("B", 0, "a", 64), event("b", 1, "b", 8, id=1), event("X", 2, "c", 8, dur=3))
    assert lives(problem) == {"c": ((2, 5),), "b": ((1, 6),), "a": ((0, 6),)}


@pytest.mark.parametrize(
    ("events", "code", "place"),
    [
        ([event("B", 0, "a", 8), event("E", 1), event("E", 2)], "contradiction", "/traceEvents/2/ph"),
        ([event("B", 0, "a", 8), event("B", 1, "b"), event("E", 2, "a")], "contradiction", "/traceEvents/2/name"),
        ([event("B", 0, "a", 8), event("B", 1, "a", 8)], "duplicate_id", "/traceEvents/1/name"),
        ([event("B", 4, "a", 8), event("E", 3)], "interval_reversed", "/traceEvents/1/ts"),
        ([event("B", 4, "a", 8), {**event("E", 3), "ts": "x"}], "wrong_type", "/traceEvents/1/ts"),
        ([without_time(event("B", 4, "a", 8))], "missing_field", "/traceEvents/0/ts"),
        ([event("B", 4, "a", 8), without_time(event("E", 5))], "missing_field", "/traceEvents/1/ts"),
        ([without_time(event("X", 4, "a", 8, dur=1))], "missing_field", "/traceEvents/0/ts"),
        (
            [without_time(event("i", 4, "[memory]")) | {"args": {"Addr": 0, "Bytes": 8}}],
            "missing_field",
            "/traceEvents/0/ts",
        ),
        ([event("B", 4, None, 8)], "missing_field", "/traceEvents/0/name"),
        ([event("b", 0, "a", 8, id=1), event("b", 1, "a", 8, id=1)], "duplicate_id", "/traceEvents/1/id"),
        ([event("b", 0, "a", 8, id=1), event("e", 1, "a", id=2)], "contradiction", "/traceEvents/1/ph"),
    ],
)
def test_pairs_that_do_not_nest_are_refused_with_the_event(events: list[dict[str, Any]], code: str, place: str) -> None:
    assert refused(*events) == (code, place)


def test_other_events_need_not_nest() -> None:
    others = [
        event("E", 0, "lost"),
        {**event("B", 1), "ts": "x"},
        {**event("E", 2, "odd"), "ts": "x"},
        event("e", 2, "z", id=1),
    ]
    assert lives(read(*others, event("X", 3, "a", 8, dur=1))) == {"a": ((3, 4),)}


def test_hints_are_written_and_read_again() -> None:
    problem = read_problem(b"id,lower,upper,size,hint\na,0,2,8,64\nb,1,3,8,\n")[0]
    assert [buffer.hint for buffer in read_problem(write(problem))[0].buffers] == [64, None]


def test_deep_nesting_is_gone_through_once() -> None:
    compared = 0

    class Name(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

    found: list[str] = []
    pairs = Pairs(lambda begun, buffer, end: found.append(buffer.name), ("traceEvents",), Report())
    names = [Name(f"b{i}") for i in range(500)]
    for i, name in enumerate(names):
        pairs.begin(Begun(i, name, i, Sized(name, 8, "m", None, 1)), {"ph": "B"})
    for i, name in enumerate(reversed(names)):
        pairs.end(i, {"ph": "E", "name": name}, lambda: 1000.0)
    assert (len(found), compared < 10 * len(names)) == (len(names), True)


@pytest.mark.parametrize("kinds", ["X", "bn", "be", "BE"])
def test_what_has_an_object_for_a_name_has_none(kinds: str) -> None:
    odd = [event(kind, 2, id=3, dur=1, args={"q": 8}) | {"name": {"x": 1}} for kind in kinds]
    assert lives(read(event("B", 0, "a", 64), event("b", 1, "a", id=3), *odd, event("E", 9, "a"))) == {"a": ((0, 9),)}


def test_a_buffer_that_is_fixed_is_written_into_its_memory() -> None:
    buffer = Buffer("a", 4, live=((0, 1),), fixed=Fixed("fast", 0))
    problem = Problem((buffer,), (Pool("slow"), Pool("fast")), lifetimes=Lifetimes.HALF_OPEN)
    again, _ = read_problem(write(problem), format="chrome-trace")
    assert [each.name for each in again.pools] == ["fast"]


def test_a_memory_s_alignment_is_written_for_its_buffers() -> None:
    buffers = (Buffer("a", 4, alignment=6, live=((0, 1),)), Buffer("b", 4, live=((0, 1),)))
    problem = Problem(buffers, (Pool("ram", alignment=4),), lifetimes=Lifetimes.HALF_OPEN)
    again, _ = read_problem(write(problem), format="chrome-trace")
    assert [each.alignment for each in again.buffers] == [12, 4]
