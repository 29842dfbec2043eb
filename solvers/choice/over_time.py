"""The best choice of pools without addresses, found section by section: of all choices that treat a section's blocks alike, the best go on.

It is exact, and quick where few blocks are live at a time. What it proves holds for every placement, since addresses only make less fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..model.instance import Bools, Ints
from ..model.outcome import Value

MOST_STATES = 100_000
"""The most choices that are looked at, counted block by block: so many take some ten milliseconds."""
GROWTH = 8
"""Of the limit on the last term, from one attempt to the next."""
LEADERS = 4
"""So many states of each code are held against the others."""
BITS_OF_A_CODE = 62


class Weights(NamedTuple):
    """What a term adds up."""

    counts_choice: bool
    """Does it count what having a block in its pool costs?"""
    peaks: tuple[int, ...]
    """The price of a unit of each pool's peak."""
    least: int
    """What the peaks add in any case."""


class Choosing(NamedTuple):
    """Blocks and pools: who may be where, at what cost."""

    size: Ints
    cost: Ints
    """(n, P) the cost of having the block in the pool."""
    allowed: Bools
    """(n, P)"""
    room: Sequence[int | None]
    """The units that each pool holds at a time; None: any number."""
    owner: Ints
    """The block of each lifetime."""
    start: Ints
    """The first section of each lifetime."""
    end: Ints
    """The section after its last."""
    terms: Sequence[Weights]

    @property
    def least(self) -> Ints:
        """Each block's cost where it costs least."""
        found: Ints = np.where(self.allowed, self.cost, np.iinfo(np.int64).max).min(axis=1)
        return found

    def at_least(self, cost: int) -> Value:
        """The terms' values of choices with this cost, if their peaks add the least."""
        return tuple(cost * term.counts_choice + term.least for term in self.terms)

    def most_cost(self, known: Value) -> int | None:
        """The cost of a choice that is as good as what is known; None: it may cost anything."""
        for term, most in zip(self.terms, known, strict=True):
            if term.counts_choice:
                return most - term.least
            if most > term.least:
                break
        return None


class Found(NamedTuple):
    """A choice of pools, and what it is worth without addresses."""

    pool: Ints
    value: Value


class TooMany(Exception):
    """There are more choices than are looked at."""


def best_choice(asked: Choosing, known: Value | None) -> Found | None:
    """The best choice, if one is better than what is known. Raises TooMany."""
    if known is not None and asked.at_least(int(asked.least.sum())) >= known:
        return None
    shift = _places_in_codes(asked)
    ahead, least = _backward(asked, shift, None if known is None else asked.most_cost(known))
    if least is None:
        return None
    if known is not None:
        with suppress(TooMany):
            return _forward(asked, shift, ahead, least, known)
    *firsts, last = asked.at_least(least)
    step = 1 if asked.terms[-1].counts_choice else max(int(np.gcd.reduce(asked.size)), 1)
    while step <= last:  # within a limit far less is looked at, and mostly the best is hardly above what is proven
        limit = (*firsts, last + step)
        if known is not None and limit >= known:
            raise TooMany
        found = _forward(asked, shift, ahead, least, limit)
        if found is not None:
            return found
        step *= GROWTH
    return _forward(asked, shift, ahead, least, known)


def _backward(asked: Choosing, shift: list[int], most: int | None) -> tuple[dict[int, tuple[Ints, Ints]], int | None]:
    """For each section at which something begins, what later blocks cost at least, by the pools of its own; and what all blocks cost.

    `most` is what they may cost.
    """
    sections = int(asked.end.max(initial=0))
    way = _Way(asked, shift, sections - asked.end, sections - asked.start)
    ahead = int(asked.least[way.is_live].sum())
    wanted, found = {*asked.start.tolist()}, dict[int, tuple[Ints, Ints]]()
    for section in range(sections):
        way.end(section)
        for block in way.begin(section):
            ahead -= int(asked.least[block])
            if most is not None:
                way.keep(way.states.cost <= most - ahead)
        there = sections - 1 - section
        if there in wanted:
            order = np.argsort(way.states.code)
            found[there] = way.states.code[order], (way.states.cost - way.states.own - way.never_live)[order]
    return found, min(way.states.cost.tolist(), default=None)


def _forward(
    asked: Choosing, shift: list[int], ahead: dict[int, tuple[Ints, Ints]], least: int, known: Value | None
) -> Found | None:
    """The best choice, if one is better than what is known. No choice costs less than `least`."""
    way = _Way(asked, shift, asked.start, asked.end)
    if known is not None and asked.at_least(least) >= known:
        return None
    first = asked.terms[0]
    counted = np.array([any(term.peaks[p] for term in asked.terms) for p in range(way.pools)])
    for section in range(int(asked.end.max(initial=0))):
        way.end(section)
        for _ in way.begin(section):
            pass
        if section not in ahead:
            continue
        here = way.states
        here.peak = np.where(counted[:, None], np.maximum(here.peak, here.load), 0)
        codes, later = ahead[section]
        at = np.searchsorted(codes, here.code)
        at[at == len(codes)] = 0
        cost = here.cost + later[at]
        is_open = codes[at] == here.code
        if first.counts_choice and not any(first.peaks):  # then the best choice costs no more than it has to
            is_open &= cost == least
        if known is not None:
            is_open &= _is_below(asked, cost, here.peak, known)
        way.keep(is_open)
        if not is_open.any():
            return None
    here = way.states
    values = _values(asked, here.cost, here.peak)
    best = int(np.lexsort(values[::-1])[0])
    return Found(way.pools_of(best), tuple(int(column[best]) for column in values))


def _values(asked: Choosing, cost: Ints, peak: Ints) -> list[Ints]:
    """Each term's value if this is the cost and these are the peaks."""
    return [
        cost * term.counts_choice + np.maximum(np.array(term.peaks, dtype=np.int64) @ peak, term.least)
        for term in asked.terms
    ]


def _is_below(asked: Choosing, cost: Ints, peak: Ints, known: Value) -> Bools:
    below, equal = np.zeros(len(cost), dtype=bool), np.ones(len(cost), dtype=bool)
    for column, value in zip(_values(asked, cost, peak), known, strict=True):
        below |= equal & (column < value)
        equal &= column == value
    return below


@dataclass(slots=True)
class _States:
    """Choices so far, in columns."""

    code: Ints
    """The pools of the blocks that are still there."""
    cost: Ints
    own: Ints
    """The part of the cost that these blocks have."""
    row: Ints
    """Which choice it was when the last block came."""
    load: Ints
    """(P, S)"""
    peak: Ints
    """(P, S)"""

    def only(self, some: Ints | Bools) -> _States:
        """Those of them."""
        rows = (self.code[some], self.cost[some], self.own[some], self.row[some])
        return _States(*rows, self.load[:, some], self.peak[:, some])


def _undominated(states: _States) -> _States:
    """Those that are not worse than one of the cheapest with the same code: dearer, with no lower peak."""
    if len(states.code) == 1:
        return states
    order = np.lexsort((states.peak.sum(axis=0), states.cost, states.code))
    code, peak = states.code[order], states.peak[:, order]
    for number in range(LEADERS):
        is_first = np.ones(len(code), dtype=bool)
        is_first[1:] = code[1:] != code[:-1]
        first = is_first.nonzero()[0]
        if len(first) == len(is_first):
            break
        size = np.concatenate([first[1:], [len(is_first)]]) - first
        leader = np.repeat(first + np.minimum(number, size - 1), size)
        is_better = (peak < peak[:, leader]).any(axis=0) | (np.arange(len(leader)) <= leader)
        if is_better.all():
            break
        order, code, peak = order[is_better], code[is_better], peak[:, is_better]
    return states.only(order)


class _Way:
    """The way through the sections in one direction: at the beginning of each, lifetimes end, and others begin."""

    def __init__(self, asked: Choosing, shift: list[int], start: Ints, end: Ints) -> None:
        self.asked, self.shift, self.pools = asked, shift, len(asked.room)
        self.mask = (1 << _bits(self.pools)) - 1
        self.first, self.last = _extent(asked.owner, start, end, len(asked.size))
        self.is_live = self.first < self.last
        self.begins, self.ends = _by_section(start, asked.owner), _by_section(end, asked.owner)
        self.homes = [np.flatnonzero(row).tolist() for row in asked.allowed]
        self.looked_at = 0
        self.rows: list[tuple[int, Ints, Ints]] = []
        """Each block in the order of coming and, for each choice then, the choice before and the block's pool."""
        zero, none = np.zeros(1, dtype=np.int64), np.zeros((self.pools, 1), dtype=np.int64)
        self.never_live = int(asked.least[~self.is_live].sum())
        """The cost of blocks that are never live, and so take no room."""
        self.states = _States(zero, zero + self.never_live, zero, zero, none, none)

    def end(self, section: int) -> None:
        """Let lifetimes end, and blocks go whose last one it was."""
        here, has_gone = self.states, False
        for block in self.ends.get(section, ()):
            pool = self._pool_of(block)
            here.load[pool, np.arange(len(pool))] -= self.asked.size[block]
            if self.last[block] == section:
                here.own = here.own - self.asked.cost[block, pool]
                here.code = here.code & ~(self.mask << self.shift[block])
                has_gone = True
        if has_gone:
            self.states = _undominated(here)

    def begin(self, section: int) -> Iterator[int]:
        """Let lifetimes begin; yield each block that comes."""
        for block in self.begins.get(section, ()):
            if self.first[block] == section:
                self._come(block)
                yield block
            else:
                here, pool = self.states, self._pool_of(block)
                here.load[pool, np.arange(len(pool))] += self.asked.size[block]
                for p, room in enumerate(self.asked.room):
                    if room is not None:
                        self.keep(self.states.load[p] <= room)

    def keep(self, some: Bools) -> None:
        """Go on with only these choices."""
        if not some.all():
            self.states = self.states.only(some)

    def _come(self, block: int) -> None:
        """Go on with each choice in every pool that the block may use and that has room for it. Raises TooMany."""
        here, asked = self.states, self.asked
        size, homes, every = int(asked.size[block]), self.homes[block], np.arange(len(here.code))
        room = ((p, asked.room[p]) for p in homes)
        fitting = [every if most is None else (here.load[p] <= most - size).nonzero()[0] for p, most in room]
        pool = np.repeat(np.array(homes, dtype=np.int64), [len(some) for some in fitting])
        found = here.only(np.concatenate(fitting))
        number, cost = np.arange(len(pool)), asked.cost[block, pool]
        found.load[pool, number] += size
        found.code |= pool << self.shift[block]
        found.cost += cost
        found.own += cost
        self.rows.append((block, found.row, pool))
        found.row = number
        self.states = found
        self.looked_at += len(pool)
        if self.looked_at > MOST_STATES:
            raise TooMany

    def _pool_of(self, block: int) -> Ints:
        pool: Ints = (self.states.code >> self.shift[block]) & self.mask
        return pool

    def pools_of(self, state: int) -> Ints:
        """The pool of every block in the choice."""
        asked = self.asked
        found: Ints = np.where(asked.allowed, asked.cost, np.iinfo(np.int64).max).argmin(axis=1)
        row = int(self.states.row[state])
        for block, before, pool in reversed(self.rows):
            found[block] = pool[row]
            row = int(before[row])
        return found


def _bits(pools: int) -> int:
    return max((pools - 1).bit_length(), 1)


def _extent(owner: Ints, start: Ints, end: Ints, blocks: int) -> tuple[Ints, Ints]:
    """Return the first section of each block, and the section after its last; the first is not before that if it is never live."""
    first, last = np.full(blocks, np.iinfo(np.int64).max), np.zeros(blocks, dtype=np.int64)
    np.minimum.at(first, owner, start)
    np.maximum.at(last, owner, end)
    return first, last


def _by_section(at: Ints, owner: Ints) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for section, block in zip(at.tolist(), owner.tolist(), strict=True):
        found.setdefault(section, []).append(block)
    return found


def _places_in_codes(asked: Choosing) -> list[int]:
    """Where each block's pool stands in a code: two that are there at one time have different places. Raises TooMany."""
    first, last = (column.tolist() for column in _extent(asked.owner, asked.start, asked.end, len(asked.size)))
    bits = _bits(len(asked.room))
    found, busy = [0] * len(first), list[tuple[int, int]]()
    for block in sorted(range(len(first)), key=first.__getitem__):
        busy = [(end, place) for end, place in busy if end > first[block]]
        place = min({*range(len(busy) + 1)} - {place for _, place in busy})
        if (place + 1) * bits > BITS_OF_A_CODE:
            raise TooMany
        busy.append((last[block], place))
        found[block] = place * bits
    return found
