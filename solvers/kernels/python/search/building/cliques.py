"""Sets of blocks that are live at one moment, so that their heights add up: one for each moment that matters, several with exclusions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from ....interface import TooLarge
from ..watch import Watch
from .distances import merged
from .given import Given, Pair, Range
from .model import Clique, Member

EFFORT = 20_000_000
"""Comparisons of members after which cliques of conflicts are no longer grown."""


class Cliques:
    """Collects the cliques in the order of time."""

    def __init__(
        self, given: Given, moving: Sequence[int | None], unit: int, origin: int, plain: bool, most: int, watch: Watch
    ) -> None:
        self.given = given
        self.moving = moving
        self.unit = unit
        self.origin = origin
        self.plain = plain
        self.watch = watch
        self.found: list[Clique] = []
        self.stretch = [range(0)] * sum(number is not None for number in moving)
        self.reserved = [(self._up(start - origin), self._up(end - origin)) for start, end in given.reserved]
        self._room = most
        self._known: dict[int, Member] = {}

    def add_moments(self) -> None:
        """Adds the moments that no other covers: just before something ends, if something began since the last one."""
        events = []
        for p, part in enumerate(self.given.parts):
            for start, end in () if part.is_empty else part.live:
                events += [(start, True, p), (end, False, p)]  # ends before begins of the same section
        live: list[int] = []
        times = [0] * len(self.given.parts)
        grown = False
        for _, begins, p in sorted(events):
            self.watch.look()
            times[p] += 1 if begins else -1
            if begins and times[p] == 1:
                live.append(p)
                grown = True
            elif not begins and times[p] == 0:
                if grown:
                    self._add_moment(live)
                grown = False
                # The last takes the place of the ended one. This order only decides which of several failures is blamed.
                live[live.index(p)] = live[-1]
                live.pop()

    def add(self, members: Sequence[Member], obstacles: Sequence[Range]) -> None:
        """Adds a clique and extends its members' stretches to it."""
        self._room -= len(members)
        if self._room < 0:
            raise TooLarge("too many blocks are live together for too long")
        number = len(self.found)
        self.found.append(Clique(tuple(members), merged(obstacles)))
        for member in members:
            self._extend(member.block, number, number)

    def member(self, parts: Sequence[int]) -> Member:
        """These parts of one moving block. They may overlap: their union counts."""
        block = self.moving[self.given.parts[parts[0]].block]
        assert block is not None
        ranges = sorted((self._up(self.given.parts[p].low), self._up(self.given.parts[p].high)) for p in parts)
        bottom = end = ranges[0][0]
        solid_top, height = bottom, 0
        for low, high in ranges:
            if low <= solid_top:
                solid_top = max(solid_top, high)
            height += max(0, high - max(low, end))
            end = max(end, high)
        return Member(block, bottom, solid_top, height, end)

    def _add_moment(self, live: Sequence[int]) -> None:
        owner = {p: self.given.parts[p].block for p in live}
        if self.plain and not self.reserved and all(self.moving[owner[p]] is not None for p in live):
            self.add([self._single(p) for p in live], ())
            return
        ordered = sorted(live, key=lambda p: (owner[p], p))
        movers = [list(group) for _, group in groupby(ordered, key=owner.__getitem__)]
        movers = [group for group in movers if self.moving[owner[group[0]]] is not None]
        if not movers:
            return
        obstacles = [*self.reserved, *self._fixed(ordered)]
        first = len(self.found)
        members = [self.member(group) for group in movers]
        for chosen in self._compatible(movers, members):
            self.add(chosen, obstacles)
        # Excluded pairs need not share a clique, but each block's stretch of cliques covers its lifetime.
        for member in members:
            self._extend(member.block, first, len(self.found) - 1)

    def _single(self, part: int) -> Member:
        if part not in self._known:
            self._known[part] = self.member([part])
        return self._known[part]

    def _fixed(self, live: Sequence[int]) -> list[Range]:
        """The ranges of live blocks that do not move. A block excluded from a live one may share its addresses, so it is no obstacle."""
        taken = []
        for p in live:
            part = self.given.parts[p]
            if self.moving[part.block] is None and not any(self.given.excluded(p, q) for q in live):
                at = self.given.blocks[part.block].lowest - self.origin
                taken.append((self._up(at + part.low), self._up(at + part.high)))
        return taken

    def _compatible(self, movers: list[list[int]], members: list[Member]) -> list[list[Member]]:
        """Sets without excluded pairs. Every block is in at least one; the tallest are chosen first."""
        if not self.given.exclusions:
            return [members]
        order = sorted(range(len(movers)), key=lambda g: (-members[g].height, g))

        def excluded(a: int, b: int) -> bool:
            return any(self.given.excluded(p, q) for p in movers[a] for q in movers[b])

        sets: list[list[Member]] = []
        served: set[int] = set()
        for seed in order:
            if seed in served:
                continue
            chosen = [seed]
            for g in order:
                if g != seed and not any(excluded(g, other) for other in chosen):
                    chosen.append(g)
            served.update(chosen)
            sets.append([members[g] for g in chosen])
        return sets

    def _extend(self, block: int, first: int, last: int) -> None:
        known = self.stretch[block]
        self.stretch[block] = (
            range(min(known.start, first), max(known.stop, last + 1)) if known else range(first, last + 1)
        )

    def _up(self, address: int) -> int:
        return -(-address // self.unit)


def add_conflict_cliques(cliques: Cliques, given: Given) -> None:
    """Adds a clique for each pair in explicit conflict, grown by the parts that conflict with all its members, which improves the bounds.

    Pairs are taken in order; those that an earlier clique covers are skipped.
    """
    near: dict[int, set[int]] = {}
    for p, q in given.conflicts:
        near.setdefault(p, set()).add(q)
        near.setdefault(q, set()).add(p)

    def mover(part: int) -> int | None:
        return None if given.parts[part].is_empty else cliques.moving[given.parts[part].block]

    def length(part: int) -> int:
        return given.parts[part].high - given.parts[part].low

    covered: set[Pair] = set()
    effort = 0
    for p, q in given.conflicts:
        if mover(p) is None or mover(q) is None or mover(p) == mover(q) or (p, q) in covered:
            continue
        cliques.watch.look()
        members = [p, q]
        if effort < EFFORT:
            for c in sorted(near[p] & near[q], key=lambda c: (-length(c), c)):
                effort += len(members)
                if mover(c) is not None and all(mover(m) != mover(c) and c in near[m] for m in members):
                    members.append(c)
        covered |= {(min(a, b), max(a, b)) for a in members for b in members if a != b}
        cliques.add([cliques.member([m]) for m in members], cliques.reserved)
