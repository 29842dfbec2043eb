"""CP-SAT's model of the order of blocks: its parts, what its sums add, and which placements are halved by mirroring."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.facts.variants import with_choice
from planner.generate import Request, generate
from planner.model.plan import PlanStatus
from planner.planning.options.options import Options
from planner.planning.placing.solving import plan
from scripts.measure.small import KINDS, ranges
from solvers.exact.cpsat import CpSatOrder, engine
from solvers.exact.cpsat.program import order
from solvers.exact.cpsat.program.cover import cover
from solvers.exact.cpsat.program.order import Bar, build, is_mirrored, live_together
from solvers.geometry.shape import outline
from solvers.model.errors import StopReason, Unsupported
from solvers.model.instance import Instance, PoolSpec
from solvers.model.solver import Goal, Limits, Silent, Task
from tests.small.instances import Block, make_instance, plain


def test_the_maximal_live_sets_are_found() -> None:
    instance = make_instance([(0, 2, 1), (1, 3, 2), (2, 4, 3), (3, 4, 4), Block([(0, 5, [(0, 1), (3, 4)])])])
    a, b, c, d, e = (Bar(block, 0, block + 1) for block in range(5))
    found = {frozenset(bars) for bars in live_together(outline(instance))}
    assert found == {frozenset(each) for each in ((a, e), (a, b), (b, c), (c, d, e))}


FREE = make_instance([(0, 2, 2), (0, 2, 3), (1, 2, 1)], capacity=8)
NOT_MIRRORED = {
    "fixed": make_instance([(0, 2, 2), plain(0, 2, 3, fixed=5)], capacity=8),
    "aligned": make_instance([(0, 2, 2), plain(0, 2, 3, alignment=2)], capacity=8),
    "kept low": make_instance([(0, 2, 9), plain(0, 2, 2, max_offset=0)], capacity=12),
    "of two heights": make_instance([Block([(0, 2, [(0, 1)]), (0, 6, [(1, 2)])]), (0, 1, 2)], capacity=8),
}


def turned(instance: Instance) -> bool:
    top = instance.pools[0].capacity or 0
    return is_mirrored(build(instance, cover(instance), top), 0, top)


def test_only_instances_that_can_be_mirrored_are_halved() -> None:
    assert turned(FREE)
    assert not any(turned(instance) for instance in NOT_MIRRORED.values())


def ask(instance: Instance) -> list[int] | None:
    found = CpSatOrder().solve(instance, Task(goal=Goal.FIT, limits=Limits(work=1_000_000)), Silent())
    assert found.infeasible == (found.placement is None)
    return None if found.placement is None else np.asarray(found.placement.offset).tolist()


@pytest.mark.parametrize(
    "instance",
    [
        make_instance([(0, 2, 6), plain(0, 2, 2, max_offset=0)], capacity=8),
        make_instance([(0, 2, 6)], pools=[PoolSpec(8, reserved=((0, 2),))]),
        make_instance([(0, 2, 6), plain(0, 2, 2, fixed=0)], capacity=8),
    ],
)
def test_the_largest_block_may_lie_high_where_it_must(instance: Instance) -> None:
    found = ask(instance)
    assert found is not None
    assert found[0] == 2


def test_a_model_that_would_be_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "MOST_ADDENDS", 12)
    assert build(FREE, cover(FREE), 8).work > 0
    with pytest.raises(Unsupported, match="too many buffers are live together"):
        ask(make_instance([(0, 1, 1)] * 4, capacity=8))
    many = PoolSpec(16, reserved=tuple((low, low + 1) for low in range(0, 16, 4)))
    assert ask(make_instance([(0, 1, 3)] * 3, pools=[many])) is not None


def test_sums_and_their_differences_refute_more_than_the_search() -> None:
    """Little work, given at once, refutes 60 buffers with no room to spare; sums alone fail in nine seconds."""
    made = with_choice(generate("variants", Request(60, 87)), tuple(map(int, "00000000002300000000")))
    lower = replace(made, pools=(replace(made.pools[0], size=26_351),))
    options = Options(workers=1, work_limit=350_000, time_limit=None, goal=Goal.FIT)
    status = {name: plan(lower, replace(options, solver=name)).status for name in ("search", "cpsat_order")}
    assert status == {"search": PlanStatus.UNKNOWN, "cpsat_order": PlanStatus.INFEASIBLE}


def test_a_model_that_takes_more_than_the_work_left_is_not_asked() -> None:
    many = make_instance([(0, 2, size) for size in range(1, 81)], capacity=4_000)
    found = CpSatOrder().solve(many, Task(limits=Limits(work=18_000)), Silent())
    assert (found.stop, found.placement) == (StopReason.WORK_LIMIT, None)
    assert found.work <= 18_000


def test_a_block_without_a_place_proves_that_nothing_fits() -> None:
    found = CpSatOrder().solve(make_instance([(0, 2, 9), (1, 3, 2)], capacity=8), Task(), Silent())
    assert found.infeasible


def test_a_model_that_is_not_simplified_before_the_search_is_not_during_it() -> None:
    usual, plain = (engine.load().CpSolver().parameters for _ in range(2))
    engine.configure(usual, engine.Budget(None, None))
    engine.configure(plain, engine.Budget(None, None, presolve=False))
    assert usual.cp_model_presolve
    assert usual.inprocessing_dtime_ratio > 0
    assert not plain.cp_model_presolve
    assert plain.inprocessing_dtime_ratio == 0


def test_cuts_by_rounding_are_made_unless_they_would_take_too_long() -> None:
    usual, without = (engine.load().CpSolver().parameters for _ in range(2))
    engine.configure(usual, engine.Budget(None, None))
    engine.configure(without, engine.Budget(None, None, rounding_cuts=False))
    assert (usual.add_mir_cuts, usual.add_zero_half_cuts) == (True, True)
    assert (without.add_mir_cuts, without.add_zero_half_cuts) == (False, False)


def test_a_model_may_be_simplified_once_and_without_cuts_from_the_tableau() -> None:
    usual, soon = (engine.load().CpSolver().parameters for _ in range(2))
    engine.configure(usual, engine.Budget(None, None))
    engine.configure(soon, engine.Budget(None, None, tableau_cuts=False, is_soon_simplified=True))
    assert usual.add_cg_cuts
    assert (usual.max_presolve_iterations, usual.cp_model_probing_level) == (3, 2)
    assert not soon.add_cg_cuts
    assert (soon.max_presolve_iterations, soon.cp_model_probing_level) == (1, 1)


def test_the_least_peak_is_asked_for_where_heights_above_the_bound_are_hard() -> None:
    made = plan(ranges(20, 4), Options(solver="cpsat_order", time_limit=None, work_limit=400_000))
    assert made.status is PlanStatus.OPTIMAL


@pytest.mark.parametrize("kind", KINDS)
def test_what_it_proves_of_small_problems_is_what_the_search_proves(kind: str) -> None:
    options = Options(time_limit=None, work_limit=1_000_000)
    for seed in range(12):
        problem = KINDS[kind](5 + seed % 4, seed)
        ordered, searched = (plan(problem, replace(options, solver=name)) for name in ("cpsat_order", "search"))
        assert ordered.status is searched.status is PlanStatus.OPTIMAL
        assert ordered.objective.terms == searched.objective.terms
