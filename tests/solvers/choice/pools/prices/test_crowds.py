"""Prices on rows and crowds: no choice of pools and no placement costs less than any prices prove."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from math import prod
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from planner import Preference
from planner.generate import Request, generate
from planner.model.problem import Problem
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from planner.verifying.arguments.crowds import heights_for_votes
from solvers.choice.pools.prices import relaxation
from solvers.choice.pools.prices.crowds import Crowd, Priced, Prices, prices_of
from solvers.choice.pools.prices.levels import LEAST_EXCESS, SHARES, Reach
from solvers.choice.pools.prices.lifting import Present, lifted_covers
from solvers.choice.pools.prices.relaxation import bound_of
from solvers.choice.pools.program.program import Heights, Pools, Program
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Question, read_relaxed
from solvers.exact.cpsat.linear import LinearProgram
from solvers.geometry.presolve import scaled, unit
from solvers.kernels.votes import least_for_votes
from solvers.model.errors import SolverFailed
from solvers.model.solver import Limits, Silent
from tests.small.strategies import effort, problems

MOST_CHOICES = 3_000


def program_like(kind: str, buffers: int, seed: int, prefer: Preference = Preference.BALANCED) -> Program:
    instance = lower(with_preference(generate(kind, Request(buffers, seed)), prefer)).instance
    return program_of(scaled(instance, unit(instance)))


def random_prices(program: Program, chance: Random) -> Prices:
    """Random prices for some of the rows and some crowds, as high as matters beside the costs."""
    dearest = max((cost for costs in program.terms[0].of_homes for cost in costs), default=0)
    most = max(dearest, *program.terms[0].of_peaks, 1)
    rows = [n for n, row in enumerate(program.rows) if row.members]
    chosen = chance.sample(rows, chance.randint(0, len(rows)))
    crowds = {}
    for number in chance.sample(rows, chance.randint(0, len(rows))):
        members = [group for group, _ in program.rows[number].members]
        classes = tuple(chance.sample(members, chance.randint(1, len(members))))
        votes = tuple(chance.choice((1, 1, 2, 5)) for _ in classes)
        crowds[Crowd(number, classes, votes)] = chance.randint(1, most)
    return Prices(1, {n: chance.randint(0, max(most // 8, 1)) for n in chosen}, crowds)


@effort(15, 6_000)
@given(problems(max_buffers=6), st.randoms(use_true_random=False))
def test_no_choice_costs_less_than_any_prices_prove(problem: Problem, chance: Random) -> None:
    program = program_of(lower(problem).instance)
    if not program.terms or program.terms[0].is_largest or prod(map(len, program.homes)) > MOST_CHOICES:
        return
    priced = Priced(program, random_prices(program, chance))
    for pools, tops in choices(program):
        assert priced.bound <= program.value(0, pools, tops)


@effort(15, 6_000)
@given(problems(max_buffers=6), st.randoms(use_true_random=False))
def test_no_better_choice_has_heights_that_prices_exclude(problem: Problem, chance: Random) -> None:
    program = program_of(lower(problem).instance)
    is_plain = not any(room.reserved for room in program.rooms)
    if not is_plain or not program.terms or program.terms[0].is_largest or prod(map(len, program.homes)) > MOST_CHOICES:
        return
    within = tuple(
        (chance.randint(0, highest // 2), chance.randint(highest // 2, highest))
        for highest in (program.highest(pool) for pool in range(len(program.rooms)))
    )
    prices, everything = random_prices(program, chance), list(choices(program))
    some = [(pools, tops) for pools, tops in everything if _are_within(tops, within)]
    most = max((program.value(0, *each) for each in some), default=1) + chance.randint(0, 3)
    left = Priced(program, prices, within).below(most)
    for pools, tops in some:
        assert program.value(0, pools, tops) >= most or _are_within(tops, left)


def _are_within(tops: tuple[int, ...], heights: Heights) -> bool:
    return len(tops) == len(heights) and all(low <= top <= high for top, (low, high) in zip(tops, heights, strict=True))


@effort(15, 6_000)
@given(problems(max_buffers=6), st.randoms(use_true_random=False))
def test_no_choice_that_keeps_held_terms_beats_the_bound_of_a_later_one(problem: Problem, chance: Random) -> None:
    program = program_of(lower(problem).instance)
    if len(program.terms) < 2 or prod(map(len, program.homes)) > MOST_CHOICES:
        return
    everything = list(choices(program))
    if not everything:
        return
    pools, tops = chance.choice(everything)
    held = [program.value(0, pools, tops)]
    prices = replace(random_prices(program, chance), of_held=(chance.randint(0, 4),))
    priced = Priced(program, prices, held=held)
    for pools, tops in everything:
        assert program.value(0, pools, tops) > held[0] or priced.bound <= program.value(1, pools, tops)


def choices(program: Program) -> Iterator[tuple[Pools, tuple[int, ...]]]:
    """Yield each choice of pools that fits, with the heights of its pools."""
    for pools in product(*program.homes):
        tops = program.least_tops(pools)
        fits = all(room.capacity is None or top <= room.capacity for room, top in zip(program.rooms, tops, strict=True))
        if fits and all(pools[a] != pools[b] for a, b in program.apart):
            yield pools, tops


def test_with_the_first_term_held_the_relaxation_bounds_the_second() -> None:
    """If the first term were not held, the peaks could be as low as if everything were in the cheapest pool."""
    program = program_like("pools", 60, 3, Preference.SPEED)
    asking = Asking(Limits(work=20_000_000), 0, Silent())
    try:
        held = asking.ask(program, Question(0), 5_000_000).value
        assert held is not None
        least = asking.ask(program, Question(1, held=(held,)), 5_000_000)
        relaxed = asking.relax(program, (held,), 2_000_000)
        assert least.value is not None
        assert least.stopped is None
        assert relaxed is not None
        assert least.value * 3 // 4 <= bound_of(program, relaxed, (held,)) <= least.value
    finally:
        asking.close()


@effort(60, 20_000)
@given(
    st.lists(st.tuples(st.integers(1, 40), st.sampled_from((0.0, 0.2, 0.5, 0.7, 0.95, 1.0))), min_size=2, max_size=9),
    st.integers(1, 90),
)
@example([(1, 0.5), (1, 1.0), (28, 0.5), (29, 0.2)], 29)
def test_lifted_covers_hold_for_all_that_has_room(found: list[tuple[int, float]], room: int) -> None:
    """And no class can have another vote without that some that has room for no more would have."""
    row = [Present(units, share, group) for group, (units, share) in enumerate(found) if units <= room]
    inside = [some for n in range(len(row) + 1) for some in combinations(row, n) if sum(x.units for x in some) <= room]
    for votes, least in lifted_covers(row, room):
        of_group = {each.group: count for each, count in votes}
        most = max(sum(of_group.get(each.group, 0) for each in some) for some in inside)
        allowed = least_for_votes([each.units for each, _ in votes], [count for _, count in votes])
        assert least == allowed
        assert bisect_right(allowed, room) == most
        assert most < sum(of_group.values())
        for each in row:
            with_it = (some for some in inside if each in some)
            reached = max(sum(of_group.get(other.group, 0) for other in some) for some in with_it)
            assert reached == most, "it could have more"


@effort(200, 20_000)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from((0.0, 0.1, 0.3, 0.5, 0.7, 1.0))), max_size=7),
    st.lists(st.tuples(st.integers(1, 30), st.sampled_from((0.0, 0.2, 0.5, 0.9, 1.0))), max_size=6),
    st.integers(-3, 20),
    st.integers(0, 40),
)
def test_the_crowd_that_a_solution_breaks_most_is_found(
    found: list[tuple[int, float]], steps: list[tuple[int, float]], base: int, highest: int
) -> None:
    """For each least share and number of classes, those that fit below each height are counted one by one."""
    row = [Present(units, share, group) for group, (units, share) in enumerate(found)]
    levels = sorted({level for level, _ in steps})
    parts = sorted((part for _, part in steps[: len(levels)]), reverse=True)

    def reached(height: int) -> float:
        below = bisect_right(levels, height)
        return 0.0 if height > highest else parts[below - 1] if below else 1.0

    most = LEAST_EXCESS
    for share in SHARES:
        some = sorted((each for each in row if each.share >= share), reverse=True)
        for count in range(2, len(some) + 1):
            sizes = sorted(each.units for each in some[:count])
            heights = (base + sum(sizes[: number + 1]) for number in range(count))
            most = max(most, sum(each.share for each in some[:count]) - sum(map(reached, heights)))
    excess, votes = Reach(levels, parts, highest).most_broken(row, base)
    assert excess == pytest.approx(most)
    assert bool(votes) == (excess > LEAST_EXCESS)


def test_what_has_room_as_it_is_breaks_no_cover() -> None:
    row = [Present(4, 0.5, 0), Present(4, 0.5, 1)]
    assert list(lifted_covers(row, 8)) == []
    assert list(lifted_covers([Present(5, 1.0, 0), Present(4, 1.0, 1)], 8)) == []


@effort(60, 20_000)
@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 4)), min_size=1, max_size=8))
def test_the_least_sizes_for_votes_are_those_of_the_lightest_choices(members: list[tuple[int, int]]) -> None:
    sizes, votes = [size for size, _ in members], [count for _, count in members]
    choices = [some for n in range(1, len(members) + 1) for some in combinations(members, n)]
    least = [
        min(sum(size for size, _ in some) for some in choices if sum(count for _, count in some) >= wanted)
        for wanted in range(1, sum(votes) + 1)
    ]
    assert least_for_votes(sizes, votes) == least
    assert heights_for_votes(sizes, votes) == least, "and the verifier, which counts in another way, says the same"


def test_questions_are_answered_with_less_work_where_crowds_are_known() -> None:
    spent = [0, 0]
    for seed in range(1, 9):
        program, answers = program_like("hot", 400, seed, Preference.SPEED), []
        for is_sharpened in (False, True):
            asking = Asking(Limits(work=40_000_000), 0, Silent())
            try:
                if is_sharpened:
                    assert asking.relax(program, (), 1_000_000) is not None
                answer = asking.ask(program, Question(0), 20_000_000)
            finally:
                asking.close()
            assert answer.stopped is None
            spent[is_sharpened] += answer.work
            answers.append(answer.value)
        assert answers[0] == answers[1]
    assert spent[1] < spent[0] * 9 // 10


def test_crowds_prove_more_than_rows_alone() -> None:
    """Crowds count that buffers cannot be cut and that peaks rise in steps, which is most of the gap on `pools`."""
    program = program_like("pools", 120, 3)
    asking = Asking(Limits(work=20_000_000), 0, Silent())
    try:
        relaxed = asking.relax(program, (), 2_000_000)
        assert relaxed is not None
        assert relaxed.gain > 0.005
        without = Priced(program, prices_of(relaxed.of_rows, ())).bound
        assert Priced(program, prices_of(relaxed.of_rows, relaxed.of_crowds)).bound > without
        *first, last = (program.highest(pool) for pool in range(len(program.rooms)))
        box = (*((0, highest // 2) for highest in first), (0, last))
        narrower = asking.relax_box(program, box, (), 1 << 60, 2_000_000)
        assert narrower is not None
        assert all(peak <= high for peak, (_, high) in zip(narrower.peaks, box, strict=True))
    finally:
        asking.close()


def test_programs_too_large_to_be_solved_exactly_are_solved_nearly(monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_like("pools", 300, 3)
    exact = relaxation.Relaxation(program, ()).solve(1, 1_000_000, lambda: None)
    monkeypatch.setattr(relaxation, "MOST_ENTRIES", 1)
    nearly = relaxation.Relaxation(program, ())
    of_peaks = nearly.solve(1, 10_000_000, lambda: None)
    sharper = nearly.solve(1, 10_000_000, lambda: None)
    assert exact is not None
    assert of_peaks is not None
    assert sharper is not None
    least, first, second = (relaxation.bound_of(program, each) for each in (exact, of_peaks, sharper))
    assert 0.99 * least < first < second  # the second call adds the crowds that the first solution breaks
    choice = tuple(homes[-1] for homes in program.homes)
    assert second <= program.value(0, choice, program.least_tops(choice))


def test_a_large_linear_program_goes_on_from_its_last_solution() -> None:
    chance, program = Random(3), LinearProgram(is_large=True)
    columns = [program.column(1.0, -chance.random()) for _ in range(60)]
    for _ in range(40):
        program.row(None, 9.0, [(column, chance.random()) for column in columns])
    first = program.minimise(10_000_000)
    work = program.work
    program.row(None, 60.0, [(columns[0], 1.0)])  # a row that holds anyway
    second = program.minimise(1 << 60)  # more work than PDLP accepts
    assert first is not None
    assert second is not None
    assert second.cost == pytest.approx(first.cost, rel=0.01)
    assert program.work - work == 40 * 60 + 1  # the work of handing the program over, and of no step


@pytest.mark.parametrize(
    "fields",
    [
        {"peaks": [0]},
        {"of_rows": [[99_999, 1.0]]},
        {"of_rows": [[0, -1.0]]},
        {"of_rows": [[0, float("nan")]]},
        {"of_crowds": [[[0, [99_999], [1]], 1.0]]},
        {"of_crowds": [[[0, [], [1]], 1.0]]},
        {"of_crowds": 3},
        {"spreads": [0.0]},
        {"spreads": [float("nan")] * 3},
        {"shares": []},
        {"shares": [[1.0]] * 20},
        {"shares": [[float("nan")] * 9] * 20},
        {"of_held": []},
        {"of_held": [-1.0]},
        {"of_held": [float("inf")]},
    ],
)
def test_impossible_relaxations_are_refused(fields: dict[str, object]) -> None:
    program = program_like("pools", 20, 1)
    sound = {
        "peaks": [0] * len(program.rooms),
        "of_rows": [],
        "of_crowds": [],
        "of_held": [0.5],
        "gain": 0.0,
        "work": 1,
        "spreads": [0.0] * len(program.rooms),
        "shares": [[1.0] * len(homes) for homes in program.homes],
    }
    assert read_relaxed({"relaxed": sound, "work": 1}, program, 1)[0] is not None
    with pytest.raises(SolverFailed):
        read_relaxed({"relaxed": sound | fields, "work": 1}, program, 1)
