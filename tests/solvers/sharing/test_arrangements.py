"""Arrangements of blocks in storage objects: totals, their form as placements, and lists that are no arrangement."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.model.errors import SolverFailed
from solvers.model.instance import Placement, PoolSpec
from solvers.model.objective import peaks
from solvers.sharing.arrangement import Arrangement, as_placement, broken_rule, from_placement, totals
from tests.small.instances import make_instance, plain


def arrangement(*storage: int) -> Arrangement:
    return Arrangement(np.array(storage, dtype=np.int64))


SOUND = make_instance(
    [plain(0, 2, 5, pools=[0]), plain(1, 3, 4, pools=[0]), plain(2, 4, 7, pools=[0]), plain(0, 1, 6, pools=[1])],
    pools=(PoolSpec(), PoolSpec()),
)


def test_an_object_is_as_large_as_its_largest_user() -> None:
    assert totals(SOUND, arrangement(0, 1, 0, 2)) == (11, 6)


def test_an_arrangement_survives_its_form_as_a_placement() -> None:
    chosen = arrangement(1, 0, 1, 2)
    placement = as_placement(SOUND, chosen)
    assert placement.offset.tolist() == [4, 0, 4, 0]
    assert peaks(SOUND, placement) == totals(SOUND, chosen)
    back = from_placement(SOUND, placement)
    assert totals(SOUND, back) == totals(SOUND, chosen)
    assert [back.storage.tolist()[0] == s for s in back.storage.tolist()] == [True, False, True, False]


def test_a_placement_inside_an_object_is_no_arrangement() -> None:
    inside = Placement(np.array([0, 0, 0, 1], dtype=np.int64), np.array([0, 5, 1, 0], dtype=np.int64))
    with pytest.raises(SolverFailed, match="inside objects of others"):
        from_placement(SOUND, inside)


@pytest.mark.parametrize(
    ("storage", "words"),
    [
        ((0, 1, 0), "3 objects' numbers for 4 blocks"),
        ((0, 1, 0, 9), "out of range"),
        ((0, 1, 0, 0), "different pools share an object"),
        ((0, 0, 1, 2), "live together"),
    ],
)
def test_broken_rules_are_named(storage: tuple[int, ...], words: str) -> None:
    assert words in str(broken_rule(SOUND, arrangement(*storage)))
    assert broken_rule(SOUND, arrangement(0, 1, 0, 2)) is None
