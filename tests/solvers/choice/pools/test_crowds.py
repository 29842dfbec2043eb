"""Prices on rows and crowds: no choice of pools and no placement costs less than any prices prove."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import prod
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import Preference
from planner.generate import Request, generate
from planner.model.problem import Problem
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools.boxes import BoxSearch
from solvers.choice.pools.prices import relaxation
from solvers.choice.pools.prices.crowds import Crowd, Priced, Prices, prices_of
from solvers.choice.pools.prices.relaxation import bound_of
from solvers.choice.pools.program import Costs, Pools, Program, Room, Row, program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Answer, Question, read_relaxed
from solvers.exact.cpsat.linear import LinearProgram
from solvers.geometry.presolve import scaled, unit
from solvers.model.errors import SolverFailed, StopReason
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
        crowds[Crowd(number, tuple(chance.sample(members, chance.randint(1, len(members)))))] = chance.randint(1, most)
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
        relaxed = asking.relax(program, (held,), (), 2_000_000)
        assert least.value is not None
        assert least.stopped is None
        assert relaxed is not None
        assert least.value * 3 // 4 <= bound_of(program, relaxed, (held,)) <= least.value
    finally:
        asking.close()


@pytest.mark.parametrize("kind", ["pools", "hot", "memories"])
def test_boxes_find_and_prove_what_the_whole_program_does(kind: str) -> None:
    program = program_like(kind, 20, 7)
    limits = Limits(work=20_000_000)
    asking = Asking(limits, 0, Silent())
    try:
        whole = asking.ask(program, Question(0), 10_000_000)
        assert whole.stopped is None
        assert whole.value is not None
        boxes = BoxSearch(program, asking, Question(0), whole.value + 1, 10_000_000)
        assert boxes.run(0) == whole.value
        assert boxes.found[0].value == whole.value
        assert program.value(0, boxes.found[0].pools, boxes.found[0].tops) == whole.value
    finally:
        asking.close()


class Ignorant(Asking):
    """An Asking that finds out nothing about any box."""

    def relax(self, program: Program, held: object, heights: object, work: int, rounds: int | None = None) -> None:
        self.work += 1

    def ask(self, program: Program, question: Question, work: int | None) -> Answer:
        self.work += 1
        return Answer(None, None, None, StopReason.WORK_LIMIT)


def test_unknown_boxes_prove_nothing() -> None:
    """Nothing is proven even if all boxes are cut into single points while work is left."""
    room = Room(capacity=4, reserved=(), spare=0, lowest=0)
    program = Program(((0, 1),), (room, room), (Row(0, 0, 0, ((0, 4),)),), (Costs(((1, 2),), (1, 0)),), ())
    asking = Ignorant(Limits(), 0, Silent())
    try:
        assert BoxSearch(program, asking, Question(0), 900, 10_000).run(1) == 1
        assert asking.work < 100
    finally:
        asking.close()


def test_crowds_prove_more_than_rows_alone() -> None:
    """Crowds count that buffers cannot be cut and that peaks rise in steps, which is most of the gap on `pools`."""
    program = program_like("pools", 120, 3)
    asking = Asking(Limits(work=20_000_000), 0, Silent())
    try:
        relaxed = asking.relax(program, (), (), 2_000_000)
        assert relaxed is not None
        assert relaxed.gain > 0.005
        without = Priced(program, prices_of(relaxed.of_rows, ())).bound
        assert Priced(program, prices_of(relaxed.of_rows, relaxed.of_crowds)).bound > without
        box = tuple((0, program.highest(pool) // 2) for pool in range(len(program.rooms)))
        narrower = asking.relax(program, (), box, 2_000_000)
        assert narrower is None or narrower.peaks <= tuple(high for _, high in box)
    finally:
        asking.close()


def test_programs_too_large_to_be_solved_exactly_are_solved_nearly() -> None:
    program = program_like("pools", 2_560, 3)
    assert program.entries > relaxation.MOST_ENTRIES
    asking = Asking(Limits(work=20_000_000), 0, Silent())
    try:
        of_peaks = asking.relax(program, (), (), 10_000_000, 1)
        sharper = asking.relax(program, (), (), 10_000_000, 1)
        assert of_peaks is not None
        assert sharper is not None
        first, second = (Priced(program, prices_of(r.of_rows, r.of_crowds)).bound for r in (of_peaks, sharper))
        assert first < second  # the second call adds the crowds that the first solution breaks
        choice = tuple(homes[-1] for homes in program.homes)
        assert second <= program.value(0, choice, program.least_tops(choice))
    finally:
        asking.close()


def test_a_large_linear_program_goes_on_from_its_last_solution() -> None:
    chance, program = Random(3), LinearProgram(is_large=True)
    columns = [program.column(0.0, 1.0, -chance.random()) for _ in range(60)]
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
        {"of_crowds": [[[0, [99_999]], 1.0]]},
        {"of_crowds": 3},
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
    }
    assert read_relaxed({"relaxed": sound, "work": 1}, program, 1)[0] is not None
    with pytest.raises(SolverFailed):
        read_relaxed({"relaxed": sound | fields, "work": 1}, program, 1)
