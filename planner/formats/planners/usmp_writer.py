"""A Problem in the field names of TVM's USMP, with a plan's places: for compilers that continue from there.

Lifetimes become lists of conflicts. Constants are in the `constant_info_arr` of their pool, with their data; with a plan, each has its
`byte_offset`, and everything else is in `pool_allocations`. What USMP cannot express is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm
from typing import Any

from ...checks.names import require_ids_as_texts
from ...checks.report import Place, Report, bad_input, quoted
from ...facts.constants import is_constant, spell_out_constants
from ...facts.intervals import merged
from ...facts.variants import as_chosen, require_nothing_to_choose
from ...model.columns.buffers import ids
from ...model.errors import Code
from ...model.plan import Placement, Plan
from ...model.problem import Buffer, BufferId, Pool, Problem
from ..json.lines import document
from ..memories import SPEED_FIELDS, write_data, write_speed

MOST_PAIRS = 1_000_000
"""Of buffers that are live together: a file of some 30 MB."""
_KIND_NUMBERS = {"intermediate": 0, "input": 1, "output": 2}


def usmp_document(problem: Problem, plan: Plan | None = None) -> bytes:
    """Return the document that `read_problem` reads. Raises BadInput for what it cannot express."""
    given = problem
    if plan is not None:
        problem = as_chosen(problem, plan)
    require_nothing_to_choose(problem)
    report = Report()
    for place, what in _beyond_words(problem):
        report.add(Code.NOT_SUPPORTED_YET, place, f"USMP has no word for {what}")
    report.raise_if_any()
    require_ids_as_texts(given, ids(problem.buffers))
    homes = _homes_of_constants(problem, plan, report)
    report.raise_if_any()
    where = {} if plan is None else {place.id: place for place in plan.placements}
    fields: dict[str, Any] = {} if problem.name is None else {"name": problem.name}
    fields["pools"] = [_pool(problem, pool, homes, where) for pool in problem.pools]
    conflicts = _conflicts(problem)
    fields["buffers"] = [
        _buffer(problem, buffer, conflicts[buffer.id]) for buffer in problem.buffers if buffer.id not in homes
    ]
    if plan is not None:
        fields["pool_allocations"] = {
            str(place.id): {"pool_name": place.pool, "byte_offset": place.offset} for place in plan.placements
        }
    return document(fields, listed=("pools", "buffers", "pool_allocations"))


def _beyond_words(problem: Problem) -> Iterator[tuple[Place, str]]:
    for i, pool in enumerate(problem.pools):
        if pool.reserved:
            yield ("pools", i, "reserved"), "reserved ranges"
        if pool.base:
            yield ("pools", i, "base"), "a base address"
    for i, buffer in enumerate(problem.buffers):
        if buffer.fixed is not None and buffer.fixed.offset is not None and not _in_constant_pool(problem, buffer):
            yield ("buffers", i, "fixed", "offset"), "a fixed offset"
        if buffer.max_offset is not None:
            yield ("buffers", i, "max_offset"), "a greatest offset"
    for name in ("colocations", "same_pool", "different_pool", "reuse_penalties"):
        if getattr(problem.constraints, name):
            yield ("constraints", name), name.replace("_", " ")


def _in_constant_pool(problem: Problem, buffer: Buffer) -> bool:
    return is_constant(buffer) and any(pool.read_only for pool in problem.pools)


def _homes_of_constants(problem: Problem, plan: Plan | None, report: Report) -> dict[BufferId, str]:
    """Return the pool of each constant: the plan's, or the only possible one."""
    placed = {} if plan is None else {place.id: place.pool for place in plan.placements}
    homes: dict[BufferId, str] = {}
    for i, (buffer, open_to) in enumerate(zip(problem.buffers, spell_out_constants(problem).buffers, strict=True)):
        if not _in_constant_pool(problem, buffer):
            continue
        pools = (buffer.fixed.pool,) if buffer.fixed is not None else open_to.pools or ()
        if buffer.id in placed:
            homes[buffer.id] = placed[buffer.id]
        elif len(pools) == 1:
            homes[buffer.id] = pools[0]
        else:
            text = f"constant {quoted(buffer.id)} may be in several pools, but stands in one: write it with its plan"
            report.add(Code.INVALID_VALUE, ("buffers", i, "pools"), text)
    return homes


def _pool(problem: Problem, pool: Pool, homes: dict[BufferId, str], where: dict[BufferId, Placement]) -> dict[str, Any]:
    fields: dict[str, Any] = {"pool_name": pool.name, "size_hint_bytes": -1 if pool.size is None else pool.size}
    speed = write_speed(pool.speed)
    fields |= {name: speed[name] for name in SPEED_FIELDS if name in speed}
    if pool.read_only:
        fields["constant_info_arr"] = [
            _constant(problem, buffer, where.get(buffer.id))
            for buffer in problem.buffers
            if homes.get(buffer.id) == pool.name
        ]
    return fields


def _constant(problem: Problem, buffer: Buffer, place: Placement | None) -> dict[str, Any]:
    decided = None if buffer.fixed is None else buffer.fixed.offset
    offset = decided if place is None else place.offset
    fields: dict[str, Any] = {
        "name_hint": str(buffer.id),
        "byte_alignment": _alignment(problem, buffer),
        "byte_offset": -1 if offset is None else offset,
        "size_bytes": buffer.size,
        **_uses(buffer),
    }
    return fields if buffer.data is None else fields | {"data": write_data(buffer.data)}


def _uses(buffer: Buffer) -> dict[str, int]:
    return {name: value for name in ("accesses", "reads", "writes") if (value := getattr(buffer, name))}


def _buffer(problem: Problem, buffer: Buffer, conflicts: list[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "name_hint": str(buffer.id),
        "size_bytes": buffer.size,
        "alignment": _alignment(problem, buffer),
        "conflicts": conflicts,
    }
    pools = (buffer.fixed.pool,) if buffer.fixed is not None else buffer.pools
    if pools is not None:
        fields["pool_candidates"] = list(pools)
    if buffer.kind is not None:
        fields["kind"] = _KIND_NUMBERS.get(buffer.kind, buffer.kind)
    fields |= _uses(buffer)
    return fields if buffer.data is None else fields | {"data": write_data(buffer.data)}


def _alignment(problem: Problem, buffer: Buffer) -> int:
    """Return the least common alignment of the buffer and its possible pools, since pools have none there."""
    return lcm(
        buffer.alignment, *(p.alignment for p in problem.pools if buffer.pools is None or p.name in buffer.pools)
    )


def _conflicts(problem: Problem) -> dict[BufferId, list[str]]:
    """Return, by buffer, the names of those with which it must not share addresses; both sides name each other."""
    found: dict[BufferId, set[int]] = {b.id: set() for b in problem.buffers if not _in_constant_pool(problem, b)}
    number = {buffer.id: i for i, buffer in enumerate(problem.buffers)}
    ids = [*number]
    spans = [
        (start, end, number[b.id]) for b in problem.buffers if b.id in found for start, end in merged(b.live or ())
    ]
    for first, second in _live_together(spans):
        found[ids[first]].add(second)
        found[ids[second]].add(first)
    for a, b in problem.constraints.exclusions:
        found.get(a, set()).discard(number[b])
        found.get(b, set()).discard(number[a])
    for a, b in problem.constraints.conflicts:
        if a != b and a in found and b in found:
            found[a].add(number[b])
            found[b].add(number[a])
    return {id_: [str(ids[i]) for i in sorted(others)] for id_, others in found.items()}


def _live_together(spans: list[tuple[int, int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the numbers of every two of these spans, (start, end, number), that have a time in common."""
    live: list[tuple[int, int, int]] = []
    pairs = 0
    for span in sorted(spans):
        live = [each for each in live if each[1] > span[0]]
        pairs += len(live)
        if pairs > MOST_PAIRS:
            text = f"more than {MOST_PAIRS} pairs are live together, and USMP names the others of each: convert to a format with lifetimes"
            raise bad_input(Code.TOO_LARGE, ("buffers",), text)
        for each in live:
            yield each[2], span[2]
        live.append(span)
