"""Refutations of problems with several memories or alternatives: by cases, each closed by a sum if possible, otherwise divided, at last by memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations

from ...model.problem import Problem
from ..proofs.blocks import Blocks
from ..proofs.cases import Case, Claim, TooLoose
from ..proofs.state import State
from .cliques import busy_cliques
from .one_memory import in_one_step, refuted
from .search import Ending

MOST_DEPTH = 200
"""The most groups and units decided one after the other."""
MOST_MOMENTS = 32
"""The number of busy times that are weighed."""
MOST_SETS = 64
"""The number of sets of memories that are weighed."""
MOST_PRICES = 8
"""The number of prices for each set of memories."""


def refuted_case_by_case(problem: Problem, claim: Claim, stopped: Callable[[], bool]) -> Iterable[str] | Ending:
    """Return lines that rule out all plans in the claim, or how the search for them ended."""
    try:
        root = Case(problem, claim)
        return () if root.is_out else Parts(list(_Finder(stopped).refute(root)))
    except _Ended as ended:
        return ended.how
    except TooLoose:
        return Ending.TOO_LARGE


class _Ended(Exception):
    def __init__(self, how: Ending) -> None:
        self.how = how


@dataclass(frozen=True, slots=True)
class Parts:
    """Lines in sequence; parts that several cases share are kept once."""

    parts: list[Iterable[str]]

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(self.parts)


class _Finder:
    """Goes through the cases, depth first."""

    def __init__(self, stopped: Callable[[], bool]) -> None:
        self._stopped = stopped
        self._found: dict[tuple[object, ...], Iterable[str] | None] = {}
        """Results for one memory, by its contents: cases have much in common."""

    def refute(self, case: Case, depth: int = 0) -> Iterator[Iterable[str]]:
        """Yield batches of the case's lines. Raises _Ended."""
        self._poll()
        if depth > MOST_DEPTH:
            raise _Ended(Ending.TOO_LARGE)
        found = self._weighed(case) or self._summed(case)
        if found is not None:
            yield found
            return
        if not case.is_divided and None in case.choice:
            group = case.choice.index(None)
            yield (f"a {group}",)
            cases: Iterable[Case] = case.alternatives(group)
        else:
            unit = self._next(case)
            if unit is None:
                yield from self._searched(case)
                return
            yield (f"m {unit}",)
            cases = case.memories(unit)
        for each in cases:
            yield from self.refute(each, depth + 1)

    def _poll(self) -> None:
        if self._stopped():
            raise _Ended(Ending.STOPPED)

    def _next(self, case: Case) -> int | None:
        """Return the unit to decide next: the largest of those with the fewest memories."""
        sizes: dict[int, int] = {}
        for buffer, unit in zip(case.known.buffers, case.unit_of, strict=True):
            if len(case.homes[unit]) > 1:
                sizes[unit] = sizes.get(unit, 0) + buffer.size
        return min(sizes, key=lambda unit: (len(case.homes[unit]), -sizes[unit], unit), default=None)

    def _weighed(self, case: Case) -> list[str] | None:
        """Return the line for a moment at which more is live than fits or than the cost allows."""
        weights = list(_weights(case))
        for named in (None, *busy_cliques(case.blocks, MOST_MOMENTS)):
            for value, rooms in weights:
                self._poll()
                if case.is_outweighed(() if named is None else named.buffers, value, rooms):
                    line = [] if named is None else [named.line]
                    return [*line, " ".join(map(str, ("w", value, *rooms)))]
        return None

    def _summed(self, case: Case) -> list[str] | None:
        """Return the lines for each memory's busiest time, if all together exceed the claim."""
        here, lines = case.copy(), list[str]()
        for p in range(len(case.pools)):
            self._poll()
            problem = case.within(p)
            if not problem.buffers:
                continue
            height = case.claim.value if len(case.pools) == 1 else _most_live(problem) - 1
            if height >= 0:
                blocks = Blocks(problem, height)
                short = in_one_step(blocks, State(blocks))
                if short is not None:
                    here.heights[p] = max(here.heights[p], height)
                    lines += [f"p {p} {height}", *short]
                    if here.is_closed():
                        return lines
        return None

    def _searched(self, case: Case) -> Iterator[Iterable[str]]:
        """Every unit's memory is known: bound each memory's height until the sum exceeds the claim."""
        here = case.copy()
        for p in range(len(case.pools)):
            problem = case.within(p)
            if not problem.buffers:
                continue
            low, high = -1, _wanted(here, p)
            lines: Iterable[str] | None = None
            height = high
            while low < height:
                found = self._of_one(problem, p, height)
                if found is None:
                    high = height - 1
                else:
                    low, lines = height, found
                height = (low + high + 1) // 2
            if lines is not None:
                here.heights[p] = low
                yield (f"p {p} {low}",)
                yield lines
                if here.is_closed():
                    return
        raise _Ended(Ending.FOUND)

    def _of_one(self, problem: Problem, pool: int, height: int) -> Iterable[str] | None:
        """Return lines that show that nothing in this memory ends so low; None if it can. Raises _Ended."""
        key = (problem.buffers, problem.constraints, pool, height)
        if key not in self._found:
            found = refuted(Blocks(problem, height), self._stopped)
            if isinstance(found, Ending) and found is not Ending.FOUND:
                raise _Ended(found)
            self._found[key] = None if isinstance(found, Ending) else found
        return self._found[key]


def _wanted(case: Case, pool: int) -> int:
    """Return the least height of this memory that would close the case now."""
    most = case.size(pool)
    if case.is_largest or len(case.pools) == 1:
        return min(most, case.claim.value)
    price = case.prices[pool]
    if not price:
        return most
    others = sum(
        cost * (height + 1) for p, (cost, height) in enumerate(zip(case.prices, case.heights, strict=True)) if p != pool
    )
    return min(most, max((case.claim.value - others - case.least_choice()) // price, 0))


def _weights(case: Case) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield weights of the value and each memory's room: sets of full memories, and limits of price."""
    count = len(case.pools)
    if not case.is_largest:
        yield 1, (0,) * count
    sets = chain.from_iterable(combinations(range(count), size) for size in range(1, count + 1))
    for chosen, _ in zip(sets, range(MOST_SETS), strict=False):
        yield 0, tuple(int(p in chosen) for p in range(count))
        if case.is_largest:
            continue
        for price in sorted(set(case.prices))[:MOST_PRICES]:
            rooms = tuple(max(price - case.prices[p], 0) if p in chosen else 0 for p in range(count))
            if any(rooms):
                yield 1, rooms


def _most_live(problem: Problem) -> int:
    """Return the bytes at the busiest time, or of the largest buffer."""
    blocks = Blocks(problem, 0)
    cliques = ([*map(blocks.size.__getitem__, named.buffers)] for named in busy_cliques(blocks, 1))
    return max([*map(sum, cliques), *blocks.size])
