"""Which block lies above which: rows and binaries for pairs of blocks, for reserved ranges, and for pairs that may overlap at a price."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ....geometry.separation import Separations, forbidden_bases, separations
from ....model.instance import Instance, Placement
from .model import Expression, Program, ValueAt, Variable


def add_separations(program: Program, choices: Separations, twins: dict[int, int]) -> None:
    """Adds a choice of side for every separation that the ranges leave open; of interchangeable blocks the first lies lower."""
    seen: Counter[tuple[int, int]] = Counter()
    rows = zip(*(a.tolist() for a in (choices.first, choices.second, choices.below, choices.above)), strict=True)
    for index, (i, j, below, above) in enumerate(rows):
        seen[i, j] += 1
        label = "" if seen[i, j] == 1 else f"_{seen[i, j]}"
        _separate(program, index, i, j, below, above, label, ordered=i in twins and twins[i] == twins.get(j))


def _separate(
    program: Program, index: int, i: int, j: int, below: int, above: int, label: str, *, ordered: bool
) -> None:
    """Adds: offset[j] - offset[i] <= below or >= above, if i and j are in one pool."""
    base = program.ranges.base
    shared = sorted(set(base[i]) & set(base[j]))
    if not shared:
        return
    nearest = min(base[j][p][0] - base[i][p][1] for p in shared)
    farthest = max(base[j][p][1] - base[i][p][0] for p in shared)
    if ordered and nearest < 0:
        nearest = 0
        if above <= 0:
            program.require(program.offset[j] - program.offset[i] >= 0, f"twins_{index}")
    together = _always_together(program, i, j, shared)
    if nearest >= above or farthest <= below:
        if together:
            _know(program, i, j, int(nearest >= above))
        return
    up, down = farthest >= above, nearest <= below
    if together:
        _choose(program, index, i, j, below, above, label, up=up, down=down)
    else:
        _choose_if_together(program, index, i, j, below, above, label, shared, up=up, down=down)


def _always_together(program: Program, i: int, j: int, shared: list[int]) -> bool:
    homes = program.ranges.homes
    return len(homes[i]) == len(homes[j]) == 1 or (
        program.instance.pool_class[i] == program.instance.pool_class[j] and len(shared) == len(homes[i])
    )


def _choose(
    program: Program, index: int, i: int, j: int, below: int, above: int, label: str, *, up: bool, down: bool
) -> None:
    blocks = program.names.blocks
    distance = program.offset[j] - program.offset[i]
    above_name, below_name = f"above_{blocks[j]}_{blocks[i]}{label}", f"above_{blocks[i]}_{blocks[j]}{label}"
    if not up and not down:
        program.impossible = True
    elif not down:
        program.require(distance >= program.length(above), above_name)
        _know(program, i, j, 1)
    elif not up:
        program.require(distance <= program.length(below), below_name)
        _know(program, i, j, 0)
    else:
        lift, drop = _constants(program, i, j, below, above)
        side = program.binary(above_name, _is_above(i, j, above))
        program.require(distance - lift * side >= program.length(above) - lift, f"if_{above_name}")
        program.require(distance - drop * side <= program.length(below), f"else_{above_name}")
        program.sides.append((index, i, j, side, None))
        _know(program, i, j, side)


def _know(program: Program, i: int, j: int, is_above: Expression) -> None:
    """Records whether j lies above i, if the blocks have one part each and are always in one pool."""
    homes = program.ranges.homes
    if len(homes[i]) == len(homes[j]) == 1 and i in program.single and j in program.single:
        program.above[i, j] = is_above


def _choose_if_together(
    program: Program,
    index: int,
    i: int,
    j: int,
    below: int,
    above: int,
    label: str,
    shared: list[int],
    *,
    up: bool,
    down: bool,
) -> None:
    blocks = program.names.blocks
    distance = program.offset[j] - program.offset[i]
    lift, drop = _constants(program, i, j, below, above)
    over: Variable | None = None
    under: Variable | None = None
    if up:
        name = f"above_{blocks[j]}_{blocks[i]}{label}"
        over = program.binary(name, _is_above(i, j, above))
        program.require(distance - lift * over >= program.length(above) - lift, f"if_{name}")
    if down:
        name = f"above_{blocks[i]}_{blocks[j]}{label}"
        under = program.binary(name, _is_below(i, j, below))
        program.require(distance + drop * under <= program.length(below) + drop, f"if_{name}")
    for pool in shared:
        one = (0 if over is None else over) + (0 if under is None else under)
        both = program.is_in(i, pool) + program.is_in(j, pool)
        name = f"apart_{blocks[i]}_{blocks[j]}{label}_{program.names.pools[pool]}"
        program.require(both - one <= 1, name)
    program.sides.append((index, i, j, over, under))


def _constants(program: Program, i: int, j: int, below: int, above: int) -> tuple[float, float]:
    """The least M for both directions, in any pools."""
    ranges = program.ranges
    nearest = ranges.lowest(j) - ranges.highest(i)
    farthest = ranges.highest(j) - ranges.lowest(i)
    return program.constant(max(above - nearest, 0)), program.constant(max(farthest - below, 0))


def _is_above(i: int, j: int, above: int) -> ValueAt:
    return lambda at: int(at.pool[i] == at.pool[j] and at.offset[j] - at.offset[i] >= above)


def _is_below(i: int, j: int, below: int) -> ValueAt:
    return lambda at: int(at.pool[i] == at.pool[j] and at.offset[j] - at.offset[i] <= below)


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
        i, j = int(choice.first[0]), int(choice.second[0])
        below, above = int(choice.below[0]), int(choice.above[0])
        shared = sorted(set(program.ranges.base[i]) & set(program.ranges.base[j]))
        if not shared:
            continue
        label = f"{program.names.blocks[i]}_{program.names.blocks[j]}_{row}"

        def overlaps(at: Placement, i: int = i, j: int = j, below: int = below, above: int = above) -> int:
            return int(at.pool[i] == at.pool[j] and below < at.offset[j] - at.offset[i] < above)

        lift, drop = _constants(program, i, j, below, above)
        share = program.binary(f"share_{label}", overlaps)
        over = program.binary(f"priced_above_{label}", _is_above(i, j, above))
        under = program.binary(f"priced_below_{label}", _is_below(i, j, below))
        distance = program.offset[j] - program.offset[i]
        program.require(distance - lift * over >= program.length(above) - lift, f"if_priced_above_{label}")
        program.require(distance + drop * under <= program.length(below) + drop, f"if_priced_below_{label}")
        for pool in shared:
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
