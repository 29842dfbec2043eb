"""Alignments of memories are written on buffers where a format has none for memories."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner import Buffer, Pool, Problem, plan, read_problem
from planner.formats import FORMATS
from planner.formats.memories import with_aligned_buffers
from planner.model.errors import BadInput
from planner.model.problem import Fixed, Lifetimes

POOLS = (Pool("fast", alignment=16), Pool("slow", alignment=64, rank=1))
BUFFERS = (
    Buffer("a", 10, 8, ((0, 2),), ("fast",)),
    Buffer("b", 20, 48, ((1, 3),), ("slow",)),
    Buffer("c", 30, live=((1, 4),), fixed=Fixed("slow")),
    Buffer("d", 10, live=((1, 4),), pools=("fast",)),
)
PROBLEM = Problem(BUFFERS, POOLS, lifetimes=Lifetimes.HALF_OPEN)


def test_each_buffer_gets_the_alignment_of_its_memory() -> None:
    made = with_aligned_buffers(PROBLEM)
    assert [buffer.alignment for buffer in made.buffers] == [16, 192, 64, 16]
    assert {pool.alignment for pool in made.pools} == {1}
    either = replace(PROBLEM, buffers=(replace(BUFFERS[0], pools=("slow", "fast")),))
    assert with_aligned_buffers(either) is either
    alike = replace(either, pools=tuple(replace(pool, alignment=32) for pool in POOLS))
    assert with_aligned_buffers(alike).buffers[0].alignment == 32


@pytest.mark.parametrize("name", ["dsa", "idealloc", "minimalloc"])
def test_several_aligned_memories_are_written_and_planned_alike(name: str) -> None:
    buffers = tuple(replace(buffer, fixed=None, pools=buffer.pools or ("slow",)) for buffer in BUFFERS)
    again, _ = read_problem(FORMATS[name].write(replace(PROBLEM, buffers=buffers)), format=name)
    assert [buffer.alignment for buffer in again.buffers] == [16, 192, 64, 16]
    assert plan(again).peak == plan(PROBLEM).peak == 26 + 94


@pytest.mark.parametrize("name", ["dsa", "idealloc", "minimalloc"])
def test_a_buffer_of_several_memories_with_other_alignments_is_refused(name: str) -> None:
    either = (replace(BUFFERS[0], pools=("slow", "fast")), *BUFFERS[1:])
    with pytest.raises(BadInput):
        FORMATS[name].write(replace(PROBLEM, buffers=either))
