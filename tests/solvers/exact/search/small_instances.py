"""Random small instances with every kind of constraint, as solvers see them, and their optimum by brute force."""

from __future__ import annotations

import random
from collections.abc import Iterator

from solvers.model.conflicts import part_pairs
from solvers.model.instance import Instance, PoolSpec
from tests.small.instances import Block, make_instance, plain

KINDS = ("plain", "uniform", "aligned", "obstacles", "exclusions", "conflicts", "multi", "all")


def brute_force(instance: Instance) -> int | None:
    """Return the least peak, found by trying every aligned offset of every block; None if nothing fits."""
    n = instance.blocks
    pool = instance.pools[0]
    low = [int(v) for v in instance.lowest[:, 0]]
    high = [int(v) for v in instance.highest[:, 0]]
    step = [int(v) for v in instance.modulus[:, 0]]
    tall = [int(v) for v in instance.block_high]
    parts: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for b, begin, end in zip(instance.part_block, instance.part_low, instance.part_high, strict=True):
        parts[b].append((int(begin), int(end)))
    forbidden: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for p, q in part_pairs(instance).tolist():
        a, b = int(instance.part_block[p]), int(instance.part_block[q])
        below = int(instance.part_low[p] - instance.part_high[q])
        above = int(instance.part_high[p] - instance.part_low[q])
        forbidden.setdefault((a, b), []).append((below, above))
        forbidden.setdefault((b, a), []).append((-above, -below))
    best: int | None = None
    top = sum(tall) + max((low[b] for b in range(n)), default=0) + sum(step) + sum(end for _, end in pool.reserved)
    offset = [0] * n

    def starts(b: int) -> Iterator[int]:
        limit = top if best is None else best - tall[b] - 1
        for x in range(low[b], min(high[b], limit) + 1, step[b]):
            if all(
                x + begin >= to or x + end <= frm or begin == end
                for begin, end in parts[b]
                for frm, to in pool.reserved
            ):
                yield x

    def descend(b: int, peak: int) -> None:
        nonlocal best
        if b == n:
            best = peak
            return
        for x in starts(b):
            if best is not None and max(peak, x + tall[b]) >= best:
                return
            if all(not lo < x - offset[a] < up for a in range(b) for lo, up in forbidden.get((a, b), ())):
                offset[b] = x
                descend(b + 1, max(peak, x + tall[b]))

    descend(0, 0)
    return best


def random_block(r: random.Random, kind: str) -> Block:
    def interval() -> tuple[int, int]:
        start = r.randrange(6)
        return start, start + r.randint(1, 4)

    alignment = r.choice([1, 2, 3, 4, 6]) if kind in ("aligned", "all") else 1
    residue = r.randrange(alignment)
    if kind in ("uniform", "all") and r.random() < (0.5 if kind == "all" else 2):
        alignment, residue = 4, 1
    fixed = None
    if kind in ("obstacles", "all") and r.random() < 0.25:
        fixed = residue + alignment * r.randrange(6)
    most = residue + alignment * r.randrange(1, 8) if kind in ("obstacles", "all") and r.random() < 0.2 else None
    if kind in ("multi", "all") and r.random() < 0.6:
        parts = []
        for i in range(r.randint(1, 3)):
            low = 0 if i == 0 else r.randrange(5)
            first = interval()
            live = [first]
            if r.random() < 0.3:
                live.append((first[1] + 1, first[1] + 2))
            parts.append((low, low + r.randint(0 if i else 1, 4), live if r.random() < 0.95 else []))
        return Block(parts, alignment, residue, fixed, most)
    start, end = interval()
    return plain(start, end, r.randint(1, 6), alignment=alignment, residue=residue, fixed=fixed, max_offset=most)


def random_instance(seed: int, kind: str) -> Instance:
    r = random.Random(f"{kind} {seed}")
    blocks = [random_block(r, kind) for _ in range(r.randint(1, 5))]
    count = sum(len(b.parts) for b in blocks)
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    owner = [i for i, b in enumerate(blocks) for _ in b.parts]
    pairs = [p for p in pairs if owner[p[0]] != owner[p[1]]]
    r.shuffle(pairs)
    exclusions = pairs[: r.randint(0, 3)] if kind in ("exclusions", "all") else []
    conflicts = (
        [p for p in pairs[3 : 3 + r.randint(0, 4)] if p not in exclusions] if kind in ("conflicts", "all") else []
    )
    reserved: list[tuple[int, int]] = []
    if kind in ("obstacles", "all"):
        at = 0
        for _ in range(r.randint(0, 2)):
            at += r.randint(1, 6)
            reserved.append((at, at + r.randint(1, 3)))
            at = reserved[-1][1]
    capacity = r.randint(6, 24) if r.random() < 0.5 else None
    return make_instance(
        blocks, pools=[PoolSpec(capacity, tuple(reserved))], conflicts=conflicts, exclusions=exclusions
    )
