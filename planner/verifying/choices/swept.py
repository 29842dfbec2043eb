"""What no choice within some memory costs less than, by trying all choices at once: group after group, in the order of time. In exact numbers.

What is live at one time depends on few groups. So the times are gone through in order, with the least cost of each choice of the groups that are open:
those that add something to this time, or both to an earlier and to a later one. Where more is live than there is room for, the choice is crossed out.
When a group ends, the cheapest of its alternatives stays for each choice of the others.

If too many groups are open, the one that ends first is closed early; from then on the least of its alternatives counts. That only lowers the cost, and so
does leaving out rules between alternatives, and addresses: bytes may be in any memory in which their buffer may be, at any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd
from typing import NamedTuple, TypeAlias

import numpy as np

from solvers.model.instance import Term

from ...facts.intervals import merged
from ...facts.sweep import VERIFYING, Integers
from ...facts.variants import weighted_cost
from ...model.deadline import in_time, look
from ...model.plan import ChoiceCertificate
from ...model.problem import Pool, Problem
from .payers import Payer, payers

MOST_CHOICES = 1 << 20
"""The most choices of open groups that are kept at a time,"""
MOST_STEPS = 1 << 27
"""and the most that are gone through at all times together."""
MOST_NUMBERS = 1 << 21
"""With more alternatives of the groups of all times together, only the first times count. So do changes of what is live: each is another row of numbers."""
MOST_LISTS = 8
"""Lists of memories that are looked at on their own, besides all memories."""

Bytes: TypeAlias = tuple[int, dict[int, Integers]]
"""What is always live, and for each group what each alternative adds."""


WIDE = 4_000
"""With more choices of open groups on average, alternatives that have no room are left out first."""
ROUNDS = 5
"""How often alternatives are left out that have no room beside the others."""
KINDS = (
    (np.dtype(np.int32), 1 << 27, 1 << 29),
    (np.dtype(np.int64), 1 << 59, 1 << 61),
    (np.dtype(object), None, 1 << 400),
)
"""Kinds of numbers: of which costs and sizes are smaller than what, and then what no choice costs, which can be added to costs."""


class Swept(NamedTuple):
    """What a sweep shows."""

    least_cost: int | None
    """None: there is no such choice."""
    steps: int
    """How many choices were gone through."""


class SweptChoices:
    """One problem with variants."""

    def __init__(self, problem: Problem) -> None:
        assert problem.variants is not None
        variants = problem.variants
        self._pools, self._is_largest = tuple(problem.pools), problem.terms == (Term.LARGEST_PEAK,)
        self._costs = [
            [weighted_cost(variants, each.costs) for each in group.alternatives]
            for group in in_time(variants.groups, VERIFYING)
        ]
        self._most = sum(map(max, self._costs))
        every = payers(problem)
        self.parts = len(every)
        """How many buffers and blocks of all alternatives there are."""
        self._unit = gcd(
            *(1 if pool.reserved or (pool.base or 0) % pool.alignment else pool.alignment for pool in self._pools)
        )
        self._spare = max(
            (-size % self._unit for each in every if each.is_single for size, *_ in each.spans), default=0
        )
        """In each memory the topmost buffer need not fill its last unit."""
        lists = sorted({each.pools for each in every} - {frozenset(pool.name for pool in self._pools)}, key=sorted)
        self._lists = [frozenset(pool.name for pool in self._pools), *lists[:MOST_LISTS]]
        """Of each of these lists of memories, what can be nowhere else must have room there."""
        self._rows = [*self._live(every)]
        self._known: dict[int, Swept] = {}
        self._last = {g: k for k, row in enumerate(self._rows) for _, added in row for g in added}
        costs = sum(max(map(abs, of_group)) for of_group in self._costs)
        sizes = max(
            (always + sum(int(each.max()) for each in added.values()) for row in self._rows for always, added in row),
            default=0,
        )
        self._type, self._beyond = next(
            (kind, beyond) for kind, limit, beyond in KINDS if limit is None or max(costs, sizes) < limit
        )
        self._is_wide = self._width() > WIDE
        self._of_groups = [np.array(of_group, dtype=self._type) for of_group in self._costs]
        known = {id(each): each.astype(self._type) for row in self._rows for _, added in row for each in added.values()}
        self._rows = [
            [(always, {g: known[id(each)] for g, each in added.items()}) for always, added in row] for row in self._rows
        ]

    def objection(self, certificate: ChoiceCertificate) -> str | None:
        """Return why a certificate of choices within some memory does not hold; None if it does."""
        if certificate.within is None or certificate.memory or certificate.cost != 1 or certificate.weights:
            return "it has prices, but all choices are tried"
        found = self.within(certificate.within).least_cost
        if found is None or (certificate.value is not None and certificate.value <= found):
            return None
        return f"there is room for choices that cost {found}, as far as can be told"

    def within(self, memory: int) -> Swept:
        """Return what no choice costs less than whose memory, in the unit of the objective, is no more than this."""
        if memory not in self._known:
            self._known[memory] = self._sweep([self._room(names, memory) for names in self._lists])
        return self._known[memory]

    def _sweep(self, rooms: Sequence[int | None]) -> Swept:
        left = self._left(rooms) if self._is_wide else [np.ones(len(each), dtype=np.bool_) for each in self._costs]
        if not all(each.any() for each in left):
            return Swept(None, 0)
        costs = [of_group[each] for of_group, each in zip(self._of_groups, left, strict=True)]
        most = min(MOST_CHOICES, MOST_STEPS // max(len(self._rows), 1))
        state = np.zeros((), dtype=self._type)
        todo, open_, closed = set(range(len(costs))), list[int](), set[int]()
        steps = 0
        for k, row in enumerate(self._rows):
            look(VERIFYING)
            for g in sorted({g for _, added in row for g in added} & todo):
                todo.discard(g)
                is_settled = len(costs[g]) == 1
                while not is_settled and state.size * len(costs[g]) > most and min([*open_, g], key=self._end) != g:
                    first = min(open_, key=self._end)
                    state = np.asarray(state.min(axis=open_.index(first)), self._type)
                    open_.remove(first)
                    closed.add(first)
                if is_settled or state.size * len(costs[g]) > most:
                    state = np.asarray(state + costs[g].min(), self._type)
                    closed.add(g)
                else:
                    state = state[..., None] + costs[g]
                    open_.append(g)
            steps += int(state.size)
            for room, (always, added) in zip(rooms, row, strict=True):
                live = always + sum(int(added[g][left[g]].min()) for g in added.keys() & closed)
                inside = [(i, added[g][left[g]]) for i, g in enumerate(open_) if g in added]
                if room is None or live + sum(int(sizes.max()) for _, sizes in inside) <= room:
                    continue
                total = np.array(live, dtype=self._type)
                for i, sizes in inside:
                    total = total + sizes.reshape([-1 if at == i else 1 for at in range(len(open_))])
                state[np.broadcast_to(total > room, state.shape)] = self._beyond
            for g in [g for g in open_ if self._last[g] == k]:
                state = np.asarray(state.min(axis=open_.index(g)), self._type)
                open_.remove(g)
        least = int(np.min(state)) + sum(int(costs[g].min()) for g in todo)
        return Swept(None if least > self._most else least, steps)

    def _left(self, rooms: Sequence[int | None]) -> list[Integers]:
        """Return for each group which alternatives have room at all times beside the least of every other group."""
        left = [np.ones(len(of_group), dtype=np.bool_) for of_group in self._costs]
        for _ in range(ROUNDS):
            is_less = False
            for row in self._rows:
                look(VERIFYING)
                for room, (always, added) in zip(rooms, row, strict=True):
                    if room is None:
                        continue
                    least = {g: int(sizes[left[g]].min()) if left[g].any() else 0 for g, sizes in added.items()}
                    spare = room - always - sum(least.values())
                    for g, sizes in added.items():
                        out = left[g] & (sizes > spare + least[g])
                        if out.any():
                            left[g] = left[g] & ~out
                            is_less = True
            if not is_less:
                break
        return left

    def _width(self) -> int:
        """Return how many choices of open groups there are at a time, on average."""
        total, choices = 0, 1
        todo = set(range(len(self._costs)))
        for k, row in enumerate(self._rows):
            here = {g for _, added in row for g in added}
            for g in here & todo:
                choices *= len(self._costs[g])
            todo -= here
            total += min(choices, MOST_CHOICES)
            for g in here:
                choices //= len(self._costs[g]) if self._last[g] == k else 1
        return total // max(len(self._rows), 1)

    def _end(self, g: int) -> tuple[int, int]:
        """When the group ends; of several the first."""
        return self._last[g], g

    def _room(self, names: frozenset[str], memory: int) -> int | None:
        """Return the bytes that may be live in these memories at a time if all take no more than `memory`; None: any number."""
        room, left = 0, memory
        for pool in sorted((pool for pool in self._pools if pool.name in names), key=lambda pool: pool.cost):
            price = 1 if self._is_largest else pool.cost
            top = pool.size if not price else left // price if pool.size is None else min(left // price, pool.size)
            if top is None:
                return None
            free = max(_free(pool, top), 0)
            room += free + self._spare
            left -= 0 if self._is_largest else free * price
        return room

    def _live(self, every: Sequence[Payer]) -> Iterator[list[Bytes]]:
        """Yield what is live between a birth and the next death, in all memories and in those of each list, as long as that is not too much."""
        born: dict[int, list[tuple[Payer, int]]] = {}
        gone: dict[int, list[tuple[Payer, int]]] = {}
        for payer in every:
            for size, start, end in payer.spans:
                bytes_ = size + -size % self._unit if payer.is_single else size
                born.setdefault(start, []).append((payer, bytes_))
                gone.setdefault(end, []).append((payer, bytes_))
        live: list[tuple[list[int], dict[int, Integers]]] = [([0], {}) for _ in self._lists]
        inside = {
            names: [k for k, mine in enumerate(self._lists) if names <= mine]
            for names in {each.pools for each in every}
        }
        numbers, has_grown = 0, False
        for time in sorted(born.keys() | gone.keys()):
            look(VERIFYING)
            if has_grown and time in gone:
                numbers += sum(len(self._costs[g]) for _, added in live for g in added)
                if numbers > MOST_NUMBERS:
                    return
                yield [(always, dict(added)) for (always,), added in live]
                has_grown = False
            for changes, sign in ((gone.get(time, ()), -1), (born.get(time, ()), 1)):
                for payer, bytes_ in changes:
                    if payer.owner is not None:
                        numbers += len(self._costs[payer.owner[0]])
                        if numbers > MOST_NUMBERS:
                            return
                    for k in inside[payer.pools]:
                        self._change(live[k], payer, sign * bytes_)
            has_grown = has_grown or time in born

    def _change(self, live: tuple[list[int], dict[int, Integers]], payer: Payer, bytes_: int) -> None:
        always, added = live
        if payer.owner is None:
            always[0] += bytes_
            return
        g, a = payer.owner
        sizes = added[g].copy() if g in added else np.zeros(len(self._costs[g]), dtype=object)
        sizes[a] += bytes_
        added[g] = sizes
        if not sizes.any():
            del added[g]


def _free(pool: Pool, top: int) -> int:
    """Return the bytes below this address that are not reserved."""
    return top - sum(min(end, top) - start for start, end in merged(pool.reserved) if start < top)
