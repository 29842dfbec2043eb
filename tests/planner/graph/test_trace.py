"""Traces of runs: lifetimes, shared addresses, and refusals with their lines."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner import BadInput, plan, read_problem, verify
from planner.model.problem import BufferId, Interval, Problem

HEAD: dict[str, Any] = {"format": "memplan-trace/1"}


def trace(*events: dict[str, Any], **head: Any) -> bytes:
    return "\n".join(map(json.dumps, ({**HEAD, **head}, *events))).encode()


def alloc(id_: str, size: int = 8, **more: Any) -> dict[str, Any]:
    return {"event": "alloc", "id": id_, "size": size, **more}


def use(*ids: str, **more: Any) -> dict[str, Any]:
    return {"event": "use", "ids": list(ids), **more}


def call(function: str) -> dict[str, Any]:
    return {"event": "call", "function": function}


def free(id_: str) -> dict[str, Any]:
    return {"event": "free", "id": id_}


def share(id_: str, base: str, offset: int, size: int) -> dict[str, Any]:
    return {"event": "share", "id": id_, "base": base, "offset": offset, "size": size}


RETURN, BEGIN, END = {"event": "return"}, {"event": "begin"}, {"event": "end"}


def read(*events: dict[str, Any]) -> Problem:
    problem, warnings = read_problem(trace(*events))
    assert warnings == ()
    return problem


def lives(*events: dict[str, Any]) -> dict[BufferId, tuple[Interval, ...] | None]:
    return {buffer.id: buffer.live for buffer in read(*events).buffers}


def test_a_buffer_is_needed_from_its_first_use_to_its_last() -> None:
    assert lives(alloc("a"), alloc("b"), use("b"), use("a", "b"), use("a"), free("a"), use("b")) == {
        "a": ((3, 5),),
        "b": ((2, 7),),
    }


def test_unused_buffers_live_until_they_are_freed() -> None:
    assert lives(alloc("a"), alloc("b"), free("a"), alloc("c")) == {"a": ((0, 2),), "b": ((1, 4),), "c": ((3, 4),)}


def test_unfreed_buffers_end_with_their_scope_or_function() -> None:
    events = (BEGIN, alloc("a"), END, call("f"), alloc("b"), RETURN, alloc("c"))
    assert lives(*events) == {"a": ((1, 2),), "f/b": ((4, 5),), "c": ((6, 7),)}


def test_a_function_that_is_called_twice_has_its_buffers_at_one_address() -> None:
    layer = (call("f"), alloc("t"), use("t", "x"), RETURN)
    problem = read(alloc("x"), *layer, alloc("big", 8), use("big"), free("big"), *layer)
    assert {buffer.id: buffer.live for buffer in problem.buffers} == {
        "x": ((3, 11),),
        "f/t": ((3, 4), (10, 11)),
        "big": ((6, 7),),
    }
    made = plan(problem)
    assert (made.peak, verify(problem, made)) == (16, ())


def test_a_function_sees_its_caller_s_buffers_unless_shadowed() -> None:
    found = lives(alloc("x"), call("f"), use("x"), alloc("x"), use("x"), free("x"), use("x"), RETURN)
    assert found == {"x": ((2, 7),), "f/x": ((4, 5),)}


def test_a_shared_buffer_lies_within_its_base() -> None:
    problem = read(alloc("a", 64), share("v", "a", 16, 8), use("a"), use("v"))
    made = plan(problem)
    where = {place.id: place.offset for place in made.placements}
    assert where["v"] == where["a"] + 16


def test_shared_bytes_are_kept_from_the_first_use_under_any_name_to_the_last() -> None:
    events = (alloc("a", 64), share("v", "a", 16, 8), use("a"), alloc("b"), use("b"), use("v"))
    assert lives(*events) == {"a": ((2, 3),), "v": ((2, 6),), "b": ((4, 5),)}
    events = (alloc("a", 64), share("v", "a", 16, 8), share("w", "v", 0, 4), use("w"), use("v"), use("a"))
    assert lives(*events) == {"a": ((5, 6),), "v": ((4, 6),), "w": ((3, 6),)}


def test_bytes_are_there_as_long_as_one_of_their_names() -> None:
    events = (alloc("a"), share("v", "a", 0, 4), use("a"), free("a"), alloc("b"), use("b"), use("v"))
    assert lives(*events) == {"a": ((2, 3),), "v": ((2, 7),), "b": ((5, 6),)}


def test_a_function_finds_what_it_left_in_its_callers_bytes() -> None:
    layer = (call("f"), share("v", "x", 0, 4), use("v"), RETURN)
    assert lives(alloc("x"), use("x"), *layer, alloc("y"), use("y"), *layer) == {
        "x": ((1, 2),),
        "f/v": ((1, 11),),
        "y": ((7, 8),),
    }


def test_bytes_that_are_allocated_anew_hold_nothing_of_before() -> None:
    once = (alloc("a"), share("v", "a", 0, 4), use("a"), use("v"), free("a"), free("v"))
    assert lives(*once, *once) == {"a": ((2, 3), (8, 9)), "v": ((2, 4), (8, 10))}


def test_buffers_of_functions_and_others_may_be_called_alike() -> None:
    within = (call("f"), alloc("t"), use("t"), RETURN)
    assert lives(alloc("f/t"), *within, *(use("f/t"),) * 3, *within) == {
        "f/t": ((5, 8),),
        "f/t'": ((3, 4), (10, 11)),
    }
    assert lives(*within, alloc("f/t"), use("f/t"), call("f/t"), alloc("x"), use("x"), RETURN) == {
        "f/t": ((2, 3),),
        "f/t'": ((5, 6),),
        "f/t/x": ((8, 9),),
    }


def test_bytes_may_have_many_names() -> None:
    count = 2000
    shares = [share(f"v{k}", "a", 0, 8) for k in range(count)]
    found = lives(alloc("a"), *shares, use("a"), *(use(f"v{k}") for k in range(count)))
    assert found["a"] == ((count + 1, 2 * count + 2),)


def test_uses_and_calls_have_names_that_pictures_show() -> None:
    assert read(alloc("a"), use("a", name="conv"), call("f"), RETURN).steps == ((1, "conv"), (2, "f"))


def test_pools_stand_in_the_first_line() -> None:
    problem, _ = read_problem(trace(alloc("a", pools=["fast"]), pools=[{"name": "fast", "size": 64}, {"name": "slow"}]))
    assert [pool.name for pool in problem.pools] == ["fast", "slow"]
    assert problem.buffers[0].pools == ("fast",)


def test_empty_lines_are_counted_but_ignored() -> None:
    data = trace(alloc("a"), use("b")).replace(b"\n", b"\n\n")
    with pytest.raises(BadInput) as caught:
        read_problem(data)
    assert caught.value.findings[0].pointer == "/lines/5/ids/0"


@pytest.mark.parametrize(
    ("events", "code", "place"),
    [
        ((use("a"),), "unknown_buffer", "/lines/2/ids/0"),
        ((alloc("a"), free("a"), use("a")), "unknown_buffer", "/lines/4/ids/0"),
        ((free("a"),), "unknown_buffer", "/lines/2/id"),
        ((alloc("a"), alloc("a")), "duplicate_id", "/lines/3/id"),
        ((alloc("a"), BEGIN, alloc("a")), "duplicate_id", "/lines/4/id"),
        ((alloc("a"), free("a"), alloc("a", 9)), "contradiction", "/lines/4/id"),
        ((call("f"), call("f")), "contradiction", "/lines/3/function"),
        ((call("f"), END), "contradiction", "/lines/3/event"),
        ((BEGIN, RETURN), "contradiction", "/lines/3/event"),
        ((END,), "contradiction", "/lines/2/event"),
        ((BEGIN,), "contradiction", "/lines/2"),
        (({"event": "share", "id": "v", "base": "a", "size": 1},), "unknown_buffer", "/lines/2/base"),
        ((alloc("a"), share("v", "a", 1, 8)), "out_of_range", "/lines/3/size"),
        (
            (alloc("a"), share("v", "a", 1, 4), free("a"), alloc("a"), use("a", "v")),
            "contradiction",
            "/lines/6/ids/1",
        ),
        (({"event": "jump"},), "invalid_value", "/lines/2/event"),
        ((alloc("a", -1),), "out_of_range", "/lines/2/size"),
        ((alloc("a", x=1),), "unknown_field", "/lines/2/x"),
        ((alloc("a"), alloc("b", pools=["nowhere"])), "unknown_pool", "/lines/3/pools/0"),
        ((alloc("a", pools=[]),), "invalid_value", "/lines/2/pools"),
        ((BEGIN,) * 1002, "too_deep", "/lines/1002"),
        ((call("f" * 600), alloc("i" * 600)), "too_large", "/lines/3/id"),
    ],
)
def test_wrong_events_are_refused_with_their_line(events: tuple[dict[str, Any], ...], code: str, place: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_problem(trace(*events))
    assert (caught.value.findings[0].code, caught.value.findings[0].pointer) == (code, place)


@pytest.mark.parametrize("line", [b"{", b"[]", b"3", b'{"event": "free", "id": 1, "id": 2}', b"\xff"])
def test_a_line_that_is_no_event_is_refused_with_its_number(line: bytes) -> None:
    with pytest.raises(BadInput) as caught:
        read_problem(trace(alloc("a")) + b"\n" + line)
    assert caught.value.findings[0].pointer.startswith("/lines/3")
