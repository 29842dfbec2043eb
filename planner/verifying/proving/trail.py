"""What a search for a refutation has found so far, why, and by which steps: a failed branch keeps the steps on which it rests."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from .refutation import Facts, Refutation


class Fact(NamedTuple):
    """One block's least start, or place, and the reason."""

    step: int
    """The number of the step that found it."""
    buffer: int
    """The buffer to name in that step, if it names several."""
    rests_on: Facts


class Step(NamedTuple):
    """A line of the proof; its facts know what they rest on."""

    line: str
    names: bool = False
    """True if the names of its buffers are still to be added."""
    is_choice: bool = False
    """True if it has no line of its own, being one of a branch's two sides."""
    speaks_of: frozenset[int] = frozenset()
    """Blocks that its rule examines."""


class Trail:
    """Facts in the order of discovery; those of a side are dropped with it, the steps stay."""

    def __init__(self) -> None:
        self._facts: list[Fact] = []
        self._steps: list[Step] = []
        self.latest: dict[int, int] = {}
        """By block: the latest fact about it, if any."""

    def __len__(self) -> int:
        return len(self._facts)

    def of(self, *blocks: int) -> Facts:
        """Return what is known about these blocks."""
        latest = self.latest
        return frozenset(latest[block] for block in blocks if block in latest)

    def step(
        self, line: str, *, names: bool = False, is_choice: bool = False, speaks_of: frozenset[int] = frozenset()
    ) -> int:
        """Add a step; return its number."""
        self._steps.append(Step(line, names, is_choice, speaks_of))
        return len(self._steps) - 1

    def note(self, block: int, step: int, buffer: int, rests_on: Facts) -> None:
        """Add a fact about a block."""
        self.latest[block] = len(self._facts)
        self._facts.append(Fact(step, buffer, rests_on))

    def back(self, begin: int, known: dict[int, int]) -> None:
        """Drop the facts from `begin` on; `known` has the latest earlier fact, or -1, for each block concerned."""
        del self._facts[begin:]
        for block, fact in known.items():
            if fact < 0:
                self.latest.pop(block, None)
            else:
                self.latest[block] = fact

    def trimmed(self, closed: Refutation, begin: int, choice: int) -> tuple[Refutation, bool]:
        """Return the refutation preceded by the steps of this side that it needs; and whether it needs the choice that the side is."""
        needed = set(closed.rests_on)
        kept: dict[int, list[int]] = {}
        for number in range(len(self._facts) - 1, begin - 1, -1):
            if number in needed:
                needed.discard(number)
                fact = self._facts[number]
                needed |= fact.rests_on
                kept.setdefault(fact.step, []).append(fact.buffer)
        lines = []
        speaks_of = set(closed.speaks_of)
        for step in sorted(kept):
            speaks_of |= self._steps[step].speaks_of
            if not self._steps[step].is_choice:
                named = kept[step][::-1] if self._steps[step].names else []
                lines.append(" ".join((self._steps[step].line, *map(str, named))))
        whole = replace(closed, lines=lines + closed.lines, rests_on=frozenset(needed), speaks_of=frozenset(speaks_of))
        return whole, choice in kept
