"""The same conflicts said simpler: what a problem asks of pairs of buffers, with as few gaps, conflicts and exclusions as possible.

Which pairs must not share addresses is all that lifetimes, conflicts and exclusions decide. So solvers may be given others that decide the same:

- buffers without lifetimes get some (planner.facts.moments.lifetimes);
- a gap in a buffer's life is filled if whoever begins to live in it conflicts with the buffer anyway;
- conflicts of buffers that are live together are left out;
- where gaps, conflicts or exclusions are left, but one lifetime for each buffer would do, they get these;
- where exclusions or many conflicts are left, and buffers may be in several memories, each large clique of what all three say becomes a moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from solvers.model.instance import Bools, Ints

from ...model.columns.buffers import BufferColumns
from ...model.deadline import PREPARING, look
from ...model.problem import Buffer, Problem
from ..figures import has_choice_of_pools
from .cover import MOST_VERTICES
from .graph import Graph, among, moving, numbered, spread, starts_within
from .lifetimes import MOST_PAIRS, Lifetimes, found_in_cover, moments_of, with_lifetimes

MOST_LOOKS = 1 << 22
"""So many pairs are looked at for gaps; those in which most others begin to live are left out first."""

MOST_MET = 1 << 19
"""Up to so many pairs, lifetimes are looked for that take the place of all that is said of them: that takes a second."""

FEW_BESIDE = 24
"""Beside lifetimes, explicit conflicts of up to one in so many of all pairs stay: moments of cliques are in no order of time, which costs more than they tell."""


def said_simpler(problem: Problem) -> Problem:
    """Return a problem with the same conflicts in simpler words; the same problem if there are none.

    Constants of read-only memory, which must be spelled out, are always there, and nowhere else: the others do not meet them.
    """
    if problem.variants is not None or not _is_involved(problem):
        return problem
    made = without_restated(without_gaps(problem))
    if not _is_involved(made):
        return made
    if (simple := _in_intervals(made)) is not None:
        return simple
    timed = with_lifetimes(made)
    return timed if timed.facts.has_moments else _in_cover(timed) or timed


def _is_involved(problem: Problem) -> bool:
    """True if more than one lifetime for each buffer says who conflicts."""
    rules = problem.constraints
    return bool(rules.conflicts or rules.exclusions) or _has_gaps(problem.buffers)


def _has_gaps(buffers: Sequence[Buffer]) -> bool:
    return not isinstance(buffers, BufferColumns) and any(each.live and len(each.live) > 1 for each in buffers)


def without_gaps(problem: Problem) -> Problem:
    """Return the problem without gaps that change nothing.

    Whoever is live when a gap begins or ends meets the buffer there. Any two of these gaps can be filled: the buffer whose gap begins later
    is live in the other gap just before, or both are live just before they begin.
    """
    if not _has_gaps(problem.buffers):
        return problem
    numbers = moving(problem)
    graph = Graph(problem, numbers)
    look(PREPARING)
    owner, start, end = graph.rows
    before = np.flatnonzero(owner[1:] == owner[:-1])
    is_filled = _change_nothing(graph, owner[before], end[before], start[before + 1])
    if not is_filled.any():
        return problem
    begins, ends = np.ones(len(owner), dtype=bool), np.ones(len(owner), dtype=bool)
    begins[before[is_filled] + 1] = ends[before[is_filled]] = False
    buffers = [*problem.buffers]
    spans: dict[int, list[tuple[int, int]]] = {}
    changed = {*owner[before[is_filled]].tolist()}
    for vertex, first, last in zip(owner[begins].tolist(), start[begins].tolist(), end[ends].tolist(), strict=True):
        if vertex in changed:
            spans.setdefault(vertex, []).append((first, last))
    for vertex, live in spans.items():
        buffers[numbers[vertex]] = replace(buffers[numbers[vertex]], live=tuple(live))
    return _with_facts(replace(problem, buffers=tuple(buffers)), problem)


def _change_nothing(graph: Graph, owner: Ints, start: Ints, end: Ints) -> Bools:
    """Return which gaps can be filled: whoever lives within one, from its beginning to its end, conflicts with the buffer or never coexists with it."""
    order = np.argsort(graph.rows.start, kind="stable")
    others, starts, ends = (column[order] for column in graph.rows)
    first, count = starts_within(starts, start, end)
    by_count = np.argsort(count, kind="stable")
    is_open = np.zeros(len(count), dtype=bool)
    is_open[by_count[np.cumsum(count[by_count]) <= MOST_LOOKS]] = True
    at, step = 0, 1
    while len(gaps := np.flatnonzero(is_open & (count > at))):
        which, row = spread(first[gaps] + at, np.minimum(count[gaps] - at, step))
        gap = gaps[which]
        inside = ends[row] <= end[gap]
        gap, other = gap[inside], others[row[inside]]
        own = owner[gap]
        apart = graph.conflict(own, other) | among(graph.keys(own, other), graph.exclusions)
        is_open[gap[~apart]] = False
        at, step = at + step, 2 * step
    return is_open


def without_restated(problem: Problem) -> Problem:
    """Return the problem without conflicts of buffers that are live together, unless exclusions say that these never coexist."""
    rules = problem.constraints
    if not rules.conflicts:
        return problem
    numbers = moving(problem)
    graph = Graph(problem, numbers)
    look(PREPARING)
    known = np.array([a in graph.index and b in graph.index for a, b in rules.conflicts], dtype=bool)
    a, b = numbered(rules.conflicts, graph.index).T
    restated = np.zeros(len(known), dtype=bool)
    restated[known] = graph.meet(a, b) & ~among(graph.keys(a, b), graph.exclusions)
    if not restated.any():
        return problem
    conflicts = tuple(pair for pair, is_so in zip(rules.conflicts, restated.tolist(), strict=True) if not is_so)
    return _with_facts(replace(problem, constraints=replace(rules, conflicts=conflicts)), problem)


def _in_intervals(problem: Problem) -> Problem | None:
    """Return the problem with one lifetime for each buffer, and no other conflicts; None if that cannot be, or takes long."""
    numbers = moving(problem)
    neighbours = _neighbours(problem, numbers)
    found = None if neighbours is None else moments_of(neighbours, 0)
    if found is None or any(len(spans) > 1 for spans in found[0]):
        return None
    return _in_moments(problem, numbers, found)


def _in_cover(problem: Problem) -> Problem | None:
    """Return the problem with a moment for each large clique, and no other conflicts but for the few that have none; None if that does not pay."""
    numbers, rules = moving(problem), problem.constraints
    if len(numbers) > MOST_VERTICES or not (rules.conflicts or rules.exclusions) or not has_choice_of_pools(problem):
        return None
    neighbours = _neighbours(problem, numbers)
    if neighbours is None:
        return None
    pairs = sum(map(len, neighbours)) // 2
    if not rules.exclusions and len(rules.conflicts) * FEW_BESIDE <= pairs:
        return None
    found = found_in_cover(neighbours, [problem.buffers[n].size for n in numbers])
    return None if found is None else _in_moments(problem, numbers, found)


def _neighbours(problem: Problem, numbers: Sequence[int]) -> list[set[int]] | None:
    """Return with whom each of these buffers conflicts, whatever says so; None if nothing is live, or too much for a look at all pairs."""
    rules = problem.constraints
    if len(rules.conflicts) > MOST_MET or len(rules.exclusions) > MOST_PAIRS:
        return None
    graph = Graph(problem, numbers)
    if not len(graph.rows.owner):
        return None
    met = graph.live_pairs(MOST_PAIRS)
    if met is None:
        return None
    keys = np.concatenate([met[~among(met, graph.exclusions)], graph.conflicts])
    if len(keys) > MOST_MET:
        return None
    look(PREPARING)
    neighbours: list[set[int]] = [set() for _ in numbers]
    for a, b in zip(*(side.tolist() for side in graph.pairs(keys)), strict=True):
        if a != b:
            neighbours[a].add(b)
            neighbours[b].add(a)
    return neighbours


def _in_moments(problem: Problem, numbers: Sequence[int], found: Lifetimes) -> Problem:
    """Return the problem with these lifetimes, and with these conflicts alone."""
    lives, missing = found
    buffers = [*problem.buffers]
    for n, spans in zip(numbers, lives, strict=True):
        buffers[n] = replace(buffers[n], live=spans)
    names = [buffers[n].id for n in numbers]
    rules = replace(problem.constraints, conflicts=tuple((names[a], names[b]) for a, b in missing), exclusions=())
    made = _with_facts(replace(problem, buffers=tuple(buffers), constraints=rules, steps=()), problem)
    made.facts.has_moments = True
    return made


def _with_facts(made: Problem, problem: Problem) -> Problem:
    facts = made.facts
    facts.is_sound, facts.is_spelled_out = problem.facts.is_sound, True
    facts.has_moments = problem.facts.has_moments
    return made
