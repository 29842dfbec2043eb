"""Greedy's reference in Python: every fit and policy does what its name says."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.fitting import neighbours as neighbours_module
from solvers.fitting.measures import measure
from solvers.fitting.neighbours import ListedNeighbours, Neighbours, ScannedNeighbours, neighbours
from solvers.fitting.orders import PASSES, Fit, orders
from solvers.fitting.placing import Pass, PoolPolicy, place_all
from solvers.geometry.rules import violation
from solvers.heuristics.greedy import solver
from solvers.heuristics.greedy.solver import Greedy
from solvers.kernels.selection import Origin, select
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Placement, PoolSpec, Term
from solvers.model.objective import evaluate
from solvers.model.solver import Goal, Limits, Silent, Task
from tests.small.instances import Block, make_instance, plain


def place(
    instance: Instance, fit: Fit = Fit.LOWEST, policy: PoolPolicy = PoolPolicy.PREFERRED, order: list[int] | None = None
) -> Placement | None:
    sequence = np.array(order if order is not None else range(instance.blocks))
    return place_all(instance, Pass(sequence, fit, policy), neighbours(instance), lambda: False)


def offsets(placement: Placement | None) -> list[int]:
    assert placement is not None
    return [int(offset) for offset in placement.offset]


# A floor with two holes: [2, 10) and [12, 17), below an open top.
FLOOR = [plain(0, 9, 2, fixed=0), plain(0, 9, 2, fixed=10), plain(0, 9, 1, fixed=17)]


def test_lowest_fit_takes_the_first_hole_and_best_fit_the_tightest() -> None:
    instance = make_instance([*FLOOR, (0, 9, 4)])
    assert offsets(place(instance, Fit.LOWEST))[-1] == 2
    assert offsets(place(instance, Fit.BEST))[-1] == 12


def test_best_fit_goes_on_top_when_no_hole_is_large_enough() -> None:
    assert offsets(place(make_instance([*FLOOR, (0, 9, 9)]), Fit.BEST))[-1] == 18


def test_alignment_is_kept_inside_holes() -> None:
    assert offsets(place(make_instance([*FLOOR, plain(0, 9, 4, alignment=8)])))[-1] == 24
    assert offsets(place(make_instance([*FLOOR, plain(0, 9, 4, alignment=5, residue=3)])))[-1] == 3


def test_blocks_that_may_not_lie_high_come_first_if_no_order_has_a_place_for_all() -> None:
    instance = make_instance([(0, 3, 9), (0, 2, 8), plain(0, 1, 5, max_offset=11)])
    assert all(place(instance, fit, order=orders(instance)[order].tolist()) is None for order, fit in PASSES)
    assert offsets(Greedy().solve(instance, Task(), Silent()).placement) == [5, 14, 0]


def test_a_block_sits_in_the_hole_of_another() -> None:
    hollow = Block([(0, 2, [(0, 2)]), (5, 7, [(0, 2)])])
    assert offsets(place(make_instance([hollow, (0, 2, 3)]))) == [0, 2]
    assert offsets(place(make_instance([hollow, (0, 2, 4)]))) == [0, 7]


def test_exclusions_share_and_conflicts_do_not() -> None:
    assert offsets(place(make_instance([(0, 1, 3), (0, 1, 3)], exclusions=[(0, 1)]))) == [0, 0]
    assert offsets(place(make_instance([(0, 1, 3), (5, 6, 3)], conflicts=[(0, 1)]))) == [0, 3]


def test_reserved_ranges_are_jumped() -> None:
    assert offsets(place(make_instance([(0, 1, 3), (4, 5, 6)], pools=[PoolSpec(None, ((4, 9),))]))) == [0, 9]


def test_policies_fill_the_first_or_the_least_growing_pool() -> None:
    instance = make_instance([(0, 1, 6), (0, 1, 6), (2, 3, 5)], pools=[PoolSpec(8, cost=9), PoolSpec(None)])
    preferred, cheapest = place(instance), place(instance, policy=PoolPolicy.CHEAPEST)
    assert preferred is not None
    assert preferred.pool.tolist() == [0, 1, 0]
    assert cheapest is not None
    assert cheapest.pool.tolist() == [1, 1, 1]


def test_what_an_access_costs_there_counts_beside_the_peak_where_both_are_weighed() -> None:
    blocks = [plain(0, 1, 6, access=(9, 0)), plain(0, 1, 4, access=(0, 9))]
    found = place(make_instance(blocks, pools=[PoolSpec(20)] * 2, terms=(Term.BALANCED,)), policy=PoolPolicy.CHEAPEST)
    assert found is not None
    assert found.pool.tolist() == [1, 0]


def test_with_any_work_one_pass_counts_what_peaks_cost_and_one_does_not() -> None:
    dear_first = make_instance([(0, 1, 6)], pools=[PoolSpec(None, cost=9), PoolSpec(None)])
    one_must = [plain(0, 1, 6), plain(1, 2, 5, pools=(0,))]
    both_in_one = make_instance(one_must, pools=[PoolSpec(None, cost=2), PoolSpec(None)])
    made = [Greedy().solve(instance, Task(Limits(work=0)), Silent()) for instance in (dear_first, both_in_one)]
    assert [outcome.value for outcome in made] == [(6,), (12,)]


def test_classes_stay_together_and_apart_pairs_do_not() -> None:
    pools = [PoolSpec(8), PoolSpec(20)]
    tied = make_instance([plain(0, 1, 6, pool_class=0), plain(0, 1, 6, pool_class=0)], pools=pools)
    assert place(tied) is None  # the first went to the small pool; another order or policy may do better
    split = place(make_instance([(0, 1, 2), (2, 3, 2)], pools=pools, apart=[(0, 1)]))
    assert split is not None
    assert split.pool.tolist() == [0, 1]


def test_blocks_without_room_get_no_placement() -> None:
    assert place(make_instance([(0, 1, 6), (0, 1, 6)], capacity=11)) is None


def test_listed_and_scanned_neighbours_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    blocks = []
    for _ in range(60):
        start, length, size = (int(x) for x in rng.integers(1, 20, 3))
        parts = [(0, size, [(start, start + length)])]
        if rng.integers(3) == 0:
            parts.append((size + 1, size + 4, [(start + 2, start + 9)]))
        blocks.append(Block(parts, alignment=int(rng.integers(1, 5))))
    instance = make_instance(blocks, conflicts=[(0, 40), (3, 50)], exclusions=[(5, 9), (11, 12)])

    def run(near: Neighbours, fit: Fit) -> list[int]:
        return offsets(place_all(instance, Pass(np.arange(60), fit), near, lambda: False))

    for fit in Fit:
        assert run(ListedNeighbours(instance), fit) == run(ScannedNeighbours(instance), fit)
    monkeypatch.setattr(neighbours_module, "LISTED_PAIRS", 0)
    assert isinstance(neighbours(instance), ScannedNeighbours)


def test_measures_of_blocks_follow_their_names() -> None:
    m = measure(make_instance([(0, 4, 5), (1, 2, 7), (3, 6, 2)]))
    assert m.width.tolist() == [4, 1, 3]
    assert m.total.tolist() == [12, 12, 7]
    assert m.birth.tolist() == [0, 1, 3]
    assert m.death.tolist() == [4, 2, 6]
    assert all(
        sorted(order.tolist()) == [0, 1, 2]
        for order in orders(make_instance([(0, 4, 5), (1, 2, 7), (3, 6, 2)])).values()
    )


def test_the_portfolio_stops_at_the_bound() -> None:
    outcome = Greedy().solve(make_instance([(0, 2, 4), (1, 3, 4), (2, 4, 4)]), Task(bound=(8,)), Silent())
    assert (outcome.stop, outcome.value) == (StopReason.PROVED, (8,))


def test_the_portfolio_stops_at_the_first_fit() -> None:
    instance = make_instance([(0, 2, 4), (1, 3, 4)], capacity=100)
    outcome = Greedy().solve(instance, Task(goal=Goal.FIT), Silent())
    assert outcome.stop is StopReason.GOAL_MET


def test_each_component_keeps_its_best() -> None:
    rng = np.random.default_rng(1)
    left = [(int(s), int(s + w), int(h)) for s, w, h in rng.integers(1, 30, (40, 3))]
    right = [(s + 100, e + 100, 40 - h) for s, e, h in left]
    both = Greedy().solve(make_instance(left + right), Task(), Silent())
    alone = [Greedy().solve(make_instance(side), Task(), Silent()).value for side in (left, right)]
    assert both.value == max(v for v in alone if v is not None)
    assert both.placement is not None
    assert violation(make_instance(left + right), both.placement) is None


def test_reuse_penalties_are_avoided_where_there_is_room() -> None:
    instance = make_instance([(0, 1, 4), (2, 3, 4)], capacity=8, terms=[Term.REUSE_COST], penalties=[(0, 1, 5)])
    outcome = Greedy().solve(instance, Task(bound=(0,)), Silent())
    assert outcome.value == (0,)
    tight = make_instance([(0, 1, 4), (2, 3, 4)], capacity=7, terms=[Term.REUSE_COST], penalties=[(0, 1, 5)])
    squeezed = Greedy().solve(tight, Task(bound=(0,)), Silent())
    assert squeezed.placement is not None
    assert evaluate(tight, squeezed.placement) == (5,)


def test_a_stopped_first_pass_is_finished_by_stacking() -> None:
    instance = make_instance([plain(i, i + 2, 3, alignment=4) for i in range(9)], pools=[PoolSpec(None, ((1, 2),))])
    sequence = np.arange(9)
    hurried = place_all(instance, Pass(sequence, Fit.LOWEST), neighbours(instance), lambda: True, finish=True)
    assert hurried is not None
    assert offsets(hurried) == [4 * i for i in range(1, 10)]
    assert violation(instance, hurried) is None
    assert place_all(instance, Pass(sequence, Fit.LOWEST), neighbours(instance), lambda: True) is None


def test_the_stop_is_asked_for_more_often_where_blocks_live_often() -> None:
    def asks(lives: int) -> int:
        blocks = [Block([(0, 4, [(2 * j, 2 * j + 1) for j in range(lives)])]) for _ in range(32)]
        instance, calls = make_instance(blocks), []

        def stop() -> bool:
            calls.append(True)
            return False

        place_all(instance, Pass(np.arange(32), Fit.LOWEST), neighbours(instance), stop)
        return len(calls)

    assert asks(1) == 1
    assert asks(500) > 10


def test_what_the_first_pass_of_many_leaves_high_is_lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    starts, lives, sizes = (rng.integers(1, most, 100).tolist() for most in (140, 20, 60))
    instance = make_instance([(s, s + w, z) for s, w, z in zip(starts, lives, sizes, strict=True)])
    monkeypatch.setattr(solver, "active_for", lambda _: select("reference")._replace(origin=Origin.NATIVE))
    monkeypatch.setattr(solver, "MOVING_WORK", 2_000)
    monkeypatch.setattr(solver, "MANY", instance.blocks)
    lowered = Greedy().solve(instance, Task(), Silent())
    assert lowered.placement is not None
    assert violation(instance, lowered.placement) is None
    assert 0 < lowered.work <= 2_000 + 1_000  # a move goes on to its end
    monkeypatch.setattr(solver._Passes, "lower", lambda self: None)
    passes_alone = Greedy().solve(instance, Task(), Silent())
    assert lowered.value is not None
    assert passes_alone.value is not None
    assert lowered.value < passes_alone.value
