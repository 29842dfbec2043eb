"""The scales of a chart's axes, linear or logarithmic, with round figures as marks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """One axis, from `low` to `high`."""

    low: float
    high: float
    logarithmic: bool
    ticks: tuple[float, ...]
    label: Callable[[float], str]

    def at(self, value: float) -> float:
        """Return a position from 0 at the low end to 1 at the high end."""
        low, high, value = self.low, self.high, min(max(value, self.low), self.high)
        if self.logarithmic:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        return (value - low) / (high - low)


def logarithmic(values: Iterable[float], label: Callable[[float], str]) -> Scale:
    """Return whole powers of ten around the values; 1 to 10 if there are none."""
    positive = [value for value in values if value > 0]
    least = math.floor(math.log10(min(positive, default=1.0)))
    greatest = max(math.ceil(math.log10(max(positive, default=10.0))), least + 1)
    step = max((greatest - least) // 7, 1)
    ticks = tuple(10.0**power for power in range(least, greatest + 1, step))
    if greatest - least <= 2:
        between = (factor * 10.0**power for power in range(least, greatest) for factor in (1, 2, 5))
        ticks = (*between, 10.0**greatest)
    return Scale(10.0**least, 10.0**greatest, True, ticks, label)


def linear(high: float, label: Callable[[float], str]) -> Scale:
    """Return a scale from 0, in four or five steps."""
    rough = max(high, 1e-9) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    count = max(math.ceil(high / step - 1e-9), 1)
    return Scale(0.0, step * count, False, tuple(step * i for i in range(count + 1)), label)
