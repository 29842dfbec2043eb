"""Bounds of problems whose conflicts can be said simpler are about the lifetimes found for that; whether these hold is checked here.

What a bound needs is that buffers that are live together do conflict. That all conflicts are kept is checked with the problem itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solvers.model.instance import Ints

from ..facts.moments.graph import Graph, Rows, Spans, among, lives_of, moving, rows_of, spread, starts_within
from ..facts.moments.simpler import said_simpler
from ..facts.possible_places import Places
from ..facts.sweep import VERIFYING
from ..model.deadline import look
from ..model.plan import PlanCertificate
from ..model.problem import Problem
from .arguments.certificates import objections


def places_argued_of(problem: Problem, certificates: Sequence[PlanCertificate]) -> Places:
    """Return the places of the problem, with the lifetimes found for its conflicts unless the certificates are about those it has."""
    found = in_moments(problem)
    places = Places(found)
    if found is problem or not objections(places, certificates):
        return places
    given = Places(problem)
    return places if objections(given, certificates) else given


def in_moments(problem: Problem) -> Problem:
    """Return the problem with its conflicts said simpler, if that can be and asks for no more than the problem does."""
    found = said_simpler(problem)
    if found is problem:
        return problem
    look(VERIFYING)
    return problem if _asks_for_more(problem, found) else found


def _asks_for_more(problem: Problem, found: Problem) -> bool:
    """True if two buffers are in conflict that need not be apart.

    Of two that are live together, one begins to live while the other is live. If each has lived there in the problem already, they conflict as before.
    """
    numbers = moving(problem)
    known, new = Graph(problem, numbers), Graph(found, numbers)
    if not among(new.conflicts, known.conflicts).all():
        return True
    are_left = len(known.exclusions) == len(new.exclusions) and among(known.exclusions, new.exclusions).all()
    old: Sequence[Spans] = lives_of(problem, numbers) if are_left else [()] * len(numbers)
    lives = lives_of(found, numbers)
    kept = rows_of([_without(other, _without(other, one)) for one, other in zip(old, lives, strict=True)])
    added = rows_of([_without(one, other) for one, other in zip(lives, old, strict=True)])
    begins = {*zip(new.rows.owner.tolist(), new.rows.start.tolist(), strict=True)}
    is_fresh = [each in begins for each in zip(added.owner.tolist(), added.start.tolist(), strict=True)]
    fresh = Rows(*(column[np.array(is_fresh, dtype=bool)] for column in added))
    return any(
        not (known.conflict(a, b) | among(new.keys(a, b), new.exclusions)).all()
        for a, b in (_beginning_in(added, new.rows), _beginning_in(kept, fresh))
    )


def _beginning_in(rows: Rows, others: Rows) -> tuple[Ints, Ints]:
    """Return the pairs of buffers of which the second's row begins in the first's."""
    order = np.argsort(others.start, kind="stable")
    which, other = spread(*starts_within(others.start[order], rows.start, rows.end))
    a, b = rows.owner[which], others.owner[order[other]]
    return a[a != b], b[a != b]


def _without(spans: Spans, others: Spans) -> Spans:
    """Return the merged spans without what others cover, which are merged, too."""
    if spans == others:
        return ()
    left = []
    for start, end in spans:
        for first, last in others:
            if first < end and last > start:
                if first > start:
                    left.append((start, first))
                start = min(last, end)
        if start < end:
            left.append((start, end))
    return tuple(left)
