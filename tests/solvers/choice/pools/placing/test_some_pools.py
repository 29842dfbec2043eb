"""What is in two or three of many pools is chosen again: no rule is broken, no term before gets worse, and sixteen pools that are alike come to what is live."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from planner.generate import Request, generate
from planner.generate.request import largest_live_sum
from planner.model.plan import PlanStatus
from planner.model.problem import Buffer, Constraints, Fixed, Pool, Problem
from planner.planning.options.options import Options
from planner.planning.placing.lowering import lower
from planner.planning.placing.solving import plan
from planner.verifying.verify import verify
from solvers.choice.pools import budget
from solvers.choice.pools.placing.packing import Packing
from solvers.choice.pools.placing.some_pools import SomePools, add_fullest, has_many_pools
from solvers.choice.pools.program.program import Row
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Question
from solvers.geometry.rules import violation
from solvers.model.instance import Instance, Placement, Term
from solvers.model.objective import evaluate
from solvers.model.registry import get
from solvers.model.solver import Limits, Silent, Task
from tests.small.judge import judge
from tests.small.oracle import solve

TERMS = (
    (Term.SUM_OF_PEAKS, Term.ACCESS_COST),
    (Term.ACCESS_COST, Term.SUM_OF_PEAKS),
    (Term.BALANCED,),
    (Term.SPILLED_BYTES, Term.SUM_OF_PEAKS),
)
RULES = ("", "", "conflicts", "exclusions", "different_pool", "same_pool")
WORK = 400_000


def some_problem(seed: int, count: int, pools: int) -> Problem:
    """Pools that are mostly alike and limited, with every rule that could tell them apart."""
    draw = random.Random(seed)
    names = tuple(f"p{n}" for n in range(pools))
    size = draw.choice([7, 9])
    of = [Pool(name, size, cost=2, alignment=draw.choice([1, 1, 1, 2])) for name in names[:-1]]
    of[0] = replace(of[0], reserved=((3, 4),) if draw.random() < 0.3 else ())
    last = Pool(names[-1], draw.choice([None, size]), cost=draw.choice([1, 2]), rank=1)
    buffers = []
    for n in range(count):
        start = draw.randrange(2 * count)
        homes = draw.choice([None, None, None, names[:-1], names[1:], names[:1]])
        fixed = Fixed(draw.choice(names), draw.choice([None, 0])) if homes is None and draw.random() < 0.15 else None
        live = ((start, start + draw.randint(1, 6)),)
        buffers.append(Buffer(n, draw.randint(1, 4), live=live, pools=homes, fixed=fixed, accesses=draw.randint(0, 3)))
    pairs = tuple(tuple(draw.sample(range(count), 2)) for _ in range(count // 4 or 1))
    rule = draw.choice(RULES)
    rules = Constraints(**{rule: pairs}) if rule else Constraints()  # type: ignore[arg-type]
    return Problem(tuple(buffers), (*of, last), rules, draw.choice(TERMS))


def improved(instance: Instance, index: int, start: Placement) -> Placement:
    limits, held = Limits(work=WORK), evaluate(instance, start)[:index]
    asking, packing = Asking(limits, 0, Silent()), Packing(instance, Task(limits), Silent())
    try:
        search = SomePools(instance, program_of(instance), asking, packing, Question(index, held), start)
        search.improve(WORK, lambda: True)
        return search.placement
    finally:
        asking.close()


def test_no_rule_is_broken_and_no_term_before_is_worse() -> None:
    pytest.importorskip("ortools")
    gained = 0
    for seed in range(24):
        instance = lower(some_problem(seed, 24, 6)).instance
        start = get("greedy").solve(instance, Task(limits=Limits(work=20_000)), Silent()).placement
        if start is None:
            continue
        for index in range(len(instance.terms)):
            before = evaluate(instance, start)
            found = improved(instance, index, start)
            after = evaluate(instance, found)
            assert violation(instance, found) is None
            assert all(value <= most for value, most in zip(after[: index + 1], before, strict=False))
            gained += after[index] < before[index]
    assert gained > 5


def test_who_stays_apart_from_one_with_a_single_home_does_not_come_there() -> None:
    """All would end lowest in the first pool; the second buffer must not."""
    pytest.importorskip("ortools")
    pools = tuple(Pool(f"p{n}", 12) for n in range(5))
    homes = (("p0",), ("p0", "p1", "p2", "p3", "p4"))
    buffers = tuple(Buffer(n, 4, live=((9 * n, 9 * n + 2),), pools=homes[n]) for n in range(2))
    problem = Problem(buffers, pools, Constraints(different_pool=((0, 1),)), (Term.SUM_OF_PEAKS,))
    instance = lower(problem).instance
    start = Placement(np.array([0, 1], dtype=np.int64), np.array([0, 0], dtype=np.int64))
    assert has_many_pools(program_of(instance))
    assert violation(instance, improved(instance, 0, start)) is None


@pytest.mark.parametrize("seed", range(40))
def test_what_is_planned_in_many_pools_is_true(seed: int) -> None:
    problem = some_problem(seed, 4, 5)
    made = plan(problem, Options(work_limit=50_000, workers=1, time_limit=None))
    assert judge(problem, made, solve(problem)) == []


def test_sixteen_pools_that_are_alike_are_no_higher_than_what_is_live() -> None:
    pytest.importorskip("ortools")
    draw = random.Random(5)
    buffers = []
    for n in range(160):
        start = draw.randrange(500)
        buffers.append(Buffer(n, int(2 ** draw.uniform(4, 12)), live=((start, start + draw.randint(1, 500)),)))
    pools = tuple(Pool(f"p{n}", 4_800) for n in range(16))
    problem = Problem(tuple(buffers), pools, terms=(Term.SUM_OF_PEAKS,))
    made = plan(problem, Options(work_limit=2_000_000, workers=1, time_limit=None))
    assert verify(problem, made) == ()
    assert made.objective.value == made.objective.bound


def test_rows_that_ask_for_no_more_than_the_next_are_left_out() -> None:
    rows = list[Row]()
    asked = [(1, "a"), (1, "ab"), (1, "abc"), (1, "bc"), (1, "bcd"), (2, "d"), (1, "d"), (2, "de")]
    for section, (always, members) in enumerate(asked):
        add_fullest(rows, Row(0, section, always, tuple((ord(each), 1) for each in members)))
    assert [row.section for row in rows] == [2, 4, 7]


def test_it_is_done_in_large_programs_too_where_pools_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ortools")
    monkeypatch.setattr(budget, "LARGE_WITH_PEAKS", 100)
    made_up = generate("hot", Request(200, 5, parameters={"live": 80}))
    size = largest_live_sum(made_up.buffers) * 5 // 8 // 16
    pads = tuple(replace(made_up.pools[0], name=f"pad{n}", size=size) for n in range(16))
    others = tuple(pool for pool in made_up.pools if pool.size is None)
    buffers = tuple(replace(each, pools=None) for each in made_up.buffers)
    problem = replace(made_up, pools=(*pads, *others), buffers=buffers, terms=(Term.BALANCED,))
    begun, improve = list[int](), SomePools.improve

    def counted(search: SomePools, work: int, on_better: Callable[[], bool]) -> None:
        begun.append(work)
        improve(search, work, on_better)

    monkeypatch.setattr(SomePools, "improve", counted)
    made = plan(problem, Options(work_limit=1_500_000, workers=1, time_limit=None))
    assert verify(problem, made) == ()
    assert begun


def test_whoever_may_not_come_is_in_no_row() -> None:
    """A row counted a buffer that a pool's buffer keeps out, which has no place in the question: it was never answered."""
    pads = tuple(Pool(f"p{i}", size=10, rank=1) for i in range(5))
    fixed = Buffer("a", 6, live=((3, 4),), fixed=Fixed("p4", 4), reads=2)
    free = Buffer("b", 4, live=((0, 4),), reads=1, writes=2)
    problem = Problem(
        (fixed, free), (*pads, Pool("q", size=9, cost=2)), Constraints(different_pool=(("a", "b"),)), (Term.BALANCED,)
    )
    found = plan(problem, Options(time_limit=None, work_limit=WORK, workers=1, solver="pools_first"))
    assert found.status is PlanStatus.OPTIMAL
    assert not verify(problem, found)
