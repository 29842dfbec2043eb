"""The buffers of simple problems in arrays; of a problem much like another, what is known of the other's buffers is taken over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solvers.model.instance import Ints

from ..model.columns import BufferColumns
from ..model.problem import Buffer, Figures, Problem, are_plain, has_one_peak
from .intervals import merged


def figures(problem: Problem) -> Figures | None:
    """The buffers of a sound problem in arrays, if all that counts is the peak of one pool, and nothing restricts them but sizes, lifetimes and
    alignments; else None."""
    if not has_one_peak(problem):
        return None
    if (
        problem.facts.neighbour is None
        and not isinstance(problem.buffers, BufferColumns)
        and not are_plain(problem.buffers)
    ):
        return None
    found = amounts(problem)
    return found if found.is_plain else None


def amounts(problem: Problem) -> Figures:
    """The same of any sound problem, whatever else is said of its buffers."""
    if isinstance(problem.buffers, BufferColumns):
        return _of_columns(problem.buffers)
    facts = problem.facts
    if facts.figures is not None:
        return facts.figures
    known = None if facts.neighbour is None else facts.neighbour.figures
    found = _in_arrays(problem.buffers) if known is None else _changed(problem.buffers, known, facts.rows)
    if facts.neighbour is not None:  # and so nobody else has the problem
        facts.figures = found
    return found


def _in_arrays(buffers: Sequence[Buffer]) -> Figures:
    lives = [merged(buffer.live or ()) for buffer in buffers]
    pieces = _array([len(live) for live in lives])
    return Figures(
        size=_array([buffer.size for buffer in buffers]),
        alignment=_array([buffer.alignment for buffer in buffers]),
        pieces=pieces,
        start=_array([start for live in lives for start, _ in live]),
        end=_array([end for live in lives for _, end in live]),
        owner=np.repeat(np.arange(len(lives)), pieces),
        is_plain=are_plain(buffers),
    )


def _of_columns(columns: BufferColumns) -> Figures:
    owner = np.flatnonzero(columns.end > columns.start)
    pieces = np.zeros(len(columns), dtype=np.int64)
    pieces[owner] = 1
    return Figures(
        columns.size, columns.alignment, pieces, columns.start[owner], columns.end[owner], owner, is_plain=True
    )


def _array(numbers: list[int]) -> Ints:
    return np.array(numbers, dtype=np.int64)


def _changed(buffers: Sequence[Buffer], known: Figures, rows: Sequence[int | None]) -> Figures:
    """What is known of the neighbour's buffers, in other rows, and of the buffers that it does not have."""
    new = [buffers[i] for i, row in enumerate(rows) if row is None]
    fresh = _in_arrays(new)
    numbers = iter(range(len(known.size), len(known.size) + len(new)))
    at = _array([next(numbers) if row is None else row for row in rows])
    size, alignment, count, start, end = (np.concatenate(pair) for pair in zip(known[:5], fresh[:5], strict=True))
    pieces = count[at]
    owner = np.repeat(np.arange(len(at)), pieces)
    # The pieces of a buffer are side by side: the first of them there, less the first of them here, for each of them.
    of_piece = (np.cumsum(count)[at] - np.cumsum(pieces))[owner] + np.arange(len(owner))
    is_plain = fresh.is_plain if known.is_plain else are_plain(buffers)
    return Figures(size[at], alignment[at], pieces, start[of_piece], end[of_piece], owner, is_plain)
