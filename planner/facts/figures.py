"""The buffers of a problem in arrays. What is known of a similar problem's buffers is reused."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solvers.model.instance import Ints

from ..model.columns import BufferColumns
from ..model.problem import Buffer, Figures, Problem, are_plain, has_one_peak
from .intervals import merged


def figures(problem: Problem) -> Figures | None:
    """Return the buffers of a sound problem in arrays; None unless only one pool's peak counts, and buffers have only sizes, lifetimes and
    alignments.
    """
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
    """Return the same arrays of any sound problem, ignoring what else its buffers say."""
    if isinstance(problem.buffers, BufferColumns):
        return _of_columns(problem.buffers)
    facts = problem.facts
    if facts.figures is not None:
        return facts.figures
    known = None if facts.neighbour is None else facts.neighbour.figures
    found = _in_arrays(problem.buffers) if known is None else _changed(problem.buffers, known, facts.rows)
    if facts.neighbour is not None:  # and so nobody else can change the problem
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
    """Return the neighbour's figures, rearranged for these rows, with those of new buffers added."""
    new = [buffers[i] for i, row in enumerate(rows) if row is None]
    fresh = _in_arrays(new)
    at = np.array([-1 if row is None else row for row in rows], dtype=np.int64)
    at[at < 0] = np.arange(len(known.size), len(known.size) + len(new))
    size, alignment, count, start, end = (np.concatenate(pair) for pair in zip(known[:5], fresh[:5], strict=True))
    pieces = count[at]
    is_plain = fresh.is_plain if known.is_plain else are_plain(buffers)
    if len(start) == len(count) and (count == 1).all():
        return Figures(size[at], alignment[at], pieces, start[at], end[at], np.arange(len(at)), is_plain)
    owner = np.repeat(np.arange(len(at)), pieces)
    # A buffer's pieces stand side by side: shift each by the distance between its first piece there and here.
    of_piece = (np.cumsum(count)[at] - np.cumsum(pieces))[owner] + np.arange(len(owner))
    return Figures(size[at], alignment[at], pieces, start[of_piece], end[of_piece], owner, is_plain)
