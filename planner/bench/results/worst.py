"""The runs worth a look: far behind the best solver, with a gap that no solver closed, or slow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from .common_ground import problem_of
from .kept_plans import worth
from .records import Record
from .tallies import grouped

EACH = 8
"""The most for each reason."""


class Why(StrEnum):
    """The reason."""

    BEHIND = "far behind the best"
    OPEN = "widest gap of all solvers"
    SLOW = "slowest"


@dataclass(frozen=True, slots=True)
class Worst:
    """A run, and the best one of the same problem."""

    why: Why
    record: Record
    best: Record
    behind: float | None
    """By which share it is worse than the best value; None if undefined."""
    gap: float | None
    """The gap to the best bound that any run proved."""


def worst(records: Iterable[Record], each: int = EACH) -> list[Worst]:
    """Return runs by reason, the worst first; of each problem at most one for each reason."""
    problems = [_Problem(runs) for runs in grouped(records, problem_of).values() if any(map(_is_placed, runs))]
    ranked: dict[Why, tuple[Callable[[_Problem], Record], Callable[[Worst], float | None]]] = {
        Why.BEHIND: (lambda problem: problem.worst, lambda one: one.behind),
        Why.OPEN: (lambda problem: problem.best, lambda one: one.gap),
        Why.SLOW: (lambda problem: problem.slowest, lambda one: one.record.seconds),
    }
    found: list[Worst] = []
    for why, (chosen, size) in ranked.items():
        those = [problem.about(why, chosen(problem)) for problem in problems]
        found += _largest(those, size, each)
    return found


def _largest(those: Iterable[Worst], size: Callable[[Worst], float | None], count: int) -> Iterator[Worst]:
    sized = [(size(one) or 0.0, one) for one in those]
    sized.sort(key=lambda pair: (-pair[0], pair[1].record.instance))
    yield from (one for amount, one in sized[:count] if amount > 0)


class _Problem:
    """The results of one problem's runs with a plan."""

    def __init__(self, runs: Iterable[Record]) -> None:
        runs = list(runs)
        placed = [run for run in runs if _is_placed(run)]
        self.best, self.worst = min(placed, key=worth), max(placed, key=worth)
        self.slowest = max(placed, key=lambda run: run.seconds or 0.0)
        self._bound = max(run.bound or 0 for run in runs)

    def about(self, why: Why, record: Record) -> Worst:
        return Worst(why, record, self.best, _over(record.value, self.best.value), _over(record.value, self._bound))


def _is_placed(run: Record) -> bool:
    return run.value is not None


def _over(value: int | None, least: int | None) -> float | None:
    return value / least - 1 if value is not None and least else None
