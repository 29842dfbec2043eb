"""What must lie beside pools that cost nothing: as much as trying every choice says at a section, and no more."""

from __future__ import annotations

import random
from itertools import product

from solvers.bounds.beside_free import greatest_sum, peaks_beside_free
from solvers.bounds.first_bounds import first_bounds
from solvers.model.instance import Instance, PoolSpec
from tests.small.instances import make_instance, plain


def made_up(draw: random.Random) -> Instance:
    """Up to six blocks at two moments in pools of which some cost nothing."""
    pools = [PoolSpec(draw.randint(3, 12), cost=draw.choice((0, 0, 2))) for _ in range(draw.randint(1, 2))]
    pools.append(PoolSpec(cost=draw.choice((1, 3))))
    last = len(pools) - 1
    blocks = []
    for _ in range(draw.randint(2, 6)):
        start = draw.randint(0, 1)
        some = [*sorted(draw.sample(range(last), draw.randint(0, last))), last]
        blocks.append(plain(start, draw.randint(start + 1, 2), draw.randint(2, 9), pools=some))
    return make_instance(blocks, pools=pools)


def least_of_choices(instance: Instance) -> int | None:
    """The least sum of peaks of all choices, without addresses; None if nothing fits."""
    least = None
    size = (instance.part_high - instance.part_low)[instance.rect_part].tolist()
    spans = list(zip(instance.rect_start.tolist(), instance.rect_end.tolist(), size, strict=True))
    homes = [[p for p in range(len(instance.pools)) if row[p]] for row in instance.allowed.tolist()]
    for choice in product(*homes):
        worth, fits = 0, True
        for pool, spec in enumerate(instance.pools):
            loads = [
                sum(
                    high
                    for (start, end, high), home in zip(spans, choice, strict=True)
                    if home == pool and start <= t < end
                )
                for t in range(instance.sections)
            ]
            fits &= spec.capacity is None or max(loads) <= spec.capacity
            worth += spec.cost * max(loads)
        if fits and (least is None or worth < least):
            least = worth
    return least


def test_no_choice_is_below_the_bound_and_many_reach_it() -> None:
    reached = more = 0
    for seed in range(300):
        instance = made_up(random.Random(seed))
        least, found = least_of_choices(instance), peaks_beside_free(instance)
        assert least is not None
        assert found <= least, seed
        assert first_bounds(instance).value[0] <= least, seed
        reached += found == least > 0
        more += found > first_bounds(instance).value[0]
    assert reached > 50
    assert more > 20


def test_sums_of_sizes_are_exact_up_to_the_room() -> None:
    assert greatest_sum([5, 5, 3], 9) == 8
    assert greatest_sum([5, 5, 3], 13) == 13
    assert greatest_sum([4, 6], 3) == 0
    assert greatest_sum([1 << 30, 1 << 30], 1 << 30) == 1 << 30
