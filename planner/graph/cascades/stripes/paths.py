"""Ways through the whole network: which operators run together, at the least cost for each amount of memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import TypeAlias

from ..demand import Flow
from .group import Group

MOST_POINTS = 200
COARSE = 32
"""After this many points, each further one must need less by this small part."""
Path: TypeAlias = tuple[Group, ...]
"""Groups in order; each operator is in one of them."""


def frontier(flow: Flow, groups: Mapping[tuple[int, int], Sequence[Group]], planned: frozenset[int]) -> list[Path]:
    """Return the Pareto-optimal paths in memory and cycles (if very many, some of them); the fastest first.

    Memory is what is live at the busiest time, of the planned tensors.
    """
    held = _passing(flow, planned)
    arriving: list[list[tuple[Group, int]]] = [[] for _ in flow.steps]
    for (first, last), ways in groups.items():
        made = flow.steps[last].output
        beside = held[first] + (flow.whole_bytes(made) if made in planned else 0)
        arriving[last] += [(group, beside + group.own) for group in ways]
    found: list[Path] = []
    limit: int | None = None
    while True:
        path, busiest = _cheapest(arriving, limit)
        if path is None:
            return found
        if found and _cycles(path) == _cycles(found[-1]):
            found.pop()
        found.append(path)
        limit = busiest - 1 if len(found) < MOST_POINTS else busiest - 1 - busiest // COARSE


def _passing(flow: Flow, planned: frozenset[int]) -> list[int]:
    """Return, by operator, the bytes of tensors that exist before it and are needed by it or later."""
    change = [0] * (len(flow.steps) + 1)
    for t in planned:
        start = flow.maker.get(t, -1) + 1
        end = len(flow.steps) if t in flow.outputs else max(flow.readers[t], default=-1) + 1
        if start < end:
            change[start] += flow.whole_bytes(t)
            change[end] -= flow.whole_bytes(t)
    return list(accumulate(change))


def _cheapest(arriving: Sequence[Sequence[tuple[Group, int]]], limit: int | None) -> tuple[Path | None, int]:
    """Return the path of least cycles whose load stays within the limit, and its load; None if there is none."""
    reached: list[tuple[int, int] | None] = [(0, 0)]
    taken: list[Group | None] = [None]
    for ways in arriving:
        best: tuple[int, int] | None = None
        by: Group | None = None
        for group, load in ways:
            before = reached[group.first]
            if before is None or (limit is not None and load > limit):
                continue
            arrival = (before[0] + group.cycles, max(before[1], load))
            if best is None or arrival < best:
                best, by = arrival, group
        reached.append(best)
        taken.append(by)
    if reached[-1] is None:
        return None, 0
    path: list[Group] = []
    at = len(arriving)
    while (last := taken[at]) is not None:
        path.append(last)
        at = last.first
    return tuple(reversed(path)), reached[-1][1]


def _cycles(path: Path) -> int:
    return sum(group.cycles for group in path)


def stretches(paths: Sequence[Path]) -> list[list[Path]]:
    """Return the independent choices: the paths cut where all of them are cut, each part once, the fastest first.

    Neighbouring parts common to all paths are merged.
    """
    common = set.intersection(*({group.first for group in path} for path in paths))
    parts: list[dict[Path, None]] = [{} for _ in common]
    for path in paths:
        starts = [k for k, group in enumerate(path) if group.first in common]
        for part, (start, end) in zip(parts, pairwise([*starts, len(path)]), strict=True):
            part[path[start:end]] = None
    found: list[list[Path]] = []
    for part in parts:
        if len(part) == 1 and found and len(found[-1]) == 1:
            found[-1] = [found[-1][0] + next(iter(part))]
        else:
            found.append(sorted(part, key=_cycles))
    return found
