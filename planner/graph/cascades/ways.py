"""All groups that are worth a thought: for each run of operators the stripes of which none is better in memory and cycles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from .demand import Flow
from .group import Group, Mode, Stripes
from .recomputed import recomputed, stripes_in, whole
from .rolling import rolling
from .work import Cycles

MOST_STRIPES = 1024
"""Of a group; more are not looked at."""
MOST_EFFORT = 40_000
"""Of looking at operators in stripes: groups become no longer than so much allows."""
LONGEST = 32
"""Operators of a group."""


@dataclass(frozen=True, slots=True)
class Cutting:
    """Which stripes are looked at."""

    modes: tuple[Mode, ...] = tuple(Mode)
    axes: tuple[int, ...] | None = None
    """Of an output, counted from the end if negative; None: all but its channels."""
    most_axes: int = 2
    """Along so many axes at once stripes are cut that are computed again; those that roll, along one."""
    blocks: tuple[int, ...] = ()
    """What the hardware makes at once, along the last axes of an output: stripes are multiples of it."""
    longest: int = LONGEST
    """Operators of a group; fewer where looking at so many would take too long."""


class Ways:
    """The groups, by first and last operator."""

    def __init__(self, flow: Flow, cutting: Cutting, cycles: Cycles) -> None:
        self._flow, self._cutting, self._cycles = flow, cutting, cycles
        cuts = [list(self._cuts(last)) for last in range(len(flow.steps))]
        self.longest = self._affordable(cuts)
        self.is_cut_short = self.longest < min(cutting.longest, len(cuts))
        self.groups: dict[tuple[int, int], list[Group]] = {}
        for last, ways in enumerate(cuts):
            self._note([whole(flow, last, cutting.blocks, cycles)])
            for stripes in ways if self.longest > 1 else ():
                self._note(self._made(last, stripes))
        self.groups = {span: best(groups) for span, groups in self.groups.items()}

    def _made(self, last: int, stripes: Stripes) -> Iterator[Group]:
        least_first = max(last - self.longest + 1, 0)
        blocks = self._cutting.blocks
        if stripes.mode is Mode.ROLLING:
            return rolling(self._flow, last, stripes, least_first, blocks, self._cycles)
        return recomputed(self._flow, last, stripes.extents, least_first, blocks, self._cycles)

    def _note(self, groups: Iterable[Group]) -> None:
        for group in groups:
            if group.stripes is None or group.first < group.last:
                self.groups.setdefault((group.first, group.last), []).append(group)

    def _affordable(self, cuts: Sequence[Sequence[Stripes]]) -> int:
        """How long groups may be."""
        efforts = [sum(self._effort(last, stripes) for stripes in ways) for last, ways in enumerate(cuts)]
        spent, longest = 0, 1
        while longest < min(self._cutting.longest, len(cuts)):
            spent += sum(efforts[longest:])
            if spent > MOST_EFFORT:
                break
            longest += 1
        return longest

    def _effort(self, last: int, stripes: Stripes) -> int:
        """Of one operator in such stripes: those that roll are gone through one by one."""
        count = stripes_in(self._flow.demand[self._flow.steps[last].output], stripes.extents)
        return 1 + count // (16 if stripes.mode is Mode.ROLLING else 256)

    def _cuts(self, last: int) -> Iterator[Stripes]:
        """The ways to cut the output of an operator."""
        demand = self._flow.demand[self._flow.steps[last].output]
        whole_extents = tuple(max(high - low, 1) for low, high in demand)
        rank = len(demand)
        wanted = range(rank - 1) if self._cutting.axes is None else (a for a in self._cutting.axes if -rank <= a < rank)
        axes = sorted({axis % rank for axis in wanted})
        sizes = {axis: halves(whole_extents[axis], block_along(axis, rank, self._cutting.blocks)) for axis in axes}
        if Mode.RECOMPUTE in self._cutting.modes:
            for some in product(*([None, *sizes[axis]] for axis in axes)):
                cut = {axis: size for axis, size in zip(axes, some, strict=True) if size is not None}
                extents = tuple(cut.get(axis, extent) for axis, extent in enumerate(whole_extents))
                if 1 <= len(cut) <= self._cutting.most_axes and stripes_in(demand, extents) <= MOST_STRIPES:
                    yield Stripes(Mode.RECOMPUTE, extents)
        if Mode.ROLLING in self._cutting.modes:
            for axis in axes:
                for size in sizes[axis]:
                    extents = (*whole_extents[:axis], size, *whole_extents[axis + 1 :])
                    if stripes_in(demand, extents) <= MOST_STRIPES:
                        yield Stripes(Mode.ROLLING, extents, axis)


def block_along(axis: int, rank: int, blocks: Sequence[int]) -> int:
    """Of blocks that are said of the last axes, what one axis has."""
    from_end = rank - axis
    return blocks[-from_end] if from_end <= len(blocks) else 1


def halves(extent: int, block: int) -> list[int]:
    """A half, a quarter and so on, down to one block; all of them multiples of it."""
    found: dict[int, None] = {}
    parts = 2
    while parts < 2 * extent:
        in_blocks = -(-extent // (parts * block))
        size = in_blocks * block
        if size < extent:
            found[size] = None
        parts *= 2
    return list(found)


def best(groups: Iterable[Group]) -> list[Group]:
    """Those of which no other is better in one of memory and cycles and no worse in the other; the fastest first."""
    found: list[Group] = []
    for group in sorted(groups, key=lambda each: (each.cycles, each.own)):
        if not found or group.own < found[-1].own:
            found.append(group)
    return found
