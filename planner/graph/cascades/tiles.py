"""One operator at a time, in tiles that go through small, fast memories: the tiles' sizes, and what moves between the levels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import isqrt, prod
from typing import NamedTuple, TypeAlias

from ...checks.report import Report
from ...checks.values import check_number
from .demand import Flow
from .operators import Operator
from .stripes.cutting import block_along, halves
from .windows import Step, Window
from .work import check_computing

MOST_TILES = 4096
"""The most tiles of an operator that are examined."""
MOST_TILINGS = 1000
"""The most tilings of an operator."""
MOST_TILINGS_IN_ALL = 30_000


@dataclass(frozen=True, slots=True)
class Level:
    """A memory into which tiles are fetched from the one before it."""

    pool: str
    bytes_per_cycle: int = 8
    """The bandwidth between the two."""


@dataclass(frozen=True, slots=True)
class TileWork:
    """All tiles of one operator."""

    operator: Operator
    operations: int
    """Multiplications and additions as one, for whole blocks of the hardware."""
    moved: tuple[int, ...]
    """By level, bytes fetched into it and written back; what is already there is not fetched again."""
    tiles: tuple[int, ...]
    """By level, the number of tiles."""
    doubled: tuple[bool, ...]
    """By level: do bytes of the next tile move during the work on this one?"""


Extents: TypeAlias = tuple[int, ...]
TileCycles: TypeAlias = Callable[[TileWork], int]
"""The cost of the work in cycles."""


@dataclass(frozen=True, slots=True)
class TileRates:
    """A simple machine: with doubled tiles it computes and moves at once, and waits only for the first and the last."""

    bytes_per_cycle: tuple[int, ...]
    """By level."""
    operations_per_cycle: int = 256
    cycles_per_run: int = 0
    """The overhead of each of the smallest tiles."""

    def __call__(self, work: TileWork) -> int:
        taken = -(-work.operations // self.operations_per_cycle) + work.tiles[-1] * self.cycles_per_run
        for level in reversed(range(len(work.moved))):
            moving = -(-work.moved[level] // self.bytes_per_cycle[level])
            exposed = -(-moving // work.tiles[level])
            taken = max(taken, moving) + exposed if work.doubled[level] else taken + moving
        return taken

    def require_sound(self) -> None:
        """Raise BadInput unless the machine works and moves bytes at all."""
        report = Report()
        for k, rate in enumerate(self.bytes_per_cycle):
            check_number(report, ("tiles", "levels", k, "bytes_per_cycle"), rate, 1)
        check_computing(report, self.operations_per_cycle, self.cycles_per_run)
        report.raise_if_any()


class Fetched(NamedTuple):
    """A buffer of a level."""

    level: int
    operand: int
    """The operator's inputs come first, then its weights, then its output."""
    tensor: int | None
    """None: weights."""
    size: int
    copies: int
    """2: one is in use while the other is filled or emptied."""


class Tiling(NamedTuple):
    """How an operator is cut for each level, what that needs there, and what it costs."""

    extents: tuple[tuple[int, ...], ...]
    """By level, the extents of a tile of the output."""
    channels_first: tuple[bool, ...]
    """By level: all channels of a place in turn, or all places of some channels."""
    doubled: tuple[bool, ...]
    fetched: tuple[Fetched, ...]
    taken: tuple[int, ...]
    """In bytes, by level."""
    cycles: int


def tilings(
    flow: Flow, at: int, levels: int, blocks: Sequence[int], cycles: TileCycles, most: int = MOST_TILINGS
) -> list[Tiling]:
    """Return the Pareto-optimal ways to cut an operator, in each level's memory and cycles; the fastest first.

    About `most` are examined.
    """
    whole = tuple(max(high - low, 1) for low, high in flow.demand[flow.steps[at].output])
    cutter = _Cutter(flow, flow.steps[at], blocks, cycles)
    found: list[Tiling] = []
    for extents in _nested(whole, levels, blocks, most, MOST_TILES):
        found += cutter.tilings(extents)
    return _best(found)


def _nested(whole: Extents, levels: int, blocks: Sequence[int], most: int, tiles: int) -> Iterator[tuple[Extents, ...]]:
    """Yield extents of the tiles of each level, each level's within those of the one before.

    The smallest are cut along all axes, the others along one.
    """
    if levels == 0:
        yield ()
        return
    rank = len(whole)
    sizes = [[extent, *halves(extent, block_along(axis, rank, blocks))] for axis, extent in enumerate(whole)]
    cut: list[Extents]
    if levels == 1:
        cut = list(product(*_thinned(sizes, most)))
    else:
        cut = [whole, *((*whole[:a], each, *whole[a + 1 :]) for a in range(rank) for each in sizes[a][1:])]
        cut = cut[:: -(-len(cut) // isqrt(most))]
    for extents in cut:
        count = prod(-(-a // b) for a, b in zip(whole, extents, strict=True))
        if count <= tiles:
            for rest in _nested(extents, levels - 1, blocks, max(most // len(cut), 1), tiles // count):
                yield (extents, *rest)


def _thinned(sizes: list[list[int]], most: int) -> list[list[int]]:
    """Return fewer sizes, to limit their combinations; the largest and the smallest stay as long as possible."""
    sizes = list(sizes)
    while prod(map(len, sizes)) > most:
        longest = max(range(len(sizes)), key=lambda axis: len(sizes[axis]))
        first, *others = sizes[longest]
        sizes[longest] = [first, *others[::-1][::2][::-1]] if len(others) > 1 else [first]
    return sizes


def _best(found: Sequence[Tiling]) -> list[Tiling]:
    kept: list[Tiling] = []
    for each in sorted(found, key=lambda tiling: (tiling.cycles, tiling.taken)):
        if not any(all(a <= b for a, b in zip(other.taken, each.taken, strict=True)) for other in kept):
            kept.append(each)
    return kept


class _Along(NamedTuple):
    """Tiles along one axis."""

    number: int
    total: int
    """The elements of all of them together."""
    largest: int
    in_blocks: int
    """The elements of all together, with whole blocks of the hardware computed."""


class _Cutter:
    """Cuts one operator. Tiles are counted along each axis separately; totals are products."""

    def __init__(self, flow: Flow, step: Step, blocks: Sequence[int], cycles: TileCycles) -> None:
        self._network, self._step, self._blocks, self._cycles = flow.network, step, blocks, cycles
        self._demand = flow.demand[step.output]
        self._rank = len(self._demand)
        self._channel_bytes = -(-step.weights // flow.network.tensors[step.output].shape[-1])
        self._along = cache(self._measured)

    def tilings(self, extents: tuple[Extents, ...]) -> Iterator[Tiling]:
        """Yield the tilings with and without doubled tiles."""
        levels, axes = range(len(extents)), range(self._rank)
        tiles = tuple(prod(self._of(extents, axis, level).number for axis in axes) for level in levels)
        operations = prod(self._of(extents, axis, levels[-1]).in_blocks for axis in axes) * self._step.effort
        orders, moved = self._moved(extents)
        pieces = [piece for level in levels for piece in self._pieces(extents, level)]
        for doubled in product((False, True), repeat=len(extents)):
            if any(twice and count == 1 for twice, count in zip(doubled, tiles, strict=True)):
                continue
            fetched = tuple(
                piece if piece.copies < 2 or doubled[piece.level] else piece._replace(copies=1) for piece in pieces
            )
            taken = [0] * len(extents)
            for each in fetched:
                taken[each.level] += each.size * each.copies
            work = TileWork(self._step.operator, operations, moved, tiles, doubled)
            yield Tiling(extents, orders, doubled, fetched, tuple(taken), self._cycles(work))

    def _measured(self, axis: int, chain: tuple[int, ...], window: Window | None) -> _Along:
        """Return the tiles along an axis of the output, cut once for each extent, or what they need through a window of an input."""
        ends = [self._demand[axis]]
        for extent in chain:
            ends = [(a, min(a + extent, high)) for low, high in ends for a in range(low, max(high, low + 1), extent)]
        block = block_along(axis, self._rank, self._blocks)
        if window is not None:
            ends = [(window.first(a), max(window.end(b), window.first(a))) for a, b in ends]
        sizes = [max(b - a, 0) for a, b in ends]
        return _Along(len(sizes), sum(sizes), max(sizes), sum(-(-size // block) * block for size in sizes))

    def _of(self, extents: tuple[Extents, ...], axis: int, level: int, window: Window | None = None) -> _Along:
        return self._along(axis, tuple(each[axis] for each in extents[: level + 1]), window)

    def _pieces(self, extents: tuple[Extents, ...], level: int) -> Iterator[Fetched]:
        """Return what is in a level at a time with doubled tiles: two of everything that differs between tiles."""
        network, step = self._network, self._step
        for k, (windows, each) in enumerate(zip(step.windows, step.inputs, strict=True)):
            need = [self._of(extents, w.axis, level, w).largest if w.stride else w.extent for w in windows.axes]
            size = network.bytes(tuple(need), network.tensors[each].element_bits)
            yield Fetched(
                level, k, each, size, self._copies(extents, level, [w.axis for w in windows.axes if w.stride])
            )
        if self._channel_bytes:
            size = self._of(extents, self._rank - 1, level).largest * self._channel_bytes
            yield Fetched(level, len(step.inputs), None, size, self._copies(extents, level, [self._rank - 1]))
        made = tuple(self._of(extents, axis, level).largest for axis in range(self._rank))
        size = network.bytes(made, network.tensors[step.output].element_bits)
        yield Fetched(level, len(step.inputs) + 1, step.output, size, self._copies(extents, level, range(self._rank)))

    def _copies(self, extents: tuple[Extents, ...], level: int, axes: Iterable[int]) -> int:
        return 2 if any(self._of(extents, axis, level).number > 1 for axis in axes) else 1

    def _moved(self, extents: tuple[Extents, ...]) -> tuple[tuple[bool, ...], tuple[int, ...]]:
        """Return, by level, the better order of the tiles, and the bytes that move."""
        loops: list[tuple[int, int]] = []
        orders, moved = [], []
        places = range(self._rank - 1)
        for level in range(len(extents)):
            channels_first = [*loops, *((axis, level) for axis in places), (self._rank - 1, level)]
            places_first = [*loops, (self._rank - 1, level), *((axis, level) for axis in places)]
            one, other = self._bytes_in(extents, channels_first), self._bytes_in(extents, places_first)
            loops = channels_first if one <= other else places_first
            orders.append(one <= other)
            moved.append(min(one, other))
        return tuple(orders), tuple(moved)

    def _bytes_in(self, extents: tuple[Extents, ...], loops: Sequence[tuple[int, int]]) -> int:
        """Return the bytes that move into the last level and out of it, in loops over tiles, the outermost first."""
        tensors, step, level = self._network.tensors, self._step, loops[-1][1]
        bits = prod(high - low for low, high in self._demand) * tensors[step.output].element_bits
        for windows, each in zip(step.windows, step.inputs, strict=True):
            elements = prod(self._of(extents, w.axis, level, w).total if w.stride else w.extent for w in windows.axes)
            times = self._times(extents, loops, {w.axis for w in windows.axes if w.stride})
            bits += elements * times * tensors[each].element_bits
        weights = self._of(extents, self._rank - 1, level).total * self._channel_bytes
        return -(-bits // 8) + weights * self._times(extents, loops, {self._rank - 1})

    def _times(self, extents: tuple[Extents, ...], loops: Sequence[tuple[int, int]], axes: Set[int]) -> int:
        """Return how often what depends on these axes is fetched: again in each turn of a loop over another axis around the last that matters.

        This is an upper bound: with tiles cut short, a loop over smaller ones may have one turn.
        """
        turning = [
            (axis, level)
            for axis, level in loops
            if self._of(extents, axis, level).number > (self._of(extents, axis, level - 1).number if level else 1)
        ]
        mattering = [k for k, (axis, _) in enumerate(turning) if axis in axes]
        around = turning[: mattering[-1]] if mattering else []
        deepest = {axis: level for axis, level in around if axis not in axes}
        return prod(self._of(extents, axis, level).number for axis, level in deepest.items())
