"""One pool seen from its end: the same placements, upside down."""

from __future__ import annotations

from random import Random

import pytest

from solvers.geometry.rules import violation
from solvers.geometry.simpler import stepped
from solvers.geometry.upside_down import upside_down
from solvers.model.instance import PoolSpec
from solvers.model.solver import Goal, Limits, Silent, Task
from solvers.portfolio.roster import packers
from solvers.portfolio.separate import solve_separate_pools
from tests.small.instances import Block, make_instance, plain

FIT = Task(Limits(work=200_000), Goal.FIT)


def drawn(chance: Random) -> tuple[list[Block], int]:
    """Some blocks at multiples of 4 or 8, in one or two parts, and an end that each has room below; perhaps not all together."""
    blocks = list[Block]()
    for _ in range(chance.randint(3, 6)):
        begin = chance.randint(0, 5)
        end = begin + chance.randint(1, 4)
        size, alignment = chance.randint(1, 14), chance.choice((4, 4, 8))
        if chance.random() < 0.2:
            blocks.append(Block([(0, 4, [(begin, end)]), (4, 4 + size, [(begin, end + 1)])], alignment=alignment))
        else:
            blocks.append(plain(begin, end, size, alignment=alignment))
    return blocks, chance.randint(18, 40)


@pytest.mark.parametrize("seed", range(60))
def test_what_fits_upside_down_fits(seed: int) -> None:
    blocks, end = drawn(Random(seed))
    instance = make_instance(blocks, pools=[PoolSpec(end, ((8, 10),) if seed % 3 == 0 else ())])
    turned = upside_down(instance)
    known = solve_separate_pools(instance, FIT, Silent(), packers(), by_name=False)
    assert known.infeasible or known.placement is not None
    if turned is None:
        return
    found = solve_separate_pools(turned.instance, FIT, Silent(), packers(), by_name=False)
    assert (found.infeasible, found.placement is None) == (known.infeasible, known.placement is None)
    if found.placement is not None:
        assert violation(instance, turned.upright(found.placement)) is None
    if known.placement is not None:
        other = turned.upright(known.placement)
        assert violation(turned.instance, other) is None
        assert turned.upright(other).offset.tolist() == known.placement.offset.tolist()


def test_only_what_may_not_end_at_the_top_is_worth_turning() -> None:
    kept, free = plain(0, 2, 5, alignment=8), plain(1, 3, 8, alignment=8)
    for pool, blocks in ((PoolSpec(), [kept]), (PoolSpec(24), [kept]), (PoolSpec(24), [free]), (PoolSpec(22), [free])):
        assert upside_down(make_instance(blocks, pools=[pool])) is None
    turned = upside_down(make_instance([kept, free], pools=[PoolSpec(20)]))
    assert turned is not None
    assert turned.instance.lowest.ravel().tolist() == [8, 8]


def test_several_pools_have_their_ends_rounded_up_together() -> None:
    blocks = [plain(0, 2, 5, alignment=8), plain(0, 2, 16, alignment=4)]
    wide = stepped(make_instance(blocks, pools=[PoolSpec(20), PoolSpec(None, ((12, 14),))]))
    assert wide is not None
    assert wide.waste == (3, 3)
    assert wide.instance.block_high.tolist() == [8, 16]
    assert wide.instance.pools == (PoolSpec(20, step=4), PoolSpec(None, ((12, 16),), step=4))


def test_what_may_not_be_in_a_pool_does_not_count_there() -> None:
    blocks = [plain(0, 2, 5, alignment=8, pools=[0]), plain(0, 2, 5, alignment=8, pools=[0])]
    instance = make_instance(blocks, pools=[PoolSpec(20), PoolSpec()])
    instance.modulus[:, 1] = 1
    assert stepped(instance) is not None


def test_what_is_reserved_beyond_the_end_is_not_there() -> None:
    """No address is negative, and a range that reaches over the end begins at the bottom."""
    blocks = [plain(0, 2, 16, alignment=16), plain(0, 2, 5, alignment=16)]
    turned = upside_down(make_instance(blocks, pools=[PoolSpec(40, reserved=((32, 64), (80, 90)))]))
    assert turned is not None
    assert turned.instance.pools[0].reserved == ((0, 16),)
