"""Plans and frontiers of problems with variants agree with trying every choice, and claim only what is proven."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from planner.generate import Request, generate
from planner.model.errors import BadInput
from planner.model.plan import Frontier, Plan, PlanStatus
from planner.model.problem import (
    Alternative,
    Buffer,
    Colocation,
    Constraints,
    CostTerm,
    Fixed,
    Pool,
    Problem,
    VariantGroup,
    Variants,
)
from planner.planning.options.options import Options, Preference
from planner.planning.placing.solving import pareto, plan
from planner.planning.placing.variants.choosing import Choosing
from planner.planning.placing.watching import Clock, Progress
from planner.verifying.verify import verify
from solvers.choice.alternatives import points, search
from solvers.choice.alternatives.instance import Answer
from solvers.choice.alternatives.master import Master
from solvers.model.errors import StopReason
from solvers.model.instance import Term
from tests.planner.planning.placing.variants.random_variants import (
    KINDS,
    best_of,
    every_choice,
    random_problem,
    random_problem_of_kind,
)

OPTIONS = Options(workers=1)


def check_frontier(problem: Problem, found: Frontier) -> None:
    """Require that the frontier is that of all choices, and its plans are optimal and valid."""
    every = every_choice(problem)
    assert known(found.points) == best_of(every)
    assert found.is_complete == bool(every)
    assert found.is_infeasible == (not every)
    for each in found.points:
        assert each.status is PlanStatus.OPTIMAL
        assert not verify(problem, each)


def known(plans: tuple[Plan, ...]) -> list[tuple[int, int]]:
    """Return cost and memory of each plan."""
    return [(each.choice.cost, each.objective.value or 0) for each in plans if each.choice is not None]


def test_buffers_tied_by_one_and_excluded_by_another_alternative_may_share() -> None:
    buffers = (Buffer("a", 4, live=((0, 2),)), Buffer("b", 4, live=((0, 2),)))
    tied = Alternative("tied", (0,), constraints=Constraints(colocations=(Colocation("b", "a", 4),)))
    excluded = Alternative("excluded", (1,), constraints=Constraints(exclusions=(("a", "b"),)))
    groups = (VariantGroup("g", (tied, excluded)),)
    found = pareto(Problem(buffers, (Pool("p"),), variants=Variants(groups, (CostTerm("cycles"),))), OPTIONS)
    assert known(found.points) == [(0, 8), (1, 4)]


def test_buffers_tied_by_one_alternative_may_be_apart_without_it() -> None:
    both = (Buffer("a", 8, live=((0, 1),)), Buffer("b", 8, live=((0, 1),)))
    tied = Alternative("tied", (0,), constraints=Constraints(colocations=(Colocation("b", "a", 2),)))
    variants = Variants((VariantGroup("g", (tied, Alternative("apart", (1,)))),), (CostTerm("cycles"),))
    problem = Problem(both, (Pool("p"), Pool("q")), terms=(Term.LARGEST_PEAK,), variants=variants)
    assert known(pareto(problem, OPTIONS).points) == [(0, 10), (1, 8)]


@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_buffers_without_bytes_may_end_in_a_reserved_range_or_with_it(at: int) -> None:
    """The peak does not tell then how many free bytes are below."""
    mark = Buffer("mark", 0, live=((0, 1),), fixed=Fixed("p", at))
    one = Buffer("one", 1, live=((0, 1),))
    groups = (VariantGroup("g", (Alternative("plain", (2,)), Alternative("marked", (0,), (mark,)))),)
    problem = Problem((one,), (Pool("p", reserved=((1, 3),)),), variants=Variants(groups, (CostTerm("cycles"),)))
    for each in (problem, replace(problem, buffers=(one, replace(mark, id="other")))):
        check_frontier(each, pareto(each, OPTIONS))
        for options in (OPTIONS, replace(OPTIONS, prefer=Preference.SPEED)):
            made = plan(each, options)
            assert made.status is PlanStatus.OPTIMAL
            assert not verify(each, made)


def test_the_smallest_fastest_and_cost_limited_plans_are_optimal() -> None:
    for seed in range(100, 116):
        problem = random_problem(seed)
        if problem is None:
            continue
        every = every_choice(problem)
        smallest, fastest = plan(problem, OPTIONS), plan(problem, replace(OPTIONS, prefer=Preference.SPEED))
        for made in (smallest, fastest):
            assert not verify(problem, made), seed
            assert made.status is (PlanStatus.OPTIMAL if every else PlanStatus.INFEASIBLE), seed
        if not every:
            continue
        best = best_of(every)
        assert known((smallest,)) == [best[-1]], seed
        assert known((fastest,)) == [best[0]], seed
        most = (best[0][0] + best[-1][0]) // 2
        within = plan(problem, replace(OPTIONS, max_cost=most))
        assert known((within,)) == [[x for x in best if x[0] <= most][-1]], seed
        assert within.status is PlanStatus.OPTIMAL
        assert plan(problem, replace(OPTIONS, max_cost=best[0][0] - 1)).status is PlanStatus.INFEASIBLE


def tiled(capacity: int | None = None) -> Problem:
    """Return a problem with one choice: whole, fast and large, or in stripes, slow and small."""
    return Problem(
        (Buffer("in", 100, live=((0, 2),)),),
        (Pool("sram", capacity),),
        variants=Variants(
            (
                VariantGroup(
                    "conv",
                    (
                        Alternative("whole", (10,), (Buffer("out", 200, live=((1, 3),)),)),
                        Alternative("stripes", (13,), (Buffer("out", 50, live=((1, 3),)),)),
                    ),
                ),
            ),
            (CostTerm("cycles"),),
        ),
    )


def test_a_plan_names_its_choice() -> None:
    made = plan(tiled(), OPTIONS)
    assert made.choice is not None
    assert made.choice.alternatives == (("conv", "stripes"),)
    assert made.choice.costs == (("cycles", 13),)
    assert (made.peak, made.bound, made.choice.cost, made.choice.cost_bound) == (150, 150, 13, 13)
    assert [place.id for place in made.placements] == ["in", "out"]


def test_the_fastest_plan_is_the_fastest_that_fits() -> None:
    fast = replace(OPTIONS, prefer=Preference.SPEED)
    assert known((plan(tiled(), fast),)) == [(10, 300)]
    assert known((plan(tiled(299), fast),)) == [(13, 150)]
    nothing = plan(tiled(149), fast)
    assert (nothing.status, nothing.choice, nothing.placements) == (PlanStatus.INFEASIBLE, None, ())
    assert nothing.shortage is not None
    assert nothing.shortage.bytes_short == 1
    assert not verify(tiled(149), nothing)
    assert known((plan(tiled(), replace(fast, capacity=200)),)) == [(13, 150)]


@pytest.mark.parametrize(
    ("options", "place"),
    [
        (Options(prefer=Preference.BALANCED), "/options/prefer"),
        (Options(max_cost=1 << 62), "/options/max_cost"),
    ],
)
def test_wrong_options_are_refused(options: Options, place: str) -> None:
    with pytest.raises(BadInput) as caught:
        plan(tiled(), options)
    assert caught.value.findings[0].pointer == place


@pytest.mark.parametrize("unit", [1, 10**9, 10**9 + 7, 10**13, (1 << 53) - 1])
def test_sizes_of_any_magnitude_are_compared_rightly(unit: int) -> None:
    """OR-Tools calls 4 units the least load, with the presolve it has by default."""
    late = Buffer(2, 4 * unit, 1)
    early, pinned = Buffer(1, 3 * unit, 1, ((3, 6),)), Buffer(3, unit, 1, ((4, 7),), fixed=Fixed("p", 3 * unit))
    groups = (
        VariantGroup("first", (Alternative("early", buffers=(early,)), Alternative("always", buffers=(late,)))),
        VariantGroup("second", (Alternative("pinned", buffers=(pinned,)), Alternative("nothing"))),
    )
    problem = Problem((), (Pool("p"),), variants=Variants(groups))
    made = plan(problem, OPTIONS)
    assert (made.status, made.peak, made.bound) == (PlanStatus.OPTIMAL, 3 * unit, 3 * unit)
    check_frontier(problem, pareto(problem, OPTIONS))


def test_options_for_variants_are_refused_without_variants() -> None:
    plain = replace(tiled(), variants=None)
    with pytest.raises(BadInput) as caught:
        plan(plain, Options(max_cost=3))
    assert caught.value.findings[0].pointer == "/options/max_cost"
    with pytest.raises(BadInput) as caught:
        pareto(plain)
    assert caught.value.findings[0].pointer == "/variants"
    with pytest.raises(BadInput) as caught:
        pareto(tiled(), points=0)
    assert caught.value.findings[0].pointer == "/options/points"


def test_frontiers_of_every_kind_of_problem_are_right(nightly: bool) -> None:
    tried = 0
    for seed in range(200, 1_000 if nightly else 240):
        problem = random_problem_of_kind(KINDS[seed % len(KINDS)], seed)
        if problem is None:
            continue
        tried += 1
        check_frontier(problem, pareto(problem, OPTIONS))
    assert tried >= 10


@pytest.mark.parametrize("seed", [287, 317])
def test_points_left_open_by_one_try_are_found_with_addresses(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    problem = random_problem_of_kind(KINDS[seed % len(KINDS)], seed)
    assert problem is not None
    monkeypatch.setattr(search, "TRIES", 1)
    monkeypatch.setattr(Choosing, "_more", lambda _: False)
    found = pareto(problem, OPTIONS)
    assert found.is_complete
    assert known(found.points) == best_of(every_choice(problem))
    monkeypatch.setattr("planner.planning.placing.variants.choosing.lower_joint", lambda *_: None)
    assert not pareto(problem, OPTIONS).is_complete


@pytest.mark.parametrize("first", [0, 1])
def test_bounds_rely_on_no_colocation_that_depends_on_the_choice(first: int) -> None:
    """Which bytes the buffers share depends on the choice, so no bound may rely on one of the colocations."""
    ties = [Constraints(colocations=(Colocation("b", "a", offset),)) for offset in (0, 10)]
    ties = ties[first:] + ties[:first]
    groups = (VariantGroup("g", tuple(Alternative(f"{k}", (k,), (), tie) for k, tie in enumerate(ties))),)
    both = (Buffer("a", 10, live=((0, 1),)), Buffer("b", 10, live=((0, 1),)))
    problem = Problem(both, variants=Variants(groups, (CostTerm("cycles"),)))
    found = pareto(problem, OPTIONS)
    assert known(found.points) == best_of(every_choice(problem))
    assert found.is_complete


@pytest.mark.parametrize("pools", [1, 2])
def test_claims_hold_where_plans_are_placed_too_high(monkeypatch: pytest.MonkeyPatch, pools: int) -> None:
    """All claims are true even if plans are placed too high with weak bounds, and no exact engine helps."""
    monkeypatch.setattr("planner.planning.placing.variants.choosing.lower_joint", lambda *_: None)
    problem = generate("variants", Request(12, 1, parameters={"groups": 5 - pools, "alternatives": 3}))
    if pools > 1:
        problem = replace(problem, pools=(Pool("near", 5_000, cost=2), Pool("far")))
    every = every_choice(problem)
    honest = Choosing._place

    def badly(self: Choosing, choice: tuple[int, ...], below: int | None = None) -> points.Placed:
        placed = honest(self, choice, below)
        if placed.value is None or sum(choice) % 3 == 0:
            return placed
        return replace(placed, value=placed.value + 64 * (sum(choice) % 3), bound=placed.value - 100, is_useless=False)

    def lift(self: Choosing, point: points.Point, *_: object) -> SimpleNamespace:
        return SimpleNamespace(point=point, reproducible=True, status=PlanStatus.OPTIMAL)

    monkeypatch.setattr(Choosing, "_place", badly)
    monkeypatch.setattr(Choosing, "_lift", lift)
    seen: list[points.Point] = []
    ended: list[StopReason] = []

    def note(points: tuple[SimpleNamespace, ...], stop: StopReason, **_: object) -> None:
        seen.extend(each.point for each in points)
        ended.append(stop)

    monkeypatch.setattr("planner.planning.placing.variants.choosing.Frontier", note)
    pareto(problem, replace(OPTIONS, time_limit=None, work_limit=300_000))
    assert seen
    assert ended == [StopReason.WORK_LIMIT]
    for point in seen:
        assert point.bound <= min(value for cost, value in every if cost <= point.cost)
        assert point.cost_bound <= min(cost for cost, value in every if value <= point.value)


def test_there_is_a_plan_even_where_no_question_was_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then, as on a busy machine, the smallest or cheapest alternatives are taken, if they fit and break no rule."""

    def no_answer(*_: object) -> points.Frontier:
        return points.Frontier((), is_complete=False, stop=StopReason.TIME_LIMIT, work=0)

    for name in ("fastest", "smallest", "frontier"):
        monkeypatch.setattr(search.Search, name, no_answer)
    cases = [problem for seed in range(40) if (problem := random_problem(seed)) is not None]
    placed = 0
    for problem in cases:
        every = every_choice(problem)
        whole = pareto(problem, OPTIONS)
        assert not whole.is_complete
        assert whole.stop is StopReason.TIME_LIMIT
        for prefer in Preference.SIZE, Preference.SPEED:
            options = replace(OPTIONS, prefer=prefer)
            made = plan(problem, options)
            assert made.status in (PlanStatus.FEASIBLE, PlanStatus.OPTIMAL, PlanStatus.UNKNOWN)
            assert (made.status is PlanStatus.UNKNOWN) == (not whole.points)
            if made.choice is None:
                continue
            placed += 1
            assert not verify(problem, made)
            assert made.choice.cost_bound is not None
            assert all(made.choice.cost_bound <= cost for cost, _ in best_of(every))
            best = min(known(whole.points), key=lambda each: each if prefer is Preference.SPEED else each[::-1])
            assert known((made,)) == [best]
        for most_cost in {cost - 1 for cost, _ in known(whole.points)}:
            limited = plan(problem, replace(OPTIONS, max_cost=most_cost))
            assert limited.choice is None or limited.choice.cost <= most_cost
    assert placed > len(cases) / 2


@pytest.mark.parametrize("max_cost", [None, 8])
def test_a_bound_of_the_cheapest_choices_is_none_of_all_that_are_allowed(
    monkeypatch: pytest.MonkeyPatch, max_cost: int | None
) -> None:
    """The dear choice needs 11 bytes, but is placed in 13, and nothing is proven of it; the cheap one needs 12."""
    small = (Buffer("x", 6, live=((0, 1),)), Buffer("y", 5, live=((0, 1),)), Buffer("z", 2, live=((1, 2),)))
    alternatives = (Alternative("cheap", (2,), (Buffer("w", 12, live=((0, 1),)),)), Alternative("dear", (8,), small))
    problem = Problem((), (Pool("p"),), variants=Variants((VariantGroup("g", alternatives),), (CostTerm("cycles"),)))
    monkeypatch.setattr("solvers.choice.alternatives.known.MOST_IN_VAIN", 0)

    def badly(made: Problem, options: Options) -> Plan:
        if len(made.buffers) == 1:
            return plan(made, options)
        stacked = plan(made, Options(workers=1, solver="exir_naive"))
        worth = replace(stacked.objective, bound=0, terms=(replace(stacked.objective.terms[0], bound=0),))
        bare = replace(stacked, status=PlanStatus.FEASIBLE, stop=StopReason.WORK_LIMIT, bound=0, certificates=())
        return replace(bare, objective=worth, pools=(replace(stacked.pools[0], bound=0),))

    options = Options(workers=1, time_limit=None, work_limit=1_000_000, max_cost=max_cost)
    shown: list[Plan] = []

    def show(progress: Progress) -> None:
        assert progress.answer is not None
        made = progress.answer()
        assert isinstance(made, Plan)
        shown.append(made)

    found = Choosing(problem, options, Clock(None), None, badly).best(show)
    assert shown
    assert all(each.bound <= 11 for each in shown)
    assert (found.peak, found.bound, found.status) == (12, 11, PlanStatus.FEASIBLE)


def test_a_bound_of_the_smaller_choices_is_none_of_all_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The question about any choice stays open; the one about choices of up to 9 bytes, asked next, does not."""
    cheapest = Master.cheapest

    def hesitant(self: Master, most_load: int | None, *rest: Any) -> Answer:
        return cheapest(self, most_load, *rest) if most_load else Answer((1,), 3, StopReason.WORK_LIMIT, 0)

    monkeypatch.setattr(Master, "cheapest", hesitant)
    sizes = {"cheap": (3, 12), "dear": (5, 10), "small": (5, 8)}
    alternatives = [
        Alternative(name, (cost,), (Buffer("x", size, live=((0, 1),)),)) for name, (cost, size) in sizes.items()
    ]
    variants = Variants((VariantGroup("g", tuple(alternatives)),), (CostTerm("cycles"),))
    found = plan(Problem((), (Pool("p"),), variants=variants), replace(OPTIONS, prefer=Preference.SPEED))
    assert found.choice is not None
    assert (found.choice.cost, found.choice.cost_bound, found.status) == (5, 3, PlanStatus.FEASIBLE)


def test_faults_that_no_choice_mends_are_refused_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Choosing, "_ask", None)  # calling it would fail
    apart = Constraints(different_pool=(("a", "b", "c"),))
    small = tuple(Buffer(id_, 8, live=((0, 2),)) for id_ in "abc")
    large = (Buffer("a", 65, live=((0, 2),)),)
    variants = Variants(
        (VariantGroup("g", (Alternative("one", (0,)), Alternative("other", (1,)))),), (CostTerm("cycles"),)
    )
    for buffers, constraints in (small, apart), (large, Constraints()):
        problem = Problem(buffers, (Pool("p", 64), Pool("q", 64)), constraints, variants=variants)
        made = plan(problem, OPTIONS)
        assert (made.status, made.stop) == (PlanStatus.INFEASIBLE, StopReason.PROVED)
        assert made.shortage is not None
        assert "'a'" in made.shortage.message
        assert not verify(problem, made)


def test_room_is_not_denied_where_an_alternative_allows_sharing() -> None:
    buffers = (Buffer("a", 40, live=((0, 2),)), Buffer("b", 40, live=((0, 2),)))
    share = Alternative("share", (1,), constraints=Constraints(exclusions=(("a", "b"),)))
    variants = Variants((VariantGroup("g", (Alternative("apart", (0,)), share)),), (CostTerm("cycles"),))
    both = Constraints(same_pool=(("a", "b"),))
    problem = Problem(buffers, (Pool("p", 64), Pool("q", 64)), both, variants=variants)
    assert plan(problem, OPTIONS).peak == 40
