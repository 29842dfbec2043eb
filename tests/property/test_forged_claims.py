"""Every claim of an answer, changed by itself: where that makes it false, verification says so. And what is written can be read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given

from planner import Options, Plan, PlanStatus, Pool, Problem, Sharing, plan, share, verify, verify_sharing
from planner.formats import read_plan, read_sharing, write_plan, write_sharing
from planner.problem import Buffer, Speed
from planner.reporting.report import memory_report
from solvers.model.instance import Term
from tests.planner.sharing.truth import least_total, sharable
from tests.strategies import effort, problems
from tests.oracle import Truth, solve

Path = tuple[str | int, ...]

NO_CLAIM = {"solver", "versions", "warnings", "run", "seed", "reproducible", "stop", "format", "message"}
"""Fields on which nothing rests that is said to be so; those of them that can be wrong have tests of their own."""
ANY_PROOF = {"certificate", "sets", "weights"}


def leaves(document: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value that is no list and no object, and where it stands."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from leaves(value, (*path, key))
    elif isinstance(document, list):
        for number, value in enumerate(document):
            yield from leaves(value, (*path, number))
    else:
        yield path, document


def others(value: Any) -> tuple[Any, ...]:
    """What may stand there instead."""
    match value:
        case bool():
            return (not value,)
        case int():
            return value + 1, value + 10**9, max(value - 1, 0)
        case float():
            return value + 0.25, None
        case str():
            return value + "x", ""
        case None:
            return 1, 10**15
    return ()


def with_value(document: Any, path: Path, value: Any) -> Any:
    """A copy that differs in one place."""
    copy = json.loads(json.dumps(document))
    here = copy
    for step in path[:-1]:
        here = here[step]
    here[path[-1]] = value
    return copy


def forgeries(document: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    for path, value in leaves(document):
        if path[0] not in NO_CLAIM:
            for other in others(value):
                if other != value or type(other) is not type(value):
                    yield path, with_value(document, path, other)
    for name in ("placements", "assignments", "objects", "pools"):
        rows = document.get(name) or []
        if rows:
            yield (name,), {**document, name: rows[1:]}
            yield (name,), {**document, name: [*rows, rows[0]]}


def is_weaker(document: dict[str, Any], path: Path, forged: dict[str, Any]) -> bool:
    """A lower bound, or one of nothing, says less, and what says less is still true."""
    before: Any = document
    after: Any = forged
    for step in path:
        before, after = before[step], after[step]
    last = path[-1]
    if last == "bound" and path[0] != "objective" and isinstance(before, int):
        return isinstance(after, int) and after < before
    if last == "bound" and path[0] == "objective":
        return isinstance(before, int) and isinstance(after, int) and after < before and len(path) > 2 and path[2] != 0
    return False


class Case:
    """How one kind of answer is written, read and verified."""

    def __init__(self, problem: Problem, made: Plan | Sharing) -> None:
        self.problem, self.made = problem, made

    def write(self) -> bytes:
        return write_plan(self.made) if isinstance(self.made, Plan) else write_sharing(self.made)

    def refused(self, document: dict[str, Any]) -> bool:
        """True if the reader or the verifier objects."""
        data = json.dumps(document).encode()
        try:
            if isinstance(self.made, Plan):
                return bool(verify(self.problem, read_plan(data)))
            return bool(verify_sharing(self.problem, read_sharing(data)))
        except Exception as error:
            return type(error).__name__ in ("BadInput", "CannotSolve")
