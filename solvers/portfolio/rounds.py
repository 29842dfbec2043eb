"""Work is shared out in rounds, each as long as all before it: what a solver does not find soon, another, or another seed, may."""

from __future__ import annotations

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
