"""What there is to choose, in numbers: groups of alternatives, what each costs, and what is live together if it is chosen."""

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
    """What is live at one time: always so much, and so much more for each set of picks of which one at least is chosen."""

    always: int
    if_any: tuple[tuple[int, tuple[Pick, ...]], ...]

    def of(self, choice: Sequence[int]) -> int:
        """What the choice makes of it."""
        return self.always + sum(size for size, picks in self.if_any if any(choice[g] == a for g, a in picks))


class Cut(NamedTuple):
    """Proven: with these picks the load counts as so much at least, because they cannot be placed in less. None: they are not chosen together."""

    picks: tuple[Pick, ...]
    least: int | None

    def holds_for(self, choice: Sequence[int]) -> bool:
        return all(choice[g] == a for g, a in self.picks)

    def forbids(self, choice: Sequence[int], most_load: int | None) -> bool:
        """True if the choice has no such load."""
        is_too_much = self.least is None or (most_load is not None and self.least > most_load)
        return is_too_much and self.holds_for(choice)


class Share(NamedTuple):
    """So many bytes of one block, in one of these memories, where one of the picks at least is chosen. No picks: in any case."""

    size: int
    block: int
    picks: tuple[Pick, ...]
    pools: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Memories:
    """Several memories: what is live together is spread over them."""

    prices: tuple[int, ...]
    """What a byte of each one's peak costs."""
    room: tuple[int | None, ...]
    """How many bytes there may be at most at a time."""
    is_largest: bool
    """Is it the largest peak that counts? Else their sum, each times its price."""
    live: tuple[tuple[Share, ...], ...]
    """All that is there at each time."""
    spare: int
    """By so much less than the sum may one peak be: the topmost block takes no whole unit."""


class Wall(NamedTuple):
    """Addresses that are taken, low to high."""

    low: int
    high: int
    block: int
    pick: Pick | None
    """If this is chosen. None: in any case."""


class Beside(NamedTuple):
    """Bytes that lie below or above each wall, where one of the picks is chosen. No picks: in any case."""

    size: int
    block: int
    picks: tuple[Pick, ...]


class Row(NamedTuple):
    """All that is there at one time: walls from low to high, and what lies between, below and above them."""

    walls: tuple[Wall, ...]
    beside: tuple[Beside, ...]


@dataclass(frozen=True, slots=True)
class Choices:
    """One alternative is chosen of each group."""

    costs: tuple[tuple[int, ...], ...]
    """By group and alternative."""
    loads: tuple[Load, ...] = ()
    times: tuple[int, ...] = ()
    """When each load is, in ascending order."""
    memories: Memories | None = None
    """Where there are several, what is minimised is their value and not the greatest load."""
    rows: tuple[Row, ...] = ()
    """What lies beside pinned blocks, in one memory: it reaches higher than the loads say."""
    requires: tuple[tuple[Pick, Pick], ...] = ()
    forbids: tuple[tuple[Pick, Pick], ...] = ()

    def cost(self, choice: Sequence[int]) -> int:
        return sum(of_group[a] for of_group, a in zip(self.costs, choice, strict=True))

    def load(self, choice: Sequence[int]) -> int:
        """The most that is live at a time."""
        return max((load.of(choice) for load in self.loads), default=0)

    def has(self, choice: Sequence[object]) -> bool:
        """True if it is a choice, and the rules allow it."""
        known = len(choice) == len(self.costs) and all(
            type(a) is int and 0 <= a < len(of_group) for a, of_group in zip(choice, self.costs, strict=True)
        )
        return known and self.keeps_rules([a for a in choice if isinstance(a, int)])

    def keeps_rules(self, choice: Sequence[int]) -> bool:
        needed = all(choice[g] != a or choice[h] == b for (g, a), (h, b) in self.requires)
        return needed and not any(choice[g] == a and choice[h] == b for (g, a), (h, b) in self.forbids)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of all choices that keep the limits: the cheapest, or the one of the least load."""

    for_cost: bool
    most_load: int | None = None
    most_cost: int | None = None
    fixed: Choice | None = None
    """Only this one is asked about."""
    near: Choice | None = None
    """A choice to begin with."""
    caps: tuple[tuple[int, int], ...] = ()
    """What some of the loads (by their place in the list) may be at most."""
    cuts: tuple[Cut, ...] = ()
    left_aside: tuple[Choice, ...] = ()
    """Choices that are not asked for again."""


class Answer(NamedTuple):
    """The best choice that was found, and what is proven of all."""

    choice: Choice | None
    bound: int | None
    """No choice that was asked for is better. None: there is none at all, or nothing is known."""
    stopped: StopReason | None
    """Why the search ended before all was known."""
    work: int = 0

    @property
    def is_impossible(self) -> bool:
        return self.choice is None and self.bound is None and self.stopped is None
