"""What a search has refuted, as a tree of lines, and how it is written down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .cliques import Named

Facts: TypeAlias = frozenset[int]
"""Numbers of facts: of least starts, each with a reason."""

USE_CLIQUES = ("r", "s")
"""Steps that begin with the number of a clique."""


@dataclass(slots=True)
class Refutation:
    """Lines that close everything below a point, the last of them or two branches at the end."""

    lines: list[str]
    """Those before the branch, or all; the numbers of cliques, and of what is remembered, are given out at the end."""
    rests_on: Facts
    speaks_of: frozenset[int]
    """Blocks that these lines look at: what they show is about them, whatever becomes of others."""
    branch: int | None = None
    sides: tuple[Refutation, ...] = ()
    lesson: Lesson | None = None
    """What is remembered of the branch."""


@dataclass(slots=True, eq=False)
class Lesson:
    """Blocks that cannot all start at these starts or higher."""

    low: dict[int, int]
    is_used: bool = False
    is_lost: bool = False
    """Its refutation is no part of the proof any more."""


def lessons_of(refutation: Refutation) -> Iterator[Lesson]:
    """What is remembered of it, wherever it stands."""
    todo = [refutation]
    while todo:
        here = todo.pop()
        if here.lesson is not None:
            yield here.lesson
        todo += here.sides


@dataclass(frozen=True, slots=True)
class Script:
    """A refutation as lines, made anew each time they are gone through: after those cliques that they use, and everything numbered as it comes."""

    root: Refutation
    named: Sequence[Named]
    used: Sequence[Lesson]
    settled: Sequence[int]
    """Blocks that have but one place from the beginning."""

    def __iter__(self) -> Iterator[str]:
        cliques: dict[str, int] = {}
        for word, first, _ in self._steps():
            if word in USE_CLIQUES:
                cliques.setdefault(first, len(cliques))
        for block in self.settled:
            yield f"f {block}"
        for number in cliques:
            yield self.named[int(number)].line
        for word, first, rest in self._steps():
            here = str(cliques[first]) if word in USE_CLIQUES else first
            yield " ".join((word, here, *rest))

    def _steps(self) -> Iterator[tuple[str, str, list[str]]]:
        numbers: dict[Lesson, int] = {}
        todo: list[Refutation | Lesson] = [self.root]
        while todo:
            here = todo.pop()
            if isinstance(here, Lesson):
                numbers[here] = len(numbers)
                continue
            for line in here.lines:
                word, first, *rest = line.split(" ")
                yield word, str(numbers[self.used[int(first)]]) if word == "u" else first, rest
            if here.branch is not None:
                kept = here.lesson if here.lesson is not None and here.lesson.is_used else None
                yield "b" if kept is None else "k", str(here.branch), []
                todo += [each for each in (kept, *reversed(here.sides)) if each is not None]
