"""Blocks that must all be in different pools: a crowd with too few pools is found exactly where there is one."""

from __future__ import annotations

import random
from itertools import combinations, permutations
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.bounds import crowding
from solvers.bounds.crowding import crowded
from solvers.model.instance import Instance, PoolSpec
from solvers.model.outcome import Proof
from tests.small.instances import make_instance, plain


def instance(homes: list[frozenset[int]], apart: list[tuple[int, int]], pools: int) -> Instance:
    blocks = [plain(0, 1, 4, pools=tuple(sorted(mine))) for mine in homes]
    return make_instance(blocks, pools=[PoolSpec(16)] * pools, apart=apart)


def test_more_conflicting_blocks_than_pools_are_a_crowd() -> None:
    found = crowded(instance([frozenset({0, 1})] * 4, [(0, 2), (0, 3), (2, 3)], 2))
    assert found is not None
    assert (found.proof, found.value, found.parts) == (Proof.TOO_FEW_POOLS, 3, (0, 2, 3))


def test_only_the_crowding_blocks_are_named() -> None:
    homes = [frozenset({0, 1, 2}), frozenset({2}), frozenset({0, 1, 2}), frozenset({2})]
    found = crowded(instance(homes, list(combinations(range(4), 2)), 4))
    assert found is not None
    assert found.parts == (1, 3)


def test_without_conflicts_there_is_no_crowd() -> None:
    assert crowded(instance([frozenset({0})] * 3, [], 1)) is None


@given(st.lists(st.frozensets(st.integers(0, 3), min_size=1), min_size=2, max_size=5))
def test_a_group_fits_if_its_blocks_can_be_matched_to_pools(homes: list[frozenset[int]]) -> None:
    everyone = range(len(homes))
    found = crowded(instance(homes, list(combinations(everyone, 2)), 4))
    matched = (
        any(
            all(p in mine for p, mine in zip(chosen, homes, strict=True))
            for chosen in permutations(range(4), len(homes))
        )
        if len(homes) <= 4
        else False
    )
    assert (found is None) == matched
    if found is not None:
        assert found.value == len(found.parts) > len(frozenset().union(*(homes[part] for part in found.parts)))


def test_two_blocks_with_one_pool_are_found_even_without_time() -> None:
    homes = [frozenset({0, 1, 2})] * 200 + [frozenset({1})] * 2
    pairs = [(i, i + 1) for i in range(0, 202, 2)]
    found = crowded(instance(homes, pairs, 3), lambda: True)
    assert found is not None
    assert (found.proof, found.parts) == (Proof.TOO_FEW_POOLS, (200, 201))
    assert crowded(instance(homes[:200], pairs[:100], 3), lambda: True) is None


def test_no_crowd_is_found_where_plainly_none_exists() -> None:
    plainly = found = 0
    for seed in range(600):
        chance = random.Random(seed)
        count, pools = chance.randrange(2, 9), chance.randrange(1, 5)
        group = [chance.randrange(i + 1) if chance.random() < 0.2 else i for i in range(count)]
        group = [group[g] for g in group]
        homes = [sorted(chance.sample(range(pools), chance.randrange(1, pools + 1))) for _ in range(count)]
        blocks = [plain(0, 1, 1, pools=homes[g], pool_class=g) for g in group]
        density = chance.random()
        apart = [pair for pair in combinations(range(count), 2) if chance.random() < density]
        instance = make_instance(blocks, pools=[PoolSpec(None)] * pools, apart=apart)
        is_plain = crowding._all_have_homes(instance)
        with patch.object(crowding, "_all_have_homes", return_value=False):
            short = crowded(instance)
        assert short is None or not is_plain, seed
        plainly, found = plainly + is_plain, found + (short is not None)
    assert plainly > 50
    assert found > 50


def test_a_long_chain_is_not_peeled_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain of 50 000 pairs once took 97 s, in which nothing looked at the clock."""
    counted: list[int] = []
    usual = np.bincount

    def bincount(*arguments: Any, **more: Any) -> Any:
        counted.append(1)
        return usual(*arguments, **more)

    monkeypatch.setattr(np, "bincount", bincount)
    homes = [frozenset({i % 2, 2}) for i in range(1000)]
    assert crowded(instance(homes, [(i, i + 1) for i in range(999)], 3)) is None
    assert len(counted) < 200
