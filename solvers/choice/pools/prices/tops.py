"""How high each pool can be where earlier terms count nothing but peaks: what is live at the fullest section alone says so, without any question.

Let H[p] be the peak of pool p and c[p] its price in such a term, which may be no more than m. With any lower price l for one pool q, the blocks of a
section take at least Z, each class where it costs least at these prices, so that `(c[q] - l) * H[q] <= m - Z`. Where one pool is cheaper than all others
and takes whatever is live, the others must stay empty if the term is to be at its least.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....bounds.weighted_sections import homes_of_classes, live_by_section, weigh
from ....model.instance import Instance
from ..program.program import Costs

Tops = tuple[int | None, ...]
"""By pool; None: any."""


def highest_tops(instance: Instance, terms: Sequence[Costs], held: Sequence[int]) -> Tops:
    """The greatest peak that each pool can have with these terms, of peaks alone, no higher than they are held."""
    live = _at_fullest(instance)
    ends = [pool.capacity for pool in instance.pools]
    for term, most in zip(terms, held, strict=False):
        prices = term.of_peaks
        for pool, price in enumerate(prices):
            found = [most] if term.is_largest else []
            for lower in sorted({0, *prices[:pool], *prices[pool + 1 :]}):
                if lower < price and not term.is_largest:
                    others = (*prices[:pool], lower, *prices[pool + 1 :])
                    taken = sum(units * min(others[home] for home in homes) for homes, units in live)
                    found.append((most - taken) // (price - lower))
            ends[pool] = min((max(end, 0) for end in (ends[pool], *found) if end is not None), default=None)
    return tuple(ends)


def _at_fullest(instance: Instance) -> list[tuple[tuple[int, ...], int]]:
    """What the classes with the same homes take together at the fullest section, by homes."""
    section = int(live_by_section(instance).argmax()) if instance.sections else 0
    _, taken, _ = weigh(instance, ((0, section, 1, 1),))
    homes, together = homes_of_classes(instance), dict[tuple[int, ...], int]()
    for number, of_pool in taken.items():
        if homes[number]:
            mine = tuple(homes[number])
            together[mine] = together.get(mine, 0) + of_pool[0]
    return list(together.items())
