"""Parts that no choice ties together, although links of several alternatives connect them: each counts in full in the loads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from solvers.choice.alternatives.loads import Piece
from solvers.choice.alternatives.ties import MOST_LINKS, Picks, Ties

from ....facts.colocation import groups as colocated
from ....facts.intervals import merged, overlap
from ....model.deadline import PREPARING, tick
from ....model.problem import Colocation

if TYPE_CHECKING:
    from solvers.choice.alternatives.instance import Pick
    from solvers.choice.alternatives.together import Link

    from .parts import Parts

MOST_PARTS = 1024
"""Beyond this many parts that links may tie, loads count what may share addresses once."""


def pieces_apart(
    parts: Parts,
    pieces: Sequence[Piece],
    owners: Sequence[int],
    alternatives: Sequence[int],
    rules: tuple[Sequence[tuple[Pick, Pick]], Sequence[tuple[Pick, Pick]]],
) -> Iterator[list[Piece]]:
    """Yield further selections of the pieces, in which those that no choice ties are blocks of their own. `owners`: the part of each piece.

    One prefers parts that are always there, one those that a choice brings.
    """
    firm = [link for link in parts.links if _is_firm(parts, link)]
    if len(firm) == len(parts.links) or len(parts.links) > MOST_LINKS:
        return
    tied = {part for link in parts.links for part in (link.part, link.base)}
    loose = sorted(tied.intersection(owners))
    places = _places(parts, firm)
    if len(loose) > MOST_PARTS or places is None:
        return
    block, low = places
    ties = Ties(parts.links, Picks(alternatives, *rules))
    reached = {}
    for part in loose:
        tick(PREPARING)
        reached[part] = ties.reached(part, parts.buffers[part][1])
    lives = {part: merged(parts.buffers[part][2]) for part in loose}
    for prefers_picked in (False, True):
        kept: list[int] = []
        for part in sorted(
            loose, key=lambda each: ((parts.buffers[each][1] is None) == prefers_picked, -parts.buffers[each][0].size)
        ):
            tick(PREPARING)
            shares = (
                block[other] != block[part] and other in reached[part] and overlap(lives[part], lives[other])
                for other in kept
            )
            if not any(shares):
                kept.append(part)
        out = set(loose).difference(kept)
        yield [
            piece._replace(block=block[i], low=low[i], high=low[i] + piece.high - piece.low)
            for piece, i in zip(pieces, owners, strict=True)
            if i not in out
        ]


def _is_firm(parts: Parts, link: Link) -> bool:
    """True if the link holds whenever both of its parts are there."""
    return link.pick is None or link.pick in (parts.buffers[link.part][1], parts.buffers[link.base][1])


def _places(parts: Parts, links: Sequence[Link]) -> tuple[list[int], list[int]] | None:
    """Return the block of each part and its place there, with these links alone; None if they contradict each other, which choices decide."""
    ids = range(len(parts.buffers))
    block, low = [*ids], [0] * len(parts.buffers)
    for group in colocated(ids, (Colocation(*link[:3]) for link in links)):
        for member, offset in zip(group.members, group.offsets, strict=True):
            block[member], low[member] = group.members[0], offset
    is_sound = all(low[link.part] - low[link.base] == link.offset for link in links)
    return (block, low) if is_sound else None
