"""memplan/1: from a Problem to bytes. Defaults are left out; reading the bytes gives the same Problem."""

from __future__ import annotations

from typing import Any

from ...facts.intervals import merged
from ...model.problem import (
    DEFAULT_TERMS,
    Alternative,
    Buffer,
    Colocation,
    Constraints,
    Interval,
    Lifetimes,
    Pool,
    Problem,
    ReusePenalty,
    Variants,
)
from ..documents import PROBLEM_FORMAT
from ..json.lines import document
from ..memories import write_data, write_speed


def write_memplan(problem: Problem) -> bytes:
    fields: dict[str, Any] = {"format": PROBLEM_FORMAT}
    if problem.name is not None:
        fields["name"] = problem.name
    lifetimes = problem.lifetimes
    if lifetimes is None and _has_lifetimes(problem):
        lifetimes = Lifetimes.HALF_OPEN
    if lifetimes is not None:
        fields["lifetimes"] = str(lifetimes)
    fields["pools"] = [write_pool(i, pool) for i, pool in enumerate(problem.pools)]
    shorter = 1 if lifetimes is Lifetimes.INCLUSIVE else 0
    fields["buffers"] = [_buffer(buffer, shorter) for buffer in problem.buffers]
    constraints = _constraints(problem.constraints)
    if constraints:
        fields["constraints"] = constraints
    if problem.steps:
        fields["steps"] = [{"time": time, "name": name} for time, name in problem.steps]
    if problem.terms != DEFAULT_TERMS or problem.was:
        fields["objective"] = {"terms": [str(term) for term in problem.terms]}
        if problem.peak_price != 1:
            fields["objective"]["peak_price"] = problem.peak_price
        if problem.was:
            places = ({"buffer": was.buffer, "pool": was.pool, "offset": was.offset} for was in problem.was)
            fields["objective"]["was"] = list(places)
    if problem.variants is not None:
        fields["variants"] = _variants(problem.variants, shorter)
    return document(fields, listed=("pools", "buffers", "constraints", "steps", "variants"))


def _has_lifetimes(problem: Problem) -> bool:
    if any(buffer.live is not None for buffer in problem.buffers):
        return True
    chosen = [] if problem.variants is None else [a for group in problem.variants.groups for a in group.alternatives]
    return any(each.live or any(buffer.live is not None for buffer in each.buffers) for each in chosen)


def _without(fields: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that differ from their defaults."""
    return {name: value for name, value in fields.items() if name not in defaults or value != defaults[name]}


def write_pool(position: int, pool: Pool) -> dict[str, Any]:
    """Return the memory as an item of a list called `pools` of any document."""
    return _without(
        {
            "name": pool.name,
            "size": pool.size,
            "alignment": pool.alignment,
            "base": pool.base,
            "reserved": merged(pool.reserved),
            "cost": pool.cost,
            "rank": pool.rank,
            "read_only": pool.read_only,
            **write_speed(pool.speed),
        },
        {"alignment": 1, "base": None, "reserved": (), "cost": 1, "rank": position, "read_only": False},
    )


_BUFFER_DEFAULTS: dict[str, Any] = {
    "alignment": 1,
    "live": None,
    "pools": None,
    "fixed": None,
    "hint": None,
    "max_offset": None,
    "kind": None,
    "accesses": 0,
    "device": None,
    "dtype": None,
    "reads": 0,
    "writes": 0,
    "data": None,
}


def _live(intervals: tuple[Interval, ...], shorter: int) -> list[Interval]:
    return [(start, end - shorter) for start, end in merged(intervals)]


def _buffer(buffer: Buffer, shorter: int) -> dict[str, Any]:
    live = None if buffer.live is None else _live(buffer.live, shorter)
    fixed: dict[str, Any] | None = None
    if buffer.fixed is not None:
        fixed = _without({"pool": buffer.fixed.pool, "offset": buffer.fixed.offset}, {"offset": None})
    return _without(
        {
            "id": buffer.id,
            "size": buffer.size,
            "alignment": buffer.alignment,
            "live": live,
            "pools": buffer.pools,
            "fixed": fixed,
            "hint": buffer.hint,
            "max_offset": buffer.max_offset,
            "kind": buffer.kind,
            "accesses": buffer.accesses,
            "device": buffer.device,
            "dtype": buffer.dtype,
            "reads": buffer.reads,
            "writes": buffer.writes,
            "data": write_data(buffer.data),
        },
        _BUFFER_DEFAULTS,
    )


def _colocation(c: Colocation) -> dict[str, Any]:
    return {"buffer": c.buffer, "base": c.base, "offset": c.offset}


def _penalty(p: ReusePenalty) -> dict[str, Any]:
    return {"first": p.first, "second": p.second, "cost": p.cost}


def _constraints(constraints: Constraints) -> dict[str, Any]:
    everything: dict[str, Any] = {
        "conflicts": (*constraints.conflicts,),
        "exclusions": (*constraints.exclusions,),
        "colocations": [_colocation(c) for c in constraints.colocations],
        "same_pool": constraints.same_pool,
        "different_pool": constraints.different_pool,
        "reuse_penalties": [_penalty(p) for p in constraints.reuse_penalties],
    }
    return {name: items for name, items in everything.items() if items}


def _variants(variants: Variants, shorter: int) -> dict[str, Any]:
    costs = [_without({"name": term.name, "weight": term.weight}, {"weight": 1}) for term in variants.costs]
    names = [term.name for term in variants.costs]
    groups = [
        {"name": group.name, "alternatives": [_alternative(each, names, shorter) for each in group.alternatives]}
        for group in variants.groups
    ]
    return _without(
        {"costs": costs, "groups": groups, "requires": variants.requires, "forbids": variants.forbids},
        {"costs": [], "requires": (), "forbids": ()},
    )


def _alternative(alternative: Alternative, names: list[str], shorter: int) -> dict[str, Any]:
    return _without(
        {
            "name": alternative.name,
            "costs": {name: cost for name, cost in zip(names, alternative.costs, strict=True) if cost},
            "buffers": [_buffer(buffer, shorter) for buffer in alternative.buffers],
            "constraints": _constraints(alternative.constraints),
            "live": [{"buffer": more.buffer, "live": _live(more.live, shorter)} for more in alternative.live],
        },
        {"costs": {}, "buffers": [], "constraints": {}, "live": []},
    )
