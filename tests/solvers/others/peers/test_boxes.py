"""Blocks that are not boxes are refused, even without the peers installed; blocks that are never live are left out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from solvers.geometry.rules import violation
from solvers.model.errors import Unsupported
from solvers.model.instance import Instance, PoolSpec, Term
from solvers.others.peers.boxes import boxes_of
from tests.small.instances import Block, make_instance, plain

PAIR = [(0, 2, 4), (1, 3, 6)]


@pytest.mark.parametrize(
    ("instance", "why"),
    [
        (make_instance(PAIR, pools=(PoolSpec(), PoolSpec())), "one pool"),
        (make_instance(PAIR, pools=(PoolSpec(reserved=((0, 2),)),)), "reserved"),
        (make_instance([Block([(0, 4, [(0, 1), (2, 3)])])]), "one lifetime"),
        (make_instance([Block([(0, 4, [(0, 2)]), (4, 6, [(2, 3)])])]), "one lifetime"),
        (make_instance(PAIR, conflicts=[(0, 1)]), "conflicts"),
        (make_instance(PAIR, exclusions=[(0, 1)]), "conflicts"),
        (make_instance(PAIR, apart=[(0, 1)]), "conflicts"),
        (make_instance(PAIR, penalties=[(0, 1, 3)], terms=(Term.SUM_OF_PEAKS, Term.REUSE_COST)), "reuse"),
        (make_instance([(0, 2, 9)], capacity=8), "fits nowhere"),
        (make_instance([plain(0, 2, 4, alignment=4, residue=2)]), "base address"),
        (make_instance([plain(0, 2, 4, fixed=3)]), "fixed"),
        (make_instance([plain(0, 2, 4, max_offset=1), (1, 3, 6)]), "greatest offsets"),
    ],
)
def test_blocks_that_are_no_boxes_are_refused(instance: Instance, why: str) -> None:
    with pytest.raises(Unsupported, match=f"vela cannot take this problem: .*{why}"):
        boxes_of("vela", instance)


def test_boxes_are_blocks_with_a_size_and_a_time() -> None:
    never_live = Block([(0, 7, [])])
    instance = make_instance([(3, 5, 2), never_live, (1, 4, 0), plain(0, 4, 3, alignment=4)])
    instance = replace(instance, part_high=instance.part_high.copy())
    boxes = boxes_of("vela", instance)
    assert boxes.block.tolist() == [0, 3]
    assert (boxes.size, boxes.start, boxes.end, boxes.alignment) == ([2, 3], [3, 0], [5, 4], [1, 4])
    placement = boxes.placement([3, 0])
    assert placement is not None
    assert placement.offset.tolist() == [3, 0, 0, 0]
    assert violation(instance, placement) is None


def test_offsets_above_the_capacity_are_no_placement() -> None:
    boxes = boxes_of("vela", make_instance(PAIR, capacity=12))
    assert boxes.placement([0, 6]) is not None
    assert boxes.placement([0, 7]) is None


def test_a_needlessly_large_capacity_is_no_hindrance() -> None:
    assert boxes_of("vela", make_instance(PAIR, capacity=1 << 39)).size == [4, 6]
