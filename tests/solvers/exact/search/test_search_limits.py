"""The exact search refuses instances that are too large for it, with a reason."""

from __future__ import annotations

from itertools import combinations, islice
from types import SimpleNamespace
from typing import Any

import pytest

from solvers.exact.search import solver
from solvers.exact.search.solver import MAX_CONFLICTS, MAX_RESERVED, Search
from solvers.kernels import TooLarge, active
from solvers.model.errors import Unsupported
from solvers.model.instance import PoolSpec
from solvers.model.solver import Limits, Silent, Task
from tests.small.instances import Block, make_instance, plain
from tests.solvers.kernels.kernel_sets import Ask, ask, native


def test_too_many_explicit_conflicts_are_refused() -> None:
    timeless = [Block([(0, 1 + i % 7, [])]) for i in range(220)]
    pairs = [(a, b) for b in range(220) for a in range(b)]
    assert len(pairs) > MAX_CONFLICTS
    with pytest.raises(Unsupported, match="explicit conflicts"):
        Search().solve(make_instance(timeless, conflicts=pairs), Task(), Silent())


@pytest.mark.parametrize(("conflicts", "times"), [(0, 1), (200, 1), (1_100, 3)])
def test_with_explicit_conflicts_searching_costs_more_work(
    monkeypatch: pytest.MonkeyPatch, conflicts: int, times: int
) -> None:
    """Where there are many, a unit took 4 to 17 microseconds."""
    kernels, done = active().kernels, list[tuple[int, int]]()

    def search(**given: Any) -> Any:
        answer = kernels.search(**given)
        done.append((given["work"], answer[-1]))
        return answer

    monkeypatch.setattr(solver, "active", lambda: active()._replace(kernels=SimpleNamespace(search=search)))
    pairs = tuple(islice(combinations(range(50), 2), conflicts))
    instance = make_instance([plain(i, i + 2, 3 + i % 7) for i in range(50)], conflicts=pairs)
    outcome = Search().solve(instance, Task(limits=Limits(work=9_000)), Silent())
    assert [asked for asked, _ in done] == [9_000 // times]
    assert outcome.work == times * done[0][1]


def test_too_many_reserved_ranges_are_refused() -> None:
    holes = tuple((10 * i, 10 * i + 1) for i in range(1, MAX_RESERVED + 2))
    with pytest.raises(Unsupported, match="reserved ranges"):
        Search().solve(make_instance([(0, 1, 4), (0, 1, 5)], pools=[PoolSpec(None, holes)]), Task(), Silent())


def test_the_time_limit_holds_while_a_large_model_is_built() -> None:
    crowd = make_instance([(i, i + 600, 1 + i % 5) for i in range(1200)])
    calls: list[bool] = []

    def stop() -> bool:
        calls.append(True)
        return True

    # The cliques need far more entries than max_pairs: if building did not ask whether to stop, it would be refused.
    result = ask(native(), crowd, Ask(bound=1, until=stop, max_pairs=20_000))
    assert (result.end, result.nodes, result.work, len(calls)) == ("stopped", 0, 0, 1)
    with pytest.raises(TooLarge):
        ask(native(), crowd, Ask(bound=1, max_pairs=20_000))
