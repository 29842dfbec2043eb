"""With limits on a later term, results and proofs agree with trying all choices."""

from __future__ import annotations

from itertools import product

import pytest

from planner import Preference
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools.program.program import Pools, Program
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Question
from solvers.choice.pools.searches.limits import LimitSearch, can_limit

WORK = 3_000_000


def small(kind: str, seed: int, prefer: Preference = Preference.SPEED) -> Program:
    return program_of(lower(with_preference(generate(kind, Request(8, seed)), prefer)).instance)


def choices(program: Program) -> list[tuple[int, int, Pools]]:
    """Return both terms of every choice that fits, with its pools."""
    found = []
    for pools in product(*program.homes):
        tops = program.least_tops(pools)
        fits = all(room.capacity is None or top <= room.capacity for room, top in zip(program.rooms, tops, strict=True))
        if fits and all(pools[a] != pools[b] for a, b in program.apart):
            found.append((program.value(0, pools, tops), program.value(1, pools, tops), pools))
    return found


@pytest.mark.parametrize("is_least", [True, False])
@pytest.mark.parametrize("kind", ["pools", "hot", "memories"])
def test_the_least_choice_is_found_and_proven_least(kind: str, is_least: bool, asking: Asking) -> None:
    for seed in range(4):
        program = small(kind, seed)
        assert can_limit(program, 1)
        everything = choices(program)
        held = min(everything)[0]
        if not is_least:
            held = min((first for first, _, _ in everything if first > held), default=held)
        allowed = [(second, pools) for first, second, pools in everything if first <= held]
        worst, start = max(allowed)
        question = Question(1, held=(held,), most=worst, near=start)
        search = LimitSearch(program, asking, question, worst, WORK)
        bound = search.run(0, is_least=is_least)
        best = min(allowed)[0]
        assert bound == best
        assert best == (search.found[0].value if search.found else worst)
        for choice in search.found:
            assert choice.tops == program.least_tops(choice.pools)
            assert program.value(0, choice.pools, choice.tops) <= held


def test_hardly_any_work_proves_nothing_wrong(asking: Asking) -> None:
    program = small("pools", 1)
    everything = choices(program)
    held = min(everything)[0]
    allowed = [second for first, second, _ in everything if first <= held]
    search = LimitSearch(program, asking, Question(1, held=(held,), most=max(allowed)), max(allowed), 1)
    assert search.run(0, is_least=True) <= min(allowed)


def test_only_peaks_after_a_choice_are_limited() -> None:
    assert not can_limit(small("pools", 1), 0)
    assert not can_limit(small("pools", 1, Preference.SIZE), 1)
