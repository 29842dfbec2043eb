"""One pool at a fixed height, as an order: a Boolean for each two bars that must keep apart says which lies below.

Beyond the two-dimensional constraint, this model has sums: of bars that must all keep apart, each begins no lower than the sizes below it allow, and
leaves room for those above. That decides instances in which nearly all room is used at busy times. It also has differences of these sums: a bar that
is live at two times has one place, so what lies below it only at the first time and what does only at the second take as much room, but for what is
free at these times.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from ....geometry.shape import Outline, union
from ....model.errors import Unsupported
from ....model.instance import Instance
from .. import engine
from .cover import Cover
from .model import Literal, Model, with_places

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import IntVar

MOST_ADDENDS = 200_000
"""Most addends in the sums of all sets, where a set of n bars has n times n; and again in their differences."""
WORK_PER_ADDEND = 3
"""The work of building and loading the model, per addend."""
RESERVED = -1
"""The block number of reserved ranges."""


class Bar(NamedTuple):
    """A range of addresses within a block, or a reserved range."""

    block: int
    low: int
    high: int


def build(instance: Instance, cover: Cover, top: int) -> Model:
    """The model of all placements in the one pool that end at or below `top`. Raises Unsupported if it would be too large."""
    model = with_places(instance, top)
    if model.is_impossible:
        return model
    pool = int(instance.allowed.any(axis=0).argmax())
    walls = [Bar(RESERVED, low, min(high, top)) for low, high in instance.pools[pool].reserved if low < top]
    sets = _sets(instance, cover)
    with_walls = [[*bars, *walls] for bars in sets]
    if _addends(with_walls) <= MOST_ADDENDS:  # otherwise each block alone avoids the reserved ranges
        sets = with_walls
    addends = _addends(sets)
    model.work = WORK_PER_ADDEND * addends
    if addends > MOST_ADDENDS:
        raise Unsupported("cpsat_order", "too large for this solver: too many buffers are live together")
    order = _Order(model, pool)
    for bars in sets:
        order.add(bars, top)
    model.work += WORK_PER_ADDEND * _compare(order, sets, top)
    if not walls and not len(instance.conflicts) and is_mirrored(model, pool, top):
        _keep_one_low(model, pool, top)
    return model


def build_least(instance: Instance, cover: Cover, bound: int, top: int) -> tuple[Model, IntVar | None]:
    """The model without sums of all placements that end at or below `top`, and their peak, which it minimises; None if there is no placement.

    Where the least peak is far above what is live together, CP-SAT finds and proves it by this with a fraction of the work.
    """
    model = with_places(instance, top)
    if model.is_impossible:
        return model, None
    pool = int(instance.allowed.any(axis=0).argmax())
    order, peak = _Order(model, pool), model.cp.new_int_var(bound, top, "")
    for bars in _sets(instance, cover):
        order.decide(bars)
        model.cp.add(peak >= sum(bar.high - bar.low for bar in bars))
    for block in range(instance.blocks):
        model.cp.add(peak >= model.base[block, pool] + int(instance.block_high[block]))
    model.cp.minimize(peak)
    return model, peak


def _addends(sets: list[list[Bar]]) -> int:
    return sum(len(bars) ** 2 for bars in sets)


def _sets(instance: Instance, cover: Cover) -> list[list[Bar]]:
    """Sets of bars that must all keep apart."""
    columns = (instance.part_block.tolist(), instance.part_low.tolist(), instance.part_high.tolist())
    parts = [Bar(*part) for part in zip(*columns, strict=True)]
    found = [bars for outline in cover.sets for bars in live_together(outline)]
    return found + [[parts[part] for part in clique] for clique in cover.cliques]


def live_together(outline: Outline) -> list[list[Bar]]:
    """The maximal sets of bars that are live at one time."""
    lives: dict[Bar, list[tuple[int, int]]] = defaultdict(list)
    for block, start, end, low, high in zip(*(column.tolist() for column in outline), strict=True):
        lives[Bar(block, low, high)].append((start, end))
    begins: dict[int, set[Bar]] = defaultdict(set)
    ends: dict[int, set[Bar]] = defaultdict(set)
    for bar, ranges in lives.items():
        for start, end in union(ranges):
            begins[start].add(bar)
            ends[end].add(bar)
    live: set[Bar] = set()
    found: list[frozenset[Bar]] = []
    has_grown = False
    for time in sorted(begins.keys() | ends.keys()):
        if ends[time] and has_grown:
            found.append(frozenset(live))
        has_grown = bool(begins[time]) or (has_grown and not ends[time])
        live = (live - ends[time]) | begins[time]
    return [sorted(bars) for bars in dict.fromkeys(found) if not any(bars < other for other in found)]


def _compare(order: _Order, sets: list[list[Bar]], top: int) -> int:
    """Add the differences of sets, neighbours in time first; return the number of addends."""
    members = [frozenset(bars) for bars in sets]
    added = looked_at = 0
    for distance in range(1, len(sets)):
        before = added
        for one, other in zip(members, members[distance:], strict=False):
            looked_at += 1
            if not one.isdisjoint(other):
                added += order.compare(one, other, top)
            if added + looked_at >= MOST_ADDENDS:
                return added
        if added == before:
            break
    return added


class _Order:
    """The order of bars: one Boolean for each pair says which lies below."""

    def __init__(self, model: Model, pool: int) -> None:
        self._model, self._pool = model, pool
        self._below: dict[tuple[Bar, Bar], Literal] = {}

    def decide(self, bars: list[Bar]) -> None:
        """Requires these bars to keep apart: of each two, one lies below."""
        for a, b in combinations(bars, 2):
            self._decide(a, b)

    def add(self, bars: list[Bar], top: int) -> None:
        """Requires these bars to keep apart below `top`."""
        cp = self._model.cp
        self.decide(bars)
        for bar in bars:
            others = [(other, other.high - other.low) for other in bars if other is not bar]
            below = engine.weighted_sum([self._below[other, bar] for other, _ in others], [size for _, size in others])
            rest = sum(size for _, size in others)
            base = self._base(bar)
            cp.add(base + bar.low >= below)
            cp.add(base + bar.high + rest - below <= top)

    def compare(self, one: frozenset[Bar], other: frozenset[Bar], top: int) -> int:
        """Whatever is in both sets has nearly as much room below it in one as in the other; return the number of addends."""
        bars = [(bar, bar.high - bar.low) for bar in sorted(one - other)]
        bars += [(bar, bar.low - bar.high) for bar in sorted(other - one)]
        sizes = [size for _, size in bars]
        room = [top - sum(bar.high - bar.low for bar in each) for each in (one, other)]
        both = sorted(one & other) if min(room) >= 0 else ()  # else the sums cannot hold anyway
        for bar in both:
            below = engine.weighted_sum([self._below[each, bar] for each, _ in bars], sizes)
            self._model.cp.add_linear_constraint(below, -room[0], room[1])
        return len(both) * len(bars)

    def _decide(self, a: Bar, b: Bar) -> None:
        if (a, b) in self._below:
            return
        cp = self._model.cp
        if a.block == b.block:
            is_below = cp.new_constant(int(a.low < b.low))
            self._below[a, b], self._below[b, a] = is_below, is_below.negated()
            return
        is_below = cp.new_bool_var("")
        self._below[a, b], self._below[b, a] = is_below, is_below.negated()
        for low, high in ((a, b), (b, a)):
            cp.add(self._base(low) + low.high <= self._base(high) + high.low).only_enforce_if(self._below[low, high])

    def _base(self, bar: Bar) -> Any:
        return 0 if bar.block == RESERVED else self._model.base[bar.block, self._pool]


def is_mirrored(model: Model, pool: int, top: int) -> bool:
    """True if every placement remains valid when turned upside down."""
    heights = model.instance.block_high.tolist()
    return all(
        place.only is None and len(place.ranges) == 1 and place.least == 0 and place.greatest == top - heights[block]
        for block in range(len(heights))
        for place in (model.where[block, pool],)
    ) and len(model.instance.part_block) == len(heights)


def _keep_one_low(model: Model, pool: int, top: int) -> None:
    """Removes the symmetry of turning a placement upside down: the largest block is in the lower half."""
    instance = model.instance
    areas = [0] * instance.blocks
    for part, start, end in zip(
        instance.rect_part.tolist(), instance.rect_start.tolist(), instance.rect_end.tolist(), strict=True
    ):
        areas[int(instance.part_block[part])] += (end - start) * int(instance.block_high[instance.part_block[part]])
    # Of interchangeable blocks the first is the lowest; choosing the first keeps both rules consistent.
    largest = max(range(instance.blocks), key=lambda block: (areas[block], -block))
    model.cp.add(2 * model.base[largest, pool] + int(instance.block_high[largest]) <= top)
