"""Lifetimes for buffers without any that conflict with buffers that have some: whenever all that is live conflicts with them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence, Set

import numpy as np

from solvers.model.instance import Ints

from ...model.problem import Interval

Spans = tuple[Interval, ...]


def lives_beside(lives: Sequence[Spans], neighbours: Sequence[Set[int]]) -> dict[int, Spans]:
    """Return lifetimes for those that have none, if these cover all their conflicts with the others, one after the other.

    `neighbours` are each buffer's conflicts that are named. Whoever gets lifetimes counts as one of the others from then on.
    """
    moments = sorted({moment for spans in lives for span in spans for moment in span})
    if len(moments) < 2:
        return {}
    live = np.zeros(len(moments), dtype=np.int64)
    """How many are live from each moment to the next."""
    where = [_sections(moments, spans) for spans in lives]
    for sections in where:
        _count(live, sections)
    found: dict[int, Spans] = {}
    for buffer, others in enumerate(neighbours):
        timed = [other for other in sorted(others) if lives[other] or other in found]
        if lives[buffer] or not timed:
            continue
        beside = np.zeros_like(live)
        for other in timed:
            _count(beside, where[other])
        is_open = (beside == live) & (live > 0)
        if not all(any(is_open[start:end].any() for start, end in where[other]) for other in timed):
            continue
        where[buffer] = _runs(is_open)
        _count(live, where[buffer])
        found[buffer] = tuple((moments[start], moments[end]) for start, end in where[buffer])
    return found


def _sections(moments: Sequence[int], spans: Spans) -> list[Interval]:
    return [(bisect_left(moments, start), bisect_left(moments, end)) for start, end in spans]


def _count(live: Ints, sections: Sequence[Interval]) -> None:
    for start, end in sections:
        live[start:end] += 1


def _runs(is_open: Ints) -> list[Interval]:
    """Return the stretches where this is so."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], is_open.astype(np.int64), [0]]))).tolist()
    return [*zip(edges[::2], edges[1::2], strict=True)]
