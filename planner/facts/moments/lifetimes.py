"""Lifetimes that say the same as conflicts.

Whoever takes the conflicts of a program from its lifetimes and passes on only those has thrown away what makes planning easy. Each moment
found here is a set of buffers that conflict pairwise, so lifetimes in them ask for nothing that the conflicts did not; conflicts that no
moment has remain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from solvers.model.outcome import Proof

from ...model.columns import BufferColumns
from ...model.deadline import PREPARING, look
from ...model.plan import PlanCertificate
from ...model.problem import Interval, Problem
from ..constants import has_read_only_pools, is_constant
from .cliques import cliques_of
from .in_a_row import in_a_row

MOST_PAIRS = 1 << 20
"""Conflicts of more pairs stay as they are."""
MOST_MISSING = 8
"""So do those of which more than one in so many would remain."""


def with_lifetimes(problem: Problem) -> Problem:
    """Return the problem with lifetimes in place of conflicts, if its buffers have none; the same problem if that does not pay.

    What is decided about addresses is the same: two buffers are live together or conflict if, and only if, they conflict in the problem.
    Constants of read-only memory, which must be spelled out, are always there, and nowhere else: the others do not meet them.
    """
    rules = problem.constraints
    if not 0 < len(rules.conflicts) <= MOST_PAIRS or rules.exclusions or problem.variants is not None:
        return problem
    if isinstance(problem.buffers, BufferColumns):
        return problem
    has_constants = has_read_only_pools(problem)
    moving = [
        n for n, buffer in enumerate(problem.buffers) if buffer.size and not (has_constants and is_constant(buffer))
    ]
    if any(problem.buffers[n].live for n in moving):
        return problem
    look(PREPARING)
    number = {problem.buffers[n].id: vertex for vertex, n in enumerate(moving)}
    neighbours: list[set[int]] = [set() for _ in moving]
    for a, b in rules.conflicts:
        if a in number and b in number:
            neighbours[number[a]].add(number[b])
            neighbours[number[b]].add(number[a])
    lives, missing = moments_of(neighbours)
    look(PREPARING)
    if len(missing) * MOST_MISSING > sum(map(len, neighbours)) // 2 or sum(map(len, lives)) > 2 * len(moving):
        return problem
    always = (0, max((spans[-1][1] for spans in lives), default=1))
    buffers = [replace(buffer, live=(always,)) if buffer.live else buffer for buffer in problem.buffers]
    for n, spans in zip(moving, lives, strict=True):
        buffers[n] = replace(buffers[n], live=spans)
    names = [problem.buffers[n].id for n in moving]
    conflicts = tuple((names[a], names[b]) for a, b in missing)
    found = replace(problem, buffers=tuple(buffers), constraints=replace(rules, conflicts=conflicts), steps=())
    facts = found.facts
    facts.is_sound, facts.is_spelled_out, facts.has_moments = problem.facts.is_sound, True, True
    return found


def by_conflicts(certificate: PlanCertificate) -> PlanCertificate:
    """Return a proof about buffers that are live at one moment as one about buffers that conflict pairwise, which users can check."""
    if certificate.proof is not Proof.LIVE_TOGETHER:
        return certificate
    return replace(certificate, proof=Proof.CONFLICT_CLIQUE, time=None)


def moments_of(neighbours: Sequence[set[int]]) -> tuple[list[tuple[Interval, ...]], list[tuple[int, int]]]:
    """Return when each vertex is live so that those next to each other are live together, and no others; and the edges for which this is not so."""
    cliques = cliques_of(neighbours)
    of_vertex: list[list[int]] = [[] for _ in neighbours]
    for n, members in enumerate(cliques.members):
        for vertex in members:
            of_vertex[vertex].append(n)
    place = [0] * len(cliques.members)
    for at, clique in enumerate(in_a_row(cliques, of_vertex)):
        place[clique] = at
    return [_spans(sorted(place[clique] for clique in mine)) for mine in of_vertex], cliques.missing


def _spans(moments: list[int]) -> tuple[Interval, ...]:
    """Return these moments as intervals."""
    spans: list[tuple[int, int]] = []
    for moment in moments:
        if spans and spans[-1][1] == moment:
            spans[-1] = (spans[-1][0], moment + 1)
        else:
            spans.append((moment, moment + 1))
    return tuple(spans)
