"""Planners that are plain functions: the data they get about buffers, and how their answer is read.

def my_planner(buffers, memory_pressure):
    return {buffer.index: (pool_index, offset) for ...}      # or {buffer.index: offset} with one pool; or a list in input order
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...bounds.weighted_sections import busiest_section
from ...model.conflicts import live_pair_count, part_pairs
from ...model.errors import SolverFailed, StopReason, Unsupported
from ...model.instance import ADDRESS_LIMIT, Instance, Placement
from ...model.objective import evaluate
from ...model.outcome import Outcome
from ...model.solver import Control, Feature, Goal, Task

FEATURES = frozenset({Feature.CAPACITY, Feature.MULTI_RECT, Feature.CONFLICTS, Feature.EXCLUSIONS, Feature.POOLS})
"""The features that this data can express."""

MOST_PAIRS = 5_000_000


@dataclass(frozen=True, slots=True)
class PoolInfo:
    """A memory."""

    index: int
    size_bytes: int | None
    """None: unlimited."""


@dataclass(frozen=True, slots=True)
class BufferInfo:
    """A buffer, or several that move as one."""

    index: int
    """Position in the user's order."""
    name_rank: int
    """Position by name."""
    size_bytes: int
    alignment: int
    """Offsets must be `residue` modulo this, in the preferred pool."""
    residue: int
    pool_candidates: tuple[PoolInfo, ...]
    """In order of preference."""
    conflicts: tuple[int, ...]
    """Indices of all buffers that it must not overlap."""
    live: tuple[tuple[int, int], ...]
    """Half-open ranges of steps; something begins or ends at each step."""


def call(name: str, planner: Callable[..., object], instance: Instance, task: Task, control: Control) -> Outcome:
    """The function's answer as an outcome."""
    pressure = max(
        [sum(task.pool_bounds), *([found.value] if (found := busiest_section(instance)) is not None else [])]
    )
    placement = _placement(name, planner(buffer_infos(name, instance), pressure), instance)
    control.incumbent(placement)
    value = evaluate(instance, placement)
    stop = control.stopped() or StopReason.WORK_LIMIT
    if value <= task.enough:
        stop = StopReason.PROVED
    elif task.goal is Goal.FIT:
        stop = StopReason.GOAL_MET
    return Outcome(stop, placement, value, solver=name, reproducible=stop.is_repeatable)


def buffer_infos(name: str, instance: Instance) -> list[BufferInfo]:
    """All blocks, in the user's order."""
    if live_pair_count(instance) + len(instance.conflicts) > MOST_PAIRS:
        raise Unsupported(
            name,
            f"planners that are functions are given all conflicts as lists, and there are more than {MOST_PAIRS:,}",
        )
    near: list[set[int]] = [set() for _ in range(instance.blocks)]
    for a, b in instance.part_block[part_pairs(instance)].tolist():
        near[a].add(b)
        near[b].add(a)
    live: list[list[tuple[int, int]]] = [[] for _ in range(instance.blocks)]
    owner = instance.part_block[instance.rect_part].tolist()
    for block, start, end in zip(owner, instance.rect_start.tolist(), instance.rect_end.tolist(), strict=True):
        live[block].append((start, end))
    pools = [PoolInfo(p, spec.capacity) for p, spec in enumerate(instance.pools)]
    size = instance.block_high.tolist()
    infos = []
    for block in range(instance.blocks):
        ranked = [
            p for p in np.argsort(instance.preference[block], kind="stable").tolist() if instance.allowed[block, p]
        ]
        first = ranked[0] if ranked else 0
        infos.append(
            BufferInfo(
                block,
                int(instance.name_rank[block]),
                size[block],
                int(instance.modulus[block, first]),
                int(instance.residue[block, first]),
                tuple(pools[p] for p in ranked),
                tuple(sorted(near[block])),
                tuple(sorted(set(live[block]))),
            )
        )
    return infos


def _placement(name: str, answer: object, instance: Instance) -> Placement:
    if isinstance(answer, Mapping):
        found = [answer.get(block) for block in range(instance.blocks)]
    elif isinstance(answer, Sequence) and not isinstance(answer, str) and len(answer) == instance.blocks:
        found = list(answer)
    else:
        raise SolverFailed(name, "its answer is neither a mapping from indices nor one offset for each buffer")
    placed = [_place(name, block, place, len(instance.pools)) for block, place in enumerate(found)]
    pool, offset = zip(*placed, strict=True) if placed else ((), ())
    return Placement(np.array(pool, dtype=np.int64), np.array(offset, dtype=np.int64))


def _place(name: str, block: int, place: object, pools: int) -> tuple[int, int]:
    """A pool and an offset; with one pool an offset is enough."""
    pair = place if isinstance(place, tuple | list) else (0, place) if pools == 1 else (None, None)
    if len(pair) != 2:
        pair = (None, None)
    pool, offset = (int(x) if isinstance(x, int | np.integer) and not isinstance(x, bool) else None for x in pair)
    if pool is None or offset is None or not 0 <= pool < pools or not 0 <= offset < ADDRESS_LIMIT:
        raise SolverFailed(name, f"its answer for buffer {block} is no pool and offset: {place!r}"[:300])
    return pool, offset
