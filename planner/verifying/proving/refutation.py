"""What a search has refuted, as a tree of lines, and how it is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .cliques import Named

Facts: TypeAlias = frozenset[int]
"""Numbers of facts; a fact is a least start with its reason."""

USE_CLIQUES = ("r", "s")
"""Steps that begin with the number of a clique."""


@dataclass(slots=True)
class Refutation:
    """Lines that close everything below a point: by the last line, or by two branches at the end."""

    lines: list[str]
    """The lines before the branch, or all; cliques and lessons get their numbers when written."""
    rests_on: Facts
    speaks_of: frozenset[int]
    """The blocks that these lines examine: the result concerns these, whatever becomes of others."""
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
    """True if its refutation is no longer part of the proof."""


def lessons_of(refutation: Refutation) -> Iterator[Lesson]:
    """Return the lessons in it, at any depth."""
    todo = [refutation]
    while todo:
        here = todo.pop()
        if here.lesson is not None:
            yield here.lesson
        todo += here.sides


@dataclass(frozen=True, slots=True)
class Script:
    """A refutation as lines, made anew at each iteration: first the cliques in use, then the steps, numbered in order."""

    root: Refutation
    named: Sequence[Named]
    used: Sequence[Lesson]
    settled: Sequence[int]
    """Blocks with only one place from the beginning."""

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
