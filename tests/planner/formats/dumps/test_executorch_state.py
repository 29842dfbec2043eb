"""State that several methods of an ExecuTorch program share."""

from __future__ import annotations

import pytest

from planner import plan, verify
from planner.model.problem import Problem
from tests.planner.formats.dumps.test_executorch import kernel, method, program, read, value
from tests.planner.formats.models.tflite.files import Fields
from tests.planner.formats.reading import lives


def state(size: int, offset: int, name: str = "", memory: int = 2) -> Fields:
    made = value(size, memory, offset)
    if name:
        made[1][9] = {1: name}
    return made


def places(problem: Problem) -> dict[str, int | None]:
    found = plan(problem)
    assert verify(problem, found) == ()
    return {str(each.id): each.offset for each in found.placements}


def methods(a: list[Fields], b: list[Fields]) -> Problem:
    """Return a program of two methods with this state; `put` writes all of it, and `get` reads all of it."""
    io = [value(32), value(32, offset=64)]
    put, get = ([*state_, *io] for state_ in (a, b))
    writes = [kernel(len(a), n) for n in range(len(a) + 2)]
    reads = [kernel(n, len(b) + 1) for n in range(len(b) + 1)]
    return read(
        program(method(put, writes, [len(a)], [len(a) + 1], "put"), method(get, reads, [len(b)], [len(b) + 1], "get"))
    )


@pytest.mark.parametrize("named", [True, False])
def test_state_in_one_place_stays_in_one_place(named: bool) -> None:
    a, b = (state(64, 0, "a" if named else ""), state(256, 64, "b" if named else ""))
    problem = methods([b], [a, b])
    put, get = ("put/b", "get/b") if named else ("put/0", "get/1")
    at = places(problem)
    assert at[put] == at[get]
    end = lives(problem)["get/a" if named else "get/0"][0][1]
    assert {lives(problem)[each] for each in (put, get)} == {((0, end),)}
    assert [(pool.peak, pool.bound) for pool in plan(problem).pools if pool.name == "memory 2"] == [(320, 320)]


def test_state_of_one_method_keeps_its_bytes_from_the_state_of_others() -> None:
    at = places(methods([state(64, 0)], [state(64, 64)]))
    assert sorted((at["put/0"] or 0, at["get/0"] or 0)) == [0, 64]


def test_state_of_one_name_is_shared_beside_other_tensors() -> None:
    problem = methods([state(64, 128, "b", 1)], [state(16, 256, "a", 1), state(64, 128, "b", 1)])
    at = places(problem)
    assert at["put/b"] == at["get/b"]
    assert lives(problem)["put/b"] == lives(problem)["get/b"]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([state(64, 0, "a")], [state(64, 0, "b")]),  # other names
        ([state(64, 0)], [state(32, 0)]),  # other sizes
        ([state(64, 32)], [state(64, 0)]),  # bytes in common
        ([state(64, 0, "a")], [state(64, 64, "a"), state(64, 0, "c")]),
        ([state(64, 128, memory=1)], [state(64, 128, memory=1)]),  # no names, beside other tensors
        ([state(64, 128, "a", 1)], [state(32, 160, "b", 1), state(64, 192, "a", 1)]),
    ],
)
def test_methods_with_memory_of_their_own_share_nothing(a: list[Fields], b: list[Fields]) -> None:
    """Their state lies where the other's lies, or it is not known to be the same."""
    problem = methods(a, b)
    middle = min(
        start for buffer in problem.buffers for start, _ in buffer.live or () if str(buffer.id).startswith("get")
    )
    for buffer in problem.buffers:
        ((start, end),) = buffer.live or ()
        assert end <= middle if str(buffer.id).startswith("put") else start >= middle
    assert problem.constraints.colocations == ()


def test_a_view_of_shared_state_stays_with_it() -> None:
    one = method(
        [state(64, 0), state(64, 0), value(32), value(32, offset=64)], [kernel(2, 1), kernel(1, 3)], [2], [3], "put"
    )
    two = method([state(64, 0), value(32), value(32, offset=64)], [kernel(0, 2)], [1], [2], "get")
    problem = read(program(one, two))
    assert lives(problem)["put/1"] == lives(problem)["get/0"]
