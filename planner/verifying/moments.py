"""Bounds of problems that only say which buffers conflict are about moments found for the conflicts; whether these hold is checked here.

What a bound needs is that buffers that are live together do conflict. That all conflicts are kept is checked with the problem itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..facts.constants import has_read_only_pools, is_constant
from ..facts.moments.lifetimes import with_lifetimes
from ..facts.sweep import VERIFYING
from ..model.deadline import look
from ..model.problem import BufferId, Problem


def in_moments(problem: Problem) -> Problem:
    """Return the problem with lifetimes for its conflicts, if there are any and they ask for no more than the conflicts do."""
    found = with_lifetimes(problem)
    if found is problem:
        return problem
    known: dict[BufferId, set[BufferId]] = {buffer.id: set() for buffer in problem.buffers}
    for a, b in problem.constraints.conflicts:
        known[a].add(b)
        known[b].add(a)
    look(VERIFYING)
    given = {buffer.id for buffer in problem.buffers if buffer.live}
    asks_for_more = any(there - known[id_] - (given if id_ in given else set()) for id_, there in _met(found))
    return problem if asks_for_more else found


def _met(problem: Problem) -> Iterator[tuple[BufferId, set[BufferId]]]:
    """Yield each buffer when it begins to live, with those that are live then; constants of read-only memory are apart from all others."""
    has_constants = has_read_only_pools(problem)
    events = [
        event
        for buffer in problem.buffers
        if buffer.size and not (has_constants and is_constant(buffer))
        for start, end in buffer.live or ()
        for event in ((start, True, buffer.id), (end, False, buffer.id))
    ]
    here = set[BufferId]()
    for _, begins, id_ in sorted(events, key=lambda event: event[:2]):
        if not begins:
            here.remove(id_)
            continue
        yield id_, here
        here.add(id_)
