"""Asks for a memory for each block, in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from ....model.errors import SolverFailed, StopReason
from ....sandbox.conversation import Reply
from ..instance import Choice
from ..master import WORK_PER_QUESTION, Asking
from ..questions.wire import NAME
from ..questions.without_addresses import LARGEST
from .state import Homes, Layout, Spot


class Assigned(NamedTuple):
    """A choice with a memory for each block; it may reach a little higher than asked for."""

    choice: Choice
    homes: Homes
    tops: tuple[int | None, ...]
    """How high each memory was to be filled; None: any height."""


@dataclass(frozen=True)
class Wish:
    """What to begin with, and how high the memories may be filled."""

    choice: Choice
    value: int
    """What the peaks may be worth; the choice decides what that is for each memory, unless `tops` says it."""
    homes: Homes = field(default_factory=dict)
    """Memories to begin with; none: a choice for bytes that may be anywhere."""
    tops: tuple[int | None, ...] = ()
    caps: Mapping[Spot, int] = field(default_factory=dict)
    """What may be live at some times, where that is less than the memory's top."""
    around: Sequence[int] = ()
    """The numbers of times around which the choice is made anew in any case."""
    enough: int = LARGEST
    """What costs more is tried again for less."""
    aim: Choice = ()
    """The choice for bytes that may be anywhere; by default the one to begin with."""


class Assigning(Asking):
    """Asks about one instance."""

    service = "solvers.choice.alternatives.whole.answering:Whole"

    def assign(self, wishes: Sequence[Wish], left: int | None) -> list[tuple[Assigned | None, StopReason | None]]:
        """For each wish the choice found, and why none was found or the search for it ended early. `left` is the work left for all of them.

        Two are granted side by side if there are workers for it; the answers are the same.
        """
        self.work += WORK_PER_QUESTION * len(wishes)
        share = None if left is None else left // len(wishes)
        replies = self._replies(self._written(wish, share) for wish in wishes)
        return [
            (None, reply.stop or StopReason.SOLVER_FAILED) if reply.fields is None else self._read(reply)
            for reply in replies
        ]

    def _written(self, wish: Wish, left: int | None) -> dict[str, object]:
        return {
            "choice": wish.choice,
            "value": wish.value,
            "homes": sorted(wish.homes.items()),
            "tops": wish.tops,
            "caps": [(time, pool, most) for (time, pool), most in sorted(wish.caps.items())],
            "around": list(wish.around),
            "enough": wish.enough,
            "aim": wish.aim or wish.choice,
            "work": left if self.work_each is None else self.work_each if left is None else min(left, self.work_each),
            "deadline": self._limits.deadline,
            "seed": self._seed,
        }

    def _read(self, reply: Reply) -> tuple[Assigned | None, StopReason | None]:
        """Read an answer. Raises SolverFailed if it cannot be right: what comes from another process is checked before it counts."""
        fields: Mapping[str, Any] = reply.fields or {}
        try:
            found = Assigned(tuple(fields["choice"]), dict(fields["homes"]), tuple(fields["tops"]))
            stopped = None if fields["stopped"] is None else StopReason(fields["stopped"])
            work = fields["work"]
        except (KeyError, TypeError, ValueError) as error:
            raise SolverFailed(NAME, f"its answer is not a choice with memories: {error}") from error
        if type(work) is not int or work < 0:
            raise SolverFailed(NAME, "its answer is not a number")
        if not self.choices.has(found.choice) or not self._are_possible(found.homes):
            raise SolverFailed(
                NAME, "it answered with a choice or memories that there are not, or that the rules forbid"
            )
        self.work += work
        return found, stopped

    def _are_possible(self, homes: Homes) -> bool:
        """True if each block has a bin in which it may be."""
        return all(homes.get(block) in of for block, of in self._layout.pools.items())

    @cached_property
    def _layout(self) -> Layout:
        return Layout(self.choices)
