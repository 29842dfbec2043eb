"""The largest sum of sizes that are live together: no plan's peaks add up to less."""

from __future__ import annotations

from collections.abc import Iterable

from ..problem import Buffer


def largest_live_sum(buffers: Iterable[Buffer]) -> int:
    changes: dict[int, int] = {}
    for buffer in buffers:
        for start, end in buffer.live or ():
            changes[start] = changes.get(start, 0) + buffer.size
            changes[end] = changes.get(end, 0) - buffer.size
    live = largest = 0
    for _, change in sorted(changes.items()):
        live += change
        largest = max(largest, live)
    return largest
