"""The possible bases of each block in each pool, as ranges of whole steps."""

from __future__ import annotations

from dataclasses import dataclass

from ....model.instance import Instance


@dataclass(frozen=True, slots=True)
class Places:
    """The bases first + step * k, for k in any of the (inclusive) ranges."""

    first: int
    step: int
    ranges: tuple[tuple[int, int], ...]

    @property
    def is_empty(self) -> bool:
        return not self.ranges

    @property
    def only(self) -> int | None:
        """The only possible base; None if there are none or several."""
        return self.least if self.ranges and self.least == self.greatest else None

    @property
    def least(self) -> int:
        return self.first + self.step * self.ranges[0][0]

    @property
    def greatest(self) -> int:
        return self.first + self.step * self.ranges[-1][1]

    def at_least(self, base: int) -> int | None:
        """The least possible base from `base` on; None if there is none."""
        k = -((self.first - base) // self.step)
        return next((self.first + self.step * max(k, low) for low, high in self.ranges if k <= high), None)

    def at_most(self, base: int) -> int | None:
        """The greatest possible base up to `base`; None if there is none."""
        k = (base - self.first) // self.step
        return next((self.first + self.step * min(k, high) for low, high in reversed(self.ranges) if k >= low), None)

    def nearest(self, base: int) -> int:
        """The k whose base is closest to this one."""
        k = (base - self.first) // self.step
        return min(
            (min(max(k, low), high) for low, high in self.ranges), key=lambda candidate: (abs(candidate - k), candidate)
        )


def places(instance: Instance, block: int, pool: int, parts: list[tuple[int, int]], top: int | None) -> Places:
    """The bases of the block, made of these (low, high) parts, in the pool if it must end at or below `top`. Reserved ranges are cut out."""
    first, step = int(instance.lowest[block, pool]), int(instance.modulus[block, pool])
    last = int(instance.highest[block, pool])
    if top is not None:
        last = min(last, top - max(high for _, high in parts))
    ranges = [(0, (last - first) // step)] if last >= first else []
    for low, high in parts:
        for begin, end in instance.pools[pool].reserved:
            if high > low and end > begin:
                # Bases from begin - high + 1 to end - low - 1 would put the part into the reserved range.
                ranges = _without(ranges, -((first - begin + high - 1) // step), (end - low - 1 - first) // step)
    return Places(first, step, tuple(ranges))


def _without(ranges: list[tuple[int, int]], bad_low: int, bad_high: int) -> list[tuple[int, int]]:
    if bad_high < bad_low:
        return ranges
    kept: list[tuple[int, int]] = []
    for low, high in ranges:
        if bad_high < low or bad_low > high:
            kept.append((low, high))
            continue
        if low < bad_low:
            kept.append((low, bad_low - 1))
        if high > bad_high:
            kept.append((bad_high + 1, high))
    return kept
