"""Counts the votes of crowds: how many of a crowd's members have room together, by their votes (see .priced_room).

A table of a crowd says how much room those members take at least that have no vote, one vote, two, and so on up to all. Each further member makes a table
longer by its votes: with it, so many votes take either what they took before, or its size besides what the other votes took. The number of votes that
have so much room is then the last place in the table where no more is taken.

These are plain numbers, so that the process that answers questions about choices needs no numpy for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

MOST_VOTES = 1_000
"""Of all members of a crowd where some have several.

Nothing is gained by more, and counting them takes longer.
"""


def can_be_counted(votes: Sequence[int]) -> bool:
    """Has each member at least one vote, and are there no more than can be counted soon?"""
    return all(each > 0 for each in votes) and (sum(votes) <= MOST_VOTES or max(votes) == 1)


def least_for_votes(sizes: Sequence[int], votes: Sequence[int]) -> list[int]:
    """The least sizes, added up, of members that have one vote together, two, and so on up to all."""
    if all(each == 1 for each in votes):
        return list(accumulate(sorted(sizes)))
    least = [0]
    for size, more in zip(sizes, votes, strict=True):
        least = with_member(least, size, more)
    return least[1:]


def with_member(least: list[int], size: int, votes: int) -> list[int]:
    """The same table (from no vote on) with one more member."""
    # More votes than all others have need it, and no more than it has need nothing but it.
    without = [*least[1:], *[least[-1] + size] * votes]
    with_it = [*[size] * votes, *[each + size for each in least[1:]]]
    return [0, *map(min, without, with_it)]
