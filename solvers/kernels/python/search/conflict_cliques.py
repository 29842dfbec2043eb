"""Cliques of explicit conflicts: each such pair gets one that holds it, grown by what conflicts with all in it, so that bounds are of use."""

from __future__ import annotations

from .cliques import Cliques
from .given import Given, Pair

EFFORT = 20_000_000
"""Members compared, after which cliques are no longer grown."""


def add_conflict_cliques(cliques: Cliques, given: Given) -> None:
    """One after the other, in the order of the pairs; pairs that an earlier one covers need none."""
    near: dict[int, set[int]] = {}
    for p, q in given.conflicts:
        near.setdefault(p, set()).add(q)
        near.setdefault(q, set()).add(p)

    def mover(part: int) -> int | None:
        return None if given.parts[part].is_empty else cliques.moving[given.parts[part].block]

    def length(part: int) -> int:
        return given.parts[part].high - given.parts[part].low

    covered: set[Pair] = set()
    effort = 0
    for p, q in given.conflicts:
        if mover(p) is None or mover(q) is None or mover(p) == mover(q) or (p, q) in covered:
            continue
        cliques.watch.look()
        members = [p, q]
        if effort < EFFORT:
            for c in sorted(near[p] & near[q], key=lambda c: (-length(c), c)):
                effort += len(members)
                if mover(c) is not None and all(mover(m) != mover(c) and c in near[m] for m in members):
                    members.append(c)
        covered |= {(min(a, b), max(a, b)) for a in members for b in members if a != b}
        cliques.add([cliques.member([m]) for m in members], cliques.reserved)
