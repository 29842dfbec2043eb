"""Which block lies above which: rows and binaries for pairs of blocks, for reserved ranges, and for pairs that may overlap at a price."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from ....geometry.separation import Separations, forbidden_bases, separations
from ....model.instance import Instance, Placement
from .model import Expression, Program, Variable


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two blocks that must not meet: in one pool, the second begins at most `below` or at least `above` after the first."""

    program: Program
    number: int
    """That of the separation, or of the priced pair."""
    first: int
    second: int
    below: int
    above: int
    label: str = ""
    """Tells separations of the same blocks apart in names."""

    @property
    def shared(self) -> list[int]:
        """The pools in which both may be."""
        base = self.program.ranges.base
        return sorted(set(base[self.first]) & set(base[self.second]))

    @property
    def is_always_together(self) -> bool:
        """True if both are in the same pool in every placement in which they may be in one."""
        homes, pool_class = self.program.ranges.homes, self.program.instance.pool_class
        i, j = self.first, self.second
        return len(homes[i]) == len(homes[j]) == 1 or (
            pool_class[i] == pool_class[j] and len(self.shared) == len(homes[i])
        )

    @property
    def distance(self) -> Expression:
        return self.program.offset[self.second] - self.program.offset[self.first]

    @property
    def name_above(self) -> str:
        """Of what says that the second lies above the first."""
        blocks = self.program.names.blocks
        return f"above_{blocks[self.second]}_{blocks[self.first]}{self.label}"

    @property
    def name_below(self) -> str:
        blocks = self.program.names.blocks
        return f"above_{blocks[self.first]}_{blocks[self.second]}{self.label}"

    def constants(self) -> tuple[float, float]:
        """The least M for both directions, in any pools."""
        program, ranges = self.program, self.program.ranges
        nearest = ranges.lowest(self.second) - ranges.highest(self.first)
        farthest = ranges.highest(self.second) - ranges.lowest(self.first)
        return program.constant(max(self.above - nearest, 0)), program.constant(max(farthest - self.below, 0))

    def is_above(self, at: Placement) -> int:
        return int(at.pool[self.first] == at.pool[self.second] and self._distance_at(at) >= self.above)

    def is_below(self, at: Placement) -> int:
        return int(at.pool[self.first] == at.pool[self.second] and self._distance_at(at) <= self.below)

    def overlaps(self, at: Placement) -> int:
        return int(at.pool[self.first] == at.pool[self.second] and self.below < self._distance_at(at) < self.above)

    def _distance_at(self, at: Placement) -> int:
        return int(at.offset[self.second] - at.offset[self.first])

    def above_if(self, name: str) -> Variable:
        """A binary of this name; where it is 1, the second lies above the first."""
        program, (lift, _) = self.program, self.constants()
        side = program.binary(name, self.is_above)
        program.require(self.distance - lift * side >= program.length(self.above) - lift, f"if_{name}")
        return side

    def below_if(self, name: str) -> Variable:
        """A binary of this name; where it is 1, the second lies below the first."""
        program, (_, drop) = self.program, self.constants()
        side = program.binary(name, self.is_below)
        program.require(self.distance + drop * side <= program.length(self.below) + drop, f"if_{name}")
        return side

    def know(self, is_above: Expression) -> None:
        """Records whether the second lies above the first, if the blocks have one part each and are always in one pool."""
        program, i, j = self.program, self.first, self.second
        homes = program.ranges.homes
        if len(homes[i]) == len(homes[j]) == 1 and i in program.single and j in program.single:
            program.above[i, j] = is_above


def add_separations(program: Program, choices: Separations, twins: dict[int, int]) -> None:
    """Adds a choice of side for every separation that the ranges leave open; of interchangeable blocks the first lies lower."""
    seen: Counter[tuple[int, int]] = Counter()
    rows = zip(*(a.tolist() for a in (choices.first, choices.second, choices.below, choices.above)), strict=True)
    for number, (i, j, below, above) in enumerate(rows):
        seen[i, j] += 1
        label = "" if seen[i, j] == 1 else f"_{seen[i, j]}"
        pair = _Pair(program, number, i, j, below, above, label)
        _separate(pair, ordered=i in twins and twins[i] == twins.get(j))


def _separate(pair: _Pair, *, ordered: bool) -> None:
    """Adds what keeps the two apart, as far as their ranges leave it open."""
    program, base, shared = pair.program, pair.program.ranges.base, pair.shared
    if not shared:
        return
    nearest = min(base[pair.second][p][0] - base[pair.first][p][1] for p in shared)
    farthest = max(base[pair.second][p][1] - base[pair.first][p][0] for p in shared)
    if ordered and nearest < 0:
        nearest = 0
        if pair.above <= 0:
            program.require(pair.distance >= 0, f"twins_{pair.number}")
    if nearest >= pair.above or farthest <= pair.below:
        if pair.is_always_together:
            pair.know(int(nearest >= pair.above))
        return
    up, down = farthest >= pair.above, nearest <= pair.below
    if pair.is_always_together:
        _choose(pair, up=up, down=down)
    else:
        _choose_if_together(pair, up=up, down=down)


def _choose(pair: _Pair, *, up: bool, down: bool) -> None:
    program, distance = pair.program, pair.distance
    if not up and not down:
        program.impossible = True
    elif not down:
        program.require(distance >= program.length(pair.above), pair.name_above)
        pair.know(1)
    elif not up:
        program.require(distance <= program.length(pair.below), pair.name_below)
        pair.know(0)
    else:
        side = pair.above_if(pair.name_above)
        _, drop = pair.constants()
        program.require(distance - drop * side <= program.length(pair.below), f"else_{pair.name_above}")
        program.sides.append((pair.number, pair.first, pair.second, side, None))
        pair.know(side)


def _choose_if_together(pair: _Pair, *, up: bool, down: bool) -> None:
    program, names = pair.program, pair.program.names
    over: Variable | None = pair.above_if(pair.name_above) if up else None
    under: Variable | None = pair.below_if(pair.name_below) if down else None
    for pool in pair.shared:
        one = (0 if over is None else over) + (0 if under is None else under)
        both = program.is_in(pair.first, pool) + program.is_in(pair.second, pool)
        ends = f"{names.blocks[pair.first]}_{names.blocks[pair.second]}"
        program.require(both - one <= 1, f"apart_{ends}{pair.label}_{names.pools[pool]}")
    program.sides.append((pair.number, pair.first, pair.second, over, under))


def add_reserved(program: Program) -> None:
    """Puts every block wholly above or wholly below each reserved range that it could touch."""
    for block, spans in enumerate(program.ranges.base):
        for pool, (low, high) in spans.items():
            for number, (begin, end) in enumerate(forbidden_bases(program.instance, block, pool)):
                if low < end and high > begin:
                    _clear(program, block, pool, number, begin, end)


def _clear(program: Program, block: int, pool: int, number: int, begin: int, end: int) -> None:
    """Adds: offset <= begin or >= end, if the block is in the pool. No end of its range lies between the two."""
    name = f"over_{program.names.blocks[block]}_{program.names.pools[pool]}_{number}"
    side = program.binary(
        name,
        lambda at, block=block, pool=pool, end=end: int(at.pool[block] == pool and at.offset[block] >= end),  # type: ignore[misc]
    )
    lift = program.constant(max(end - program.ranges.lowest(block), 0))
    drop = program.constant(max(program.ranges.highest(block) - begin, 0))
    away = 1 - program.is_in(block, pool)
    offset = program.offset[block]
    program.require(offset - lift * side + lift * away >= program.length(end) - lift, f"if_{name}")
    program.require(offset - drop * side - drop * away <= program.length(begin), f"else_{name}")


def add_penalties(program: Program) -> None:
    """Adds for every priced pair a binary that allows it to share addresses; without it the pair is kept apart."""
    instance = program.instance
    for row, (a, b, cost) in enumerate(instance.penalties.tolist()):
        i, j = int(instance.part_block[a]), int(instance.part_block[b])
        if i == j or not cost or min(_height(instance, a), _height(instance, b)) == 0:
            continue
        choice = separations(instance, np.array([[a, b]], dtype=np.int64))
        i, j, below, above = (int(of[0]) for of in (choice.first, choice.second, choice.below, choice.above))
        pair = _Pair(program, row, i, j, below, above)
        if not pair.shared:
            continue
        label = f"{program.names.blocks[i]}_{program.names.blocks[j]}_{row}"
        share = program.binary(f"share_{label}", pair.overlaps)
        over = pair.above_if(f"priced_above_{label}")
        under = pair.below_if(f"priced_below_{label}")
        for pool in pair.shared:
            both = program.is_in(i, pool) + program.is_in(j, pool)
            program.require(both - over - under - share <= 1, f"priced_{label}_{program.names.pools[pool]}")
        program.penalised.append((row, share))


def constant_penalty(instance: Instance) -> int:
    """The cost of pairs inside one block, which is due in every placement."""
    total = 0
    for a, b, cost in instance.penalties.tolist():
        low = max(int(instance.part_low[a]), int(instance.part_low[b]))
        high = min(int(instance.part_high[a]), int(instance.part_high[b]))
        if instance.part_block[a] == instance.part_block[b] and high > low:
            total += cost
    return total


def find_twins(program: Program) -> dict[int, int]:
    """Block -> the first block that is interchangeable with it. Only for blocks that no pair rule names."""
    instance, ranges = program.instance, program.ranges
    named = set(instance.apart.ravel().tolist())
    for pairs in (instance.conflicts, instance.exclusions, instance.penalties[:, :2]):
        named |= set(instance.part_block[pairs].ravel().tolist())
    classes = Counter(instance.pool_class.tolist())
    shapes: dict[int, list[object]] = {block: [] for block in range(instance.blocks)}
    live: dict[int, list[tuple[int, int]]] = {part: [] for part in range(len(instance.part_block))}
    for part, start, end in zip(
        instance.rect_part.tolist(), instance.rect_start.tolist(), instance.rect_end.tolist(), strict=True
    ):
        live[part].append((start, end))
    for part, block in enumerate(instance.part_block.tolist()):
        shapes[block].append((int(instance.part_low[part]), int(instance.part_high[part]), tuple(sorted(live[part]))))
    first: dict[object, int] = {}
    twins: dict[int, int] = {}
    for block in range(instance.blocks):
        homes = ranges.homes[block]
        if block in named or len(homes) > 1 or classes[int(instance.pool_class[block])] > 1:
            continue
        (pool,) = homes
        grid = (int(instance.modulus[block, pool]), int(instance.residue[block, pool]))
        cost = int(instance.access_cost[block, pool])
        kind = (pool, ranges.base[block][pool], grid, cost, tuple(sorted(shapes[block], key=repr)))
        twins[block] = first.setdefault(kind, block)
    return twins


def in_twin_order(placement: Placement, twins: dict[int, int]) -> Placement:
    """The same placement with interchangeable blocks in order: the first lies lowest."""
    offset = placement.offset.copy()
    groups: dict[int, list[int]] = {}
    for block, leader in twins.items():
        groups.setdefault(leader, []).append(block)
    for blocks in groups.values():
        offset[blocks] = np.sort(offset[blocks])
    return Placement(placement.pool, offset)


def _height(instance: Instance, part: int) -> int:
    return int(instance.part_high[part] - instance.part_low[part])
