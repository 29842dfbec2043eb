"""What the quick check knows of an earlier problem's buffers lets it accept no plan in which `verify` finds a fault."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from planner import Buffer, Plan, Pool, Problem, plan, verify
from planner.checks import check
from planner.facts.figures import amounts, rows_of
from planner.model.problem import Neighbour
from planner.verifying import objective
from planner.verifying.quick_check import is_plainly_right
from tests.planner.verifying.test_quick_check import FAULTS, OPTIONS, WITH_RULES, problem_with_uses, with_a_fault


def varied(problem: Problem, chance: random.Random) -> Problem:
    """Return the problem with another size, or with other uses, of one buffer."""
    i = chance.choice([i for i, buffer in enumerate(problem.buffers) if isinstance(buffer.id, int)])
    buffer = problem.buffers[i]
    other = chance.choice((replace(buffer, size=buffer.size + 8), replace(buffer, reads=buffer.reads + 1)))
    return replace(problem, buffers=(*problem.buffers[:i], other, *problem.buffers[i + 1 :]))


def known_from(before: Problem, made: Plan, after: Problem) -> None:
    """Make the first problem, as the check of its plan leaves it, the neighbour of the second."""
    before.facts.neighbour = Neighbour()
    before.facts.rows = rows_of(before.facts.neighbour, before.buffers)
    is_plainly_right(before, made, made.problem_digest)
    facts, rules = before.facts, (before.constraints, "")
    after.facts.neighbour = Neighbour(
        before.buffers, before.pools, (), amounts(before), rules, facts.columns, facts.of_rules
    )
    after.facts.rows = rows_of(after.facts.neighbour, after.buffers)


@pytest.mark.parametrize("make", WITH_RULES)
@pytest.mark.parametrize("seed", range(4))
def test_a_variation_is_checked_as_a_problem_by_itself(seed: int, make: Callable[[int], Problem]) -> None:
    chance, before = random.Random(seed), make(seed)
    after = varied(before, chance)
    while check(after):  # one that is fixed does not grow into the next
        after = varied(before, chance)
    made, right = plan(before, OPTIONS), plan(after, OPTIONS)
    if not right.placements:
        return
    alone = replace(after)
    known_from(before, made, after)
    assert is_plainly_right(after, right, right.problem_digest) == is_plainly_right(alone, right, right.problem_digest)
    for _ in range(FAULTS // 4):
        found = with_a_fault(right, chance)
        if is_plainly_right(after, found, right.problem_digest):
            assert not verify(alone, found)


def test_what_uses_cost_is_asked_again_only_for_buffers_that_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    before = problem_with_uses(3)
    after = replace(before, buffers=(replace(before.buffers[0], reads=7), *before.buffers[1:]))
    made, right = plan(before, OPTIONS), plan(after, OPTIONS)
    known_from(before, made, after)
    asked: list[object] = []
    usual = objective.cost_of_use

    def counted(buffer: Buffer, pool: Pool) -> int:
        asked.append(buffer.id)
        return usual(buffer, pool)

    monkeypatch.setattr(objective, "cost_of_use", counted)
    assert is_plainly_right(after, right, right.problem_digest)
    assert asked
    assert {*asked} == {after.buffers[0].id}
