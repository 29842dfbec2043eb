"""The choices of a problem as numbers: groups of alternatives, their costs, and what is live together if they are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ...model.errors import StopReason

Pick: TypeAlias = tuple[int, int]
"""A group, and one of its alternatives."""
Choice: TypeAlias = tuple[int, ...]
"""An alternative of each group."""


class Load(NamedTuple):
    """The load at one time: a constant part, and one more for each set of picks of which at least one is chosen."""

    always: int
    if_any: tuple[tuple[int, tuple[Pick, ...]], ...]

    def of(self, choice: Sequence[int]) -> int:
        """The load under this choice."""
        return self.always + sum(size for size, picks in self.if_any if any(choice[g] == a for g, a in picks))


class Cut(NamedTuple):
    """Proven: with these picks the load counts as at least this much, because they cannot be placed in less; None: they cannot be chosen together."""

    picks: tuple[Pick, ...]
    least: int | None

    def holds_for(self, choice: Sequence[int]) -> bool:
        return all(choice[g] == a for g, a in self.picks)

    def forbids(self, choice: Sequence[int], most_load: int | None) -> bool:
        """True if the cut shows that the choice needs more than this load."""
        is_too_much = self.least is None or (most_load is not None and self.least > most_load)
        return is_too_much and self.holds_for(choice)


class Share(NamedTuple):
    """Bytes of one block, in one of these memories, that are live if at least one of the picks is chosen; always if there are no picks."""

    size: int
    block: int
    picks: tuple[Pick, ...]
    pools: tuple[int, ...]


class Taken(NamedTuple):
    """The addresses of a memory that are no room for what is to be placed."""

    reserved: tuple[tuple[int, int], ...] = ()
    """Sorted and disjoint ranges in which nothing lies."""
    pinned: tuple[tuple[int, Pick | None, int], ...] = ()
    """Up to where the memory is filled in any case: the ends of pinned blocks, each there with a pick, or always, and the block."""

    def free(self, top: int) -> int:
        """The bytes below this address that are not reserved."""
        return top - sum(min(end, top) - start for start, end in self.reserved if start < top)

    def top(self, load: int) -> int:
        """The least address with this many such bytes below it."""
        top = load
        for start, end in self.reserved:
            if start >= top:
                break
            top += end - start
        return top

    @property
    def most(self) -> int:
        """A memory is filled higher than its load says by no more than this."""
        return max((end for _, end in self.reserved), default=0) + max((end for end, *_ in self.pinned), default=0)


class Tie(NamedTuple):
    """Two blocks that are in one memory, or in different ones, if the pick is chosen; always if there is none."""

    one: int
    other: int
    pick: Pick | None
    is_same: bool


class Bin(NamedTuple):
    """A memory, or the part of it between two reserved ranges: what lies in it lies between `low` and `high` at all times."""

    pool: int
    low: int
    high: int | None

    @property
    def size(self) -> int | None:
        return None if self.high is None else self.high - self.low

    def below(self, top: int | None) -> int | None:
        """How high it is filled where the memory is filled up to `top`; None: to any height."""
        high = top if self.high is None else self.high if top is None else min(top, self.high)
        return None if high is None else max(high - self.low, 0)


@dataclass(frozen=True, slots=True)
class Memories:
    """Several memories, over which what is live together is spread."""

    prices: tuple[int, ...]
    """The price of a byte of each memory's peak."""
    room: tuple[int | None, ...]
    """The bytes each may hold at a time."""
    is_largest: bool
    """Does the largest peak count? Otherwise the sum of the peaks times their prices."""
    live: tuple[tuple[Share, ...], ...]
    """All shares that are live at each time."""
    spare: int
    """A peak may be lower than the sum by this much, since the topmost block need not fill its last unit."""
    taken: tuple[Taken, ...] = ()
    """What is taken in each memory; empty if nothing is in any."""
    ties: tuple[Tie, ...] = ()
    """What relates blocks; bounds leave it out of account."""

    def taken_in(self, pool: int) -> Taken:
        return self.taken[pool] if self.taken else Taken()

    @property
    def most_live(self) -> int:
        """The most bytes that may be live at a time."""
        return max((sum(share.size for share in shares) for shares in self.live), default=0)

    @property
    def greatest(self) -> int:
        """A value that no choice needs to exceed."""
        most = self.most_live
        tops = [most + self.taken_in(p).most for p in range(len(self.prices))]
        if self.is_largest:
            return max(tops)
        return max(sum(top * price for top, price in zip(tops, self.prices, strict=True)), *tops)

    def bins(self) -> tuple[Bin, ...]:
        """The bins of all memories: where nothing is reserved, the memories themselves."""
        found: list[Bin] = []
        for p, room in enumerate(self.room):
            taken = self.taken_in(p)
            top = None if room is None else taken.top(max(room, 0))
            low = 0
            for start, end in taken.reserved:
                high = start if top is None else min(start, top)
                if low < high:
                    found.append(Bin(p, low, high))
                low = end
            if top is None or low < top or not any(each.pool == p for each in found):
                found.append(Bin(p, low, top if top is None else max(top, low)))
        return tuple(found)

    def bins_for(self, share: Share, bins: Sequence[Bin]) -> tuple[int, ...]:
        """The bins in which the share may be: it is not cut in two."""
        pools, least = {*share.pools}, share.size - self.spare
        return tuple(
            b for b, each in enumerate(bins) if each.pool in pools and (each.size is None or least <= each.size)
        )


class Wall(NamedTuple):
    """Addresses that are taken, low to high."""

    low: int
    high: int
    block: int
    pick: Pick | None
    """The pick with which the wall is there; None: always."""


class Beside(NamedTuple):
    """Bytes that lie below or above each wall, if one of the picks is chosen; always if there are no picks."""

    size: int
    block: int
    picks: tuple[Pick, ...]


class Row(NamedTuple):
    """What is live at one time: walls from low to high, and the bytes below, between and above them."""

    walls: tuple[Wall, ...]
    beside: tuple[Beside, ...]


@dataclass(frozen=True, slots=True)
class Choices:
    """The instance: one alternative of each group is to be chosen."""

    costs: tuple[tuple[int, ...], ...]
    """The cost of each alternative of each group."""
    loads: tuple[Load, ...] = ()
    times: tuple[int, ...] = ()
    """The time of each load, ascending."""
    memories: Memories | None = None
    """With several memories their value is minimised, not the greatest load."""
    rows: tuple[Row, ...] = ()
    """What lies beside pinned blocks in one memory; it may reach higher than the loads say."""
    requires: tuple[tuple[Pick, Pick], ...] = ()
    forbids: tuple[tuple[Pick, Pick], ...] = ()

    def cost(self, choice: Sequence[int]) -> int:
        return sum(of_group[a] for of_group, a in zip(self.costs, choice, strict=True))

    @property
    def least_cost(self) -> int:
        """No choice costs less: the rules are left out of account."""
        return sum(map(min, self.costs))

    def load(self, choice: Sequence[int]) -> int:
        """The most that is live at a time."""
        return max((load.of(choice) for load in self.loads), default=0)

    def has(self, choice: Sequence[object]) -> bool:
        """True if this is a choice that the rules allow."""
        known = len(choice) == len(self.costs) and all(
            type(a) is int and 0 <= a < len(of_group) for a, of_group in zip(choice, self.costs, strict=True)
        )
        return known and self.keeps_rules([a for a in choice if isinstance(a, int)])

    def keeps_rules(self, choice: Sequence[int]) -> bool:
        needed = all(choice[g] != a or choice[h] == b for (g, a), (h, b) in self.requires)
        return needed and not any(choice[g] == a and choice[h] == b for (g, a), (h, b) in self.forbids)


@dataclass(frozen=True, slots=True)
class Question:
    """A question about all choices within the limits: the cheapest one, or the one with the least load."""

    for_cost: bool
    most_load: int | None = None
    most_cost: int | None = None
    fixed: Choice | None = None
    """The only one to search."""
    near: Choice | None = None
    """A choice to begin with."""
    caps: tuple[tuple[int, int], ...] = ()
    """(number of a load, greatest value it may have)."""
    cuts: tuple[Cut, ...] = ()
    left_aside: tuple[Choice, ...] = ()
    """Choices that are excluded from the answer."""


class Answer(NamedTuple):
    """The best choice found, and a bound on all choices."""

    choice: Choice | None
    bound: int | None
    """No choice within the question is better; None: there is no such choice, or nothing is known."""
    stopped: StopReason | None
    """Why the search ended early."""
    work: int = 0

    @property
    def is_impossible(self) -> bool:
        return self.choice is None and self.bound is None and self.stopped is None
