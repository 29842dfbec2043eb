"""Writes the program of an instance. Every placement satisfies its rows, so a value that it cannot reach, no placement can.

Addresses and rules about pairs are left out.
"""

from __future__ import annotations

from itertools import groupby
from math import lcm
from weakref import WeakKeyDictionary

import numpy as np

from ....bounds.weighted_sections import LiveHeights, homes_of_classes
from ....geometry.presolve import restrict
from ....model.instance import LINEAR_TERMS, Bools, Instance, Ints, Placement, Term
from ....model.linear_terms import choice_cost, moved_column, peak_price
from .program import Costs, Pools, Program, Room, Row

MOST_ENTRIES = 400_000
"""Entries of all rows together. Beyond that the rows of the emptiest sections are left out; the others still hold."""


_known: WeakKeyDictionary[Instance, Program] = WeakKeyDictionary()
"""Programs of instances that are still in use: each round of the engines needs them again."""


def program_of(instance: Instance) -> Program:
    """The program, with one row for each pool and maximal set of blocks that may be live together there."""
    found = _known.get(instance)
    if found is None:
        found = _known[instance] = _written(instance)
    return found


def _written(instance: Instance) -> Program:
    number = instance.class_number
    homes = tuple(tuple(pools) for _, pools in sorted(homes_of_classes(instance).items()))
    steps = [lcm(_step(instance, p), pool.step) for p, pool in enumerate(instance.pools)]
    rows, spare = _rows(instance, number, homes, steps)
    terms = []
    for term in instance.terms:
        if not _is_known(instance, term):
            break
        terms.append(_costs(instance, term, number, homes))
    return Program(
        homes=homes,
        rooms=tuple(
            Room(pool.capacity, pool.reserved, spare[p], _lowest(instance, p), steps[p] if spare[p] else 1)
            for p, pool in enumerate(instance.pools)
        ),
        rows=rows,
        terms=tuple(terms),
        apart=tuple((min(pair), max(pair)) for pair in sorted({(a, b) for a, b in number[instance.apart].tolist()})),
        pads=_pads(instance, number, homes, steps),
        is_by_block=len(homes) == instance.blocks,
    )


def size_as_one(instance: Instance) -> int:
    """About as many entries as the rows of a program have with alike pools as one, without writing it."""
    is_free = ~instance.has_one_home
    alike = dict[object, list[int]]()
    for pool, spec in enumerate(instance.pools):
        columns = instance.allowed[:, pool], instance.access_cost[:, pool]
        alike.setdefault((spec.capacity, spec.cost, *(each.tobytes() for each in columns)), []).append(pool)
    as_one = every = 0
    for pools in alike.values():
        inside = instance.allowed[:, pools[0]]
        mine = (inside & is_free)[instance.part_block[instance.rect_part]]
        live = np.bincount(instance.rect_start[mine], minlength=instance.sections + 1)
        live -= np.bincount(instance.rect_end[mine], minlength=instance.sections + 1)
        here = int(np.cumsum(live)[_maximal_sections(instance, inside)].sum())
        as_one, every = as_one + here, every + here * len(pools)
    return as_one if every <= MOST_ENTRIES else as_one * MOST_ENTRIES // every


def _is_known(instance: Instance, term: Term) -> bool:
    """Can the program say what the term is worth? Without addresses it knows peaks and what costs by pool."""
    if term in LINEAR_TERMS:
        return moved_column(instance, term) is None
    return term is Term.LARGEST_PEAK or (term is Term.REUSE_COST and not instance.weighs_reuse)


def _step(instance: Instance, pool: int) -> int:
    """A step that divides all distances between bases of blocks that may be in the pool, and starts of reserved ranges; 1 if blocks are not that plain."""
    inside = instance.allowed[:, pool]
    plain = len(instance.part_block) == instance.blocks and not instance.part_low.any()
    if not inside.any() or not plain:
        return 1
    modulus, residue = instance.modulus[inside, pool], instance.residue[inside, pool]
    begins = np.array([begin for begin, _ in instance.pools[pool].reserved], dtype=np.int64)
    return int(np.gcd.reduce(np.concatenate([modulus, np.abs(residue - residue[0]), np.abs(begins - residue[0])])))


def _lowest(instance: Instance, pool: int) -> int:
    """A lower bound on the pool's peak from the blocks that are certainly there: where each ends at least."""
    here = instance.has_one_home & instance.allowed[:, pool]
    base, height = instance.lowest[here, pool], instance.block_high[here]
    modulus, residue = instance.modulus[here, pool], instance.residue[here, pool]
    is_torn = np.bincount(instance.part_block, minlength=instance.blocks) > 1
    is_torn[instance.part_block[instance.part_low > 0]] = True
    is_whole = ~is_torn[here] & (height > 0)
    for begin, end in instance.pools[pool].reserved:
        hits = is_whole & (base < end) & (base + height > begin)
        base = np.where(hits, end + (residue - end) % modulus, base)
    return instance.pools[pool].whole(int((base + height).max(initial=0)))


def _costs(instance: Instance, term: Term, number: Ints, homes: tuple[tuple[int, ...], ...]) -> Costs:
    price = peak_price(instance, term)
    cost = choice_cost(instance, term)
    total = [[0] * len(instance.pools) for _ in homes]
    if cost is not None:
        for group, row in zip(number.tolist(), cost.tolist(), strict=True):
            total[group] = [a + b for a, b in zip(total[group], row, strict=True)]
    return Costs(
        tuple(tuple(total[group][p] for p in pools) for group, pools in enumerate(homes)),
        tuple(price * pool.cost for pool in instance.pools),
        term is Term.LARGEST_PEAK,
    )


def _rows(
    instance: Instance, number: Ints, homes: tuple[tuple[int, ...], ...], steps: list[int]
) -> tuple[tuple[Row, ...], list[int]]:
    """The rows of the fullest sections; and for each pool, by how much rounding up may exceed what the topmost block takes."""
    open_to = [_maximal_sections(instance, instance.allowed[:, pool]) for pool in range(len(instance.pools))]
    pools_at: dict[int, list[int]] = {}
    for pool, sections in enumerate(open_to):
        for section in sections.tolist():
            pools_at.setdefault(section, []).append(pool)
    home = _settled(instance, number, homes)
    constant, spare, pads = _constant(instance, home, steps)
    others = np.flatnonzero(home < 0)
    group_of = number[others].tolist()
    groups = _alike(instance, steps, constant)
    found: list[tuple[int, Row]] = []
    seen = set[tuple[int, int, tuple[tuple[int, int], ...], int]]()
    rest = restrict(instance, others, range(len(instance.pools)), squeeze=False).instance
    for section, heights in LiveHeights(rest).over(sorted(pools_at)):
        for pool in pools_at[section]:
            if pool not in groups:
                continue
            always, pad, units = int(constant[pool, section]), int(pads[pool, section]), dict[int, int]()
            for block, height in heights.items():
                group = group_of[block]
                if pool in homes[group]:
                    whole, height = -(-height // steps[pool]) * steps[pool], instance.pools[pool].whole(height)
                    spare[pool] = max(spare[pool], whole - height)
                    if len(homes[group]) == 1:
                        always, pad = always + whole, max(pad, whole - height)
                    else:
                        units[group] = units.get(group, 0) + whole
            members = tuple(sorted(units.items()))
            if (pool, always, members, pad) not in seen:
                seen.add((pool, always, members, pad))
                load = always + sum(units.values())
                found += [(load, Row(each, section, always, members, pad)) for each in groups[pool]]
    for pool, alike in groups.items():
        for each in alike:
            spare[each] = spare[pool]
    fullness: dict[int, int] = {}
    for load, row in found:
        fullness[row.section] = max(fullness.get(row.section, 0), load)
    found.sort(key=lambda each: (-fullness[each[1].section], each[1].section))
    kept, entries = list[Row](), 0
    for _, rows in groupby((row for _, row in found), key=lambda row: row.section):  # all pools have the same sections
        here = list(rows)
        entries += sum(len(row.members) for row in here)
        if entries > MOST_ENTRIES:
            break
        kept += here
    return tuple(sorted(kept, key=lambda row: (row.section, row.pool))), spare


def _alike(instance: Instance, steps: list[int], constant: Ints) -> dict[int, list[int]]:
    """By the first of them, the pools that have the same rows."""
    groups, first = dict[int, list[int]](), dict[object, int]()
    for pool, step in enumerate(steps):
        key = step, instance.pools[pool].step, instance.allowed[:, pool].tobytes(), constant[pool].tobytes()
        groups.setdefault(first.setdefault(key, pool), []).append(pool)
    return groups


def _settled(instance: Instance, number: Ints, homes: tuple[tuple[int, ...], ...]) -> Ints:
    """(n) The pool of each block that takes the same room there whatever is chosen: one home, one part, and no exclusions; -1 for other blocks."""
    only = np.array([pools[0] if len(pools) == 1 else -1 for pools in homes], dtype=np.int64)
    varies = np.bincount(instance.part_block, minlength=instance.blocks) != 1
    varies[instance.part_block[instance.exclusions.reshape(-1)]] = True
    settled: Ints = np.where(varies, -1, only[number])
    return settled


def _pads(
    instance: Instance, number: Ints, homes: tuple[tuple[int, ...], ...], steps: list[int]
) -> tuple[tuple[int, ...], ...]:
    """By how much a block of each class is rounded up in each of its homes, at most; empty if none is, or blocks may lie in each other."""
    most = np.zeros((len(homes), len(steps)), dtype=np.int64)
    for pool, step in enumerate(steps):
        np.maximum.at(most[:, pool], number, -instance.pools[pool].whole(instance.block_high) % step)
    if not most.any() or len(instance.exclusions):
        return ()
    return tuple(tuple(line[pool] for pool in pools) for line, pools in zip(most.tolist(), homes, strict=True))


def _constant(instance: Instance, home: Ints, steps: list[int]) -> tuple[Ints, list[int], Ints]:
    """(P, sections) the room these blocks take, rounded up to each pool's step; the most that this adds to one of them; and the same at each section."""
    taken = np.zeros((len(steps), instance.sections + 1), dtype=np.int64)
    pads = np.zeros_like(taken)
    spare = [0] * len(steps)
    block = instance.part_block[instance.rect_part]
    sizes = (instance.part_high - instance.part_low)[instance.rect_part]
    for pool, step in enumerate(steps):
        mine, height = home[block] == pool, instance.pools[pool].whole(sizes)
        whole = -(-height[mine] // step) * step
        np.add.at(taken[pool], instance.rect_start[mine], whole)
        np.subtract.at(taken[pool], instance.rect_end[mine], whole)
        spare[pool] = int((whole - height[mine]).max(initial=0))
        for rect in np.flatnonzero(mine)[whole > height[mine]].tolist():
            over = pads[pool, instance.rect_start[rect] : instance.rect_end[rect]]
            np.maximum(over, -height[rect] % step, out=over)
    return np.cumsum(taken, axis=1), spare, pads


def _maximal_sections(instance: Instance, chosen: Bools) -> Ints:
    """The sections whose live set of chosen blocks is contained in no neighbouring section's."""
    rects = chosen[instance.part_block[instance.rect_part]]
    begins = np.bincount(instance.rect_start[rects], minlength=instance.sections + 1) > 0
    ends = np.bincount(instance.rect_end[rects], minlength=instance.sections + 1) > 0
    # A live set is maximal if something ends next, and something has begun since the last end.
    stops = np.flatnonzero(ends) - 1
    begun = np.cumsum(begins)
    before = np.concatenate([[0], begun[stops[:-1]]]) if len(stops) else stops
    sections: Ints = stops[begun[stops] > before].astype(np.int64) if len(stops) else stops.astype(np.int64)
    return sections


def ruled(instance: Instance) -> Bools:
    """The blocks that share a pool with others, or must be in another pool than some."""
    number = instance.class_number
    is_ruled = np.bincount(number) > 1
    is_ruled[number[instance.apart].reshape(-1)] = True
    found: Bools = is_ruled[number]
    return found


def pools_of_classes(number: Ints, placement: Placement) -> Pools:
    """The placement as a choice of pools."""
    pools = np.zeros(int(number.max(initial=-1)) + 1, dtype=np.int64)
    pools[number] = placement.pool
    return tuple(pools.tolist())
