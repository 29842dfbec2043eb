"""The cost of a class of blocks in each pool, term by term: by the choice alone, and by how high it ends there."""

from __future__ import annotations

import numpy as np

from ...model.instance import Instance, Term
from ...model.interruption import interruptible
from ...model.linear_terms import choice_cost, peak_price
from ..layout import Layout, Spots


class Worth:
    """The objective, seen from the classes."""

    def __init__(self, instance: Instance, layout: Layout) -> None:
        self._terms, self._pools = instance.terms, instance.pools
        self._homes, self._high = layout.homes, layout.high
        self._prices = [peak_price(instance, term) for term in instance.terms]
        self.counts_peaks = any(self._prices)
        self._weight = _room(instance)
        costs = [choice_cost(instance, term) for term in instance.terms]
        self.least: dict[int, dict[int, tuple[int, ...]]] = {}
        """The cost of each pool for each class, term by term."""
        for group, blocks in interruptible(layout.members.items()):
            sums = [None if cost is None else cost[blocks].sum(axis=0).tolist() for cost in costs]
            self.least[group] = {
                pool: tuple(0 if one is None else one[pool] for one in sums) for pool in layout.homes[group]
            }
        self.choices = {
            group: sorted(homes, key=lambda pool: (self.least[group][pool], pool))
            for group, homes in layout.homes.items()
        }
        """The pools of each class, cheapest first."""

    def gain(self, group: int, pool: int) -> tuple[float, ...]:
        """By how much the class costs more there than in its cheapest pool, relative to its size."""
        best, here = self.least[group][self.choices[group][0]], self.least[group][pool]
        return tuple((own - least) / self._weight[group] for own, least in zip(here, best, strict=True))

    def spread(self, group: int) -> tuple[float, ...]:
        """By how much the class's pools differ in cost, relative to its size."""
        return self.gain(group, self.choices[group][-1])

    def added(self, group: int, pool: int, spots: Spots, heights: list[int]) -> tuple[int, ...]:
        """What the class adds to each term in that pool, the other pools' heights unchanged."""
        end = max(base + self._high[block] for block, _, base in spots)
        growth = max(0, end - heights[pool]) * self._pools[pool].cost
        beyond = max(0, end - max(heights))
        return tuple(
            beyond if term is Term.LARGEST_PEAK else own + price * growth
            for term, own, price in zip(self._terms, self.least[group][pool], self._prices, strict=True)
        )


def _room(instance: Instance) -> dict[int, float]:
    """The room of each class: bytes times sections."""
    length = (instance.part_high - instance.part_low)[instance.rect_part] * (instance.rect_end - instance.rect_start)
    room = np.bincount(instance.part_block[instance.rect_part], length, instance.blocks) + instance.block_high + 1
    total = np.zeros(int(instance.pool_class.max(initial=0)) + 1)
    np.add.at(total, instance.pool_class, room)
    return {group: float(total[group]) for group in set(instance.pool_class.tolist())}
