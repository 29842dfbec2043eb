"""A problem as the JSON of dsa-solver (schema version 1). What it cannot express is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from math import lcm
from typing import Any

from solvers.model.instance import Term

from ...checks.names import require_ids_as_texts
from ...checks.report import Place, Report
from ...facts.constants import spell_out_constants
from ...facts.intervals import merged
from ...facts.names import numbers
from ...facts.variants import require_nothing_to_choose
from ...model.errors import Code
from ...model.problem import Buffer, BufferId, Pool, Problem
from ..json.lines import document
from ..memories import with_aligned_buffers
from .dsa import TERMS

MOST_ID = (1 << 32) - 1
NAMES = {term: name for name, term in TERMS.items()}


def write_dsa(problem: Problem) -> bytes:
    """Return the document that `read_problem` reads. Raises BadInput for what it cannot express."""
    require_nothing_to_choose(problem)
    problem = with_aligned_buffers(spell_out_constants(problem))
    report = Report()
    for place, what in _beyond_words(problem):
        report.add(Code.UNSUPPORTED, place, f"dsa-solver's files have no word for {what}")
    report.raise_if_any()
    free_times = count(max((end for buffer in problem.buffers for _, end in buffer.live or ()), default=0))
    pools = sorted(problem.pools, key=lambda pool: pool.rank)
    pool_ids = {pool.name: i for i, pool in enumerate(pools)}
    ids = numbers([buffer.id for buffer in problem.buffers], MOST_ID)
    require_ids_as_texts(problem, (id_ for id_, number in ids.items() if id_ != number))
    constraints = problem.constraints
    fixed = [(b.id, b.fixed.pool, b.fixed.offset) for b in problem.buffers if b.fixed and b.fixed.offset is not None]
    inner: dict[str, Any] = {
        "pools": [_pool(pool, pool_ids[pool.name]) for pool in pools],
        "buffers": [_buffer(buffer, ids[buffer.id], pool_ids, free_times) for buffer in problem.buffers],
        "constraints": {
            "colocations": [_pair(ids, each.base, each.buffer) for each in constraints.colocations],
            "separations": [_pair(ids, *pair) for pair in constraints.conflicts],
            "temporal_exclusions": [_pair(ids, *pair) for pair in constraints.exclusions],
            "pinned_allocations": [
                {"buffer": ids[id_], "pool": pool_ids[pool], "offset": offset, "exclusive_for_all_time": False}
                for id_, pool, offset in fixed
            ],
        },
        "cost_model": {
            "reuse_penalties": [
                {**_pair(ids, each.first, each.second), "cost": each.cost} for each in constraints.reuse_penalties
            ]
        },
        "objective": {
            "aggregation": "lexicographic",
            "terms": ["capacity_overflow", *(NAMES[term] for term in problem.terms)],
        },
    }
    if not constraints.reuse_penalties:
        del inner["cost_model"]
    profile = "standard_dsa" if _is_standard(inner) else "pypto_structured"
    head = {"schema_version": 1, "profile": profile, "instance": problem.name or "problem", "metadata": {}}
    return document({**head, "problem": inner}, listed=())


def _beyond_words(problem: Problem) -> Iterator[tuple[Place, str]]:
    for i, pool in enumerate(problem.pools):
        step = lcm(pool.alignment, *{buffer.alignment for buffer in problem.buffers})
        if (pool.base or 0) % step:
            yield ("pools", i, "base"), "a base address"
        if pool.cost != 1:
            yield ("pools", i, "cost"), "what a byte of a memory costs"
        if pool.alignment > 1:
            yield ("pools", i, "alignment"), "the alignment of a memory, where buffers may be in others of another one"
    for i, buffer in enumerate(problem.buffers):
        if buffer.max_offset is not None:
            yield ("buffers", i, "max_offset"), "a greatest offset"
    for i, colocation in enumerate(problem.constraints.colocations):
        if colocation.offset:
            yield ("constraints", "colocations", i), "colocations at an offset"
    for name in ("same_pool", "different_pool"):
        if getattr(problem.constraints, name):
            yield ("constraints", name), name.replace("_", " ")
    for i, term in enumerate(problem.terms):
        if term not in NAMES:
            yield ("objective", "terms", i), f"the term {term.value}"


def _pool(pool: Pool, number: int) -> dict[str, Any]:
    reserved = [{"begin": start, "end": end} for start, end in pool.reserved]
    return {"id": number, "name": pool.name, "capacity": pool.size, "reserved_ranges": reserved}


def _buffer(buffer: Buffer, number: int, pools: Mapping[str, int], free_times: Iterator[int]) -> dict[str, Any]:
    """Return a buffer. Every one needs a lifetime there, so one that meets no other gets a time of its own."""
    live = merged(buffer.live or ())
    if not live:
        time = next(free_times)
        live = ((time, time + 1),)
    allowed = [*pools] if buffer.pools is None else [*buffer.pools]
    if buffer.fixed is not None:
        allowed = [name for name in allowed if name == buffer.fixed.pool]
    return {
        "id": number,
        "name": "" if buffer.id == number else str(buffer.id),
        "size": buffer.size,
        "alignment": buffer.alignment,
        "live_intervals": [{"lower": start, "upper": end} for start, end in live],
        "allowed_pools": [pools[name] for name in allowed],
    }


def _pair(ids: Mapping[BufferId, int], first: BufferId, second: BufferId) -> dict[str, int]:
    return {"first": ids[first], "second": ids[second]}


def _is_standard(problem: Mapping[str, Any]) -> bool:
    """True if it fits the profile of plain problems: one memory, one lifetime each, peaks."""
    (pool, *more), buffers = problem["pools"], problem["buffers"]
    return (
        not more
        and not pool["reserved_ranges"]
        and "cost_model" not in problem
        and not any(problem["constraints"].values())
        and all(each["alignment"] == 1 and len(each["live_intervals"]) == 1 for each in buffers)
        and Term.REUSE_COST.value not in problem["objective"]["terms"]
    )
