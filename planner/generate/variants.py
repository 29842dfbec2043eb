"""Groups of alternative buffers: those that take more room are faster, as with stripes, tiles and recomputation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..model.problem import Alternative, Buffer, CostTerm, Interval, VariantGroup, Variants
from .chance import Chance
from .request import Request, Sketch

GROUPS = 20
ALTERNATIVES = 4

LARGEST = 1 << 12
UNIT = 16
"""Sizes are multiples of this."""
LIVE = 8
"""The average number of live buffers of a choice."""
LARGEST_COST = 1_000
SHARE_OF_GROUPS = (2, 3)


def variants(request: Request) -> Sketch:
    """Each choice has as many buffers as requested, a third of them in any case."""
    chance = request.chance()
    groups, alternatives = request.parameters["groups"], request.parameters["alternatives"]
    own = request.buffers * SHARE_OF_GROUPS[0] // SHARE_OF_GROUPS[1]
    spans = [_span(chance, request.buffers) for _ in range(request.buffers)]
    spans.sort()
    chosen = [True] * own + [False] * (request.buffers - own)
    chance.shuffle(chosen)
    shared = [Buffer(i, _size(chance), live=(spans[i],)) for i in range(request.buffers) if not chosen[i]]
    of_groups = [i for i in range(request.buffers) if chosen[i]]
    parts = [of_groups[g * own // groups : (g + 1) * own // groups] for g in range(groups)]
    made = tuple(_group(f"group{g}", part, spans, alternatives, chance) for g, part in enumerate(parts))
    return Sketch(tuple(shared), variants=Variants(made, (CostTerm("cycles"),)))


def _span(chance: Chance, count: int) -> Interval:
    start = chance.below(count * 2)
    return start, start + chance.between(1, 4 * LIVE)


def _size(chance: Chance) -> int:
    return UNIT * chance.between(1, LARGEST // UNIT)


def _group(name: str, ids: Sequence[int], spans: Sequence[Interval], count: int, chance: Chance) -> VariantGroup:
    """Return alternatives from the largest and fastest to the smallest and slowest."""
    sizes = [_size(chance) for _ in ids]
    cost = chance.between(1, LARGEST_COST)
    found = []
    for a in range(count):
        if a:
            cost += chance.between(1, LARGEST_COST)
            sizes = [max(UNIT, size * chance.between(8, 15) // 16 // UNIT * UNIT) for size in sizes]
        buffers = [Buffer(i, size, live=(spans[i],)) for i, size in zip(ids, sizes, strict=True)]
        if a and buffers and chance.one_in(3):  # recomputed: for a shorter time
            at = chance.below(len(buffers))
            start, end = spans[ids[at]]
            buffers[at] = replace(buffers[at], live=((start, start + (end - start + 1) // 2),))
        found.append(Alternative(f"{a}", (cost,), tuple(buffers)))
    return VariantGroup(name, tuple(found))
