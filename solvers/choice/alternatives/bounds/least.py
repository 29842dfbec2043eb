"""What every choice needs, without a search: at each time, the least that some alternative of each group has live."""

from __future__ import annotations

from collections.abc import Callable

from ..instance import Choices, Load, Memories


def least_load(choices: Choices, look: Callable[[], object] = lambda: None) -> int:
    """Return a load that every choice reaches. `look` is called now and then, and may end it all."""
    best = 0
    for load in choices.loads:
        look()
        best = max(best, _least(load, choices))
    return best


def least_value(memories: Memories, load: int) -> int:
    """Return the least value of peaks that hold this load: the cheapest memories are filled first."""
    left = max(load - memories.spare * len(memories.prices), 0)
    if memories.is_largest:
        return -(-left // len(memories.prices))
    value = 0
    for price, room in sorted(zip(memories.prices, memories.room, strict=True), key=lambda memory: memory[0]):
        inside = left if room is None else min(left, max(room, 0))
        value += price * inside
        left -= inside
    return value


def _least(load: Load, choices: Choices) -> int:
    """Return what this load is at least: of each group, the least of its alternatives. Bytes that two groups may share are not counted."""
    of_groups: dict[int, dict[int, int]] = {}
    for size, picks in load.if_any:
        group = picks[0][0]
        if len(picks) > 1 and any(g != group for g, _ in picks):
            continue
        sizes = of_groups.setdefault(group, {})
        for _, a in picks:
            sizes[a] = sizes.get(a, 0) + size
    return load.always + sum(
        min(sizes.values()) for group, sizes in of_groups.items() if len(sizes) == len(choices.costs[group])
    )
