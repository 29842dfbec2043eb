"""Plans are lowered, or proven optimal by a few of their buffers; both agree with the optimum over all choices."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from planner.facts.part import only
from planner.facts.variants import with_choice
from planner.generate import Request, generate
from planner.model.plan import Plan, PlanStatus
from planner.model.problem import (
    Alternative,
    Buffer,
    Constraints,
    CostTerm,
    Fixed,
    Pool,
    Problem,
    VariantGroup,
    Variants,
)
from planner.planning.options.options import Options
from planner.planning.placing.solving import pareto, plan
from planner.planning.placing.variants import settling
from planner.planning.placing.variants.placing import THOROUGH, Placing
from planner.planning.placing.variants.settling import LITTLE, MOST_AT_ONCE, Hint, Settled, settled
from planner.verifying.verify import verify
from solvers.choice.alternatives.instance import Choice
from solvers.choice.alternatives.points import Placed
from solvers.model.errors import StopReason
from solvers.model.registry import AUTO
from solvers.model.solver import Goal
from tests.planner.planning.placing.variants.random_variants import best_of, every_choice, random_problem

UNHURRIED = Options(workers=1, time_limit=None)
"""Without a time limit, so that answers do not depend on how busy the machine is."""


def fit(problem: Problem, per_cent: int, _: int | None = None) -> Plan:
    solver = AUTO if per_cent == LITTLE else THOROUGH
    return plan(problem, Options(workers=1, work_limit=1_000_000, time_limit=None, goal=Goal.FIT, solver=solver))


def stacked(problem: Problem) -> Plan:
    """Return a valid plan made without search: each buffer lies above all earlier ones."""
    return plan(problem, replace(UNHURRIED, solver="exir_naive"))


def unproven(made: Plan) -> Plan:
    """Return the plan without its proofs."""
    bare = replace(made, status=PlanStatus.FEASIBLE, stop=StopReason.WORK_LIMIT, bound=0, gap=None, certificates=())
    worth = replace(made.objective, bound=0, terms=tuple(replace(term, bound=0) for term in made.objective.terms))
    return replace(bare, objective=worth, pools=(replace(made.pools[0], bound=0),))


def optimum(problem: Problem) -> int:
    best = plan(problem, UNHURRIED)
    assert best.status is PlanStatus.OPTIMAL
    return best.peak or 0


@pytest.mark.parametrize("seed", range(6))
def test_a_bad_plan_becomes_the_best(seed: int) -> None:
    problem = generate("random", Request(30, seed))
    found = settled(problem, stacked(problem), fit)
    assert found.plan.peak == optimum(problem)
    assert not verify(problem, found.plan)
    if found.buffers:
        assert found.plan.status is PlanStatus.OPTIMAL
        assert optimum(only(problem, found.buffers)) == found.plan.peak


def test_a_part_that_does_not_fit_proves_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of the buffers proves more than the bytes live together; the next time only this part is solved."""
    problem = generate("variants", Request(60, 29))
    choice = (0, 0, 2, 0, 3, 1, 0, 0, 0, 1, 0, 1, 1, 0, 2, 3, 2, 3, 2, 3)
    made = with_choice(problem, choice)
    monkeypatch.setattr(settling, "MOST_AT_ONCE", 0)
    sizes: list[int] = []

    def counted(part: Problem, per_cent: int, _: int | None = None) -> Plan | None:
        sizes.append(len(part.buffers))
        return fit(part, per_cent)

    unproven = plan(made, Options(workers=1, work_limit=100_000, time_limit=None))
    found = settled(made, unproven, counted)
    assert (unproven.status, found.plan.status) == (PlanStatus.FEASIBLE, PlanStatus.OPTIMAL)
    assert 0 < len(found.buffers) < len(made.buffers)
    assert found.plan.peak is not None
    assert found.plan.peak > found.plan.certificates[0].value
    assert unproven.peak == found.plan.peak
    sizes.clear()
    hint = Hint(found.buffers, found.plan.bound - 1, found.work)
    assert settled(made, unproven, counted, [hint]).buffers == found.buffers
    assert sizes == [len(found.buffers)]


def test_a_part_is_asked_into_the_room_into_which_it_did_not_fit_with_as_much_work() -> None:
    """Four of six buffers take 32 bytes, and the first plan 48; that they fit into 47 would say nothing."""
    problem = Problem(tuple(Buffer(n, 8, live=((0 if n < 4 else n, n + 1),)) for n in range(6)), (Pool("p"),))
    asked: list[tuple[int, int | None, int | None]] = []

    def noting(part: Problem, per_cent: int, most: int | None = None) -> Plan:
        asked.append((len(part.buffers), part.pools[0].size, most))
        return fit(part, per_cent)

    poor = stacked(problem)
    poor = replace(poor, bound=0, pools=(replace(poor.pools[0], bound=0),))
    found = settled(problem, poor, noting, [Hint(frozenset(range(4)), 31, 8_000)])
    assert asked[0] == (4, 31, 9_000)
    assert found.plan.status is PlanStatus.OPTIMAL


def test_what_does_not_fit_where_it_is_of_use_needs_no_more() -> None:
    """The plan takes 40 bytes and no plan less than 32; of use is only one below 24."""
    problem = Problem(tuple(Buffer(n, 8, live=((0 if n < 4 else n, n + 1),)) for n in range(5)), (Pool("p"),))
    rooms: list[int | None] = []

    def noting(part: Problem, per_cent: int, _: int | None = None) -> Plan:
        rooms.append(part.pools[0].size)
        return fit(part, per_cent)

    poor = stacked(problem)
    poor = replace(poor, status=PlanStatus.FEASIBLE, bound=0, pools=(replace(poor.pools[0], bound=0),))
    found = settled(problem, poor, noting, below=24)
    assert rooms == [23]
    assert found.buffers
    assert (found.plan.peak, found.plan.status) == (40, PlanStatus.FEASIBLE)
    assert 24 <= found.plan.bound <= 32


def test_where_several_choices_do_not_fit_few_buffers_are_looked_for_and_tried_first_in_the_next() -> None:
    """The three choices differ in one to four of twenty groups; what proves the second is near the time that proves the third, with other alternatives."""
    problem = generate("variants", Request(60, 511))
    below, sizes = 16_688, list[int]()

    def counted(part: Problem, per_cent: int, _: int | None = None) -> Plan | None:
        sizes.append(len(part.buffers))
        return fit(part, per_cent)

    def chosen(digits: str) -> tuple[Problem, Plan]:
        made = with_choice(problem, tuple(map(int, digits)))
        return made, unproven(plan(made, Options(workers=1, work_limit=25_000, time_limit=None)))

    once = settled(*chosen("03301111113010103221"), counted, below=below)
    assert (len(once.buffers), once.time) == (60, None)
    second, poor = chosen("03301111113010102231")
    again = settled(second, poor, counted, below=below, is_repeated=True)
    assert again.time is not None
    assert len(again.buffers) == settling.FEW
    few = replace(only(second, again.buffers), pools=(replace(second.pools[0], size=below - 1),))
    assert plan(few, UNHURRIED).status is PlanStatus.INFEASIBLE
    third, poor = chosen("03301111113200103221")
    part = frozenset(settling.nearest(third.buffers, again.time, settling.FEW))
    sizes.clear()
    found = settled(third, poor, counted, [Hint(part, below - 1, 2 * again.work, again.time)], below=below)
    assert (found.buffers, found.time, sizes) == (part, again.time, [settling.FEW])


def test_parts_between_fitting_and_too_hard_are_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """24 buffers fit lower, and 31 or more are made too hard to settle; a number between them proves the plan."""
    problem = generate("variants", Request(60, 29))
    made = with_choice(problem, (0, 0, 2, 0, 3, 1, 0, 0, 0, 1, 0, 1, 1, 0, 2, 3, 2, 3, 2, 3))
    monkeypatch.setattr(settling, "MOST_AT_ONCE", 0)
    sizes: list[int] = []

    def shy(part: Problem, per_cent: int, _: int | None = None) -> Plan | None:
        sizes.append(len(part.buffers))
        found = fit(part, per_cent)
        is_hard = found.status is PlanStatus.INFEASIBLE and len(part.buffers) >= 31
        return replace(found, status=PlanStatus.UNKNOWN, certificates=()) if is_hard else found

    unproven = plan(made, Options(workers=1, work_limit=100_000, time_limit=None))
    found = settled(made, unproven, shy)
    assert found.plan.status is PlanStatus.OPTIMAL
    assert 24 < len(found.buffers) < 31
    assert 32 in sizes


def test_the_second_step_down_halves_the_distance() -> None:
    """Each answer places one buffer as high as allowed, although all could lie at 0."""
    problem = Problem(tuple(Buffer(n, 8, live=((n, n + 1),)) for n in range(4)), (Pool("p"),))
    rooms: list[int] = []

    def reluctant(part: Problem, *_: int | None) -> Plan:
        room = part.pools[0].size or 0
        rooms.append(room)
        first = replace(part.buffers[0], fixed=Fixed("p", room - 8))
        return plan(replace(part, buffers=(first, *part.buffers[1:])), UNHURRIED)

    assert settled(problem, stacked(problem), reluctant).plan.status is PlanStatus.OPTIMAL
    assert rooms == [31, 19, 13, 10, 8]


def test_undecided_sizes_are_tried_again_nearer_to_the_peak() -> None:
    """The solver decides nothing below 16, so sizes above the last failure are tried, and 16 is the least."""
    problem = Problem(tuple(Buffer(n, 8, live=((n, n + 1),)) for n in range(4)), (Pool("p"),))
    rooms: list[int] = []

    def helpless(part: Problem, *_: int | None) -> Plan:
        room = part.pools[0].size or 0
        rooms.append(room)
        first = replace(part.buffers[0], fixed=Fixed("p", room - 8))
        made = plan(replace(part, buffers=(first, *part.buffers[1:])), UNHURRIED)
        return made if room >= 16 else replace(made, status=PlanStatus.UNKNOWN, placements=())

    found = settled(problem, stacked(problem), helpless)
    assert rooms == [31, 19, 13, 16, 14, 15]
    assert (found.plan.peak, found.plan.status, len(found.hard)) == (16, PlanStatus.FEASIBLE, 4)


def test_without_more_work_the_plan_stays() -> None:
    problem = generate("random", Request(MOST_AT_ONCE + 10, 3))
    made = stacked(problem)
    assert settled(problem, made, lambda *_: None) == Settled(made)


def test_no_more_parts_are_tried_once_no_work_is_left() -> None:
    problem = generate("random", Request(MOST_AT_ONCE + 10, 3))
    asked: list[Problem] = []
    settled(problem, stacked(problem), lambda part, *_: asked.append(part))
    assert len(asked) == 1


def test_the_busiest_times_are_found_without_looking_at_all_buffers_at_each_time() -> None:
    class Read(Buffer):
        times = 0

        @property
        def size(self) -> int:
            Read.times += 1
            return 3

    buffers = [Read.__new__(Read) for _ in range(400)]
    for i, buffer in enumerate(buffers):
        object.__setattr__(buffer, "live", ((2 * i, 2 * i + 30), (2 * i + 20, 2 * i + 40 + i % 3)))
    assert settling._cores(buffers)
    assert Read.times <= 2 * len(buffers)


def kept_apart() -> Problem:
    """Return a problem in which an alternative without buffers keeps two of the problem's buffers apart.

    What these two prove does not hold for choices without the alternative.
    """
    buffers = tuple(Buffer(f"b{n}", 4, live=((2 * n, 2 * n + 1),)) for n in range(6))
    apart = Alternative("apart", (0,), constraints=Constraints(conflicts=(("b0", "b1"),)))
    sizes = tuple(Alternative(f"s{size}", (size - 1,), (Buffer(f"s{size}", size, live=((0, 1),)),)) for size in (1, 2))
    groups = (VariantGroup("apart", (Alternative("together", (3,)), apart)), VariantGroup("size", sizes))
    return Problem(buffers, (Pool("p"),), variants=Variants(groups, (CostTerm("cycles"),)))


@pytest.mark.parametrize("few", [None, 2])
def test_proofs_of_parts_hold_for_every_choice_with_their_alternatives(
    monkeypatch: pytest.MonkeyPatch, nightly: bool, few: int | None
) -> None:
    """Each choice is placed badly at first, so that its optimum can only be proven by parts; with `few`, by as few near one time."""
    times: list[int | None] = []
    if few is not None:
        monkeypatch.setattr(settling, "FEW", few)
        monkeypatch.setattr(settling, "WORTH", 10_000)
        monkeypatch.setattr("planner.planning.placing.variants.placing.FEW", few)

        def always(*about: Any, **_: bool) -> Settled:
            found = settled(*about, is_repeated=True)
            times.append(found.time)
            return found

        monkeypatch.setattr("planner.planning.placing.variants.placing.settled", always)
    honest = Placing.planned
    partial: list[Placed] = []
    useless: list[Placed] = []

    def badly(
        self: Placing, problem: Problem, work: int | None, goal: Goal, solver: str | None = None
    ) -> tuple[Plan, int]:
        if goal is Goal.FIT:
            return honest(self, problem, work, goal, solver)
        well, _ = honest(self, problem, work, goal)
        poor = stacked(problem)
        if not poor.placements or poor.warnings:
            return well, 0
        return unproven(poor), 0

    place = Placing.place

    def noted(self: Placing, positions: Choice, below: int | None = None) -> Placed:
        placed = place(self, positions, below)
        if placed.is_useless:
            useless.append(placed)
        if placed.picks is not None and len(placed.picks) < len(positions):
            partial.append(placed)
        return placed

    monkeypatch.setattr(Placing, "planned", badly)
    monkeypatch.setattr(Placing, "place", noted)
    monkeypatch.setattr("planner.planning.placing.variants.settling.SIZES", (1, 2, 3, 4, 5))
    for seed in range(-1, 2_000 if nightly else 40):
        problem = random_problem(seed) if seed >= 0 else kept_apart()
        if problem is None or len(problem.pools) > 1:
            continue
        every = every_choice(problem)
        found = pareto(problem, Options(workers=1))
        assert [(p.choice and p.choice.cost, p.objective.value) for p in found.points] == best_of(every), seed
        shown = all(each.status is PlanStatus.OPTIMAL for each in found.points)
        assert found.is_complete == (bool(every) and shown), seed
        assert all(p.choice and p.choice.cost == p.choice.cost_bound for p in found.points), seed
        assert not any(verify(problem, each) for each in found.points), seed
    assert partial
    assert useless
    assert few is None or any(time is not None for time in times)


def test_what_a_few_alternatives_prove_is_not_all_that_is_proven_of_the_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two buffers take 8 bytes whatever is chosen, and this choice 12. First it is of use only below 8, then in any case."""
    late = tuple(Buffer(f"late {n}", 4, live=((10 + 2 * n, 11 + 2 * n),)) for n in range(3))
    apart = Constraints(conflicts=tuple(combinations((buffer.id for buffer in late), 2)))
    group = VariantGroup("late", (Alternative("none", (1,)), Alternative("three", (0,), late, apart)))
    always = tuple(Buffer(f"b{n}", 4, live=((0, 1),)) for n in range(2))
    problem = Problem(always, (Pool("p"),), variants=Variants((group,), (CostTerm("cycles"),)))
    monkeypatch.setattr(settling, "MOST_AT_ONCE", 0)
    monkeypatch.setattr(settling, "SIZES", (2,))
    made: list[Plan] = []

    def first_badly(part: Problem, options: Options) -> Plan:
        made.append(plan(part, options) if made else unproven(stacked(part)))
        return made[-1]

    placing = Placing(
        problem=problem,
        options=UNHURRIED,
        times=(),
        plan_one=first_badly,
        share=lambda *_: None,
        left=lambda: None,
        stopped=lambda: None,
        seconds_left=lambda: None,
        nothing=lambda: stacked(problem),
    )
    useless = placing.place((1,), below=8)
    assert (useless.bound, useless.picks, useless.is_useless) == (8, (), True)
    proven = placing.place((1,))
    assert (proven.value, proven.bound, proven.picks) == (12, 12, None)
