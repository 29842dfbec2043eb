"""Finds prices: the dual of the linear program in which parts of alternatives may be chosen, and bytes may be in any memory at any time.

Importing this module imports nothing heavy; answering does, so it happens in a child process (see solvers.sandbox).
"""

from __future__ import annotations

from collections.abc import Sequence

from ....exact.cpsat.linear import LinearProgram, Solved
from ..instance import Choices, Pick, Share
from .lines import Asked, Prices, rounded

WORK_OF_MAKING = 7
"""Work of making the program, for each entry."""
WORK_PER_ENTRY = 1
"""Work of passing it to its solver, which is done each time."""
MOST_ENTRIES = 60_000
"""Programs with more entries are solved approximately; their prices prove no less."""


class Relaxation:
    """One instance. The least value and the least cost have a program each, which goes on from its last solution."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._programs: dict[bool, _Program] = {}

    def prices(self, asked: Asked, work: int) -> tuple[Prices | None, int]:
        """The prices, if they are found within this much work, and the work."""
        making = 0
        if asked.for_cost not in self._programs:
            program = self._programs[asked.for_cost] = _Program(self._choices, for_cost=asked.for_cost)
            making = WORK_OF_MAKING * program.entries
        prices, spent = self._programs[asked.for_cost].prices(asked.most, work - making)
        return prices, making + spent


class _Program:
    def __init__(self, choices: Choices, *, for_cost: bool) -> None:
        self._choices, self._for_cost = choices, for_cost
        memories = choices.memories
        count = sum(len(load.if_any) for load in choices.loads)
        if memories is not None:
            count = sum(len(shares) for shares in memories.live)
        self._lp = lp = LinearProgram(is_large=count > MOST_ENTRIES)
        self.entries = count + sum(map(len, choices.costs))
        self._unit = float(max([1, *(size for load in choices.loads for size, _ in load.if_any)]))
        self._least = choices.least_cost
        spread = [cost - min(of_group) for of_group in choices.costs for cost in of_group]
        self._coin = float(max([1, *spread]))
        self._most = sum(max(of_group) - min(of_group) for of_group in choices.costs)
        self._chosen = [
            [lp.column(None, (cost - min(of_group)) / self._coin if for_cost else 0.0) for cost in of_group]
            for of_group in choices.costs
        ]
        for columns in self._chosen:
            lp.row(1.0, 1.0, [(column, 1.0) for column in columns])
        self._either: dict[tuple[Pick, ...], int] = {}
        price = 0.0 if for_cost else 1.0
        self._value = lp.column(None, price)
        self._rows: list[tuple[tuple[int, ...], int, int]] = []
        """(memories, number of a load, row), where room is scarce."""
        if memories is None:
            for k, load in enumerate(choices.loads):
                self._need((0,), k, [self._value], load.always, load.if_any)
        else:
            self._spread()
        self._limit = lp.column(0.0)
        """What the other of the two is at most."""
        if for_cost:
            of_other = [(self._value, 1.0)]
        else:
            flat = [column for columns in self._chosen for column in columns]
            of_other = [(column, each / self._coin) for column, each in zip(flat, spread, strict=True)]
        self._other = lp.row(None, 0.0, [*of_other, (self._limit, -1.0)])

    def prices(self, most: int | None, work: int) -> tuple[Prices | None, int]:
        before = self._lp.work
        unit = self._unit if self._for_cost else self._coin
        bound = (
            (None if most is None else most) if self._for_cost else self._most if most is None else most - self._least
        )
        if bound is None:
            bound = (
                sum(load.always + sum(size for size, _ in load.if_any) for load in self._choices.loads)
                * self._dearest()
            )
        if bound < 0:
            return None, 0
        self._lp.within(self._limit, 0.0, bound / unit)
        own = WORK_PER_ENTRY * self.entries
        found = self._lp.minimise(work - own) if work > own else None
        spent = own + self._lp.work - before
        return (None if found is None else self._rounded(found)), spent

    def _dearest(self) -> int:
        memories = self._choices.memories
        return 1 if memories is None else max(1, sum(memories.prices))

    def _rounded(self, found: Solved) -> Prices | None:
        room: dict[tuple[int, int], float] = {}
        for pools, k, row in self._rows:
            for p in pools:
                room[p, k] = room.get((p, k), 0.0) + max(found.rows[row], 0.0)
        other = max(found.rows[self._other], 0.0)
        if self._for_cost:  # of coins for each unit
            return rounded(self._choices, other, self._unit / self._coin, room)
        return rounded(self._choices, 1.0, other * self._unit / self._coin, room)

    def _spread(self) -> None:
        """Add several memories: their peaks, and bytes that may be in several of them."""
        memories, lp = self._choices.memories, self._lp
        assert memories is not None
        tops = [lp.column(None if room is None else max(room, 0) / self._unit) for room in memories.room]
        if memories.is_largest:
            for top in tops:
                lp.row(None, 0.0, [(top, 1.0), (self._value, -1.0)])
        else:
            lp.row(None, 0.0, [*zip(tops, map(float, memories.prices), strict=True), (self._value, -1.0)])
        for k, shares in enumerate(memories.live):
            of_homes: dict[tuple[int, ...], list[Share]] = {}
            for share in shares:
                of_homes.setdefault(share.pools, []).append(share)
            inside: list[list[tuple[int, float]]] = [[] for _ in tops]
            for homes, those in of_homes.items():
                always = sum(each.size for each in those if not each.picks)
                if_any = [(each.size, each.picks) for each in those if each.picks]
                if len(of_homes) == 1:
                    self._need(homes, k, [tops[p] for p in homes], always, if_any)
                    continue
                parts = [lp.column(None) for _ in homes]
                self._need((), k, parts, always, if_any)
                for p, part in zip(homes, parts, strict=True):
                    inside[p].append((part, 1.0))
            for p, entries in enumerate(inside):
                if entries:
                    self._rows.append(((p,), k, lp.row(None, 0.0, [*entries, (tops[p], -1.0)])))

    def _need(
        self,
        pools: tuple[int, ...],
        k: int,
        room: Sequence[int],
        always: int,
        if_any: Sequence[tuple[int, tuple[Pick, ...]]],
    ) -> None:
        """Add that what may be live has room in these columns together."""
        entries: dict[int, float] = dict.fromkeys(room, -1.0)
        for size, picks in if_any:
            for column in self._any_of(picks):
                entries[column] = entries.get(column, 0.0) + size / self._unit
        row = self._lp.row(None, -always / self._unit, [*entries.items()])
        if pools:
            self._rows.append((pools, k, row))

    def _any_of(self, picks: tuple[Pick, ...]) -> list[int]:
        """Columns whose sum is 1 if at least one of the picks is chosen."""
        if len({group for group, _ in picks}) == 1:
            return [self._chosen[g][a] for g, a in picks]
        if picks not in self._either:
            self._either[picks] = either = self._lp.column(None)
            for g in {group for group, _ in picks}:
                of_group = [(self._chosen[h][a], 1.0) for h, a in picks if h == g]
                self._lp.row(None, 0.0, [*of_group, (either, -1.0)])
        return [self._either[picks]]
