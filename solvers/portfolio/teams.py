"""Which engines work on a component in a round, and what part of the work each gets."""

from __future__ import annotations

from collections.abc import Iterable

from ..model.registry import Kind, is_of

USUAL = 2
PARTS = {"search": 6, "improve": 1, "beam": 1}
"""How many parts of a round's work an engine gets, if not the usual number: what it earns by what it finds."""

SMALLEST = {"improve": 2_000}
"""Of fewer blocks than this the search finds better placements in no more time."""

LARGEST = {"cpsat": 3_000, "beam": 3_000}
"""With more blocks than this CP-SAT's model takes longer to build than others take to search, and a sweep of the beam too long to be repeated."""

FROM_ROUND = {"cpsat": 3}
"""Most components are done before: loading its library takes longer than two rounds of the search."""


def team(engines: Iterable[str], blocks: int, number: int) -> tuple[tuple[str, int], ...]:
    """Name and parts of those that are of use for so many blocks in the round of that number (from 1).

    One that is too slow, or comes too early, works where nobody else can.
    """
    engines = tuple(engines)
    ready = [
        n for n in engines if SMALLEST.get(n, 0) <= blocks <= LARGEST.get(n, blocks) and number >= FROM_ROUND.get(n, 1)
    ]
    if not any(not is_of(Kind.IMPROVER, name) for name in ready):
        ready += [name for name in engines if not is_of(Kind.IMPROVER, name)] or engines
    return tuple((name, PARTS.get(name, USUAL)) for name in engines if name in ready)
