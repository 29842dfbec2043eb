"""Which problems compare solvers: those that each of them supports, by gaps to one bound, the best that any run proved."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from .records import CellStatus, Record

WORST_GAP = 1.0
"""A run without a plan counts as twice the bound; worse plans do too."""

ProblemKey: TypeAlias = tuple[str, str, str]


def problem_of(record: Record) -> ProblemKey:
    """Return what is common to runs that could have had the same plan; a killed one does not know its problem's digest."""
    return record.instance, record.sha256, str(record.options.get("capacity"))


def common_bounds(records: Iterable[Record]) -> dict[ProblemKey, int]:
    """Return the best bound of every feasible problem that all solvers support; a solver that refuses everything is ignored."""
    records = list(records)
    taking = {record.solver for record in records if record.status is not CellStatus.REFUSED}
    takers: dict[ProblemKey, set[str]] = {}
    bounds: dict[ProblemKey, int] = {}
    impossible: set[ProblemKey] = set()
    for record in records:
        problem = problem_of(record)
        if record.status is not CellStatus.REFUSED:
            takers.setdefault(problem, set()).add(record.solver)
        if record.status is CellStatus.INFEASIBLE:
            impossible.add(problem)
        bounds[problem] = max(bounds.get(problem, 0), record.bound or 0)
    return {
        problem: bound
        for problem, bound in bounds.items()
        if bound and takers.get(problem) == taking and problem not in impossible
    }


def gap_to(bound: int, value: int | None) -> float:
    """Return the distance of a plan's value from the bound, as a share of it."""
    return WORST_GAP if value is None else min(value / bound - 1, WORST_GAP)
