"""What the exact search refuses, it refuses with a reason."""

from __future__ import annotations

import pytest

from solvers.errors import Unsupported
from solvers.search.solver import MAX_CONFLICTS, Search
from solvers.solver import Silent, Task
from tests.support import Block, make_instance


def test_more_explicit_conflicts_than_it_can_sort_out_are_refused() -> None:
    timeless = [Block([(0, 1 + i % 7, [])]) for i in range(220)]
    pairs = [(a, b) for b in range(220) for a in range(b)]
    assert len(pairs) > MAX_CONFLICTS
    with pytest.raises(Unsupported, match="explicit conflicts"):
        Search().solve(make_instance(timeless, conflicts=pairs), Task(), Silent())
