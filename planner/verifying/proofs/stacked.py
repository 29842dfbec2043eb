"""A rule of proofs: buffers that lie on each other, in whatever order, have no room. All orders are gone through, a set of them at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from .reading import Refused
from .state import Clique, Member, State

MOST_STACKED = 14
"""With more buffers there are too many sets of them."""


def loose_members(state: State, clique: Clique) -> list[Member]:
    """Return the clique's members that are not placed. Raises Refused if they are too many for all their sets."""
    loose = [member for member in clique.movers if member.block not in state.placed]
    if len(loose) > MOST_STACKED:
        raise Refused(f"of more than {MOST_STACKED} buffers not all orders are gone through")
    return loose


def have_no_room(state: State, members: Sequence[Member], look: Callable[[], object]) -> bool:
    """True if these cannot lie one above the other in any order, each at a start that is open to it. `look` is called often, and may raise.

    The lower some of them end, the lower can the next one begin: so of each set only its least end matters.
    """
    ends = {0: 0}
    """By the set of those that lie below, as bits: the least end of the topmost."""
    for _ in members:
        above: dict[int, int] = {}
        for below, end in ends.items():
            look()
            for bit, member in enumerate(members):
                if not below >> bit & 1:
                    top = end_above(state, member, end)
                    both = below | 1 << bit
                    if top is not None and top < above.get(both, inf):
                        above[both] = top
        ends = above
    return not ends


def end_above(state: State, member: Member, floor: int) -> int | None:
    """Return the member's least end if it begins at this address or higher; None if it cannot begin so high."""
    start = state.clear(member.block, max(state.low[member.block], floor - member.low))
    if start > state.blocks.block(member.block).last:
        return None
    return start + member.low + state.blocks.size[member.buffer]
