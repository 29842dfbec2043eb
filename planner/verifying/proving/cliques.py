"""Sets of buffers of which no two may overlap: live together, or in conflict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, combinations
from typing import NamedTuple

from ..proofs.blocks import Blocks

MOST_MEMBERS = 2_000_000
"""The most members of all cliques together."""


class Named(NamedTuple):
    """A clique, and its name in a proof."""

    buffers: tuple[int, ...]
    line: str


class Stopped(Exception):
    """The time is over."""


def cliques(blocks: Blocks, stopped: Callable[[], bool] = lambda: False) -> list[Named] | None:
    """Return cliques that cover nearly every pair that must be apart; None if they would have too many members. Raises Stopped."""
    found: dict[tuple[int, ...], Named] = {}
    members = 0
    for named in chain(_live_together(blocks), _in_conflict(blocks)):
        if stopped():
            raise Stopped
        if len({blocks.block_of[b] for b in named.buffers}) > 1 and found.setdefault(named.buffers, named) is named:
            members += len(named.buffers)
            if members > MOST_MEMBERS:
                return None
    return list(found.values())


def busy_cliques(blocks: Blocks, most: int) -> list[Named]:
    """Return the cliques of live buffers with the most bytes, at most `most` of them."""
    found = {named.buffers: named for named in _live_together(blocks)}
    return sorted(found.values(), key=lambda named: -sum(map(blocks.size.__getitem__, named.buffers)))[:most]


def listed(buffers: Sequence[int]) -> Named:
    """Return a clique of buffers listed by number."""
    return Named(tuple(buffers), " ".join(("c", *map(str, buffers))))


def busiest_time(blocks: Blocks) -> Named | None:
    """Return all buffers live at the busiest time, if they form a clique."""
    live = most = 0
    busiest = None
    for time, begins, buffer in _changes(blocks):
        live += blocks.size[buffer] if begins else -blocks.size[buffer]
        if live > most:
            most, busiest = live, time
    return None if busiest is None else clique_at(blocks, busiest)


def clique_at(blocks: Blocks, time: int) -> Named | None:
    """Return what is live at a time, reduced to the disjoint buffers of each block; None if that is no clique."""
    live = blocks.live_at(time)
    if blocks.sharing_among(live) is None:
        return Named(live, f"t {time}")
    solid = _solid(blocks, live)
    return listed(solid) if blocks.sharing_among(solid) is None else None


def clique_of(blocks: Blocks, buffers: Iterable[int]) -> Named | None:
    """Return these buffers, reduced to the disjoint ones of each block; None if that is no clique."""
    solid = _solid(blocks, buffers)
    return listed(solid) if all(blocks.must_be_apart(a, b) for a, b in combinations(solid, 2)) else None


def _solid(blocks: Blocks, buffers: Iterable[int]) -> tuple[int, ...]:
    """Return disjoint buffers of each block, the largest first."""
    chosen: dict[int, list[int]] = {}
    for b in sorted(buffers, key=lambda b: (-blocks.size[b], b)):
        mine = chosen.setdefault(blocks.block_of[b], [])
        if all(blocks.must_be_apart(b, other) for other in mine):
            mine.append(b)
    return tuple(sorted(b for mine in chosen.values() for b in mine))


def _changes(blocks: Blocks) -> list[tuple[int, int, int]]:
    """Return when buffers become live (1) or end (0), in order of time, ends first."""
    return sorted(
        change
        for b, spans in enumerate(blocks.live)
        if blocks.size[b]
        for start, end in spans
        for change in ((start, 1, b), (end, 0, b))
    )


def _busy_times(blocks: Blocks) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the times just before buffers end after others began, and all that is live then."""
    live: set[int] = set()
    grown, last = False, 0
    for time, begins, buffer in _changes(blocks):
        if begins:
            live.add(buffer)
            grown = True
        else:
            if grown:
                yield last, tuple(sorted(live))
            live.discard(buffer)
            grown = False
        if begins:
            last = time


def _live_together(blocks: Blocks) -> Iterator[Named]:
    for time, live in _busy_times(blocks):
        if blocks.sharing_among(live) is None:
            yield Named(live, f"t {time}")
            continue
        solid = _solid(blocks, live)
        yield from map(listed, [solid] if blocks.sharing_among(solid) is None else _cover(blocks, solid))


def _cover(blocks: Blocks, live: Iterable[int]) -> Iterator[tuple[int, ...]]:
    """Yield cliques that cover each of these buffers; the largest first."""
    order = sorted(live, key=lambda b: (-blocks.size[b], b))
    covered: set[int] = set()
    for first in order:
        if first not in covered:
            chosen = [first]
            for other in order:
                if other != first and all(blocks.must_be_apart(other, each) for each in chosen):
                    chosen.append(other)
            covered.update(chosen)
            yield tuple(sorted(chosen))


def _in_conflict(blocks: Blocks) -> Iterator[Named]:
    """Yield a clique for each explicit conflict not yet covered: the pair, and what must be apart from all of it."""
    order = sorted(range(len(blocks.size)), key=lambda b: (-blocks.size[b], b))
    covered: set[tuple[int, int]] = set()
    for a, b in blocks.conflicts():
        if (a, b) in covered or not blocks.must_be_apart(a, b):
            continue
        chosen = [a, b]
        for other in order:
            if other not in (a, b) and all(blocks.must_be_apart(other, each) for each in chosen):
                chosen.append(other)
        chosen.sort()
        covered.update((x, y) for n, x in enumerate(chosen) for y in chosen[n + 1 :])
        yield listed(chosen)
