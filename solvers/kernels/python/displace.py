"""Displacing in plain Python. It makes the same decisions as the native kernel: the tests' reference, and the fallback without it.

A block that could be cheaper takes the place in a cheaper pool where those in its way lose least if they have to leave. They go, the dearest first, where
they cost least together with whom they throw out in turn. Where each block may search as often as a search takes looks, one of eight moves lifts a block and some beside it, and places them again in another order.
What makes all dearer is undone, unless it is by less than a limit that falls with the work.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from ...model.instance import ADDRESS_LIMIT, Ints
from ...model.splitmix import SplitMix64
from ..columns import Columns
from ..interface import Homes, Report
from .input import are_addresses, are_within, demand, exact_sum, instance_of
from .places import Closed, Range, best_base, stretches

# The same numbers stand in kernels/native/displace/displacing.cpp.
MOST_DISPLACING = 3
AGAIN_EVERY = 8
MOST_BESIDE = 11
WAYS_AGAIN, NOISE = 3, 3072
NOISE_UNIT, COOLER = 1024.0, 10.0
LOOKS_A_DRAW = 4
LOOKS_A_PLACE = 20
MEETING_PER_LOOK = 4
LOOKS_A_CLOSED = 2
LOGARITHMS = 1477.0
LOOKS_PER_MICROSECOND = 24
MOST_COST = 1 << 52
TAKEN = -1


def displace(
    sections: int, columns: Columns, homes: Homes, pool: Ints, offset: Ints, seed: int, work: int, report: Report
) -> tuple[Ints, Ints, int]:
    """Pools and offsets that cost no more than the start, and the work done in approximate microseconds of native code."""
    run = _Displacing(sections, columns, homes, pool, offset, seed, work, report)
    run.run()
    return (
        np.array(run.best_pool, dtype=np.int64),
        np.array(run.best_base, dtype=np.int64),
        run.work // LOOKS_PER_MICROSECOND,
    )


class _Before(NamedTuple):
    block: int
    pool: int
    base: int


class _Displacing:
    def __init__(
        self,
        sections: int,
        columns: Columns,
        homes: Homes,
        pool: Ints,
        offset: Ints,
        seed: int,
        work: int,
        report: Report,
    ) -> None:
        instance = instance_of(sections, columns)
        self.high: list[int] = instance.block_high.tolist()
        _check(homes, pool, offset, work, instance.block_high)
        count, self.pools = instance.blocks, len(homes.endless)
        self.near = [[one for one in some if one[0] != block] for block, some in enumerate(stretches(instance))]
        rows = zip(*(column.tolist() for column in homes[1:5]), strict=True)
        ranges = [Range(*row) for row in rows]
        self.ranges = [ranges[block * self.pools : (block + 1) * self.pools] for block in range(count)]
        self.cost: list[list[int]] = homes.cost.reshape(count, self.pools).tolist()
        self.endless: list[int] = homes.endless.tolist()
        self.stays: list[int] = homes.stays.tolist()
        self.taken = [
            [(low, high) for p, low, high in homes.taken.reshape(-1, 3).tolist() if p == pool and low < high]
            for pool in range(self.pools)
        ]
        self.order = [[] if self.stays[block] else self._ranked(block) for block in range(count)]
        self.loss = [[self._loss(block, pool) for pool in range(self.pools)] for block in range(count)]
        self.movable = [block for block in range(count) if len(self.order[block]) > 1]
        self.pool, self.base = pool.tolist(), offset.tolist()
        self.best_pool, self.best_base = list(self.pool), list(self.base)
        self.random = SplitMix64(seed)
        self.limit, self.report = work * LOOKS_PER_MICROSECOND, report
        self.work = 0
        self.out: list[tuple[int, int]] = []
        self.is_out = [False] * count
        self.has_come: set[int] = set()
        self.before: list[_Before] = []
        self.delta = self.least = 0

    def run(self) -> None:
        total = best = sum(self.cost[b][self.pool[b]] - self.cost[b][self.order[b][0]] for b in self.movable)
        hottest = float(total // len(self.movable)) if self.movable else 0.0
        number, places_again = -1, self.limit >= sum(self._looks(block) ** 2 for block in self.movable)
        while total > 0 and self.work < self.limit and not self.report(None):
            number += 1
            self.work += LOOKS_A_DRAW
            block = self.random.pick(self.movable)
            heat = hottest * (max(self.limit - self.work, 0) / self.limit)
            if places_again and number % AGAIN_EVERY == 0:
                is_kept = self._place_again(block, self._allowed(heat / COOLER))
            else:
                cost = self.cost[block]
                cheaper = [pool for pool in self.order[block] if cost[pool] < cost[self.pool[block]]]
                if not cheaper:
                    continue
                target = self.random.pick(cheaper)
                is_kept = self._move(block, target, self._allowed(heat))
            if is_kept:
                total += self.delta
                if total < best:
                    best, self.best_pool, self.best_base = total, list(self.pool), list(self.base)
            else:
                for one in self.before:
                    self.pool[one.block], self.base[one.block], self.is_out[one.block] = one.pool, one.base, False

    def _allowed(self, heat: float) -> int:
        """By how much the next move may make all dearer."""
        return int(heat * float(self._logarithm()) / LOGARITHMS)

    def _logarithm(self) -> int:
        drawn = self.random.next() | 1
        zeros = 64 - drawn.bit_length()
        return zeros * 1024 + 2048 - ((drawn << zeros) >> 53)

    def _ranked(self, block: int) -> list[int]:
        allowed = (pool for pool, r in enumerate(self.ranges[block]) if r.lowest <= r.highest)
        return sorted(allowed, key=lambda pool: (self.cost[block][pool], pool))

    def _loss(self, block: int, pool: int) -> int | None:
        """What it loses if it has to go from there to the next one that costs no less; None if there is none."""
        cost = self.cost[block]
        if pool not in self.order[block]:
            return None
        more = (cost[other] - cost[pool] for other in self.order[block] if other != pool)
        return min((each for each in more if each >= 0), default=None)

    def _begin(self) -> None:
        self.before, self.out, self.delta, self.least = [], [], 0, 0
        self.has_come = set()

    def _place_again(self, block: int, allowed: int) -> bool:
        """Lift a block and some that live beside it, and set them down one by one where they cost least, without throwing anybody out."""
        self._begin()
        self.work += self._looks(block)
        beside = sorted({other for other, _, _ in self.near[block] if len(self.order[other]) > 1})
        more = min(self.random.below(MOST_BESIDE + 1), len(beside))
        self._throw_out(block)
        for i in range(more):
            drawn = i + self.random.below(len(beside) - i)
            beside[i], beside[drawn] = beside[drawn], beside[i]
            self._throw_out(beside[i])
        way, again = self.random.below(WAYS_AGAIN), list[tuple[float, int]]()
        for one in self.before:
            cost, order = self.cost[one.block], self.order[one.block]
            saved, size = float(cost[order[-1]] - cost[order[0]]), float(self.high[one.block] + 1)
            noise = 1.0 + self.random.below(NOISE) / NOISE_UNIT
            again.append((-(saved, size, saved / size)[way] * noise, one.block))
        for _, following in sorted(again):
            if self.delta + self.least > allowed:
                return False
            self.least -= self.cost[following][self.order[following][0]]
            if not self._settle(following, self.order[following], may_displace=False):
                return False
        return self.delta <= allowed

    def _move(self, block: int, target: int, allowed: int) -> bool:
        self._begin()
        self._throw_out(block)
        number = 0
        while self.out:
            if self.delta + self.least > allowed:
                return False
            following = -heappop(self.out)[1]
            self.least -= self.cost[following][self.order[following][0]]
            pools = self.order[following] if number else [target]
            if not self._settle(following, pools, may_displace=number <= MOST_DISPLACING):
                return False
            number += 1
        return self.delta <= allowed

    def _throw_out(self, block: int) -> None:
        pool = self.pool[block]
        self.before.append(_Before(block, pool, self.base[block]))
        self.is_out[block] = True
        self.delta -= self.cost[block][pool]
        self.least += self.cost[block][self.order[block][0]]
        loss = self.loss[block][pool]
        heappush(self.out, (1 if loss is None else -loss, -block))

    def _settle(self, block: int, pools: list[int], *, may_displace: bool) -> bool:
        found: tuple[int, int, int, list[Closed]] | None = None
        """What it costs together, the pool, the base, and what is closed there if somebody is in the way."""
        for pool in pools:
            cost = self.cost[block][pool]
            if found is not None and cost >= found[0]:
                break
            if self.endless[pool]:
                found = cost, pool, self.ranges[block][pool].lowest, []
                break
            closed = self._closed_in(block, pool)
            r = self.ranges[block][pool]
            place = best_base(closed, Range(r.lowest, r.down(r.highest), r.modulus, r.residue), self.random)
            if place is None or (place[1] and not may_displace):
                continue
            if found is None or cost + place[1] < found[0]:
                found = cost + place[1], pool, place[0], closed
        if found is None:
            return False
        _, pool, base, closed = found
        self.pool[block], self.base[block], self.is_out[block] = pool, base, False
        self.has_come.add(block)
        self.delta += self.cost[block][pool]
        for one in closed:
            if one.low < base < one.high and not self.is_out[one.block]:
                self._throw_out(one.block)
        return True

    def _closed_in(self, block: int, pool: int) -> list[Closed]:
        near = self.near[block]
        found = []
        for other, below, above in near:
            if self.pool[other] == pool and not self.is_out[other]:
                loss = self.loss[other][pool]
                price = None if loss is None or other in self.has_come else loss + 1
                found.append(Closed(self.base[other] + below, self.base[other] + above, other, price))
        found += [Closed(low - self.high[block], high, TAKEN, None) for low, high in self.taken[pool]]
        self.work += self._looks(block) + LOOKS_A_CLOSED * len(found)
        return found

    def _looks(self, block: int) -> int:
        """That a search for its place takes at least."""
        return LOOKS_A_PLACE + len(self.near[block]) // MEETING_PER_LOOK


def _check(homes: Homes, pool: Ints, offset: Ints, work: int, high: Ints) -> None:
    """Checks the arguments that other kernels do not have, as the native kernel does (native/displace/bindings.cpp)."""
    demand(len(homes) == len(Homes._fields), "not as many columns as there should be")
    pools, blocks = len(homes.endless), len(high)
    demand(pools, "there are no pools")
    demand({len(each) for each in homes[:5]} == {blocks * pools}, "one number a block and pool")
    demand({len(homes.stays), len(pool), len(offset)} == {blocks}, "one number a block")
    demand(len(homes.taken) % 3 == 0 and work >= 0, "what is taken are triples, and work is not negative")
    demand(are_within(pool, 0, pools - 1) and are_addresses(offset), "everybody is at an address of a pool")
    demand(
        are_within(homes.cost, 0, MOST_COST) and exact_sum(homes.cost) <= MOST_COST, "the costs add up to 2^52 at most"
    )
    demand(are_within(homes.modulus, 1, ADDRESS_LIMIT), "a modulus is positive")
    demand(((homes.residue >= 0) & (homes.residue < homes.modulus)).all(), "a residue is below its modulus")
    demand(
        are_addresses(homes.lowest) and are_within(homes.highest, -ADDRESS_LIMIT, ADDRESS_LIMIT), "bounds are addresses"
    )
    demand((homes.highest <= ADDRESS_LIMIT - np.repeat(high, pools)).all(), "all ends are addresses")
    is_open = homes.lowest <= homes.highest
    demand((~is_open | (homes.lowest % homes.modulus == homes.residue)).all(), "a lowest base is aligned")
    here = np.arange(blocks) * pools + pool
    demand((is_open[here] | (homes.stays != 0)).all(), "who moves is where it may be")
    taken = homes.taken.reshape(-1, 3)
    demand(are_within(taken[:, 0], 0, pools - 1) and are_addresses(taken[:, 1:]), "what is taken is of a pool")
