"""What a problem says that another, read back from a file in another format, does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import lcm
from typing import Any

from ..facts.colocation import groups
from ..facts.constants import spell_out_constants
from ..facts.digest import PRICED
from ..facts.intervals import merged
from ..model.problem import Buffer, Problem

OF_BUFFERS: dict[str, Callable[[Buffer], Any]] = {
    "sizes": lambda buffer: buffer.size,
    "fixed offsets": lambda buffer: None if buffer.fixed is None else buffer.fixed.offset,
    "greatest offsets": lambda buffer: buffer.max_offset,
    "labels (kind)": lambda buffer: buffer.kind,
    "numbers of uses": lambda buffer: (buffer.accesses + buffer.reads, buffer.writes),
    "devices": lambda buffer: buffer.device,
    "types of elements": lambda buffer: buffer.dtype,
    "contents of constants": lambda buffer: buffer.data,
}


def lost(before: Problem, after: Problem) -> tuple[str, ...]:
    """Return the kinds of things in which `after` says something else than `before`."""
    first, second = spell_out_constants(before), spell_out_constants(after)
    found = {**_of_memories(first, second), **_of_buffers(first, second), **_of_rules(first, second)}
    return tuple(name for name, is_lost in found.items() if is_lost)


def _of_memories(first: Problem, second: Problem) -> dict[str, bool]:
    if len(first.pools) != len(second.pools):
        return {"memories": True}

    def each(read: Callable[[Any], Any]) -> bool:
        return [read(pool) for pool in first.pools] != [read(pool) for pool in second.pools]

    return {
        "name": first.name != second.name,
        "names of memories": each(lambda pool: pool.name),
        "sizes of memories": each(lambda pool: pool.size),
        "addresses of memories": each(lambda pool: pool.base or 0),
        "reserved ranges": each(lambda pool: merged(pool.reserved)),
        "costs of memories": each(lambda pool: pool.cost),
        "order of memories": _by_rank(first) != _by_rank(second),
        "speeds of memories": each(lambda pool: pool.speed),
        "which memories are read-only": each(lambda pool: pool.read_only),
    }


def _by_rank(problem: Problem) -> list[int]:
    return sorted(range(len(problem.pools)), key=lambda p: problem.pools[p].rank)


def _of_buffers(first: Problem, second: Problem) -> dict[str, bool]:
    if len(first.buffers) != len(second.buffers):
        return {"some of the buffers": True}
    ids = [[str(buffer.id) for buffer in each.buffers] for each in (first, second)]
    pairs = _paired(first.buffers, second.buffers)
    found = {"ids": sorted(ids[0]) != sorted(ids[1])}
    for name, read in OF_BUFFERS.items():
        found[name] = any(read(a) != read(b) for a, b in pairs)
    found["hints"] = any(a.hint not in (None, b.hint) for a, b in pairs)
    # A buffer that is never needed may get a time of its own.
    lifetimes = any(merged(a.live or ()) not in ((), merged(b.live or ())) for a, b in pairs)
    is_said = any(buffer.live is not None for buffer in second.buffers)
    found["lifetimes" if is_said else "lifetimes beyond which buffers meet"] = lifetimes
    if len(first.pools) == len(second.pools):
        homes = [_homes(each) for each in (first, second)]
        found["alignments"] = any(sorted(homes[0](a)) != sorted(homes[1](b)) for a, b in pairs)
        found["memories in which buffers may be"] = any(
            [p for p, _ in homes[0](a)] != [p for p, _ in homes[1](b)] for a, b in pairs
        )
    return found


def _paired(first: Sequence[Buffer], second: Sequence[Buffer]) -> list[tuple[Buffer, Buffer]]:
    """Return the buffers by id, whatever their order; in order if ids have changed."""
    known = {str(buffer.id): buffer for buffer in second}
    if len(known) < len(second) or not all(str(buffer.id) in known for buffer in first):
        return [*zip(first, second, strict=True)]
    return [(buffer, known[str(buffer.id)]) for buffer in first]


def _homes(problem: Problem) -> Callable[[Buffer], list[tuple[int, int]]]:
    """Return a function from a buffer to its memories in order of preference, each with the alignment that it has there."""
    number = {pool.name: p for p, pool in enumerate(problem.pools)}
    by_rank = _by_rank(problem)

    def homes(buffer: Buffer) -> list[tuple[int, int]]:
        open_to = by_rank if buffer.pools is None else [number[name] for name in buffer.pools]
        if buffer.fixed is not None:
            open_to = [number[buffer.fixed.pool]]
        return [(p, lcm(buffer.alignment, problem.pools[p].alignment)) for p in open_to]

    return homes


def _of_rules(first: Problem, second: Problem) -> dict[str, bool]:
    rules = [dict(_rules(each)) for each in (first, second)]
    found = {name: rules[0][name] != rules[1][name] for name in rules[0]}
    if any(a.live is not None and b.live is None for a, b in zip(first.buffers, second.buffers, strict=False)):
        del found["conflicts"], found["exclusions"]  # lists of conflicts have taken the place of lifetimes
    return found


def _rules(problem: Problem) -> Iterator[tuple[str, Any]]:
    c = problem.constraints
    place = {buffer.id: i for i, buffer in enumerate(problem.buffers)}
    name = {buffer.id: str(buffer.id) for buffer in problem.buffers}
    tied = groups(place, c.colocations)
    ids = [*name.values()]
    yield "conflicts", {frozenset((name[a], name[b])) for a, b in c.conflicts}
    yield "exclusions", {frozenset((name[a], name[b])) for a, b in c.exclusions}
    yield (
        "colocations",
        {frozenset(zip((ids[member] for member in group.members), group.offsets, strict=True)) for group in tied},
    )
    yield "same_pool", {frozenset(name[id_] for id_ in group) for group in c.same_pool}
    yield "different_pool", {frozenset(name[id_] for id_ in group) for group in c.different_pool}
    yield (
        "costs of sharing",
        sorted((*sorted((name[each.first], name[each.second])), each.cost) for each in c.reuse_penalties),
    )
    yield "objective", (problem.terms, problem.peak_price if PRICED.intersection(problem.terms) else None)
    yield "places in an older plan", {(name[was.buffer], was.pool, was.offset) for was in problem.was}
    yield "names of steps", [*problem.steps]
    yield "variants", problem.variants
