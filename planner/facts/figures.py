"""The buffers of a problem in arrays. What is known of a similar problem's buffers is reused."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import count
from operator import attrgetter, is_
from typing import TypeVar

import numpy as np

from solvers.model.instance import Bools, Ints

from ..model.columns.buffers import BufferColumns, ids
from ..model.problem import (
    Buffer,
    BufferId,
    Column,
    Figures,
    Neighbour,
    Problem,
    Rows,
    are_free,
    are_plain,
    has_one_peak,
)
from .colocation import Group, groups
from .intervals import merged

Made = TypeVar("Made")
LIVE = attrgetter("live")
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


def rows_of(neighbour: Neighbour, buffers: Sequence[Buffer]) -> Rows:
    """Return the rows that these buffer objects have in the neighbour."""
    here, there = neighbour.buffers, len(neighbour.buffers)
    same, alike = common_ends(buffers, here)
    row = {id(buffer): i for i, buffer in enumerate(here[same : there - alike], same)}
    between = [*map(row.get, map(id, buffers[same : len(buffers) - alike]))]
    new = [i for i, known in enumerate(between, same) if known is None]
    further = count(there)
    at = [next(further) if known is None else known for known in between]
    return Rows(new, np.array([*range(same), *at, *range(there - alike, there)], dtype=np.int64))


def common_ends(some: Sequence[object], others: Sequence[object]) -> tuple[int, int]:
    """Return how many objects are the same in both from the beginning on, and how many of the rest from the end."""
    same = [*map(is_, some, others), False].index(False)
    alike = [*map(is_, reversed(some), reversed(others)), False].index(False)
    return same, min(alike, min(len(some), len(others)) - same)


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


def has_the_rules_of_its_neighbour(problem: Problem) -> bool:
    """True if the constraints are those of a problem known to be sound, between buffers of the same names."""
    facts, neighbour = problem.facts, problem.facts.neighbour
    if neighbour is None or neighbour.rules is None or neighbour.rules[0] is not problem.constraints:
        return False
    if facts.has_old_rules is None:
        facts.has_old_rules = [*ids(problem.buffers)] == [*ids(neighbour.buffers)]
    return facts.has_old_rules


def conflicts_in_numbers(problem: Problem, index: Mapping[BufferId, int]) -> Ints:
    """Return the numbers of the buffers of each conflict, as pairs."""
    pairs = problem.constraints.conflicts
    return of_rules(problem, "conflicts", lambda: _array([index[id_] for pair in pairs for id_ in pair]).reshape(-1, 2))


def tied_groups(problem: Problem, index: Mapping[BufferId, int]) -> tuple[Group, ...]:
    """Return the groups that colocations tie together, by the buffers' numbers."""
    colocations = problem.constraints.colocations
    return of_rules(problem, "groups", lambda: groups(index, colocations)) if colocations else ()


def of_rules(problem: Problem, name: str, make: Callable[[], Made]) -> Made:
    """Return what follows from the constraints and from the buffers' names alone; if those are the neighbour's, as it was there."""
    facts, neighbour = problem.facts, problem.facts.neighbour
    if neighbour is None:
        return make()
    if name not in facts.of_rules:
        is_known = name in neighbour.of_rules and has_the_rules_of_its_neighbour(problem)
        facts.of_rules[name] = neighbour.of_rules[name] if is_known else make()
    found: Made = facts.of_rules[name]
    return found


def said(problem: Problem) -> Bools:
    """Return whether each buffer says something about its pools, whether it is fixed, has a greatest offset, and data."""

    def of_each(buffers: Sequence[Buffer]) -> Bools:
        return np.array([[each is not None for each in SAID(b)] for b in buffers], dtype=bool).reshape(-1, 4)

    return carried(problem, "said", of_each)


def fixed_ones(problem: Problem) -> Iterator[tuple[int, Buffer]]:
    """Yield the numbers and buffers of those that are fixed in a pool; there is a neighbour."""
    if amounts(problem).is_free:
        return iter(())
    return ((i, problem.buffers[i]) for i in said(problem)[:, 1].nonzero()[0].tolist())


def homes(problem: Problem) -> Bools:
    """Return for each buffer and pool whether it may be there, as far as the buffer itself says."""
    names = tuple(pool.name for pool in problem.pools)

    def of_each(buffers: Sequence[Buffer]) -> Bools:
        rows = [[_may_be_in(name, buffer) for name in names] for buffer in buffers]
        return np.array(rows, dtype=bool).reshape(-1, len(names))

    return carried(problem, ("homes", names), of_each)


def has_choice_of_pools(problem: Problem) -> bool:
    """True if some buffer may be in several pools, as far as the buffers themselves say."""
    return len(problem.pools) > 1 and bool((homes(problem).sum(axis=1) > 1).any())


def _may_be_in(pool: str, buffer: Buffer) -> bool:
    is_allowed = buffer.pools is None or pool in buffer.pools
    return is_allowed and (buffer.fixed is None or buffer.fixed.pool == pool)


def _in_arrays(buffers: Sequence[Buffer]) -> Figures:
    lives, is_free = [merged(buffer.live or ()) for buffer in buffers], are_free(buffers)
    pieces = _array([len(live) for live in lives])
    return Figures(
        size=_array([buffer.size for buffer in buffers]),
        alignment=_array([buffer.alignment for buffer in buffers]),
        pieces=pieces,
        start=_array([start for live in lives for start, _ in live]),
        end=_array([end for live in lives for _, end in live]),
        owner=np.repeat(np.arange(len(lives)), pieces),
        is_plain=is_free and None not in map(LIVE, buffers),
        is_free=is_free,
    )


def _of_columns(columns: BufferColumns) -> Figures:
    owner = np.flatnonzero(columns.end > columns.start)
    pieces = np.zeros(len(columns), dtype=np.int64)
    pieces[owner] = 1
    return Figures(
        columns.size,
        columns.alignment,
        pieces,
        columns.start[owner],
        columns.end[owner],
        owner,
        is_plain=True,
        is_free=True,
    )


def _array(numbers: list[int]) -> Ints:
    return np.array(numbers, dtype=np.int64)


def _changed(buffers: Sequence[Buffer], known: Figures, rows: Rows) -> Figures:
    """Return the neighbour's figures, rearranged for these rows, with those of new buffers added."""
    fresh, at = _in_arrays([buffers[i] for i in rows.new]), rows.at
    size, alignment, count, start, end = (np.concatenate(pair) for pair in zip(known[:5], fresh[:5], strict=True))
    pieces = count[at]
    is_free = fresh.is_free if known.is_free else are_free(buffers)
    is_plain = fresh.is_plain if known.is_plain else is_free and None not in map(LIVE, buffers)
    kinds = is_plain, is_free
    if len(start) == len(count) and (count == 1).all():
        return Figures(size[at], alignment[at], pieces, start[at], end[at], np.arange(len(at)), *kinds)
    owner = np.repeat(np.arange(len(at)), pieces)
    # A buffer's pieces stand side by side: shift each by the distance between its first piece there and here.
    of_piece = (np.cumsum(count)[at] - np.cumsum(pieces))[owner] + np.arange(len(owner))
    return Figures(size[at], alignment[at], pieces, start[of_piece], end[of_piece], owner, *kinds)
