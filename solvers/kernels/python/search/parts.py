"""Ranges of cliques that no unplaced block leaves. Each is solved on its own; if one is impossible, so is the part it was cut from."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .states.state import State


@dataclass(frozen=True, slots=True)
class Part:
    """The cliques from `first` to before `last`."""

    first: int
    last: int
    parent: Part | None = None
    height: int = 0
    """Number of open choices when the part was cut off."""
    start: int = 0
    """Number of open choices when the search began on the part."""


@dataclass(frozen=True, slots=True)
class Agenda:
    """A stack of the parts that are still to be solved."""

    part: Part
    rest: Agenda | None


@dataclass(frozen=True, slots=True)
class Parts:
    """The current part, and those still to be solved."""

    at_hand: Part
    agenda: Agenda | None

    @classmethod
    def whole(cls, cliques: int) -> Parts:
        return cls(Part(0, cliques), None)

    def next_part(self, open_choices: int) -> Parts:
        assert self.agenda is not None
        return Parts(replace(self.agenda.part, start=open_choices), self.agenda.rest)

    def back_to(self, part: Part) -> Parts:
        return Parts(part, self.agenda)

    def divided(self, state: State, open_choices: int) -> Parts:
        """Cuts the current part wherever no unplaced block spans two neighbouring cliques; the piece with the least slack comes first."""
        whole = self.at_hand
        state.work += whole.last - whole.first
        pieces: list[tuple[int, int, int]] = []
        first = whole.first
        for last in range(whole.first + 1, whole.last + 1):
            if last < whole.last and state.spanned[last - 1] > 0:
                continue
            slack = min((state.levels[c].slack for c in range(first, last) if state.left[c] > 0), default=None)
            if slack is not None:
                pieces.append((slack, first, last))
            first = last
        if len(pieces) < 2:
            return self
        agenda = self.agenda
        for _, first, last in sorted(pieces, reverse=True):
            agenda = Agenda(Part(first, last, whole, open_choices), agenda)
        return Parts(whole, agenda).next_part(open_choices)
