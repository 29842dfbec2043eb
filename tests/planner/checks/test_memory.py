"""What relates buffers is checked without an object for each relation."""

from __future__ import annotations

import tracemalloc

from planner.checks.colocations import check_colocations
from planner.checks.names import Names, check_mentions
from planner.checks.report import Report
from planner.model.problem import Buffer, Colocation, Constraints, Pool, Problem

BUFFERS = tuple(Buffer(f"buffer {i}", 8, live=((0, 1),)) for i in range(2000))
COUNT = 20_000


def related(constraints: Constraints) -> tuple[Problem, Names]:
    problem = Problem(BUFFERS, (Pool("p"),), constraints)
    names = Names(problem)
    names.different = [each.id for each in BUFFERS]
    assert names.buffers
    return problem, names


def test_several_colocations_for_a_buffer_are_numbers() -> None:
    ids = [each.id for each in BUFFERS]
    ties = tuple(Colocation(ids[1 + i % 1999], ids[i * 7 % (1 + i % 1999)], 0) for i in range(COUNT))
    problem, names = related(Constraints(colocations=ties))
    report = Report()
    tracemalloc.start()
    assert check_colocations(problem, names, report) is not None
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not report
    assert peak < 110 * COUNT


def test_names_in_relations_are_looked_up_one_by_one() -> None:
    pairs = tuple((BUFFERS[i % 2000].id, BUFFERS[i // 2000].id) for i in range(COUNT) if i % 2000 != i // 2000)
    problem, names = related(Constraints(conflicts=pairs))
    report = Report()
    tracemalloc.start()
    check_mentions(problem, names, report)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not report
    assert peak < 2 * COUNT
