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
