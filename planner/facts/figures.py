"""The buffers of a problem in arrays. What is known of a similar problem's buffers is reused."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from operator import attrgetter
from typing import Any, TypeAlias, TypeVar

import numpy as np

from solvers.model.instance import Bools, Ints

from ..model.columns import BufferColumns
from ..model.problem import Buffer, Figures, Problem, Rows, are_plain, has_one_peak
from .intervals import merged

Column = TypeVar("Column", bound=np.ndarray[tuple[Any, ...], np.dtype[Any]])
SAID = attrgetter("pools", "fixed", "max_offset", "data")


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
    rows = facts.rows
    found = _in_arrays(problem.buffers) if known is None or rows is None else _changed(problem.buffers, known, rows)
    if facts.neighbour is not None:  # and so nobody else can change the problem
        facts.figures = found
    return found


def carried(problem: Problem, key: Hashable, of_each: Callable[[Sequence[Buffer]], Column]) -> Column:
    """Return something of each buffer, as rows; those of the neighbour's buffers are taken from it, the others made by `of_each`.

    Whatever else the rows depend on must be in the key.
    """
    facts = problem.facts
    if facts.neighbour is None or facts.rows is None:
        return of_each(problem.buffers)
    if key not in facts.columns:
        known = facts.neighbour.columns.get(key)
        if known is None:
            found = of_each(problem.buffers)
        else:
            new = facts.rows.new
            more = [known, of_each([problem.buffers[i] for i in new])] if new else [known]
            found = np.concatenate(more)[facts.rows.at]
        facts.columns[key] = found
    return facts.columns[key]


def said(problem: Problem) -> Bools:
    """Return whether each buffer says something about its pools, whether it is fixed, has a greatest offset, and data."""

    def of_each(buffers: Sequence[Buffer]) -> Bools:
        return np.array([[each is not None for each in SAID(b)] for b in buffers], dtype=bool).reshape(-1, 4)

    return carried(problem, "said", of_each)


def fixed_ones(problem: Problem) -> Iterator[tuple[int, Buffer]]:
    """Yield the numbers and buffers of those that are fixed in a pool; there is a neighbour."""
    return ((i, problem.buffers[i]) for i in np.flatnonzero(said(problem)[:, 1]).tolist())


def homes(problem: Problem) -> Bools:
    """Return for each buffer and pool whether it may be there, as far as the buffer itself says."""
    names = tuple(pool.name for pool in problem.pools)

    def of_each(buffers: Sequence[Buffer]) -> Bools:
        rows = [[_may_be_in(name, buffer) for name in names] for buffer in buffers]
        return np.array(rows, dtype=bool).reshape(-1, len(names))

    return carried(problem, ("homes", names), of_each)


def _may_be_in(pool: str, buffer: Buffer) -> bool:
    is_allowed = buffer.pools is None or pool in buffer.pools
    return is_allowed and (buffer.fixed is None or buffer.fixed.pool == pool)


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


def _changed(buffers: Sequence[Buffer], known: Figures, rows: Rows) -> Figures:
    """Return the neighbour's figures, rearranged for these rows, with those of new buffers added."""
    fresh, at = _in_arrays([buffers[i] for i in rows.new]), rows.at
    size, alignment, count, start, end = (np.concatenate(pair) for pair in zip(known[:5], fresh[:5], strict=True))
    pieces = count[at]
    is_plain = fresh.is_plain if known.is_plain else are_plain(buffers)
    if len(start) == len(count) and (count == 1).all():
        return Figures(size[at], alignment[at], pieces, start[at], end[at], np.arange(len(at)), is_plain)
    owner = np.repeat(np.arange(len(at)), pieces)
    # A buffer's pieces stand side by side: shift each by the distance between its first piece there and here.
    of_piece = (np.cumsum(count)[at] - np.cumsum(pieces))[owner] + np.arange(len(owner))
    return Figures(size[at], alignment[at], pieces, start[of_piece], end[of_piece], owner, is_plain)
