"""Looks for crowds with one vote each that a solution of the linear program breaks, where the pool's height has a price."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from .lifting import Present, Votes

SHARES = (1e-6, 0.2, 0.4, 0.6, 0.8)
"""Crowds are sought among classes of which at least this part is in the pool."""
LEAST_EXCESS = 0.02
"""A crowd's row that is violated by less is not added."""


class Reach:
    """How far a pool's peak reaches each height, in a solution that may mix heights."""

    def __init__(self, levels: Sequence[int], parts: Sequence[float], highest: int) -> None:
        """`parts` says how far each level is reached, which all heights up to the next one are, too. What is below all levels is reached."""
        self._levels, self._parts = levels, parts
        ends = [*levels, highest + 1]
        self.whole = min(ends[next((n for n, part in enumerate(parts) if part != 1.0), len(parts))], highest + 1)
        """All heights below this one are reached in full."""
        some = next((n for n in range(len(parts), 0, -1) if parts[n - 1] != 0.0), 0)
        self._none = min(ends[some], highest + 1)
        """From this one on, none is reached at all."""

    def most_broken(self, present: Sequence[Present], base: int) -> tuple[float, Votes]:
        """The crowd that the solution violates most, of classes above `base`, and by how much; empty if it violates none."""
        most, best = LEAST_EXCESS, list[Present]()
        ordered = sorted(present, reverse=True)
        tried = 0
        for share in SHARES:
            some = [each for each in ordered if each.share >= share]
            if len(some) == tried:
                continue
            tried = len(some)
            sums = list(accumulate((each.units for each in some), initial=0))
            total = 0.0
            for count, each in enumerate(some, 1):
                total += each.share
                if count > 1 and base + sums[count] >= self.whole:
                    reached = self._reached(sums, count, base, total - most)
                    if total - reached > most:
                        most, best = total - reached, some[:count]
        chosen = {each.group for each in best}
        return most, [(each, 1) for each in present if best and (each.group in chosen or each.units >= best[0].units)]

    def _reached(self, sums: Sequence[int], count: int, base: int, enough: float) -> float:
        """How many of the first classes fit below the peak, the least of them first, each as far as that is reached; no more are counted than are enough."""
        top = base + sums[count]
        left = bisect_right(sums, top - self.whole, 0, count)
        total = float(count - left)
        while left and total < enough:
            left -= 1
            height = top - sums[left]
            if height >= self._none:
                break
            total += self._parts[bisect_right(self._levels, height) - 1]
        return total
