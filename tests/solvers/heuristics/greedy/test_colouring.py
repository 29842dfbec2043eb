"""A colouring keeps neighbours apart and each node to its own colours; greedy places what must be in different pools where one is found."""

from __future__ import annotations

from itertools import product

import pytest

from planner import Buffer, Constraints, Options, Pool, Problem, plan, verify
from planner.model.plan import PlanStatus
from solvers.heuristics.greedy import many_pools
from solvers.heuristics.greedy.colouring import coloured
from solvers.model.splitmix import SplitMix64

Pairs = list[tuple[int, int]]


def beside(nodes: int, pairs: Pairs) -> list[list[int]]:
    """Return each node's neighbours."""
    found: list[list[int]] = [[] for _ in range(nodes)]
    for a, b in pairs:
        found[a].append(b)
        found[b].append(a)
    return found


def planted(nodes: int, colours: int, pairs: int, seed: int) -> Pairs:
    """Return random pairs of a graph that so many colours suffice for."""
    random = SplitMix64(seed)
    colour = [random.below(colours) for _ in range(nodes)]
    found: dict[tuple[int, int], None] = {}
    while len(found) < pairs:
        a, b = sorted((random.below(nodes), random.below(nodes)))
        if colour[a] != colour[b]:
            found[a, b] = None
    return list(found)


def crown(half: int) -> Pairs:
    """Return pairs for which two colours suffice, and placing one after the other takes many: nodes 2i and 2i+1 may be alike."""
    return [(2 * i, 2 * j + 1) for i, j in product(range(half), range(half)) if i != j]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("colours", "pairs"), [(3, 180), (6, 600), (8, 400)])
def test_random_graphs_are_coloured(seed: int, colours: int, pairs: int) -> None:
    edges = planted(120, colours, pairs, seed)
    found = coloured([range(colours)] * 120, beside(120, edges))
    assert found is not None
    assert set(found) <= {*range(colours)}
    assert all(found[a] != found[b] for a, b in edges)


def test_each_node_gets_one_of_its_own_colours() -> None:
    colours = [[0, 1], [0], [1, 2], [7]]
    assert coloured(colours, beside(4, [(0, 1), (0, 2)])) == [1, 0, 2, 7]


def test_no_colouring_is_found_where_there_is_none() -> None:
    triangle = beside(3, [(0, 1), (1, 2), (0, 2)])
    assert coloured([[0, 1]] * 3, triangle) is None
    assert coloured([[0, 1, 2]] * 3, triangle) is not None
    assert coloured([[0], []], beside(2, [])) is None


@pytest.mark.parametrize("is_long", [False, True])
def test_greedy_places_what_must_be_apart_where_one_after_the_other_fails(
    is_long: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it packs pool by pool, as it does with many blocks."""
    if is_long:
        monkeypatch.setattr(many_pools, "MANY_BLOCKS", 1)
    buffers = tuple(Buffer(i, 100 - i, live=((i, i + 1),)) for i in range(20))
    pools = tuple(Pool(f"p{i}", 200) for i in range(2))
    problem = Problem(buffers, pools, Constraints(different_pool=tuple(crown(10))))
    made = plan(problem, Options(solver="greedy", workers=1))
    assert made.status is not PlanStatus.UNKNOWN
    assert made.placements
    assert verify(problem, made) == ()
