"""Heavy cliques are cliques, nothing can be added to them, and few are far from the heaviest."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from planner.planning.placing.lowering import lower
from scripts.measure.small import gaps
from solvers.bounds.conflicts.heavy_cliques import grown, heaviest_clique
from solvers.bounds.one_pool import pool_bound
from solvers.model.instance import Bools, Ints


def random_graph(seed: int, count: int = 14) -> tuple[Bools, Ints]:
    draw = np.random.default_rng(seed)
    half = np.triu(draw.random((count, count)) < draw.choice([0.3, 0.6, 0.9]), 1)
    return half | half.T, draw.integers(1, 100, count)


def heaviest(edges: Bools, weight: Ints, among: list[int]) -> int:
    if not among:
        return 0
    first, *rest = among
    return max(
        int(weight[first]) + heaviest(edges, weight, [each for each in rest if edges[first, each]]),
        heaviest(edges, weight, rest),
    )


@pytest.mark.parametrize("seed", range(40))
def test_a_clique_is_maximal(seed: int) -> None:
    edges, weight = random_graph(seed)
    clique = grown(edges, weight)
    assert all(edges[a, b] for a, b in combinations(clique, 2))
    assert not edges[clique].all(axis=0).any()


def test_most_cliques_are_nearly_as_heavy_as_any() -> None:
    found = most = 0
    for seed in range(40):
        edges, weight = random_graph(seed)
        found += int(weight[grown(edges, weight)].sum())
        most += heaviest(edges, weight, [*range(len(weight))])
    assert most * 9 <= found * 10 <= most * 10


def test_nothing_has_no_clique() -> None:
    assert grown(np.zeros((0, 0), dtype=np.bool_), np.zeros(0, dtype=np.int64)) == []


@pytest.mark.parametrize("seed", range(40))
def test_a_search_that_ends_knows_the_heaviest(seed: int) -> None:
    edges, weight = random_graph(seed)
    friends = {each: set(np.flatnonzero(row).tolist()) for each, row in enumerate(edges)}
    found, is_heaviest = heaviest_clique(friends, weight.tolist(), [])
    assert is_heaviest
    assert int(weight[found].sum()) == heaviest(edges, weight, [*range(len(weight))])


def test_cliques_of_buffers_with_gaps_are_grown_where_the_search_does_not_end() -> None:
    found = pool_bound(lower(gaps(200, 82004)).instance, 0)
    assert found is not None
    assert found.value > 116_000  # it was 109 589
