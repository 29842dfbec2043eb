"""The exact search refuses instances with a reason."""

from __future__ import annotations

import pytest

from solvers.exact.search.solver import MAX_CONFLICTS, MAX_RESERVED, Search
from solvers.kernels import TooLarge
from solvers.model.errors import Unsupported
from solvers.model.instance import PoolSpec
from solvers.model.solver import Silent, Task
from tests.small.instances import Block, make_instance
from tests.solvers.kernels.kernel_sets import Ask, ask, native


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


def test_building_the_model_of_a_large_instance_is_not_waited_for() -> None:
    crowd = make_instance([(i, i + 600, 1 + i % 5) for i in range(1200)])
    asked: list[bool] = []

    def stop() -> bool:
        asked.append(True)
        return True

    # There is room for far fewer entries in cliques than there are: without being asked while it builds, it would refuse.
    said = ask(native(), crowd, Ask(bound=1, until=stop, max_pairs=150_000))
    assert (said.end, said.nodes, said.work, len(asked)) == ("stopped", 0, 0, 1)
    with pytest.raises(TooLarge):
        ask(native(), crowd, Ask(bound=1, max_pairs=50_000))
