"""Rounds of work, each as long as all before it: what a solver does not find soon, another, or another seed, may. Which engines work in one, and how much each."""

from __future__ import annotations

from collections.abc import Iterable

from ..model.registry import Kind, is_of

FIRST_ROUND_WORK = 100_000
"""What each engine may spend on each open piece in the first round."""

LEAST_WORK = 2_000
"""With less an engine does not get anywhere."""

SEED_STEP = 1_000_003
"""Every round has another seed: what a search ran into with the last one it would run into again."""


def round_work(limit: int | None, spent: int, shares: int, *, first: int = FIRST_ROUND_WORK, growth: int = 1) -> int:
    """What each of the shares may spend in the next round: `growth` times as much as in all rounds so far; 0 if too little is left.

    What would then be left, but be less than this round, is spent in it.
    """
    shares = max(1, shares)
    wanted = max(first, growth * spent // shares)
    if limit is None:
        return wanted
    left = (limit - spent) // shares
    if left < LEAST_WORK:
        return 0
    return left if left < 2 * wanted else wanted


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
