"""Lifetimes that say the same as conflicts.

Whoever takes the conflicts of a program from its lifetimes and passes on only those has thrown away what makes planning easy. Each moment
found here is a set of buffers that conflict pairwise, so lifetimes in them ask for nothing that the conflicts did not; conflicts that no
moment has remain. Where some buffers have lifetimes, the others get theirs beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from solvers.model.outcome import Proof

from ...model.columns.buffers import BufferColumns
from ...model.deadline import PREPARING, look
from ...model.plan import PlanCertificate
from ...model.problem import BufferId, Problem
from ..constants import has_read_only_pools, is_constant
from ..figures import has_choice_of_pools
from ..intervals import covers, merged, overlap
from .beside_others import lives_beside
from .cliques import Cliques, cliques_of
from .cover import cover_of
from .graph import Spans, moving
from .in_a_row import in_a_row

Pair: TypeAlias = tuple[int, int]
Lifetimes: TypeAlias = tuple[list[Spans], list[Pair]]
"""When each buffer is live, and the conflicts between buffers that are never live together."""

MOST_PAIRS = 1 << 20
"""Conflicts of more pairs stay as they are."""
MOST_MISSING = 8
"""So do those of which more than one in so many would remain."""


def with_lifetimes(problem: Problem) -> Problem:
    """Return the problem with lifetimes in place of conflicts for buffers that have none; the same problem if that does not pay.

    What is decided about addresses is the same: two buffers are live together or conflict if, and only if, they do so in the problem.
    Constants of read-only memory, which must be spelled out, are always there, and nowhere else: the others do not meet them.
    """
    if not _may_pay(problem):
        return problem
    numbers = moving(problem)
    look(PREPARING)
    number = {problem.buffers[n].id: vertex for vertex, n in enumerate(numbers)}
    pairs = [(number[a], number[b]) for a, b in problem.constraints.conflicts if a in number and b in number]
    old = [merged(problem.buffers[n].live or ()) for n in numbers]
    if all(old[a] and old[b] for a, b in pairs):
        return problem
    found = _lifetimes(old, pairs)
    look(PREPARING)
    if (found is None or found[1]) and not any(old) and has_choice_of_pools(problem):
        found = found_in_cover(_neighbours(len(old), pairs), [problem.buffers[n].size for n in numbers]) or found
        look(PREPARING)
    return problem if found is None else _with(problem, numbers, found, is_timed=any(old))


def _may_pay(problem: Problem) -> bool:
    """True if there are conflicts, not too many of them, and no rules that lifetimes would change."""
    rules = problem.constraints
    has_others = bool(rules.exclusions) or problem.variants is not None or isinstance(problem.buffers, BufferColumns)
    return 0 < len(rules.conflicts) <= MOST_PAIRS and not has_others


def _lifetimes(old: list[Spans], pairs: Sequence[Pair]) -> Lifetimes | None:
    """Return lifetimes for those that have none, and the pairs that must remain; None if that does not pay."""
    neighbours = _neighbours(len(old), pairs)
    return _found_beside(old, neighbours, pairs) if any(old) else _found(neighbours)


def _neighbours(count: int, pairs: Sequence[Pair]) -> list[set[int]]:
    neighbours: list[set[int]] = [set() for _ in range(count)]
    for a, b in pairs:
        neighbours[a].add(b)
        neighbours[b].add(a)
    return neighbours


def found_in_cover(neighbours: Sequence[set[int]], sizes: Sequence[int]) -> Lifetimes | None:
    """Return lifetimes with as many gaps as large cliques of the conflicts ask for; None if there are too many conflicts for that."""
    cliques = cover_of(neighbours, sizes)
    return None if cliques is None else _in_moments(cliques, len(sizes))


def _with(problem: Problem, numbers: Sequence[int], found: Lifetimes, *, is_timed: bool) -> Problem:
    """Return the problem with these lifetimes of the buffers of these numbers, and the conflicts that remain. `is_timed`: it had a time of its own."""
    lives, missing = found
    buffers = [*problem.buffers]
    for n, spans in zip(numbers, lives, strict=True):
        buffers[n] = replace(buffers[n], live=spans)
    if not is_timed and has_read_only_pools(problem):
        always = (0, max((spans[-1][1] for spans in lives if spans), default=1))
        buffers = [replace(each, live=(always,)) if is_constant(each) else each for each in buffers]
    names = [problem.buffers[n].id for n in numbers]
    rules = replace(problem.constraints, conflicts=tuple((names[a], names[b]) for a, b in missing))
    made = replace(problem, buffers=tuple(buffers), constraints=rules, steps=problem.steps if is_timed else ())
    facts = made.facts
    facts.is_sound, facts.is_spelled_out, facts.has_moments = problem.facts.is_sound, True, not is_timed
    return made


def _found(neighbours: Sequence[set[int]]) -> Lifetimes | None:
    """Return lifetimes in moments, and the pairs that are live at none; None if there are too many of either."""
    found = moments_of(neighbours, sum(map(len, neighbours)) // 2 // MOST_MISSING)
    return found if found is not None and sum(map(len, found[0])) <= 2 * len(neighbours) else None


def _found_beside(old: list[Spans], neighbours: Sequence[set[int]], pairs: Sequence[Pair]) -> Lifetimes | None:
    """Return lifetimes at the given times, and the pairs that are not live together; None if nobody gets any."""
    found = lives_beside(old, neighbours)
    lives = [found.get(n, spans) for n, spans in enumerate(old)]
    missing = [(a, b) for a, b in pairs if not ((a in found or b in found) and overlap(lives[a], lives[b]))]
    return (lives, missing) if found else None


def by_conflicts(certificate: PlanCertificate, live: Mapping[BufferId, Spans | None]) -> PlanCertificate:
    """Return a proof about buffers that are live at one moment as one of the user's times, or about buffers that conflict pairwise if there is no such time."""
    time = certificate.time
    if certificate.proof is not Proof.LIVE_TOGETHER or time is None:
        return certificate
    lives = [merged(live[id_] or ()) for id_ in certificate.buffers]
    if all(covers(spans, time) for spans in lives):
        return certificate
    begins = sorted({start for spans in lives for start, _ in spans}, reverse=True)
    common = next((each for each in begins if all(covers(spans, each) for spans in lives)), None)
    if common is not None:
        return replace(certificate, time=common)
    return replace(certificate, proof=Proof.CONFLICT_CLIQUE, time=None)


def moments_of(neighbours: Sequence[set[int]], most_missing: int | None = None) -> Lifetimes | None:
    """Return when each vertex is live so that those next to each other are live together, and no others; and the edges for which this is not so.

    None if there are more than `most_missing` of these.
    """
    cliques = cliques_of(neighbours, most_missing)
    return None if cliques is None else _in_moments(cliques, len(neighbours))


def _in_moments(cliques: Cliques, vertices: int) -> Lifetimes:
    """Return when each vertex is live if each clique is a moment, and the edges that no clique has."""
    of_vertex: list[list[int]] = [[] for _ in range(vertices)]
    for n, members in enumerate(cliques.members):
        for vertex in members:
            of_vertex[vertex].append(n)
    place = [0] * len(cliques.members)
    for at, clique in enumerate(in_a_row(cliques, of_vertex)):
        place[clique] = at
    return [_spans(sorted(place[clique] for clique in mine)) for mine in of_vertex], cliques.missing


def _spans(moments: list[int]) -> Spans:
    """Return these moments as intervals."""
    spans: list[tuple[int, int]] = []
    for moment in moments:
        if spans and spans[-1][1] == moment:
            spans[-1] = (spans[-1][0], moment + 1)
        else:
            spans.append((moment, moment + 1))
    return tuple(spans)
