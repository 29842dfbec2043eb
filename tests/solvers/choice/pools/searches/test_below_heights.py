"""Choices below heights from the fullest sections, where many blocks are live at a time: they keep to what is held, and can be packed."""

from __future__ import annotations

import pytest

from planner import Preference
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.bounds.first_bounds import first_bounds
from solvers.choice.pools.program.writing import class_numbers, program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Question
from solvers.choice.pools.searches import core
from solvers.choice.pools.searches.below_heights import HeightSearch
from solvers.model.instance import Instance
from solvers.model.registry import get
from solvers.model.solver import Limits, Silent, Task
from tests.small.strategies import NIGHTLY

WORK = 3_000_000


def crowded(kind: str, buffers: int, live: int, seed: int) -> Instance:
    return lower(with_preference(generate(kind, Request(buffers, seed, 1, {"live": live})), Preference.SIZE)).instance


@pytest.mark.parametrize("seed", range(8 if NIGHTLY else 3))
def test_choices_keep_to_what_is_held_and_are_no_better_than_the_best(
    seed: int, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "CORE", 10)
    instance = crowded("hot", 40, 20, seed)
    program = program_of(instance)
    least = asking.ask(program, Question(0), WORK).value
    assert least is not None
    question = Question(1, held=(least,))
    exact = asking.ask(program, question, WORK)
    relaxed = asking.relax(program, (least,), WORK, 1)
    assert exact.bound is not None
    assert relaxed is not None
    found = HeightSearch(instance, program, class_numbers(instance), asking, question).best_below(relaxed, WORK)
    assert found is not None
    assert program.terms[0].of_tops(found.tops) <= least
    assert found.cost >= exact.bound
    pools = found.begun or found.core.choice(Question(0, stretch=(0, 0, 0)), WORK)
    assert pools is not None
    assert found.core.value(pools) == program.value(1, pools, found.tops)
    assert all(load <= top for load, top in zip(program.least_tops(pools), found.tops, strict=True))


def test_a_first_term_that_one_pool_settles_takes_no_question(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = crowded("hot", 60, 30, 3)
    asked = list[int]()
    ask = Asking.ask

    def noted(self: Asking, *args: object) -> object:
        asked.append(args[1].term)  # type: ignore[attr-defined]
        return ask(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Asking, "ask", noted)
    start = get("greedy").solve(instance, Task(Limits(work=20_000)), Silent()).placement
    bound = first_bounds(instance).value
    outcome = get("pools_first").solve(instance, Task(Limits(work=400_000), start=start, bound=bound), Silent())
    assert outcome.value is not None
    assert outcome.value[:1] == bound[:1]
    assert 0 not in asked
