"""What there is to choose, in numbers: groups of alternatives, what each costs, and what is live together if it is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

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


@dataclass(frozen=True, slots=True)
class Choices:
    """One alternative is chosen of each group."""

    costs: tuple[tuple[int, ...], ...]
    """By group and alternative."""
    loads: tuple[Load, ...] = ()
    requires: tuple[tuple[Pick, Pick], ...] = ()
    forbids: tuple[tuple[Pick, Pick], ...] = ()

    def cost(self, choice: Sequence[int]) -> int:
        return sum(of_group[a] for of_group, a in zip(self.costs, choice, strict=True))

    def load(self, choice: Sequence[int]) -> int:
        """The most that is live at a time."""
        return max((load.of(choice) for load in self.loads), default=0)

    def keeps_rules(self, choice: Sequence[int]) -> bool:
        needed = all(choice[g] != a or choice[h] == b for (g, a), (h, b) in self.requires)
        return needed and not any(choice[g] == a and choice[h] == b for (g, a), (h, b) in self.forbids)
