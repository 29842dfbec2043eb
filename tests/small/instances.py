"""Small instances, written in one line, for tests of solvers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solvers.model.instance import Instance, Ints, PoolSpec, Term

HORIZON = 1 << 40


@dataclass(frozen=True)
class Block:
    """A block for make_instance; each part is (low, high, [(start, end), ...])."""

    parts: Sequence[tuple[int, int, Sequence[tuple[int, int]]]]
    alignment: int = 1
    residue: int = 0
    fixed: int | None = None
    max_offset: int | None = None
    pools: Sequence[int] | None = None
    hint: int | None = None
    access: Sequence[int] | None = None
    pool_class: int | None = None


def plain(start: int, end: int, size: int, **rest: object) -> Block:
    """A block of one rectangle."""
    return Block([(0, size, [(start, end)])], **rest)  # type: ignore[arg-type]


def pairs(rows: Sequence[Sequence[int]], width: int) -> Ints:
    return np.array(rows, dtype=np.int64).reshape(len(rows), width)


def make_instance(
    blocks: Sequence[Block | tuple[int, int, int]],
    *,
    capacity: int | None = None,
    pools: Sequence[PoolSpec] | None = None,
    terms: Sequence[Term] = (Term.SUM_OF_PEAKS,),
    conflicts: Sequence[tuple[int, int]] = (),
    exclusions: Sequence[tuple[int, int]] = (),
    apart: Sequence[tuple[int, int]] = (),
    penalties: Sequence[tuple[int, int, int]] = (),
) -> Instance:
    """An Instance of the given blocks; a tuple stands for a plain block of (start, end, size)."""
    specs = tuple(pools) if pools is not None else (PoolSpec(capacity),)
    full = [b if isinstance(b, Block) else plain(*b) for b in blocks]
    n, width = len(full), len(specs)
    parts = [(i, *part) for i, block in enumerate(full) for part in block.parts]
    rects = [(k, start, end) for k, (*_, live) in enumerate(parts) for start, end in live]
    allowed = np.zeros((n, width), dtype=bool)
    modulus = np.ones((n, width), dtype=np.int64)
    residue = np.zeros((n, width), dtype=np.int64)
    lowest = np.zeros((n, width), dtype=np.int64)
    highest = np.zeros((n, width), dtype=np.int64)
    access = np.zeros((n, width), dtype=np.int64)
    for i, block in enumerate(full):
        height = max(high for _, high, _ in block.parts)
        for p, spec in enumerate(specs):
            top = (HORIZON if spec.capacity is None else spec.capacity) - height
            top = top if block.max_offset is None else min(top, block.max_offset)
            low = block.residue % block.alignment
            if block.fixed is not None:
                low = block.fixed
                top = min(top, low) if top >= low else -1
            top -= (top - block.residue) % block.alignment
            modulus[i, p], residue[i, p] = block.alignment, block.residue % block.alignment
            lowest[i, p], highest[i, p] = low, top
            allowed[i, p] = (block.pools is None or p in block.pools) and top >= low
            access[i, p] = 0 if block.access is None else block.access[p]
    column = np.arange(n, dtype=np.int64)
    return Instance(
        pools=specs,
        terms=tuple(terms),
        sections=max((end for _, _, end in rects), default=0),
        part_block=np.array([p[0] for p in parts], dtype=np.int64),
        part_low=np.array([p[1] for p in parts], dtype=np.int64),
        part_high=np.array([p[2] for p in parts], dtype=np.int64),
        rect_part=np.array([r[0] for r in rects], dtype=np.int64),
        rect_start=np.array([r[1] for r in rects], dtype=np.int64),
        rect_end=np.array([r[2] for r in rects], dtype=np.int64),
        allowed=allowed,
        modulus=modulus,
        residue=residue,
        lowest=lowest,
        highest=highest,
        access_cost=access,
        pool_class=np.array([i if b.pool_class is None else b.pool_class for i, b in enumerate(full)], dtype=np.int64),
        preference=np.tile(np.arange(width, dtype=np.int64), (n, 1)),
        apart=pairs(apart, 2),
        conflicts=pairs(conflicts, 2),
        exclusions=pairs(exclusions, 2),
        penalties=pairs(penalties, 3),
        hint=np.array([b.hint or 0 for b in full], dtype=np.int64),
        hinted=np.array([b.hint is not None for b in full], dtype=bool),
        input_rank=column,
        name_rank=column,
    )
