"""Trying all choices in the order of time finds what none costs less than, also if there are too many to keep."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from planner.generate import Request, generate
from planner.model.plan import ChoiceCertificate, PlanStatus
from planner.model.problem import Alternative, Buffer, CostTerm, Lifetimes, Pool, Problem, VariantGroup, Variants
from planner.planning.options.options import Options
from planner.planning.placing.solving import pareto, plan
from planner.verifying.choices import swept
from planner.verifying.choices.choice import AllChoices
from planner.verifying.choices.swept import KINDS as KINDS_OF_NUMBERS
from planner.verifying.choices.swept import SweptChoices
from tests.planner.planning.placing.variants.random_variants import (
    KINDS,
    best_of,
    every_choice,
    pinned_problem,
    random_problem_of_kind,
    sound_seeds,
)
from tests.planner.planning.placing.variants.test_apart import bridged_problem, tied_problem


def made(kind: str, seed: int) -> Problem | None:
    """Return a small random problem of that kind; None if it contradicts itself."""
    if kind == "pinned":
        return pinned_problem(seed)
    if kind in ("tied", "bridged"):
        return (tied_problem if kind == "tied" else bridged_problem)(seed)
    return random_problem_of_kind(kind, seed)


@pytest.mark.parametrize("kind", [*KINDS, "pinned", "tied", "bridged"])
def test_no_sweep_shows_more_than_is_true_of_every_choice(
    kind: str, nightly: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tight = 0
    for seed in sound_seeds(lambda seed: made(kind, seed), 150 if nightly else 4):
        problem = made(kind, seed)
        assert problem is not None
        every = every_choice(problem)
        for most, wide, numbers in (
            (1 << 20, 0, 1 << 21),
            (1 << 20, 1 << 30, 1 << 21),
            (4, 0, 1 << 21),
            (1, 0, 1 << 21),
            (4, 0, 8),
        ):
            monkeypatch.setattr(swept, "MOST_CHOICES", most)
            monkeypatch.setattr(swept, "WIDE", wide)
            monkeypatch.setattr(swept, "MOST_NUMBERS", numbers)
            sweeping = SweptChoices(problem)
            for value in sorted({memory - less for _, memory in every for less in (0, 1)} | {0, 1 << 70}):
                found = sweeping.within(value).least_cost
                true = min((cost for cost, memory in every if memory <= value), default=None)
                assert true is None or (found is not None and found <= true), (seed, value)
                tight += found == true
    assert tight > 10


@pytest.mark.parametrize("kind", range(3))
def test_all_kinds_of_numbers_show_the_same(kind: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = generate("variants", Request(30, 2, parameters={"groups": 10, "alternatives": 3}))
    values = range(8_000, 30_000, 1_000)
    usual = [SweptChoices(problem).within(value) for value in values]
    assert len({each.least_cost for each in usual}) > 5
    monkeypatch.setattr(swept, "KINDS", KINDS_OF_NUMBERS[kind:])
    assert SweptChoices(problem)._type == KINDS_OF_NUMBERS[kind][0]
    assert [SweptChoices(problem).within(value) for value in values] == usual


def test_numbers_beyond_machine_words_are_counted_exactly() -> None:
    problem = generate("variants", Request(12, 2, parameters={"groups": 4, "alternatives": 3}))
    assert problem.variants is not None
    term = replace(problem.variants.costs[0], weight=1 << 61)
    large = replace(problem, variants=replace(problem.variants, costs=(term,)))
    assert SweptChoices(large)._type == np.dtype(object)
    for value in range(4_000, 20_000, 1_000):
        few, many = (SweptChoices(each).within(value).least_cost for each in (problem, large))
        assert many == (None if few is None else few << 61)


def test_every_point_of_a_frontier_is_proven_without_a_search() -> None:
    """Each has a certificate of its memory and of its cost, which says what a search has shown."""
    problem = generate("variants", Request(24, 4, parameters={"groups": 8, "alternatives": 3}))
    found = pareto(problem, Options(time_limit=None, work_limit=8_000_000, workers=1))
    all_choices = AllChoices(problem)
    assert len(found.points) > 5
    for point in found.points:
        assert point.choice is not None
        assert point.choice.least_memory() == point.objective.bound
        assert point.choice.least_cost(point.objective.value) == point.choice.cost_bound
        assert not [each for each in point.choice.certificates if all_choices.objection(each)]


def test_forged_sweeps_are_refuted() -> None:
    problem = random_problem_of_kind("plain", sound_seeds(lambda seed: random_problem_of_kind("plain", seed), 1)[0])
    assert problem is not None
    all_choices, (cost, memory) = AllChoices(problem), best_of(every_choice(problem))[-1]
    true = ChoiceCertificate(cost, 0, 1, within=memory)
    assert all_choices.objection(replace(true, value=-(1 << 100))) is None
    for forged in (
        replace(true, value=cost + 1),
        replace(true, value=1 << 100),
        replace(true, value=None),
        replace(true, memory=1),
        replace(true, cost=2),
        replace(true, weights=(("p", 0, 1),)),
        replace(true, value=cost + 1, within=1 << 100),
    ):
        assert all_choices.objection(forged), forged
    assert all_choices.objection(replace(true, value=None, within=-(1 << 100))) is None


def chosen_from(groups: int, alternatives: int, *, are_apart: bool = False) -> Problem:
    """Return a problem in which each alternative has one buffer, of two bytes and one more for each alternative before; they live at one time, or each at its own."""
    costs = (CostTerm("c"),)
    made = []
    for g in range(groups):
        each = [
            Alternative(
                f"a{a}", (alternatives - a,), (Buffer(f"{g}.{a}", 2 + a, live=((a, a + 1) if are_apart else (0, 1),)),)
            )
            for a in range(alternatives)
        ]
        made.append(VariantGroup(f"g{g}", tuple(each)))
    return Problem((), (Pool("p"),), lifetimes=Lifetimes.HALF_OPEN, variants=Variants(tuple(made), costs))


def test_hundreds_of_groups_with_one_alternative_left_are_no_choice() -> None:
    sweeping = SweptChoices(chosen_from(100, 1))
    assert [sweeping.within(value).least_cost for value in (199, 200)] == [None, 100]
    planned = plan(chosen_from(100, 1))
    assert (planned.status, planned.objective.value) == (PlanStatus.OPTIMAL, 200)


def test_alternatives_beyond_which_there_is_no_room_are_left_out_of_hundreds_of_groups(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(swept, "WIDE", 0)
    sweeping = SweptChoices(chosen_from(100, 2))
    assert [sweeping.within(value).least_cost for value in (199, 200)] == [None, 200]


def test_thousands_of_alternatives_at_times_of_their_own_take_little_memory() -> None:
    problem = chosen_from(1, 3_000, are_apart=True)
    tracemalloc.start()
    found = SweptChoices(problem).within(100).least_cost
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found is not None
    assert found <= 2_902
    assert peak < 64 << 20
