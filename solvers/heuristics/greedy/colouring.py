"""Colours a graph whose nodes may each have some of the colours, such as pools for blocks that must be in different ones.

The node with the fewest colours left comes first (DSATUR). For those that have none left a tabu search goes on: it gives one of them a colour
that as few of its neighbours as possible have, and these lose it. That no colouring is found proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from ...model.interruption import check_interrupted, interruptible
from ...model.splitmix import SplitMix64

STEPS_PER_NODE, MOST_STEPS = 20, 50_000
"""Of the tabu search."""
LOOK_EVERY = 256
"""Steps between two looks at the clock."""
MOST_TRIED = 20
"""Of so many nodes without a colour the best is chosen."""
TENURE, TENURE_OF_OPEN = 10, 0.6
"""A colour that a node has lost is closed to it for up to so many steps, and for these more for each node without a colour."""


def coloured(colours: Sequence[Sequence[int]], neighbours: Sequence[Sequence[int]]) -> list[int] | None:
    """Return a colour for each node, one of its own and none of its neighbours', earlier ones first; None if none is found."""
    if not all(colours):
        return None
    found = _by_saturation(colours, neighbours)
    _repair(colours, neighbours, found)
    whole = [colour for colour in found if colour is not None]
    return whole if len(whole) == len(found) else None


def _by_saturation(colours: Sequence[Sequence[int]], neighbours: Sequence[Sequence[int]]) -> list[int | None]:
    """Colour nodes, those with the fewest colours left first, and of these those with the most neighbours; None for those that have none left."""
    found: list[int | None] = [None] * len(colours)
    left = [dict.fromkeys(mine) for mine in colours]
    waiting = [
        (len(mine), -len(beside), node) for node, (mine, beside) in enumerate(zip(left, neighbours, strict=True))
    ]
    heapify(waiting)
    is_settled = [False] * len(colours)
    for node in interruptible(range(len(colours))):
        while waiting:
            few, _, node = heappop(waiting)
            if not is_settled[node] and few == len(left[node]):
                break
        is_settled[node] = True
        colour = found[node] = next(iter(left[node]), None)
        if colour is None:
            continue
        for other in neighbours[node]:
            if not is_settled[other] and colour in left[other]:
                del left[other][colour]
                heappush(waiting, (len(left[other]), -len(neighbours[other]), other))
    return found


def _repair(colours: Sequence[Sequence[int]], neighbours: Sequence[Sequence[int]], found: list[int | None]) -> None:
    """Search colours for the nodes that have none."""
    random = SplitMix64(0)
    without = [node for node, colour in enumerate(found) if colour is None]
    closed_until: dict[tuple[int, int], int] = {}
    for step in range(min(STEPS_PER_NODE * len(found), MOST_STEPS)):
        if not without:
            return
        if step % LOOK_EVERY == 0:
            check_interrupted()
        choices = [
            (sum(found[other] == colour for other in neighbours[node]), random.next(), at, colour)
            for at, node in enumerate(without[:MOST_TRIED])
            for colour in colours[node]
            if closed_until.get((node, colour), 0) <= step
        ]
        if not choices:
            continue
        lost, _, at, colour = min(choices)
        node = without[at]
        without[at] = without[-1]
        without.pop()
        found[node] = colour
        for other in neighbours[node] if lost else ():
            if found[other] == colour:
                found[other] = None
                without.append(other)
                closed_until[other, colour] = step + random.below(TENURE) + int(TENURE_OF_OPEN * len(without))
