"""What moved: buffers that an older plan had elsewhere, and what that counts in a term of the objective."""

from __future__ import annotations

from collections.abc import Mapping

from solvers.model.instance import LINEAR_TERMS, Moved, Term

from ..model.problem import BufferId, Problem

MOVED = {term: adds.moved for term, adds in LINEAR_TERMS.items() if adds.moved is not None}
"""The terms that ask what moved, and what of it they count."""


def weighs_moves(problem: Problem) -> bool:
    """True if the objective asks, and there is something that can have moved."""
    return bool(problem.was) and any(term in MOVED for term in problem.terms)


def cost_of_moves(problem: Problem, places: Mapping[BufferId, tuple[str, int]], term: Term) -> int:
    """What the term counts if the buffers are there now."""
    moved = MOVED.get(term)
    if moved is None or not problem.was:
        return 0
    gone = {was.buffer for was in problem.was if places.get(was.buffer) != (was.pool, was.offset)}
    if moved is Moved.BUFFERS:
        return len(gone)
    return sum(buffer.size for buffer in problem.buffers if buffer.id in gone)
