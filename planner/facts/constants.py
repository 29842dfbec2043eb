"""Constants live in read-only memory, and nothing else does.

If a problem has a read-only pool, its buffers of the kind `constant` may lie only in such pools, and all others only elsewhere. A
constant is there before the first step and after the last, so no two constants share addresses, whatever lifetimes they have. Without a
read-only pool the kind is only a label.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from operator import attrgetter
from typing import Any

from ..model.columns.pools import PoolColumns
from ..model.deadline import CHECKING, in_time
from ..model.problem import Buffer, Interval, Problem

CONSTANT = "constant"

_FIELDS = tuple(field.name for field in fields(Buffer))
_POOLS, _LIVE = _FIELDS.index("pools"), _FIELDS.index("live")


def has_read_only_pools(problem: Problem) -> bool:
    """True if the problem has read-only pools, so that constants are treated apart."""
    return not isinstance(problem.pools, PoolColumns) and any(pool.read_only for pool in problem.pools)


def is_constant(buffer: Buffer) -> bool:
    return buffer.kind == CONSTANT


def spell_out_constants(problem: Problem) -> Problem:
    """Return the problem with each buffer's pools and lifetimes as being a constant, or not, implies."""
    facts = problem.facts
    if facts.is_spelled_out or not has_read_only_pools(problem):
        return problem
    if facts.spelled_out is not None:
        facts.spelled_out.facts.is_sound = facts.is_sound
        return facts.spelled_out
    homes, always = OpenPools(problem), throughout(problem)
    found = replace(problem, buffers=_spelled_out(problem.buffers, homes, always))
    found.facts.is_spelled_out = True
    if facts.is_from_bytes:
        found.facts.is_sound, facts.spelled_out = facts.is_sound, found
    return found


def throughout(problem: Problem) -> Interval:
    """Return the interval from the problem's first time to its last."""
    buffers = in_time(problem.buffers, CHECKING, "buffer")
    spans = [span for buffer in buffers for span in buffer.live or () if span[1] > span[0]]
    return (min(start for start, _ in spans), max(end for _, end in spans)) if spans else (0, 1)


class OpenPools:
    """The pools open to each buffer, in its order of preference. Buffers with the same list object get the same answer object."""

    def __init__(self, problem: Problem) -> None:
        by_rank = sorted(problem.pools, key=lambda pool: pool.rank)
        self._homes = {kind: tuple(pool.name for pool in by_rank if pool.read_only is kind) for kind in (True, False)}
        self._sets = {kind: frozenset(names) for kind, names in self._homes.items()}
        self._known: dict[tuple[bool, int], tuple[str, ...]] = {}

    def of(self, buffer: Buffer) -> tuple[str, ...]:
        wanted, listed = is_constant(buffer), buffer.pools
        if listed is None:
            return self._homes[wanted]
        key = (wanted, id(listed))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = tuple(name for name in listed if name in self._sets[wanted])
        return found


def _spelled_out(buffers: Sequence[Buffer], homes: OpenPools, always: Interval) -> tuple[Buffer, ...]:
    columns: list[Iterable[Any]] = [map(attrgetter(name), buffers) for name in _FIELDS]
    columns[_POOLS] = map(homes.of, in_time(buffers, CHECKING, "buffer"))
    throughout_time = (always,)
    columns[_LIVE] = (throughout_time if buffer.kind == CONSTANT else buffer.live for buffer in buffers)
    return (*map(Buffer, *columns),)
