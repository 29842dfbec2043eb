"""What the exact search refuses, it refuses with a reason."""

from __future__ import annotations

import pytest

from solvers.errors import Unsupported
from solvers.instance import PoolSpec
from solvers.search.solver import MAX_CONFLICTS, MAX_RESERVED, Search
from solvers.solver import Silent, Task
from tests.support import Block, make_instance


def test_more_explicit_conflicts_than_it_can_sort_out_are_refused() -> None:
    timeless = [Block([(0, 1 + i % 7, [])]) for i in range(220)]
    pairs = [(a, b) for b in range(220) for a in range(b)]
    assert len(pairs) > MAX_CONFLICTS
    with pytest.raises(Unsupported, match="explicit conflicts"):
        Search().solve(make_instance(timeless, conflicts=pairs), Task(), Silent())


def test_more_reserved_ranges_than_its_model_can_take_are_refused() -> None:
    holes = tuple((10 * i, 10 * i + 1) for i in range(1, MAX_RESERVED + 2))
    with pytest.raises(Unsupported, match="reserved ranges"):
        Search().solve(make_instance([(0, 1, 4), (0, 1, 5)], pools=[PoolSpec(None, holes)]), Task(), Silent())
