"""In problems with variants, bounds count the memory below and above pinned buffers, and never too much."""

from __future__ import annotations

import pytest

from planner.planning.options.options import Options
from planner.planning.placing.solving import pareto
from planner.planning.placing.variants import choices
from planner.planning.placing.variants.choices import lower_choices
from planner.planning.placing.variants.settling import Settled
from planner.verifying.verify import verify
from solvers.bounds.beside_walls import height_beside
from tests.planner.planning.placing.variants.random_variants import (
    best_of,
    every_choice,
    larger_pinned_problem,
    pinned_problem,
)


def test_the_frontier_is_that_of_all_choices(nightly: bool) -> None:
    tried = 0
    for seed in range(1_000 if nightly else 24):
        problem = pinned_problem(seed)
        if problem is None:
            continue
        every, found = every_choice(problem), pareto(problem, Options(workers=1))
        tried += bool(lower_choices(problem).rows)
        assert [(p.choice and p.choice.cost, p.objective.value) for p in found.points] == best_of(every), seed
        assert (found.is_complete, found.is_infeasible) == (bool(every), not every), seed
        assert not any(verify(problem, each) for each in found.points), seed
    assert tried >= 4


def test_bounds_count_memory_on_both_sides_of_pins(monkeypatch: pytest.MonkeyPatch) -> None:
    """With rows about pins the frontier is complete, and without them it is not.

    Other means that could complete it are switched off: the exact engine, further questions, and bounds beside walls.
    """
    monkeypatch.setattr("solvers.bounds.one_pool.height_beside", lambda pieces, _: height_beside(pieces, ()))
    monkeypatch.setattr("planner.planning.placing.variants.choosing.lower_joint", lambda *_: None)
    monkeypatch.setattr("planner.planning.placing.variants.choosing.Choosing._more", lambda _: False)
    problem, options = larger_pinned_problem(1, 3), Options(workers=1, time_limit=None, work_limit=1_000_000)
    assert pareto(problem, options).is_complete
    monkeypatch.setattr(choices, "rows", lambda *_: ())
    monkeypatch.setattr("planner.planning.placing.variants.placing.settled", lambda _, made, *__, **___: Settled(made))
    assert not pareto(problem, options).is_complete
