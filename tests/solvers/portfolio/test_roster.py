"""The engines that work on a component: never one that is too slow for it while there are others."""

from __future__ import annotations

from typing import NamedTuple
from unittest.mock import patch

import pytest

from planner import Options, plan, verify
from planner.generate import Request, generate
from planner.planning.placing.lowering import lower
from scripts.measure.small import cycles, pipelines
from solvers.exact.milp.joint_bound import MOST_BLOCKS
from solvers.kernels import Origin, active
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, PoolSpec
from solvers.model.outcome import Outcome
from solvers.model.registry import SOLVERS, SolverKind
from solvers.model.solver import Control, Limits, Silent, Task
from solvers.portfolio import roster, separate_pools
from solvers.portfolio.joint.joint import Joint
from solvers.portfolio.kinds import FEW, Kind, kind_of
from solvers.portfolio.roster import (
    FAR,
    FIRST_ROUND_WORK,
    LEAST_WORK,
    MOST_PARTS,
    NAMED,
    ROSTER,
    joint_engines,
    packers,
    separate_engines,
    share_of,
    team,
)
from solvers.portfolio.separate import solve_separate_pools
from solvers.portfolio.solve import solve
from tests.small.instances import make_instance

ALL = ("improve", "search", "cpsat")
LATER = max(share_of(name).from_round for name in ROSTER)
SMALLEST = share_of("improve").smallest
LARGEST = share_of("cpsat").largest or 0


class Extent(NamedTuple):
    blocks: int
    pairs: int = 0
    fill: int = 0
    core: int = 0
    is_limited: bool = False
    hides_conflicts: bool = False
    sizes: int = 1
    kind: Kind = Kind.USUAL


def names(
    engines: tuple[str, ...], blocks: int, number: int = LATER, pairs: int = 0, fill: int = 0, core: int = 0
) -> list[str]:
    return [name for name, _ in team(engines, Extent(blocks, pairs, fill, core), number)]


def test_small_components_are_not_improved() -> None:
    assert names(ALL, SMALLEST - 1) == ["search", "cpsat"]
    assert names(ALL, SMALLEST) == ["improve", "search", "cpsat"]


@pytest.mark.parametrize("seed", [1, 3])
def test_what_proves_nothing_is_improved(seed: int) -> None:
    """Plans of pipelines stayed as greedy made them, whatever the work: no engine found anything there, and local search had no part."""
    problem = pipelines(700, seed)
    greedy = plan(problem, Options(time_limit=None, solver="greedy"))
    found = plan(problem, Options(time_limit=None, work_limit=3 * FIRST_ROUND_WORK, workers=1))
    assert not verify(problem, found)
    assert found.peak is not None
    assert greedy.peak is not None
    assert found.peak < greedy.peak


def test_few_blocks_are_improved_where_most_pairs_conflict_that_no_lifetimes_say() -> None:
    engines = ("late_first", *ALL)
    of_pairs = dict(team(engines, Extent(FEW, kind=Kind.PAIRS), LATER))
    assert list(of_pairs) == ["late_first", "improve", "search", "cpsat"]
    assert of_pairs["improve"] > of_pairs["search"] + of_pairs["cpsat"]


def test_few_blocks_that_no_moment_shows_are_asked_of_what_proves_from_the_first_round_on() -> None:
    of_woven = dict(team(separate_engines(native=True), Extent(20, kind=Kind.WOVEN), 1))
    assert list(of_woven)[-3:] == ["beam", "cpsat", "cpsat_order"]
    assert of_woven["search"] == of_woven["cpsat"]
    assert "cpsat" not in dict(team(separate_engines(native=True), Extent(20), 1))


def test_large_models_are_not_built_while_others_can_search() -> None:
    assert names(ALL, LARGEST + 1) == ["improve", "search"]
    assert names(("improve", "cpsat"), LARGEST + 1) == ["improve", "cpsat"]
    assert names(("cpsat",), LARGEST + 1) == ["cpsat"]
    assert names(("improve", "cpsat"), FAR * LARGEST + 1) == ["improve"]
    assert names(("cpsat",), FAR * LARGEST + 1) == ["cpsat"]


def test_an_engine_that_ignores_the_cost_of_pairs_works_only_on_few() -> None:
    most = share_of("cpsat").most_pairs or 0
    assert names(ALL, 10, pairs=most) == ["search", "cpsat"]
    assert names(ALL, 10, pairs=most + 1) == ["search"]
    assert names(("cpsat",), 10, pairs=most + 1) == ["cpsat"]


@pytest.mark.parametrize("name", ["search", "cpsat"])
def test_where_most_pairs_conflict_that_no_lifetimes_say_no_model_is_built_of_many(name: str) -> None:
    most = share_of(name, Kind.PAIRS).most_pairs or 0
    for pairs, is_built in (most, True), (most + 1, False):
        each = Extent(100, pairs=pairs, kind=Kind.PAIRS)
        assert (name in dict(team(("improve", name), each, LATER))) == is_built
    assert team((name,), Extent(100, pairs=most + 1, kind=Kind.PAIRS), LATER)


def test_few_blocks_are_ordered_from_the_first_round_on() -> None:
    share, both = share_of("cpsat_order"), ("search", "cpsat_order")
    few, pairs = share.largest or 0, share.most_pairs or 0
    assert "cpsat_order" in separate_engines(native=True)
    assert names(both, few, 1, pairs) == list(both)
    assert names(both, few + 1, 1, pairs) == ["search"]
    assert names(both, few, 1, pairs + 1) == ["search"]


def test_dense_instances_are_glued_and_larger_ones_more() -> None:
    share = share_of("gluing")
    assert names(("search", "gluing"), share.smallest, fill=share.least_fill) == ["search", "gluing"]
    assert names(("search", "gluing"), share.smallest, fill=share.least_fill - 1) == ["search"]
    teams = [team(("gluing",), Extent(blocks, fill=100), 1) for blocks in (500, 1_000, 1_500, 20_000)]
    assert [sum(parts for _, parts in each) for each in teams] == [4, 8, MOST_PARTS, MOST_PARTS]


def test_a_quick_engine_comes_first_in_the_first_round() -> None:
    quick = share_of("gluing")
    assert quick.is_quick
    for number, wanted in ((0, ["search", "gluing"]), (1, ["gluing", "search"]), (2, ["search", "gluing"])):
        assert names(("search", "gluing"), quick.smallest, number, fill=quick.least_fill) == wanted


def test_in_a_short_round_the_engines_of_the_first_take_part() -> None:
    for blocks in (10, 300, 3_000):
        assert sorted(team(ROSTER, Extent(blocks, fill=100), 0)) == sorted(team(ROSTER, Extent(blocks, fill=100), 1))


@pytest.mark.parametrize(
    ("engines", "wanted"),
    [
        (("search", "gluing"), [("search", 6 * LEAST_WORK), ("gluing", 2 * LEAST_WORK), ("gluing", FIRST_ROUND_WORK)]),
        (("gluing",), [("gluing", FIRST_ROUND_WORK)]),
        (("search", "beam"), [("search", 3 * FIRST_ROUND_WORK), ("beam", FIRST_ROUND_WORK // 2)]),
    ],
)
def test_a_short_round_comes_first_where_one_of_several_engines_is_quick(
    engines: tuple[str, ...], wanted: list[tuple[str, int]]
) -> None:
    """What gluing proves in the short round does not change the shares of the first."""
    asked = list[tuple[str, int]]()

    def ask(name: str, instance: Instance, task: Task, control: Control) -> Outcome:
        asked.append((name, task.limits.work or 0))
        bound = (task.bound[0] + 1,) if name == "gluing" else ()
        return Outcome(StopReason.WORK_LIMIT, bound=bound, work=task.limits.work or 0)

    instance = lower(generate("packing", Request(300, 1001))).instance
    with patch.object(separate_pools, "ask", ask):
        solve_separate_pools(instance, Task(limits=Limits(work=2_000_000)), Silent(), engines, by_name=False)
    assert asked[: len(wanted)] == wanted


@pytest.mark.parametrize("workers", [1, 2])
def test_packings_that_are_glued_at_once_take_no_long_search(workers: int) -> None:
    for seed in (1001, 1006):  # the search leaves these open after 300 000 units
        instance = lower(generate("packing", Request(300, seed))).instance
        outcome = solve(instance, Task(limits=Limits(work=1_000_000, workers=workers)), Silent())
        assert outcome.is_optimal
        assert outcome.work < 30_000


def test_mosaics_are_put_together_where_hardly_any_room_is_left() -> None:
    share = share_of("mosaic")
    for blocks in (share.smallest, share.largest or 0):
        assert names(("mosaic", "search"), blocks, fill=share.least_fill) == ["mosaic", "search"]
        assert names(("mosaic", "search"), blocks, fill=share.least_fill - 1) == ["search"]
    assert names(("mosaic", "search"), share.smallest, share.from_round - 1, fill=100) == ["search"]
    assert names(("mosaic", "search"), share.smallest - 1, fill=100) == ["search"]
    assert names(("mosaic", "search"), (share.largest or 0) + 1, fill=100) == ["search"]


def test_late_ones_come_first_where_some_must_end_low() -> None:
    teams = [team(("late_first", "search"), Extent(10, is_limited=limited), 1) for limited in (True, False)]
    assert [[name for name, _ in each] for each in teams] == [["late_first", "search"], ["search"]]


def test_saturation_works_from_the_second_round_on_where_few_sizes_and_no_lifetimes_say_who_conflicts() -> None:
    first, most = share_of("saturation").from_round, share_of("saturation").most_sizes or 0
    wanted = {(first, True, most): 2, (first, True, most + 1): 1, (first, False, most): 1, (first - 1, True, most): 1}
    for (number, hides, sizes), count in wanted.items():
        found = team(("saturation", "search"), Extent(10, hides_conflicts=hides, sizes=sizes), number)
        assert sorted(name for name, _ in found) == ["saturation", "search"][-count:]


def test_blocks_are_moved_where_alignments_are_mixed() -> None:
    engines = ("late_first", "improve", "search")
    teams = [team(engines, Extent(FEW, kind=kind), 1) for kind in (Kind.MIXED, Kind.USUAL)]
    assert [[name for name, _ in each] for each in teams] == [["late_first", "improve", "search"], ["search"]]
    assert dict(teams[0])["improve"] > share_of("improve").parts
    enough, short = (
        team(engines, Extent(FEW, kind=Kind.MIXED), 1, work) for work in (FIRST_ROUND_WORK, FIRST_ROUND_WORK - 1)
    )
    assert (enough, short) == tuple(teams)


@pytest.mark.parametrize(("kind", "fill"), [(Kind.SPLIT, 95), (Kind.TORN, 95), (Kind.USUAL, 70)])
def test_the_more_blocks_the_more_are_moved(kind: Kind, fill: int) -> None:
    """Plans of thousands of blocks, and of pipelines in a ring of time, ended up to 3 % above what local search alone found with the same work."""
    few, many = (dict(team(ALL, Extent(blocks, kind=kind, fill=fill), 1))["improve"] for blocks in (300, 2_500))
    assert few < many == MOST_PARTS


def test_what_packs_densely_keeps_its_work() -> None:
    assert dict(team(ALL, Extent(2_500, fill=95), 1))["improve"] == share_of("improve").parts


def test_a_ring_of_time_is_told_by_the_blocks_that_live_across_its_end() -> None:
    instances = [lower(make(1_500, 1)).instance for make in (pipelines, cycles)]
    assert [kind_of(each) for each in instances] == [Kind.USUAL, Kind.SPLIT]


def test_a_core_is_packed_first_where_few_blocks_take_nearly_all_room() -> None:
    share = share_of("core")
    most = share.most_fill or 0
    assert names(("core", "search"), share.smallest, fill=most, core=share.least_core) == ["core", "search"]
    assert names(("core", "search"), share.smallest, fill=most, core=share.least_core - 1) == ["search"]
    assert names(("core", "search"), share.smallest, fill=most + 1, core=share.least_core) == ["search"]


def test_an_engine_with_many_parts_takes_part_twice() -> None:
    for blocks in range(250, 2_000, 50):
        parts = [parts for _, parts in team(("gluing",), Extent(blocks, fill=100), 1)]
        assert max(parts) <= MOST_PARTS // 2
        assert max(parts) - min(parts) <= 1


def test_every_engine_gets_a_part() -> None:
    assert all(parts > 0 for _, parts in team((*ALL, "cbc"), Extent(2_500), LATER))


def test_slow_libraries_are_loaded_after_others_could_search() -> None:
    assert names(ALL, 10, LATER - 1) == ["search"]
    assert names(ALL, 10, LATER) == ["search", "cpsat"]
    assert names(("cpsat",), 10, 1) == ["cpsat"]


def test_every_engine_is_a_solver_and_takes_part_somewhere() -> None:
    for name, role in ROSTER.items():
        assert name in SOLVERS
        assert role.joint or role.separate, name


def test_integer_programs_which_start_from_nothing_get_all_the_work_at_once() -> None:
    assert set(NAMED) == {"cbc", "highs"}
    assert not set(NAMED) & set(ROSTER)
    assert all(name in SOLVERS and share_of(name).at_once for name in NAMED)


def test_engines_that_only_prove_need_a_choice_of_pools() -> None:
    """Solvers that only prove bounds would answer no round on components of single pools."""
    assert not {name for name in separate_engines(native=True) if SOLVERS[name].kind is SolverKind.BOUNDER}


def test_what_packs_pools_needs_no_kernels_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for origin, engines in (Origin.NATIVE, ("search", "gluing")), (Origin.REFERENCE, ("search",)):
        monkeypatch.setattr(roster, "active", lambda origin=origin: active()._replace(origin=origin))
        assert packers() == engines


def test_one_engine_settles_ties() -> None:
    assert [name for name in joint_engines(moves=False, reuse=False) if ROSTER[name].settles_ties]


@pytest.mark.parametrize("by_name", [False, True])
def test_a_joint_program_is_not_built_for_very_many_blocks_and_pools(by_name: bool) -> None:
    """Unless it is asked for by name."""
    most = ROSTER["cpsat"].most_places
    assert most is not None
    for blocks, is_asked in (most // 2, True), (most // 2 + 1, by_name):
        instance = make_instance([(i, i + 1, 4) for i in range(blocks)], pools=[PoolSpec(8), PoolSpec(None)])
        run = Joint(instance, Task(), Silent(), ("assign", "cpsat"), by_name)
        assert ("cpsat" in run.engines.active) == is_asked
        assert "assign" in run.engines.active


@pytest.mark.parametrize("origin", list(Origin))
def test_each_set_of_kernels_has_an_engine_that_proves(origin: Origin) -> None:
    names = separate_engines(native=origin is Origin.NATIVE)
    assert any(SOLVERS[name].kind is SolverKind.METHOD for name in names)


def test_in_python_the_fastest_engine_leads_and_slow_ones_are_left_out() -> None:
    for name in separate_engines(native=False):
        assert not share_of(name).needs_native
    assert share_of(separate_engines(native=False)[0]).leads_in_python


@pytest.mark.parametrize("name", [name for name, row in SOLVERS.items() if row.kind is SolverKind.BOUNDER])
@pytest.mark.parametrize("kind", ["pools", "random"])
def test_greedy_gives_a_placement_and_a_bound(name: str, kind: str) -> None:
    problem = generate(kind, Request(40, 3))
    greedy, made = (plan(problem, Options(solver=each)) for each in ("greedy", name))
    assert made.placements == greedy.placements
    bound, greedys = made.objective.bound, greedy.objective.bound
    assert bound is not None
    assert greedys is not None
    assert verify(problem, made) == ()
    if kind == "pools" and name in {"room_prices", "pool_sharing"}:
        assert bound > greedys
    else:
        assert bound == greedys


def test_no_process_is_started_for_a_bound_that_declines_so_many_blocks() -> None:
    sharing = ROSTER["pool_sharing"]
    assert sharing.takes(places=1, blocks=MOST_BLOCKS)
    assert not sharing.takes(places=1, blocks=MOST_BLOCKS + 1)
