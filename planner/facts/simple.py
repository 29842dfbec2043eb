"""Problems of which no more is said than how large buffers are and when they live, in one memory: most of those that searches ask about."""

from __future__ import annotations

from operator import attrgetter

from ..model.problem import DEFAULT_TERMS, Constraints, Problem

NO_CONSTRAINTS = Constraints()
_SAID = attrgetter("pools", "fixed", "max_offset", "hint", "data", "device")
_LIVE = attrgetter("live")
_NOTHING = (None,) * 6


def is_simple(problem: Problem) -> bool:
    """True if all that counts is the peak of one pool, and nothing restricts buffers but sizes, lifetimes and alignments."""
    if len(problem.pools) != 1 or problem.terms != DEFAULT_TERMS or problem.was or problem.variants is not None:
        return False
    (pool,) = problem.pools
    if pool.reserved or pool.read_only or pool.cost != 1 or problem.constraints != NO_CONSTRAINTS:
        return False
    is_plain = [*map(_SAID, problem.buffers)].count(_NOTHING) == len(problem.buffers)
    return is_plain and None not in map(_LIVE, problem.buffers)
