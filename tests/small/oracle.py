"""The optimum of small problems, found by trying everything; shares no code with the solvers or the verifier.

In every placement, of each two members of different groups that must not share addresses, one lies above the other.
Given the pools and all these decisions, each group has a least possible start. Taking all least starts at once is best
for every term of the objective, because moving a group down never raises a peak and never makes two that are apart
share addresses. So all assignments of pools are tried, and for each of them all decisions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import NamedTuple

from planner.model.problem import Buffer, BufferId, Pool, Problem
from solvers.model.instance import Term

Value = tuple[int, ...]


class Counted(NamedTuple):
    """What is counted of a placement before terms weigh it."""

    peaks: Sequence[int]
    """The peaks of the problem's pools, in their order."""
    homes: Sequence[tuple[Buffer, Pool]] = ()
    reused: int = 0
    """The sum of the reuse penalties that are due."""
    moved: tuple[int, int] = (0, 0)
    """How many buffers have moved, and how many bytes."""


WORTH: dict[Term, Callable[[Problem, Counted], int]] = {
    Term.SUM_OF_PEAKS: lambda problem, c: sum(p.cost * peak for p, peak in zip(problem.pools, c.peaks, strict=True)),
    Term.LARGEST_PEAK: lambda _, c: max(c.peaks, default=0),
    Term.ACCESS_COST: lambda _, c: sum(use_cost(b, pool) for b, pool in c.homes),
    Term.REUSE_COST: lambda _, c: c.reused,
    Term.SPILLED_BYTES: lambda _, c: sum(b.size * pool.rank for b, pool in c.homes),
    Term.BALANCED: lambda problem, c: worth(problem, c, Term.ACCESS_COST) + _price(problem, c),
    Term.MOVED_BUFFERS: lambda _, c: c.moved[0],
    Term.MOVED_BYTES: lambda _, c: c.moved[1],
    Term.STABILITY: lambda problem, c: worth(problem, c, Term.MOVED_BYTES) + _price(problem, c),
}
"""The quantity that each term sums."""
IN_BYTES = frozenset((Term.SUM_OF_PEAKS, Term.LARGEST_PEAK, Term.SPILLED_BYTES, Term.MOVED_BYTES, Term.STABILITY))
"""The terms that double where all sizes and offsets are doubled."""
MOVES = frozenset((Term.MOVED_BUFFERS, Term.MOVED_BYTES, Term.STABILITY))


def worth(problem: Problem, counted: Counted, term: Term) -> int:
    return WORTH[term](problem, counted)


def _price(problem: Problem, counted: Counted) -> int:
    return problem.peak_price * worth(problem, counted, Term.SUM_OF_PEAKS)


@dataclass(frozen=True)
class Truth:
    """The optimum of a problem; its value is None if nothing fits."""

    value: Value | None
    peaks: tuple[int, ...] | None = None
    """The peaks of one best placement."""
    offsets: dict[BufferId, tuple[str, int]] | None = None

    @property
    def is_feasible(self) -> bool:
        return self.value is not None


def solve(problem: Problem) -> Truth:
    """Return the lexicographically least objective, found by trying everything."""
    return _Oracle(problem).run()


def shares(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Return whether two address ranges have an address in common."""
    return min(a[1], b[1]) > max(a[0], b[0])


@dataclass
class _Rigid:
    """Buffers that colocations tie together, each with its distance from the lowest."""

    members: list[tuple[Buffer, int]]


class _Oracle:
    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.has_read_only = any(pool.read_only for pool in problem.pools)
        """If so, constants lie in such pools, and always, and nothing else does."""
        self.buffers = {b.id: b for b in problem.buffers}
        self.rigid = list(self._rigid_groups())
        self.home = {b.id: g for g, rigid in enumerate(self.rigid) for b, _ in rigid.members}
        self.low = {b.id: low for rigid in self.rigid for b, low in rigid.members}
        self.was = {was.buffer: (was.pool, was.offset) for was in problem.was}
        self.weighs_moves = not MOVES.isdisjoint(problem.terms)
        highest = self._horizon()
        self.starts_alone = [
            [
                [
                    x
                    for x in range(highest + 1)
                    if all(self._may_be_in(b, pool) and _may_start(b, x + low, pool) for b, low in rigid.members)
                ]
                for pool in problem.pools
            ]
            for rigid in self.rigid
        ]
        self.moved = (0, 0)
        """How many buffers have moved, and how many bytes."""
        self.best: Truth = Truth(None)
        c = problem.constraints
        self.excluded = {frozenset(pair) for pair in c.exclusions}
        self.apart = [pair for pair in combinations(problem.buffers, 2) if self._must_not_share(*pair)]
        self.penalties = [(self.buffers[p.first], self.buffers[p.second], p.cost) for p in c.reuse_penalties]

    def _rigid_groups(self) -> Iterator[_Rigid]:
        place: dict[BufferId, tuple[int, int]] = {b.id: (n, 0) for n, b in enumerate(self.problem.buffers)}
        for tie in self.problem.constraints.colocations:
            (mine, my_offset), (base, base_offset) = place[tie.buffer], place[tie.base]
            shift = base_offset + tie.offset - my_offset
            for id_, (number, offset) in list(place.items()):
                if number == mine:
                    place[id_] = (base, offset + shift)
        for number in sorted({n for n, _ in place.values()}):
            members = [(b, place[b.id][1]) for b in self.problem.buffers if place[b.id][0] == number]
            least = min(offset for _, offset in members)
            yield _Rigid([(b, offset - least) for b, offset in members])

    def _horizon(self) -> int:
        """Return an offset at or below which some best placement ends."""
        pools = self.problem.pools
        top = max([0, *(end for pool in pools for _, end in pool.reserved)])
        for buffer in self.problem.buffers:
            if buffer.fixed is not None and buffer.fixed.offset is not None:
                top = max(top, buffer.fixed.offset + buffer.size)
            if buffer.id in self.was and self.weighs_moves:
                top = max(top, self.was[buffer.id][1] + buffer.size)
        step = math.lcm(*(b.alignment for b in self.problem.buffers), *(p.alignment for p in pools))
        return top + sum(max(low + b.size for b, low in rigid.members) + step for rigid in self.rigid)

    def _must_not_share(self, a: Buffer, b: Buffer) -> bool:
        if not a.size or not b.size or self.home[a.id] == self.home[b.id]:
            return False
        pair = {a.id, b.id}
        if any(pair == set(conflict) for conflict in self.problem.constraints.conflicts):
            return True
        together = any(max(s, t) < min(e, f) for s, e in a.live or () for t, f in b.live or ())
        together = together or (self.has_read_only and "constant" == a.kind == b.kind)
        return together and frozenset(pair) not in self.excluded

    def _may_be_in(self, buffer: Buffer, pool: Pool) -> bool:
        return not self.has_read_only or pool.read_only == (buffer.kind == "constant")

    def run(self) -> Truth:
        for choice in product(range(len(self.problem.pools)), repeat=len(self.rigid)):
            starts = self._starts(choice)
            if starts is not None:
                for some, moved in self._staying(choice, starts):
                    self.moved = moved
                    self._decide(choice, some)
        return self.best

    def _staying(
        self, choice: tuple[int, ...], starts: list[list[int]]
    ) -> Iterator[tuple[list[list[int]], tuple[int, int]]]:
        """Yield, for each set of groups that stay where they were, the possible starts, and how much moves.

        A group stays if a member is where an older plan had it. Moving groups down may move those that stay, so this is
        decided first. A group that is not in the set but stays by chance counts as moved; another set has it.
        """
        each: list[list[tuple[list[int], list[Buffer]]]] = []
        for group, mine in enumerate(starts):
            pool = self.problem.pools[choice[group]].name
            older = [(b, low) for b, low in self.rigid[group].members if b.id in self.was]
            old = {self.was[b.id][1] - low for b, low in older if self.was[b.id][0] == pool}
            ways = [(mine, [b for b, _ in older])]
            for start in sorted(old.intersection(mine)) if self.weighs_moves else ():
                ways.append(([start], [b for b, low in older if self.was[b.id] != (pool, start + low)]))
            each.append(ways)
        for some in product(*each):
            moved = [b for _, gone in some for b in gone]
            yield [left for left, _ in some], (len(moved), sum(b.size for b in moved))

    def _starts(self, choice: tuple[int, ...]) -> list[list[int]] | None:
        """Return the offsets that each group could have if alone; None if the choice of pools is not allowed."""
        pool_of = {id_: choice[group] for id_, group in self.home.items()}
        constraints = self.problem.constraints
        if any(len({pool_of[id_] for id_ in group}) > 1 for group in constraints.same_pool):
            return None
        if any(len({pool_of[id_] for id_ in group}) < len(group) for group in constraints.different_pool):
            return None
        starts = [self.starts_alone[g][p] for g, p in enumerate(choice)]
        return starts if all(starts) else None

    def _decide(self, choice: tuple[int, ...], starts: list[list[int]]) -> None:
        """Decide depth first which buffer of each pair lies above; cut branches that cannot beat the best."""
        pairs: list[tuple[Buffer, Buffer, int | None]] = [
            (a, b, None) for a, b in self.apart if choice[self.home[a.id]] == choice[self.home[b.id]]
        ]
        paid = 0
        bound = {frozenset((a.id, b.id)) for a, b in self.apart}
        for a, b, cost in self.penalties:
            g, h = self.home[a.id], self.home[b.id]
            if choice[g] != choice[h] or frozenset((a.id, b.id)) in bound or not a.size or not b.size:
                continue
            if g == h:
                here = self.low[a.id], self.low[a.id] + a.size
                paid += cost if shares(here, (self.low[b.id], self.low[b.id] + b.size)) else 0
            else:
                pairs.append((a, b, cost))
        self._search(choice, starts, pairs, [], [s[0] for s in starts], paid)

    def _search(
        self,
        choice: tuple[int, ...],
        starts: list[list[int]],
        pairs: list[tuple[Buffer, Buffer, int | None]],
        above: list[tuple[int, int, int]],
        place: list[int],
        paid: int,
    ) -> None:
        value = self._value(choice, place, paid)
        if self.best.value is not None and value >= self.best.value:
            return  # deciding more only lifts groups and adds costs
        if not pairs:
            spots = {
                id_: (self.problem.pools[choice[g]].name, place[g] + self.low[id_]) for id_, g in self.home.items()
            }
            self.best = Truth(value, self._peaks(choice, place), spots)
            return
        (a, b, cost), rest = pairs[0], pairs[1:]
        for under, over in ((a, b), (b, a)):
            g, h = self.home[under.id], self.home[over.id]
            distance = self.low[under.id] + under.size - self.low[over.id]
            more = [*above, (g, h, distance)]
            raised = _settle(starts, more, place)
            if raised is not None:
                self._search(choice, starts, rest, more, raised, paid)
        if cost is not None:
            self._search(choice, starts, rest, above, place, paid + cost)

    def _peaks(self, choice: tuple[int, ...], place: list[int]) -> tuple[int, ...]:
        tops = [0] * len(self.problem.pools)
        for rigid, p, start in zip(self.rigid, choice, place, strict=True):
            tops[p] = max(tops[p], *(start + low + b.size for b, low in rigid.members))
        return tuple(tops)

    def _value(self, choice: tuple[int, ...], place: list[int], paid: int) -> Value:
        homes = [(b, self.problem.pools[choice[self.home[b.id]]]) for b in self.problem.buffers]
        counted = Counted(self._peaks(choice, place), homes, paid, self.moved)
        return tuple(worth(self.problem, counted, term) for term in self.problem.terms)


def use_cost(buffer: Buffer, pool: Pool) -> int:
    """Return the cost of a buffer's uses in a pool: whole bursts in whole picoseconds, or uses times rank."""
    if pool.speed is None:
        return (buffer.accesses + buffer.reads + buffer.writes) * pool.rank
    if buffer.size == 0:
        return 0
    s = pool.speed
    moved = math.ceil(Fraction(buffer.size, s.target_burst_bytes)) * s.target_burst_bytes
    read = s.read_latency_cycles + Fraction(moved, s.read_bandwidth_bytes_per_cycle)
    written = s.write_latency_cycles + Fraction(moved, s.write_bandwidth_bytes_per_cycle)
    whole = [math.ceil(cycles / s.clock_frequency_hz * 10**12) for cycles in (read, written)]
    return (buffer.accesses + buffer.reads) * whole[0] + buffer.writes * whole[1]


def _may_start(buffer: Buffer, offset: int, pool: Pool) -> bool:
    """Return whether the buffer keeps its own rules at this offset of the pool."""
    end = offset + buffer.size
    address = (pool.base or 0) + offset
    if buffer.pools is not None and pool.name not in buffer.pools:
        return False
    if buffer.fixed is not None and (pool.name != buffer.fixed.pool or buffer.fixed.offset not in (None, offset)):
        return False
    if buffer.max_offset is not None and offset > buffer.max_offset:
        return False
    if (pool.size is not None and end > pool.size) or address % pool.alignment or address % buffer.alignment:
        return False
    return not any(shares((offset, end), taken) for taken in pool.reserved)


def _settle(starts: list[list[int]], above: list[tuple[int, int, int]], place: list[int]) -> list[int] | None:
    """Return the least starts from `place` on with h at least `distance` above g for all decisions, or None."""
    place = list(place)
    moved = True
    while moved:
        moved = False
        for g, h, distance in above:
            if place[h] < place[g] + distance:
                higher = next((x for x in starts[h] if x >= place[g] + distance), None)
                if higher is None:
                    return None
                place[h] = higher
                moved = True
    return place
