"""From a network to a problem with variants: in which tiles each operator goes through small memories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...checks.report import Report, bad_input, quoted
from ...facts.names import Names
from ...model.deadline import PREPARING, look
from ...model.errors import Code
from ...model.problem import (
    MAX_ADDRESS,
    Alternative,
    Buffer,
    CostTerm,
    Lifetimes,
    Pool,
    Problem,
    VariantGroup,
    Variants,
)
from .checks import require_sound_cutting, require_sound_network
from .demand import Flow
from .operators import Network
from .problem import CYCLES, labels, whole_buffer
from .stripes.cutting import Cutting
from .tiles import MOST_TILINGS, MOST_TILINGS_IN_ALL, Fetched, Level, TileCycles, TileRates, Tiling, tilings
from .work import in_whole_cycles

MOST_LEVELS = 2
"""The most memories besides the tensors' home through which tiles move."""


@dataclass(frozen=True, slots=True)
class TileOptions:
    """The compiler's decisions."""

    home: str
    """The pool that holds whole tensors."""
    levels: tuple[Level, ...]
    """The memories that tiles go through, beginning next to the home."""
    plan_inputs: bool = True
    """False: the caller provides the network's inputs."""
    plan_outputs: bool = True
    """False: the caller provides the network's outputs."""
    blocks: tuple[int, ...] = ()
    """What the hardware makes at once, along the last axes of an output: tiles are multiples of it."""
    cycles: TileCycles | None = None
    """None: TileRates, at the speed of the levels."""


@dataclass(frozen=True, slots=True)
class TileProblem:
    """The problem, and the meaning of its alternatives."""

    problem: Problem
    tilings: Mapping[tuple[str, str], Tiling]
    """By the names of a group (an operator) and an alternative."""


def tile_problem(network: Network, pools: Sequence[Pool], options: TileOptions) -> TileProblem:
    """Return the problem of placing the network's tensors and each operator's tiles; its variants tell how large the tiles are.

    Raises BadInput for a network that is wrong in itself.
    """
    require_sound_network(network)
    require_sound_cutting(Cutting(blocks=options.blocks), network, "tiles")
    _require_pools(pools, options)
    flow = Flow(network)
    names = labels(network)
    made = Names(str(tensor.id) for tensor in network.tensors)
    groups: list[VariantGroup] = []
    known: dict[tuple[str, str], Tiling] = {}
    for s, (name, found) in enumerate(zip(names, _tilings(flow, options), strict=True)):
        titled = {f"{k + 1}: {_described(tiling, options.levels)}": tiling for k, tiling in enumerate(found)}
        known.update({(name, title): tiling for title, tiling in titled.items()})
        tiles = _Tiles(s, name, network, options.levels, made)
        groups.append(
            VariantGroup(
                name,
                tuple(Alternative(title, (each.cycles,), tiles.buffers(each)) for title, each in titled.items()),
            )
        )
    _require_cycles_in_range(groups)
    problem = Problem(
        buffers=(
            *(whole_buffer(flow, t, (options.home,)) for t in flow.planned(options.plan_inputs, options.plan_outputs)),
            *_constants(flow, names, made, options),
        ),
        pools=tuple(pools),
        name=network.name,
        lifetimes=Lifetimes.HALF_OPEN,
        steps=tuple(enumerate(names)),
        variants=Variants(tuple(groups), (CostTerm(CYCLES),)),
    )
    return TileProblem(problem, known)


def _tilings(flow: Flow, options: TileOptions) -> Iterator[Sequence[Tiling]]:
    """Yield what each operator's tiles may be."""
    rates = TileRates(tuple(level.bytes_per_cycle for level in options.levels))
    if isinstance(options.cycles, TileRates) and len(options.cycles.bytes_per_cycle) != len(options.levels):
        text = f"must be one for each of the {len(options.levels)} levels, not {len(options.cycles.bytes_per_cycle)}"
        raise bad_input(Code.CONTRADICTION, ("cycles", "bytes_per_cycle"), text)
    cycles = in_whole_cycles(options.cycles or rates)
    inputs = sum(len(step.operator.inputs) for step in flow.steps)
    most = max(min(MOST_TILINGS, MOST_TILINGS_IN_ALL // inputs), 1)
    for s in range(len(flow.steps)):
        look(PREPARING)
        yield tilings(flow, s, len(options.levels), options.blocks, cycles, most)


class _Tiles:
    """The buffers of one operator's tiles. Alternatives have equal ids for the same tile of the same tensor."""

    def __init__(self, s: int, operator: str, network: Network, levels: Sequence[Level], made: Names) -> None:
        self.s, self.operator, self.network, self.levels, self.made = s, operator, network, levels, made
        self.ids: dict[tuple[int, int, int], str] = {}

    def buffers(self, tiling: Tiling) -> tuple[Buffer, ...]:
        return tuple(self._buffer(each, copy) for each in tiling.fetched for copy in range(each.copies))

    def _buffer(self, each: Fetched, copy: int) -> Buffer:
        key = each.level, each.operand, copy
        if key not in self.ids:
            self.ids[key] = self.made.new(_tile_name(self.network, self.operator, each, copy, self.levels))
        pool = self.levels[each.level].pool
        return Buffer(self.ids[key], each.size, live=((self.s, self.s + 1),), pools=(pool,), kind="workspace")


def _require_cycles_in_range(groups: Sequence[VariantGroup]) -> None:
    if sum(max(each.costs[0] for each in group.alternatives) for group in groups) >= MAX_ADDRESS:
        raise bad_input(Code.TOO_LARGE, ("operators",), "the network takes 2^62 cycles or more")


def _require_pools(pools: Sequence[Pool], options: TileOptions) -> None:
    report = Report()
    known = {pool.name for pool in pools}
    used = [options.home, *(level.pool for level in options.levels)]
    for k, name in enumerate(used):
        place = ("tiles", "home") if k == 0 else ("tiles", "levels", k - 1, "pool")
        if name not in known:
            report.add(Code.UNKNOWN_POOL, place, f"there is no pool {quoted(name)}")
        elif name in used[:k]:
            report.add(Code.DUPLICATE_ID, place, f"{quoted(name)} is there already: each level is a memory of its own")
    if not 1 <= len(options.levels) <= MOST_LEVELS:
        report.add(Code.INVALID_VALUE, ("tiles", "levels"), f"must be 1 to {MOST_LEVELS}")
    report.raise_if_any()


def _constants(flow: Flow, names: Sequence[str], made: Names, options: TileOptions) -> list[Buffer]:
    """Return the buffers of operators' constants, in the smallest memory."""
    return [
        Buffer(
            made.new(f"constants of {names[s]}"),
            step.operator.constants,
            live=((s, s + 1),),
            pools=(options.levels[-1].pool,),
            kind="workspace",
        )
        for s, step in enumerate(flow.steps)
        if step.operator.constants
    ]


def _tile_name(network: Network, operator: str, each: Fetched, copy: int, levels: Sequence[Level]) -> str:
    what = "weights" if each.tensor is None else str(network.tensors[each.tensor].id)
    where = f" in {levels[each.level].pool}" if len(levels) > 1 else ""
    return f"{operator}: tile of {what}{where}{' again' if copy else ''}"


def _described(tiling: Tiling, levels: Sequence[Level]) -> str:
    parts = []
    for level, extents, doubled in zip(levels, tiling.extents, tiling.doubled, strict=True):
        where = f"{level.pool} " if len(levels) > 1 else ""
        parts.append(f"{where}{'x'.join(map(str, extents))}{' doubled' if doubled else ''}")
    return "; ".join(parts)
