"""Parts that may lie at one address together, since no two of them conflict, and weigh more than so much: a branch and bound.

Of parts that all conflict with each other at most one lies there. So if the weights of parts are cut into pieces, and pieces of equal weight are put
into groups of parts that all conflict, then all that can lie there weighs no more than one piece of each group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...model.interruption import check_interrupted

LOOK_EVERY = 256
"""Steps between two looks at the clock."""


class Found(NamedTuple):
    """What was found: nothing, if parts are None; and if the steps were enough, there is nothing."""

    parts: tuple[int, ...] | None
    steps: int
    is_sure: bool


def heavier_together(weights: Sequence[int], apart: Sequence[int], than: int, most_steps: int) -> Found:
    """Parts of which no two are apart and that weigh more `than` this; `apart` has, for each part, a bit for each that conflicts with it."""
    order = sorted(
        (part for part, weight in enumerate(weights) if weight > 0), key=lambda part: (-apart[part].bit_count(), part)
    )
    weights = [weights[part] for part in order]
    apart = [sum(1 << place for place, other in enumerate(order) if apart[part] >> other & 1) for part in order]
    waiting: list[tuple[int, int, tuple[int, ...]]] = [((1 << len(order)) - 1, 0, ())]
    steps = 0
    while waiting:
        candidates, total, chosen = waiting.pop()
        if total > than:
            return Found(tuple(sorted(order[place] for place in chosen)), steps, is_sure=True)
        if steps == most_steps:
            return Found(None, steps, is_sure=False)
        steps += 1
        if steps % LOOK_EVERY == 0:
            check_interrupted()
        branches = list[tuple[int, int, tuple[int, ...]]]()
        for place, most in reversed(_limits(candidates, weights, apart)):
            if total + most <= than:
                break
            candidates &= ~(1 << place)
            branches.append((candidates & ~apart[place], total + weights[place], (*chosen, place)))
        waiting += reversed(branches)
    return Found(None, steps, is_sure=True)


def _limits(candidates: int, weights: Sequence[int], apart: Sequence[int]) -> list[tuple[int, int]]:
    """The candidates, and with each the most that it and those before it can weigh together."""
    found, total = list[tuple[int, int]](), 0
    left = dict[int, int]()
    while candidates:
        group, joining = list[int](), candidates
        while joining:
            place = (joining & -joining).bit_length() - 1
            group.append(place)
            joining &= apart[place]
        pieces = [left.get(place) or weights[place] for place in group]
        least = min(pieces)
        total += least
        for place, piece in zip(group, pieces, strict=True):
            if piece == least:
                found.append((place, total))
                candidates &= ~(1 << place)
            else:
                left[place] = piece - least
    return found


def grown_together(weights: Sequence[int], apart: Sequence[int]) -> list[int]:
    """Parts of which no two are apart, heaviest first."""
    closed, found = 0, list[int]()
    for part in sorted(range(len(weights)), key=lambda part: (-weights[part], part)):
        if weights[part] > 0 and not closed >> part & 1:
            found.append(part)
            closed |= apart[part]
    return found
