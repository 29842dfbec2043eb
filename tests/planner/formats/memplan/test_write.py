"""A written problem can be read again, is the same every time, and is easy to read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planner.checks import check
from planner.facts.intervals import merged
from planner.formats import read_problem, write_problem
from planner.model.problem import Buffer, Colocation, Constraints, Fixed, Lifetimes, Pool, Problem, ReusePenalty, Was
from solvers.model.instance import Term
from tests.planner.formats.reading import corpus
from tests.small.strategies import effort

IDS = st.integers(-5, 5) | st.text(min_size=1, max_size=3)
SMALL = st.integers(0, 40)
TEXT = st.text(max_size=5)


@st.composite
def _constraints(draw: st.DrawFn, ids: list[int | str]) -> Constraints:
    member = st.sampled_from(ids)
    pairs = st.lists(st.tuples(member, member), max_size=1).map(tuple)
    sets = st.lists(st.lists(member, max_size=3).map(tuple), max_size=2).map(tuple)
    return Constraints(
        draw(pairs),
        draw(pairs),
        draw(st.lists(st.builds(Colocation, member, member, SMALL), max_size=1).map(tuple)),
        draw(sets),
        draw(sets),
        draw(st.lists(st.builds(ReusePenalty, member, member, SMALL), max_size=1).map(tuple)),
    )


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Draw a problem that may use every field; not all are sound."""
    names = draw(st.lists(st.text(min_size=1, max_size=3), min_size=1, max_size=3, unique=True))
    ranges = st.lists(st.tuples(SMALL, SMALL).map(lambda r: (min(r), max(r))), max_size=3).map(merged)
    pools = [
        Pool(
            name,
            draw(st.none() | st.integers(40, 200)),
            *draw(st.sampled_from([(1, None), (1, 7), (4, None), (4, 8)])),
            reserved=draw(ranges),
            cost=draw(st.integers(0, 3)),
            rank=draw(st.integers(0, 3)),
        )
        for name in names
    ]
    ids = draw(st.lists(IDS, max_size=5, unique_by=lambda i: (type(i).__name__, i)))
    buffers = [
        Buffer(
            id_,
            draw(SMALL),
            draw(st.integers(1, 4)),
            draw(st.none() | ranges),
            draw(st.none() | st.lists(st.sampled_from(names), min_size=1, unique=True).map(tuple)),
            draw(st.none() | st.none() | st.builds(Fixed, st.sampled_from(names), st.none() | SMALL)),
            draw(st.none() | SMALL),
            draw(st.none() | SMALL),
            draw(st.none() | TEXT),
            draw(SMALL),
        )
        for id_ in ids
    ]
    constraints = draw(_constraints(ids)) if ids else Constraints()
    terms = draw(st.lists(st.sampled_from(list(Term)), min_size=1, unique=True).map(tuple))
    alive = any(buffer.live is not None for buffer in buffers)
    lifetimes = draw(st.sampled_from([*Lifetimes, *([] if alive else [None])]))
    was = tuple(Was(id_, draw(st.sampled_from(names)), draw(SMALL)) for id_ in ids) if draw(st.booleans()) else ()
    return Problem(tuple(buffers), tuple(pools), constraints, terms, draw(st.none() | TEXT), lifetimes, was=was)


@effort(8, 1000)
@given(problems())
def test_reading_a_written_problem_gives_the_same_problem(problem: Problem) -> None:
    assume(not check(problem))
    assert read_problem(write_problem(problem)) == (problem, ())


@effort(8, 1000)
@given(problems())
def test_a_problem_is_always_written_alike(problem: Problem) -> None:
    assert write_problem(problem) == write_problem(problem)
    assume(not check(problem))
    assert write_problem(read_problem(write_problem(problem))[0]) == write_problem(problem)


def test_defaults_are_left_out_and_every_buffer_has_a_line() -> None:
    problem = Problem((Buffer("a", 8, live=((0, 2),)), Buffer(2, 4, alignment=4)), name="small")
    assert write_problem(problem).decode() == (
        "{\n"
        ' "format": "memplan/1",\n'
        ' "name": "small",\n'
        ' "lifetimes": "half_open",\n'
        ' "pools": [\n'
        '  {"name": "default", "size": null}\n'
        " ],\n"
        ' "buffers": [\n'
        '  {"id": "a", "size": 8, "live": [[0, 2]]},\n'
        '  {"id": 2, "size": 4, "alignment": 4}\n'
        " ]\n"
        "}\n"
    )


def test_inclusive_lifetimes_are_written_as_they_were_read() -> None:
    problem = Problem((Buffer("a", 8, live=((0, 3), (5, 6))),), lifetimes=Lifetimes.INCLUSIVE)
    assert b'"live": [[0, 2], [5, 5]]' in write_problem(problem)


def test_a_name_that_utf8_cannot_carry_stays_escaped() -> None:
    assert b"\\ud800" in write_problem(Problem((), name="\ud800é"))


@pytest.mark.parametrize("path", [path for folder in ("nets", "pypto", "usmp") for path in corpus(f"{folder}/*.json")])
def test_the_corpus_survives_writing_and_reading(path: Any) -> None:
    problem, _ = read_problem(path.read_bytes(), name=path.name)
    again, _ = read_problem(write_problem(problem))
    assert again == problem
