"""XLA's buffer assignment is read as text, with live ranges and without."""

from __future__ import annotations

import time

import pytest

from planner import BadInput, plan, read_problem, verify

ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}:
 value: <1 x.1 @0> (size=64,offset=0): f32[16]{0}
allocation 1: size 16, output shape is |(f32[4])|, maybe-live-out:
 value: <2 tuple.3{} @0> (size=16,offset=0): (f32[4]{0})
allocation 2: 0x55aa, size 192, color 1, preallocated-temp:
 value: <3 fusion @1> (size=64,offset=64): f32[16]{0}
 value: <4 copy.1 @1> (size=128,offset=64): f32[32]{0}
 value: <5 while.7{1} (phi) @1> (size=128,offset=64): f32[32]{0}
 value: <6 fusion @1> (size=4,offset=0): f32[]
 value: <7 lonely @1> (size=4,offset=16): f32[]
"""
RANGES = """\
HloLiveRange (max 9):
  InstructionSequence:
    0:x.1
  BufferLiveRange:
    x.1{}:0-9
    fusion{}:1-2
    copy.1{}:3-4
    while.7{1}: 4-8
  Live ranges at 4 (peak):
    copy.1{}: 128 bytes
"""


def test_values_of_temporary_allocations_are_placed_in_their_times() -> None:
    problem, warnings = read_problem((ASSIGNMENT + RANGES).encode())
    assert [(b.id, b.size, b.live, b.hint, b.pools) for b in problem.buffers] == [
        ("fusion", 64, ((1, 3),), 64, None),
        ("copy.1", 128, ((3, 5),), 64, None),
        ("while.7{1} (phi)", 128, ((4, 9),), 64, None),
        ("fusion#6", 4, ((1, 3),), 0, None),
        ("lonely", 4, ((0, 10),), 16, None),
    ]
    assert [(tie.buffer, tie.base, tie.offset) for tie in problem.constraints.colocations] == [
        ("while.7{1} (phi)", "copy.1", 0)
    ]
    assert problem.name == "XLA's own plan: 192 bytes"
    assert warnings == ("1 values have no live range, and are needed throughout",)
    found = plan(problem)
    assert (found.peak, verify(problem, found)) == (132, ())


def test_temporary_allocations_of_a_colour_lie_one_behind_the_other() -> None:
    two = """\
BufferAssignment:
allocation 0: size 64, preallocated-temp:
 value: <1 a @0> (size=64,offset=0): s8[64]{0}
allocation 1: size 64, preallocated-temp:
 value: <2 b @0> (size=64,offset=0): s8[64]{0}
allocation 2: size 16, color 1, preallocated-temp:
 value: <3 c @0> (size=16,offset=0): s8[16]{0}

HloLiveRange (max 3):
  BufferLiveRange:
    a{}:1-2
    b{}:1-3
    c{}:1-3
"""
    problem, _ = read_problem(two.encode())
    assert [(b.id, b.hint, b.pools) for b in problem.buffers] == [
        ("a", 0, ("memory",)),
        ("b", 64, ("memory",)),
        ("c", 0, ("memory 1",)),
    ]
    assert problem.constraints.colocations == ()
    assert plan(problem).peak == 64 + 64 + 16


LOOP = """\
BufferAssignment:
allocation 0: size 208, preallocated-temp:
 value: <1 start @0> (size=64,offset=128): f32[16]{0}
 value: <2 condition.1{1} (phi) @0> (size=64,offset=128): f32[16]{0}
 value: <3 body.1{1} (phi) @0> (size=64,offset=128): f32[16]{0}
 value: <4 small @0> (size=16,offset=128): f32[4]{0}
 value: <5 large @0> (size=128,offset=0): f32[32]{0}
 value: <6 next @0> (size=64,offset=128): f32[16]{0}
 value: <7 while.1{1} (phi) @0> (size=64,offset=128): f32[16]{0}
 value: <8 before @0> (size=16,offset=192): f32[4]{0}
 value: <9 after @0> (size=16,offset=192): f32[4]{0}

HloLiveRange (max 20):
  BufferLiveRange:
    start{}:0-2
    condition.1{1}:2-3
    body.1{1}:3-6
    small{}:7-8
    large{}:7-9
    next{}:9-12
    while.1{1}:12-14
    before{}:0-1
    after{}:16-18
"""


def test_what_a_loop_carries_stays_at_one_place_whatever_lies_there_in_between() -> None:
    problem, _ = read_problem(LOOP.encode())
    ties = {(tie.buffer, tie.base, tie.offset) for tie in problem.constraints.colocations}
    carried = ("condition.1{1} (phi)", "body.1{1} (phi)", "next", "while.1{1} (phi)")
    assert ties == {(name, "start", 0) for name in carried}
    found = plan(problem)
    offsets = {placement.id: placement.offset for placement in found.placements}
    assert (found.peak, len({offsets[name] for name in ("start", *carried)})) == (192, 1)


def test_branches_end_where_their_results_are_joined() -> None:
    """The first branch ends before the second begins, and what joins both begins when both have ended."""
    branches = LOOP.replace("condition.1{1} (phi)", "other").replace("body.1{1} (phi)", "third")
    branches = branches.replace("condition.1{1}:2-3", "other{}:4-5").replace("body.1{1}:3-6", "third{}:6-6")
    problem, _ = read_problem(branches.encode())
    ties = {(tie.buffer, tie.base) for tie in problem.constraints.colocations}
    assert ties == {(name, "start") for name in ("other", "third", "next", "while.1{1} (phi)")}


def test_times_without_temporary_values_make_no_buffers() -> None:
    text = "BufferAssignment:\nallocation 0: size 4, constant:\n value: <1 a @0> (size=4,offset=0): s32[]\n"
    problem, _ = read_problem((text + "\nHloLiveRange (max 3):\n  BufferLiveRange:\n    a{}:1-2\n").encode())
    assert (len(problem.buffers), problem.constraints.colocations) == (0, ())


def test_without_live_ranges_each_allocation_is_a_buffer() -> None:
    problem, (warning,) = read_problem(ASSIGNMENT.encode(), name="module.cpu_after_optimizations-buffer-assignment.txt")
    assert [(buffer.size, buffer.kind) for buffer in problem.buffers] == [
        (64, "parameter 0"),
        (16, "maybe-live-out"),
        (192, "color 1, preallocated-temp"),
    ]
    assert "-live-range.txt" in warning


@pytest.mark.parametrize(
    ("old", "new", "line", "code"),
    [
        ("allocation 1:", "allocation 0:", 4, "duplicate_id"),
        ("<4 copy", "<1 copy", 8, "duplicate_id"),
        ("size 192", "size many", 6, "invalid_value"),
        ("offset=16", "offset=-1", 11, "invalid_value"),
        ("size=128,offset=64): f32[32]{0}\n value: <6", f"size={1 << 63},offset=64)\n value: <6", 9, "out_of_range"),
        ("offset=64): f32[16]", f"offset={1 << 62}): f32[16]", 7, "out_of_range"),
        ("copy.1{}:3-4", "copy.1{}:4-3", 18, "interval_reversed"),
        ("copy.1{}:3-4", "fusion{}:3-4", 18, "duplicate_id"),
        ("copy.1{}:3-4", "copy.1", 18, "invalid_value"),
    ],
)
def test_wrong_lines_are_refused_with_their_number(old: str, new: str, line: int, code: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_problem((ASSIGNMENT + RANGES).replace(old, new).encode(), format="xla-text")
    (finding,) = caught.value.findings
    assert (finding.pointer, finding.code) == (f"/lines/{line}", code)


def test_long_lines_are_refused_in_linear_time() -> None:
    began = time.process_time()
    for line in ("allocation 0: " + "size " * 200_000, " value: <1 " + "@1> (" * 200_000, "    " + "a:1-" * 200_000):
        with pytest.raises(BadInput):
            read_problem(f"{ASSIGNMENT}{line}\n{RANGES}{line}\n".encode(), format="xla-text")
    assert time.process_time() - began < 20
