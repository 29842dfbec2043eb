"""The constraint model: the place of each block, and what it must keep apart from."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ....geometry.shape import Outline
from ....model.errors import Unsupported
from ....model.instance import Instance, Placement
from .. import engine
from .cover import Cover
from .places import Places, places
from .symmetry import twins

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, IntVar, LinearExprT

Literal: TypeAlias = Any
"""A Boolean variable, or its negation."""

LARGEST_SUM = 1 << 62


@dataclass(slots=True)
class Model:
    """CP-SAT's model of an instance, with its main variables."""

    instance: Instance
    cp: CpModel
    steps: dict[tuple[int, int], IntVar] = field(default_factory=dict)
    """(block, pool) -> steps above the lowest base; absent if there is only one base."""
    where: dict[tuple[int, int], Places] = field(default_factory=dict)
    base: dict[tuple[int, int], LinearExprT] = field(default_factory=dict)
    chosen: dict[tuple[int, int], Literal] = field(default_factory=dict)
    """(block, pool) -> true if the block is there; only for blocks with a choice."""
    work: int = 0
    """CP-SAT's uncounted work before the search begins."""
    is_impossible: bool = False
    """True if some block has no place at all."""

    def pools_of(self, block: int) -> list[int]:
        return [p for p in range(len(self.instance.pools)) if (block, p) in self.where]

    def rows(self, outline: Outline, pool: int) -> list[tuple[int, int, int, int, int]]:
        """(block, start, end, low, high) of the rectangles that may be in the pool."""
        columns = (outline.block, outline.start, outline.end, outline.low, outline.high)
        return [row for row in zip(*(c.tolist() for c in columns), strict=True) if (row[0], pool) in self.where]

    def if_in(self, pool: int, *blocks: int) -> list[Literal]:
        """The literals that must hold for all these blocks to be in the pool."""
        return [self.chosen[block, pool] for block in blocks if (block, pool) in self.chosen]

    def placement(self, value: engine.ReadValue) -> Placement:
        """The placement of a solution."""
        pool = np.zeros(self.instance.blocks, dtype=np.int64)
        offset = np.zeros(self.instance.blocks, dtype=np.int64)
        for (block, p), place in self.where.items():
            if (block, p) in self.chosen and not value(self.chosen[block, p]):
                continue
            step = self.steps.get((block, p))
            pool[block] = p
            offset[block] = place.least if step is None else place.first + place.step * value(step)
        return Placement(pool, offset)

    def suggest(self, start: Placement) -> None:
        """Hints this placement to the search."""
        start = _in_order(self.instance, start)
        for (block, p), literal in self.chosen.items():
            self.cp.add_hint(literal, int(start.pool[block]) == p)
        for (block, p), step in self.steps.items():
            if int(start.pool[block]) == p:
                self.cp.add_hint(step, self.where[block, p].nearest(int(start.offset[block])))


def build(instance: Instance, cover: Cover, top: int | None = None) -> Model:
    """The model of all placements; with `top`, of those that end at or below it."""
    model = with_places(instance, top)
    if model.is_impossible:
        return model
    for outline in cover.sets:
        for pool in range(len(instance.pools)):
            _keep_apart(model, outline, pool)
    for clique in cover.cliques:
        for pool in range(len(instance.pools)):
            _keep_parts_apart(model, clique, pool)
    _relate_pools(model)
    return model


def with_places(instance: Instance, top: int | None) -> Model:
    """The places of each block, with an order among interchangeable ones; without constraints that keep them apart."""
    model = Model(instance, engine.new_model())
    _add_blocks(model, top)
    if not model.is_impossible:
        _order_twins(model)
    return model


def _add_blocks(model: Model, top: int | None) -> None:
    instance = model.instance
    parts: list[list[tuple[int, int]]] = [[] for _ in range(instance.blocks)]
    for block, low, high in zip(
        instance.part_block.tolist(), instance.part_low.tolist(), instance.part_high.tolist(), strict=True
    ):
        parts[block].append((low, high))
    total = 0
    for block in range(instance.blocks):
        spots = {
            p: places(instance, block, p, parts[block], top) for p in np.flatnonzero(instance.allowed[block]).tolist()
        }
        spots = {p: place for p, place in spots.items() if not place.is_empty}
        if not spots:
            model.is_impossible = True
            return
        height = max(high for _, high in parts[block])
        total += max(place.greatest for place in spots.values()) + height
        for p, place in spots.items():
            model.where[block, p] = place
            if place.only is not None:
                model.base[block, p] = place.only
            else:
                step = model.cp.new_int_var_from_domain(engine.domain(place.ranges), f"k{block}_{p}")
                model.steps[block, p] = step
                model.base[block, p] = place.first + place.step * step
            if len(spots) > 1:
                model.chosen[block, p] = model.cp.new_bool_var(f"x{block}_{p}")
        if len(spots) > 1:
            model.cp.add_exactly_one(model.chosen[block, p] for p in spots)
    if total >= LARGEST_SUM:
        raise Unsupported(engine.NAME, "too large for this solver: its addresses add up to more than 2^62")


def _interval(model: Model, block: int, pool: int, low: int, high: int) -> Any:
    """The addresses from base + low to base + high, if the block is in the pool."""
    start = model.base[block, pool] + low
    if (block, pool) in model.chosen:
        return model.cp.new_optional_fixed_size_interval_var(start, high - low, model.chosen[block, pool], "")
    return model.cp.new_fixed_size_interval_var(start, high - low, "")


def _keep_apart(model: Model, outline: Outline, pool: int) -> None:
    """Requires that no two of these rectangles overlap."""
    rows = model.rows(outline, pool)
    if len({block for block, *_ in rows}) < 2:
        return
    times, addresses = [], []
    for block, start, end, low, high in rows:
        times.append(model.cp.new_fixed_size_interval_var(start, end - start, ""))
        addresses.append(_interval(model, block, pool, low, high))
    model.cp.add_no_overlap_2d(times, addresses)


def _keep_parts_apart(model: Model, clique: tuple[int, ...], pool: int) -> None:
    """Requires that no two of these parts share addresses, whenever they are live."""
    instance = model.instance
    intervals = [
        _interval(model, block, pool, int(instance.part_low[part]), int(instance.part_high[part]))
        for part in clique
        if ((block := int(instance.part_block[part])), pool) in model.where
    ]
    if len(intervals) > 1:
        model.cp.add_no_overlap(intervals)


def _relate_pools(model: Model) -> None:
    """Relates blocks that must, or must not, share a pool."""
    leader: dict[int, int] = {}
    for block, group in enumerate(model.instance.pool_class.tolist()):
        first = leader.setdefault(group, block)
        if first != block:
            for pool in range(len(model.instance.pools)):
                model.cp.add(_is_in(model, first, pool) == _is_in(model, block, pool))
    for a, b in model.instance.apart.tolist():
        for pool in range(len(model.instance.pools)):
            model.cp.add(_is_in(model, a, pool) + _is_in(model, b, pool) <= 1)


def _is_in(model: Model, block: int, pool: int) -> Any:
    """1 if the block is in the pool, else 0."""
    if (block, pool) not in model.where:
        return 0
    return model.chosen.get((block, pool), 1)


def _order_twins(model: Model) -> None:
    """Of interchangeable blocks, the first is in the first pool, and lowest there."""
    for group in twins(model.instance):
        for a, b in pairwise(group):
            pools = model.pools_of(a)
            if len(pools) > 1:
                model.cp.add(sum(p * model.chosen[a, p] for p in pools) <= sum(p * model.chosen[b, p] for p in pools))
            for p in pools:
                if (a, p) in model.steps:
                    model.cp.add(model.steps[a, p] <= model.steps[b, p]).only_enforce_if(model.if_in(p, a, b))


def _in_order(instance: Instance, start: Placement) -> Placement:
    """The same placement with interchangeable blocks in the model's order."""
    pool, offset = start.pool.copy(), start.offset.copy()
    for group in twins(instance):
        spots = sorted((int(pool[block]), int(offset[block])) for block in group)
        for block, (p, base) in zip(group, spots, strict=True):
            pool[block], offset[block] = p, base
    return Placement(pool, offset)
