"""The exact engine for choices and addresses, used on its own, agrees with trying every choice."""

from __future__ import annotations

from dataclasses import replace

from planner.generate import Request, generate
from planner.model.problem import (
    Alternative,
    Buffer,
    Colocation,
    Constraints,
    Problem,
    ReusePenalty,
    VariantGroup,
    Variants,
)
from planner.planning.placing.variants.choices import lower_choices, lower_joint, most_value
from solvers.choice.alternatives.instance import Question
from solvers.choice.alternatives.master import Exact
from solvers.model.solver import Limits, Silent
from tests.planner.planning.placing.variants.random_variants import KINDS, best_of, every_choice, random_problem_of_kind


def test_every_answer_is_optimal(nightly: bool) -> None:
    tried = 0
    for seed in range(1_000, 2_000 if nightly else 1_032):
        problem = random_problem_of_kind(KINDS[seed % len(KINDS)], seed)
        joint = None if problem is None else lower_joint(problem, lower_choices(problem))
        if problem is None or joint is None:
            continue
        tried += 1
        best = best_of(every_choice(problem))
        exact = Exact(joint, Limits(), 0, Silent(), None)
        try:
            room = most_value(problem)
            least = exact.ask(Question(False, room))
            assert least.is_impossible == (not best), seed
            for cost, value in best:
                assert exact.ask(Question(True, value))[1:3] == (cost, None), seed
                assert exact.ask(Question(False, room, cost))[1:3] == (value, None), seed
            if best:
                assert least.bound == best[-1][1], seed
                assert exact.ask(Question(True, best[-1][1] - 1)).is_impossible, seed
        finally:
            exact.close()
    assert tried >= 8


def test_unsupported_problems_are_not_lowered() -> None:
    large = generate("variants", Request(400, 1))
    assert lower_joint(large, lower_choices(large)) is None
    small = generate("variants", Request(10, 1, parameters={"groups": 3}))
    assert lower_joint(small, lower_choices(small)) is not None
    ids = [buffer.id for buffer in small.buffers]
    priced = replace(small, constraints=Constraints(reuse_penalties=(ReusePenalty(ids[0], ids[1], 3),)))
    assert lower_joint(priced, lower_choices(priced)) is not None  # with variants, no objective counts penalties
    ties = tuple(Alternative(f"{k}", (), (), Constraints(colocations=(Colocation("b", "a", k),))) for k in range(2))
    torn = Problem(
        (Buffer("a", 4, live=((0, 1),)), Buffer("b", 4, live=((0, 1),))),
        variants=Variants((VariantGroup("g", ties),)),
    )
    assert lower_joint(torn, lower_choices(torn)) is None
