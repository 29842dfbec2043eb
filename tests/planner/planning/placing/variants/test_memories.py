"""Choices for several memories: questions first treat bytes as divisible, and the answers hold for whole buffers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.generate import Request, generate
from planner.model.plan import Plan, PlanStatus
from planner.model.problem import Alternative, Buffer, Colocation, Constraints, Pool, Problem, VariantGroup, Variants
from planner.planning.options.options import Options
from planner.planning.placing.solving import pareto, plan
from planner.planning.placing.variants.choices import lower_choices
from planner.planning.placing.variants.parts import Parts
from planner.planning.placing.variants.placing import SHARE_OF_POOLS, WORK_OF_A_PART, Placing
from planner.verifying.verify import verify
from solvers.choice.alternatives.instance import Question
from solvers.choice.alternatives.questions.without_addresses import WORK_PER_DETERMINISTIC_SECOND, Questions
from solvers.exact.cpsat.engine import Budget, Relaxations
from solvers.model.errors import StopReason
from solvers.model.solver import Limits, Silent


def test_bounds_of_divisible_bytes_are_proofs() -> None:
    problem = generate("variants", Request(40, 1, parameters={"groups": 14, "alternatives": 4}))
    problem = replace(problem, pools=(Pool("tcm", 6000), Pool("sram", None, cost=4, rank=1)))
    choices = lower_choices(problem)
    questions = Questions(choices)
    limits = Limits(None, None, None, 1)
    budget = Budget(200_000, None, 0, 1, rate=WORK_PER_DETERMINISTIC_SECOND, relaxations=Relaxations.ALL)
    first = questions.ask(Question(True), budget, Silent(limits))
    assert first.choice is not None
    assert (first.bound, first.stopped) == (choices.cost(first.choice), None)
    load = questions.ask(Question(False, fixed=first.choice), budget, Silent(limits))
    assert load.bound is not None
    for share in (15, 14, 12):
        question = Question(True, load.bound * share // 16)
        found = questions.ask(question, budget, Silent(limits))
        assert found.choice is not None
        assert (found.bound, found.stopped) == (choices.cost(found.choice), None), share
        least = questions.ask(Question(False, fixed=found.choice), budget, Silent(limits))
        assert least.bound is not None
        assert least.bound <= (question.most_load or 0)


def test_a_frontier_without_time_has_its_smallest_point() -> None:
    """If the work of a question is too little to find a choice, one that was placed already is taken."""
    problem = generate("variants", Request(60, 1, parameters={"groups": 15, "alternatives": 5}))
    problem = replace(problem, pools=(Pool("tcm", 6000), Pool("sram", None, cost=4, rank=1)))
    found = pareto(problem, Options(workers=1, time_limit=None, work_limit=500_000), 2)
    assert len(found.points) == 2


@pytest.mark.parametrize(("pools", "work"), [(1, WORK_OF_A_PART), (2, 1_000_000)])
def test_the_first_placement_gets_all_of_its_work_where_nothing_lowers_it_afterwards(pools: int, work: int) -> None:
    problem = generate("variants", Request(40, 1, parameters={"groups": 14, "alternatives": 4}))
    problem = replace(problem, pools=(Pool("tcm", 6000), Pool("sram", None, cost=4, rank=1))[-pools:])
    asked: list[int | None] = []

    def proven(part: Problem, options: Options) -> Plan:
        asked.append(options.work_limit)
        return replace(plan(part, Options(workers=1, solver="greedy")), stop=StopReason.PROVED)

    placing = Placing(
        problem,
        Options(workers=1),
        (),
        proven,
        share=lambda part, _: SHARE_OF_POOLS * 1_000_000 // part,
        left=lambda: 16_000_000,
        stopped=lambda: None,
        seconds_left=lambda: None,
        nothing=lambda: pytest.fail("there is time"),
    )
    assert placing.place((0,) * 14).value is not None
    assert asked == [work]


def test_buffers_of_any_memory_share_one_list_of_memories() -> None:
    problem = generate("variants", Request(40, 1, parameters={"groups": 14, "alternatives": 4}))
    pools = tuple(Pool(f"p{i}", 6000) for i in range(50))
    memories = lower_choices(replace(problem, pools=pools)).memories
    assert memories is not None
    shares = [share for shares in memories.live for share in shares]
    assert len(shares) > 50
    assert {share.pools for share in shares} == {tuple(range(50))}
    assert len({id(share.pools) for share in shares}) == 1


def test_large_groups_of_different_memories_are_not_listed_as_pairs() -> None:
    problem = generate("variants", Request(40, 1, parameters={"groups": 14, "alternatives": 4}))
    apart = tuple(Buffer(f"apart {i}", 1, live=((0, 1),)) for i in range(5000))
    ids = tuple(buffer.id for buffer in apart)
    problem = replace(problem, buffers=(*problem.buffers, *apart), constraints=Constraints(different_pool=(ids,)))
    assert [(len(group), pick) for group, pick in Parts(problem).different_pool] == [(5000, None)]


def test_what_fits_nowhere_is_not_said_to_be_open_to_read_only_memory() -> None:
    problem = Problem(
        (Buffer("base", 1), Buffer("above", 1)),
        (Pool("arena", 1), Pool("flash", read_only=True)),
        Constraints(colocations=(Colocation("above", "base", 1),)),
        variants=Variants((VariantGroup("g", (Alternative("a"),)),)),
    )
    found = plan(problem, Options(workers=1, work_limit=300_000))
    assert found.status is PlanStatus.INFEASIBLE
    assert found.shortage is not None
    assert (found.shortage.pool, found.shortage.bytes_short) == ("arena", 1)
    assert verify(problem, found) == ()
