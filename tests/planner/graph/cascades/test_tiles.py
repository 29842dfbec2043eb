"""Tiles keep DORY's constraints, move the bytes that are counted, and compute the right results in a plan's memory."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np
import pytest

from planner import Options, Pool, pareto, plan
from planner.facts.variants import with_choice
from planner.graph.cascades import (
    Kind,
    Level,
    Network,
    Operator,
    Padding,
    Tensor,
    TileOptions,
    TileWork,
    Tiling,
    tile_problem,
)
from planner.graph.cascades.demand import Flow
from planner.graph.cascades.tiles import TileRates, tilings
from planner.graph.cascades.windows import Step
from planner.model.problem import BufferId

from .networks import random_network
from .running import Machine, Place, Spans

POOLS = (Pool("L2"), Pool("L1"))
THREE = (Pool("L3"), Pool("L2"), Pool("L1"))
LEVELS = (Level("L1"),)
SEEDS = range(12)
PlaceFor: TypeAlias = Callable[[BufferId, Spans | None], Place]
"""Returns the place of a plan's buffer that holds a piece of a tensor, or, without spans, plain bytes."""


def tiles_in_order(spans: Spans, tiling: Tiling, level: int, first: int = 0) -> Iterator[Spans]:
    """Yield the tiles of a level in order, in a piece of the output or in a tile of the level before `first`."""
    todo = [spans]
    for k in range(first, level + 1):
        cut = []
        for outer in todo:
            ranges = [range(low, high, extent) for (low, high), extent in zip(outer, tiling.extents[k], strict=True)]
            corners = list(product(*ranges))
            if not tiling.channels_first[k]:
                corners.sort(key=lambda corner: (corner[-1], corner))
            for corner in corners:
                ends = zip(corner, tiling.extents[k], outer, strict=True)
                cut.append([(c, min(c + extent, high)) for c, extent, (_, high) in ends])
        todo = cut
    yield from todo


def moved_by(machine: Machine, s: int, step: Step, spans: Spans, tiling: Tiling, level: int) -> int:
    """Return the bytes moved, counted tile by tile; data that the previous tile has brought are not moved again."""
    weights = step.weights // machine.shapes[step.operator.output][-1]
    axes = [{window.axis for window in windows.axes if window.stride} for windows in step.windows]
    before: list[object] = [None] * (len(axes) + 1)
    moved = 0
    for tile in tiles_in_order(spans, tiling, level):
        moved += volume(tile)
        for k, (box, along) in enumerate(zip([*machine.needs(s, tile), [tile[-1]]], [*axes, {-1}], strict=True)):
            here = [tile[axis] for axis in sorted(along)]
            if here != before[k]:
                moved += volume(box or [(0, 0)]) * (weights if k == len(axes) else 1)
                before[k] = here
    return moved


def volume(spans: Spans) -> int:
    return int(np.prod([high - low for low, high in spans]))


class InTiles:
    """Runs one operator in tiles, fetched level by level.

    With two buffers, the next tile is fetched before this one is worked on.
    """

    def __init__(self, machine: Machine, s: int, tiling: Tiling, buffers: Sequence[BufferId], at: PlaceFor) -> None:
        self._machine, self._s, self._tiling, self._at = machine, s, tiling, at
        self._operator = machine.network.operators[s]
        self._ids: dict[tuple[int, int], list[BufferId]] = {}
        names = iter(buffers)
        for each in tiling.fetched:
            self._ids[each.level, each.operand] = [next(names) for _ in range(each.copies)]

    def run(self, level: int, spans: Spans, sources: Mapping[int, Place], sink: Place) -> None:
        """Make a piece of the output in tiles: read its inputs from `sources`, and write it to `sink`."""
        if level == len(self._tiling.extents):
            sink.write(spans, np.full([b - a for a, b in spans], 0xA5, np.uint8))
            sink.write(spans, self._machine.piece(self._s, spans, lambda k, at: sources[k].read(at)))
            return
        order = list(tiles_in_order(spans, self._tiling, level, level))
        fetched = self._fetch(level, order[0], 0, sources)
        for turn, tile in enumerate(order):
            ahead = turn + 1 < len(order) and self._tiling.doubled[level]
            coming = self._fetch(level, order[turn + 1], turn + 1, sources) if ahead else None
            made = self._place(level, len(self._operator.inputs) + 1, turn, tile)
            self.run(level + 1, tile, fetched, made)
            sink.write(tile, made.read([np.arange(a, b) for a, b in tile]))
            if turn + 1 < len(order):
                fetched = coming or self._fetch(level, order[turn + 1], turn + 1, sources)

    def _fetch(self, level: int, tile: Spans, turn: int, sources: Mapping[int, Place]) -> dict[int, Place]:
        found = {}
        weights = self._ids.get((level, len(self._operator.inputs)))
        if weights:
            self._at(weights[turn % len(weights)], None).memory[:] = (
                0x5A  # the weights only take their room here: nothing reads them
            )
        for k, box in enumerate(self._machine.needs(self._s, tile)):
            if box is not None:
                found[k] = self._place(level, k, turn, box)
                found[k].write(box, sources[k].read([np.arange(a, b) for a, b in box]))
        return found

    def _place(self, level: int, operand: int, turn: int, spans: Spans) -> Place:
        ids = self._ids[level, operand]
        return self._at(ids[turn % len(ids)], spans)


@pytest.mark.parametrize("levels", [1, 2])
def test_bytes_moved_agree_with_a_count_tile_by_tile(levels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner.graph.cascades.tiles._best", list)
    tried = exact = 0
    for seed in SEEDS:
        network = random_network(seed, operators=3, extents=7)
        flow, machine, chance = Flow(network), Machine(network, seed), random.Random(seed)
        for s, step in enumerate(flow.steps):
            spans = [(low, high) for low, high in flow.demand[step.output]]
            if not volume(spans) or any(
                window.stride > window.reach or window.before > 1 for w in step.windows for window in w.axes
            ):
                continue  # the planner's count takes elements that strides skip as read
            if isinstance(step.operator.padding, tuple):
                continue  # the planner's count includes tiles that lie within the padding
            seen: dict[int, TileWork] = {}

            def number(work: TileWork) -> int:
                seen[len(seen)] = work  # noqa: B023 - used at once
                return len(seen) - 1  # noqa: B023

            for tiling in chance.sample(every := tilings(flow, s, levels, (), number), min(len(every), 12)):
                work = seen[tiling.cycles]
                for level in range(levels):
                    counted = moved_by(machine, s, step, spans, tiling, level)
                    # A cut-off tile may hold only one tile of the last level, which is then not fetched again.
                    is_right = counted == work.moved[level] if level == 0 else counted <= work.moved[level]
                    assert is_right, (seed, s, tiling)
                    tried += 1
                    exact += counted == work.moved[level]

    assert exact > 0.9 * tried > 50


def test_tiles_keep_the_constraints_of_dory() -> None:
    """In elements, (in - kernel) % stride == 0 and out * stride == in - (kernel - 1) + (stride - 1).

    Input, output and weights count twice if they are doubled.
    """
    height, channels, made, kernel, stride = 33, 8, 16, 3, 2
    network = Network(
        (Tensor("x", (height, height, channels)), Tensor("y", (16, 16, made))),
        (Operator(Kind.CONVOLUTION, ("x",), "y", kernel=(kernel, kernel), stride=(stride, stride)),),
    )
    ways = tilings(Flow(network), 0, 1, (), TileRates((8,)))
    assert len(ways) > 10
    for tiling in ways:
        (extents,), (doubled,) = tiling.extents, tiling.doubled
        of_input = [(out * stride) + (kernel - 1) - (stride - 1) for out in extents[:2]]
        assert all((each - kernel) % stride == 0 and each <= height for each in of_input)
        cut = [extents[0] < 16 or extents[1] < 16, extents[2] < made, extents != (16, 16, made)]
        sizes = [of_input[0] * of_input[1] * channels, kernel**2 * channels * extents[2], int(np.prod(extents))]
        expected = sum(size * (2 if doubled and differs else 1) for size, differs in zip(sizes, cut, strict=True))
        assert tiling.taken == (expected,)


def test_the_chosen_tile_is_the_best_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(
        (Tensor("x", (12, 12, 4)), Tensor("y", (12, 12, 8))),
        (Operator(Kind.CONVOLUTION, ("x",), "y", "conv", kernel=(3, 3), padding=Padding.SAME),),
    )
    monkeypatch.setattr("planner.graph.cascades.tiles._best", list)
    all_of_them = tilings(Flow(network), 0, 1, (), TileRates((8,)))
    monkeypatch.undo()
    problem = tile_problem(network, POOLS, TileOptions("L2", LEVELS)).problem
    whole = 12 * 12 * (4 + 8)
    worth = {(tiling.taken[0] + whole, tiling.cycles) for tiling in all_of_them}
    wanted = sorted((c, m) for m, c in worth if not any((a, b) != (m, c) and a <= m and b <= c for a, b in worth))
    found = pareto(problem, Options(work_limit=2_000_000))
    assert [(point.choice.cost if point.choice else None, point.objective.value) for point in found.points] == wanted
    assert len(wanted) > 5


@pytest.mark.parametrize("depth", [1, 2])
def test_tiles_compute_the_results_of_the_whole(depth: int) -> None:
    pools, levels = (THREE, (Level("L2"), Level("L1"))) if depth == 2 else (POOLS, LEVELS)
    doubled = 0
    for seed in SEEDS:
        network = random_network(seed, operators=3, extents=8)
        machine, chance = Machine(network, seed), random.Random(seed)
        made = tile_problem(network, pools, TileOptions(pools[0].name, levels, cycles=TileRates((8,) * depth, 1)))
        assert made.problem.variants is not None
        choice = [chance.randrange(len(group.alternatives)) for group in made.problem.variants.groups]
        chosen = with_choice(made.problem, choice)
        found = plan(chosen, Options(work_limit=20_000))
        places = {each.id: each for each in found.placements}
        memory = {pool.name: np.full(1 << 16, 0xA5, np.uint8) for pool in pools}
        demand = {
            t.id: [(a, b) for a, b in spans]
            for t, (_, spans) in zip(network.tensors, sorted(Flow(network).demand.items()), strict=True)
        }

        def at(name: BufferId, spans: Spans | None) -> Place:
            here = places[name]  # noqa: B023 - used at once
            if spans is None:
                return Place(memory[here.pool][here.offset : here.offset + here.size], 0, here.size, [(0, here.size)])  # noqa: B023
            return Place(memory[here.pool], here.offset, here.size, spans)  # noqa: B023

        home = {t.id: at(t.id, demand[t.id]) for t in network.tensors}
        for tensor, values in machine.inputs.items():
            home[tensor].write(demand[tensor], values[tuple(slice(*span) for span in demand[tensor])])
        for s, (group, a) in enumerate(zip(made.problem.variants.groups, choice, strict=True)):
            tiling = made.tilings[group.name, group.alternatives[a].name]
            doubled += any(each.copies == 2 for each in tiling.fetched)
            ids = [buffer.id for buffer in group.alternatives[a].buffers]
            operator = network.operators[s]
            sources = {k: home[each] for k, each in enumerate(operator.inputs)}
            InTiles(machine, s, tiling, ids, at).run(0, demand[operator.output], sources, home[operator.output])
        whole = machine.whole()
        for t in network.tensors:
            if t.is_output:
                assert np.array_equal(home[t.id].read([np.arange(n) for n in t.shape]), whole[t.id]), (seed, t.id)
    assert doubled > 2
