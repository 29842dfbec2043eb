"""Confidence intervals of time ratios by resampling, the same every time."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from ...generate.chance import Chance

RESAMPLES = 4000
OUTSIDE = 40
"""One in this many resamples lies beyond each end: 95 % lie between."""
FEWEST = 6
"""Fewer prove nothing: five coins in a row fall alike once in sixteen times."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """A geometric mean and its interval; None if there are too few."""

    mean: float
    low: float | None
    high: float | None
    count: int


def mean_ratio(ratios: Sequence[tuple[Hashable, float]]) -> Ratio | None:
    """Return the mean of (group, ratio): an instance's seeds are one group, since they are alike; with few instances each run counts for itself."""
    if not ratios:
        return None
    groups: dict[Hashable, list[float]] = {}
    for group, ratio in ratios:
        groups.setdefault(group, []).append(math.log(ratio))
    units = [math.fsum(logs) / len(logs) for logs in groups.values()]
    if len(units) < FEWEST:
        units = [math.log(ratio) for _, ratio in ratios]
    mean = math.exp(math.fsum(units) / len(units))
    if len(units) < FEWEST:
        return Ratio(mean, None, None, len(ratios))
    chance, count = Chance(0), len(units)
    means = sorted(sum(units[chance.below(count)] for _ in range(count)) / count for _ in range(RESAMPLES))
    cut = RESAMPLES // OUTSIDE
    return Ratio(mean, math.exp(means[cut]), math.exp(means[-cut - 1]), len(ratios))
