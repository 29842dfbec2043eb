"""The tree of divisions: never a bound above the best choice, near it, and heights below which that is found."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import pytest

from planner import Buffer, Colocation, Constraints, Fixed, Options, Pool, Preference, Problem, plan
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools.prices import division_tree
from solvers.choice.pools.prices.division_tree import DivisionTree, is_held_by_sum
from solvers.choice.pools.program.program import Program, Section
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Question
from solvers.choice.pools.searches.fullest import FullestFirst
from solvers.model.instance import Instance

WORK = 1_000_000


def sized(kind: str, buffers: int, seed: int) -> Instance:
    return lower(with_preference(generate(kind, Request(buffers, seed)), Preference.SIZE)).instance


def fullest(instance: Instance, program: Program, most: int, asking: Asking) -> Section:
    return FullestFirst(instance, program, instance.class_number, asking, Question(1, held=(most,))).fullest_section()


def least_sum(program: Program, asking: Asking) -> int:
    """Of the peaks."""
    least = asking.ask(program, Question(0), WORK).value
    assert least is not None
    return least


def tree_of_sixty(asking: Asking, *, is_stopped: bool = False) -> DivisionTree:
    """Of sixty buffers, with no choice known."""
    instance = sized("hot", 60, 3)
    program = program_of(instance)
    least = least_sum(program, asking)
    return DivisionTree(program, least, fullest(instance, program, least, asking), 1 << 50, lambda: is_stopped)


def all_choices(program: Program, most: int) -> dict[int, list[tuple[int, ...]]]:
    """The peaks of all choices whose peaks add up to so much at most, by what they cost."""
    found = dict[int, list[tuple[int, ...]]]()
    for pools in product(*program.homes):
        tops = program.least_tops(pools)
        fits = all(room.capacity is None or top <= room.capacity for room, top in zip(program.rooms, tops, strict=True))
        if fits and sum(tops) <= most:
            found.setdefault(program.value(1, pools, tops), []).append(tops)
    return found


@pytest.mark.parametrize("kind", ["hot", "memories"])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("more", [0, 1_000_000])
@pytest.mark.parametrize("free", [0, 640])
def test_no_bound_is_above_the_best_choice(kind: str, seed: int, more: int, free: int, asking: Asking) -> None:
    instance = sized(kind, 40, seed)
    program = program_of(instance)
    least = least_sum(program, asking)
    assert is_held_by_sum(instance, program, 1)
    exact = asking.ask(program, Question(1, held=(least + free,)), WORK)
    assert exact.stopped is None
    assert exact.value is not None
    best = exact.value + more
    tree = DivisionTree(program, least + free, fullest(instance, program, least, asking), best, lambda: False)
    bound = tree.run(0, WORK)
    assert bound <= exact.value if more else bound <= best
    assert bound * 100 >= exact.value * 98
    assert tree.first is not None
    assert tree.last is not None


def test_the_best_division_has_the_heights_of_the_best_choice(asking: Asking) -> None:
    instance = sized("hot", 60, 3)
    program = program_of(instance)
    least = least_sum(program, asking)
    exact = asking.ask(program, Question(1, held=(least,)), WORK)
    assert exact.value is not None
    section = fullest(instance, program, least, asking)
    tree = DivisionTree(program, least, section, exact.value + exact.value // 4, lambda: False)
    assert tree.run(0, WORK) <= exact.value
    assert tree.found
    assert sum(tree.found[0].heights) == sum(units[0] for _, units in section)
    below = asking.ask(program, Question(1, tops=tree.found[0].heights, are_peaks=True), WORK)
    assert below.value is not None
    assert (below.value - exact.value) * 1_000 <= exact.value


def test_the_tree_ends_where_too_many_parts_are_open(asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tree_of_sixty(asking)
    bound = whole.run(0, WORK)
    monkeypatch.setattr(division_tree, "MOST_OPEN", 2)
    tree = tree_of_sixty(asking)
    assert 0 < tree.run(0, WORK) < bound
    assert tree.work < whole.work


@pytest.mark.parametrize(("kind", "seed"), [("hot", 329644), ("memories", 605681)])
def test_no_pool_is_lower_than_what_is_there_in_any_case(kind: str, seed: int, asking: Asking) -> None:
    """Divisions without any choice were taken for the best, and bounds ended there, 7 and 6 % lower."""
    instance = sized(kind, 40, seed)
    program = program_of(instance)
    least = least_sum(program, asking)
    exact = asking.ask(program, Question(1, held=(least,)), WORK).value
    assert exact is not None
    tree = DivisionTree(program, least, fullest(instance, program, least, asking), 2 * exact, lambda: False)
    assert tree.run(0, WORK) == exact
    below = asking.ask(program, Question(1, tops=tree.found[0].heights, are_peaks=True), WORK)
    assert below.value == exact


def test_what_greater_heights_are_worth_does_not_blur_the_bound(asking: Asking) -> None:
    """Beyond the heights that were solved for a class has room at last, which may be worth far more there than all choices together cost."""
    instance = sized("hot", 120, 182010)
    program = program_of(instance)
    least = least_sum(program, asking)
    exact = asking.ask(program, Question(1, held=(least,)), 4 * WORK).value
    assert exact is not None
    tree = DivisionTree(program, least, fullest(instance, program, least, asking), 3 * exact, lambda: False)
    bound = tree.run(0, 150_000)
    assert exact * 98 <= bound * 100 <= exact * 100


def test_bounds_of_divisions_hold_for_each_of_their_choices(asking: Asking) -> None:
    """With prices of one linear program alone, and with all of the tree's."""
    instance = sized("hot", 8, 1)
    program = program_of(instance)
    least = least_sum(program, asking)
    cheapest = min(all_choices(program, least))
    section = fullest(instance, program, least, asking)
    for best in (cheapest, cheapest + 1, 2 * cheapest, 10 * cheapest):
        for work in (1, 20_000, WORK):
            assert DivisionTree(program, least, section, best, lambda: False).run(0, work) <= cheapest


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("free", [0, 640])
@pytest.mark.parametrize(("patience", "narrow"), [(division_tree.PATIENCE, division_tree.NARROW), (2, 1_000), (2, 0)])
def test_whatever_costs_less_has_heights_that_are_left(
    seed: int, free: int, patience: int, narrow: int, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where divisions are solved ahead of their turn all the time, and where all heights as cheap are bounded together."""
    monkeypatch.setattr(division_tree, "PATIENCE", patience)
    monkeypatch.setattr(division_tree, "NARROW", narrow)
    instance = sized("hot", 8, seed)
    program = program_of(instance)
    least = least_sum(program, asking)
    most = least + free
    tops_of = all_choices(program, most)
    section = fullest(instance, program, least, asking)
    values = sorted(tops_of)
    for work in (1, WORK):
        tree = DivisionTree(program, most, section, values[-1] + 1, lambda: False)
        assert tree.run(0, work) <= values[0]
        for value, of_box in ((values[0], 0), (values[len(values) // 2] + 1, WORK), (values[-1] + 1, WORK)):
            heights = tree.heights_below(value, of_box)
            cheaper = [tops for cost in values if cost < value for tops in tops_of[cost]]
            assert heights or not cheaper or tree.last is None
            for tops in cheaper if heights else []:
                each = zip(tops, heights, strict=True)
                assert all(top <= high for top, (_, high) in each)
                assert sum(max(top, low) for top, (low, _) in zip(tops, heights, strict=True)) <= most


@pytest.mark.parametrize("seed", [3, 6, 27])
def test_what_was_solved_ahead_is_forgotten_where_another_class_is_divided(
    seed: int, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All divisions begin anew then, and those that begin like one of the former are not known."""
    monkeypatch.setattr(division_tree, "PATIENCE", 1)
    monkeypatch.setattr(division_tree, "DEAR", 1 << 40)
    instance = sized("memories", 8, seed)
    program = program_of(instance)
    least = least_sum(program, asking)
    values = sorted(all_choices(program, least + 640))
    section = fullest(instance, program, least, asking)
    tree = DivisionTree(program, least + 640, section, values[-1] + 1, lambda: False)
    assert tree.run(0, WORK) <= values[0]
    assert tree._dear


def test_few_heights_are_left_for_what_costs_little(asking: Asking) -> None:
    tree = tree_of_sixty(asking)
    bound = tree.run(0, WORK)
    assert tree.heights_below(bound, WORK) == ()
    few, many = tree.heights_below(bound + bound // 1_000, WORK), tree.heights_below(2 * bound, WORK)
    assert 0 < sum(high - low for low, high in few) * 10 < sum(high - low for low, high in many)


def test_a_division_comes_with_its_own_linear_program(asking: Asking) -> None:
    """Where work ended before that was solved it had come with the one before."""
    instance = sized("hot", 60, 3)
    program = program_of(instance)
    least = least_sum(program, asking)
    section = fullest(instance, program, least, asking)
    listed = 0
    for work in range(32_000, 36_000, 500):
        tree = DivisionTree(program, least, section, 1 << 50, lambda: False)
        tree.run(0, work)
        for heights, _, relaxed in tree.found:
            loads = [0.0] * len(heights)
            for group, units in section:
                for pool, share in zip(program.homes[group], relaxed.shares[group], strict=True):
                    loads[pool] += share * units[pool]
            assert loads == pytest.approx(heights)
            listed += 1
    assert listed > 0


def test_a_tree_ends_within_its_work(asking: Asking) -> None:
    tree = tree_of_sixty(asking)
    assert tree.run(17, 1) >= 17
    stopped = tree_of_sixty(asking, is_stopped=True)
    assert stopped.run(17, WORK) >= 17
    assert not stopped.found


@pytest.mark.parametrize("is_stopped", [False, True])
def test_no_division_is_looked_for_ahead_without_work(is_stopped: bool, asking: Asking) -> None:
    """Where many prices bound many classes one look ahead takes as much as a second."""
    tree = tree_of_sixty(asking)
    tree.run(0, WORK)
    tree._begin(0)
    tree._stopped = lambda: is_stopped
    work = tree.work
    tree._look_ahead(WORK * 2 if is_stopped else work)
    assert tree.work == work


def meeting(problem: Problem) -> list[tuple[int | str, int | str]]:
    """All pairs that are live together."""
    return [
        (one.id, other.id)
        for one, other in combinations(problem.buffers, 2)
        if any(a < d and c < b for a, b in one.live or () for c, d in other.live or ())
    ]


@pytest.mark.parametrize("rule", ["exclusions", "colocations"])
def test_no_sum_is_held_where_what_is_live_shares_addresses(rule: str) -> None:
    """Heights that are possible were taken for impossible, and so plans were called optimal that are not."""
    problem = with_preference(generate("hot", Request(40, 0)), Preference.SIZE)
    pair = meeting(problem)[0]
    excluded, together = Constraints(exclusions=(pair,)), Constraints(colocations=(Colocation(pair[1], pair[0], 0),))
    ruled = replace(problem, constraints=excluded if rule == "exclusions" else together)
    for each, is_held in (problem, True), (ruled, False):
        instance = lower(each).instance
        assert is_held_by_sum(instance, program_of(instance), 1) == is_held


@pytest.mark.parametrize(("seed", "work"), [(1203119, 3_000_000), (1501001, 3_000_000), (1601017, 7_500_000)])
def test_heights_come_from_divisions(seed: int, work: int) -> None:
    """17.6 % were open where pools were filled first, 270 where nothing was packed below the first division, and 11 at heights of the fullest sections."""
    problem = generate("hot", Request(1000, seed))
    made = plan(problem, Options(prefer=Preference.SIZE, time_limit=None, work_limit=work, workers=1))
    _, second = made.objective.terms
    assert second.value is not None
    assert second.bound is not None
    assert (second.value - second.bound) * 100 <= second.bound


def test_classes_are_divided_where_one_division_is_left(asking: Asking) -> None:
    """Of five in a ring two at most fit in the fast pool, and linear programs put half of each there; the dearest, divided first, must be there."""
    rings = [
        Buffer(
            5 * ring + i,
            6,
            live=tuple((10 * ring + t, 10 * ring + t + 1) for t in sorted({i + 1, (i + 1) % 5 + 1})),
            reads=reads,
        )
        for ring, first in enumerate((9, 5))
        for i, reads in enumerate((first, 5, 5, 5, 5))
    ]
    homes = [Buffer(name, size, live=((0, 1),), fixed=Fixed(name)) for name, size in (("fast", 10), ("slow", 100))]
    problem = Problem((*rings, *homes), (Pool("fast", 10), Pool("slow", rank=1)))
    instance = lower(with_preference(problem, Preference.SIZE)).instance
    program = program_of(instance)
    section = fullest(instance, program, 110, asking)
    assert asking.ask(program, Question(1, held=(110,)), WORK).value == 30
    assert DivisionTree(program, 110, section, 30, lambda: False).run(0, WORK) == 30
