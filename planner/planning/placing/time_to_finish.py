"""Counts the time to reserve for work after the solvers: lifting, weighing, verifying and writing a plan, by the size of its problem."""

from __future__ import annotations

from collections.abc import Mapping

from ...facts.figures import amounts
from ...facts.variants import count_of_alternatives, most_buffers
from ...model.columns.buffers import BufferColumns
from ...model.columns.pools import any_reserved
from ...model.problem import Problem

MICROSECONDS = {
    "buffers": 1.5,
    "buffers as objects": 2.7,
    "lifetimes of objects": 1.0,
    "pools": 3.5,
    "reserved ranges": 0.6,
    "pools listed": 0.15,
    "pairs": 1.5,
    "conflicts of buffers without lifetimes": 2.0,
    "exclusions": 3.5,
    "buffers beside those that may share": 20.0,
    "colocations": 1.0,
    "members of same_pool": 1.0,
    "members of different_pool": 1.0,
    "places before": 1.0,
    "alternatives": 3.0,
}
"""Processor time for each, as was measured with 100 000 of one kind (docs/experiments/any-input.md)."""

MICROSECONDS_SHARED = MICROSECONDS | {
    "buffers": 11.0,
    "buffers as objects": 0.0,
    "lifetimes of objects": 1.5,
    "pairs": 6.0,
    "conflicts of buffers without lifetimes": 0.0,
    "exclusions": 5.0,
    "buffers beside those that may share": 0.0,
    "colocations": 5.0,
}
"""The same from an arrangement of storage objects to a written sharing."""

MICROSECONDS_REPORTED = dict.fromkeys(MICROSECONDS, 0.0) | {
    "buffers": 9.0,
    "lifetimes of objects": 4.0,
    "pools": 5.0,
    "exclusions": 20.0,
    "buffers beside those that may share": 3.0,
    "colocations": 6.0,
}
"""The same for a report of a plan; a picture of the bytes in use takes half as much again."""

MICROSECONDS_TO_WRITE = 0.7
"""The part of these that writing takes, for each buffer and each pool."""

MICROSECONDS_TO_REPEAT = 0.3
"""The time to write a placement once more: most plans of a sweep have those of others."""

MICROSECONDS_A_FILE = 800.0

MICROSECONDS_TO_CHECK = 0.4
"""The part of these that the values of a verified placement take, likewise."""

MICROSECONDS_TO_PLACE = 1.5
"""Processor time for each block until there is a first placement, by birth and checked."""


def seconds_to_place(blocks: int) -> float:
    """Return the processor time that solvers take before they look at the clock."""
    return MICROSECONDS_TO_PLACE * blocks * 1e-6


def seconds_to_finish(problem: Problem, each: Mapping[str, float] = MICROSECONDS) -> float:
    """Return the processor time from a solver's placement to a written answer."""
    return sum(each[name] * count for name, count in _counts(problem).items()) * 1e-6


def seconds_to_check(problem: Problem) -> float:
    """Return the part that checking a plan's values takes, if its proofs are given up."""
    return MICROSECONDS_TO_CHECK * (len(problem.buffers) + len(problem.pools)) * 1e-6


def seconds_to_write(problem: Problem) -> float:
    """Return the part of this time that writing takes."""
    return MICROSECONDS_TO_WRITE * (len(problem.buffers) + len(problem.pools)) * 1e-6


def seconds_to_write_sweep(problem: Problem, plans: int, *, in_files: bool) -> float:
    """Return the time that writing so many plans of a sweep takes, each in a file of its own or all within one document."""
    each = MICROSECONDS_TO_REPEAT * most_buffers(problem) + (MICROSECONDS_A_FILE if in_files else 0.0)
    return plans * each * 1e-6


def _counts(problem: Problem) -> dict[str, int]:
    constraints, variants, was = problem.constraints, problem.variants, problem.was
    counts = {
        "buffers": len(problem.buffers),
        "pools": len(problem.pools),
        "reserved ranges": sum(len(pool.reserved) for pool in problem.pools) if any_reserved(problem.pools) else 0,
        "pairs": sum(map(len, (constraints.conflicts, constraints.reuse_penalties))),
        "exclusions": len(constraints.exclusions),
        "buffers beside those that may share": len(problem.buffers)
        if constraints.exclusions or constraints.colocations
        else 0,
        "colocations": len(constraints.colocations),
        "members of same_pool": sum(map(len, constraints.same_pool)),
        "members of different_pool": sum(map(len, constraints.different_pool)),
        "places before": len(was or ()),
        "alternatives": 0 if variants is None else count_of_alternatives(variants),
    }
    if problem.facts.neighbour is not None and (known := amounts(problem)).is_free:
        counts["buffers as objects"], counts["lifetimes of objects"] = len(problem.buffers), len(known.owner)
    elif not isinstance(problem.buffers, BufferColumns):  # those have one lifetime each, and list no pools
        counts["buffers as objects"] = len(problem.buffers)
        counts["lifetimes of objects"] = sum(len(buffer.live or ()) for buffer in problem.buffers)
        if constraints.conflicts and not all(buffer.live for buffer in problem.buffers):
            counts["conflicts of buffers without lifetimes"] = len(constraints.conflicts)
        lists = {id(buffer.pools): len(buffer.pools) for buffer in problem.buffers if buffer.pools is not None}
        counts["pools listed"] = sum(lists.values())
    return counts
