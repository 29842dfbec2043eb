"""Parts that have nothing in common end as each does alone, and what is proven of them adds up."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pytest

from planner.generate import Request, generate
from planner.model.plan import PlanStatus
from planner.model.problem import Buffer, Constraints, Fixed, Pool, Problem, ReusePenalty, Was
from planner.planning.options.options import Options, Preference
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from planner.planning.placing.solving import plan
from planner.verifying.verify import verify
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Placement, Term
from solvers.model.objective import evaluate
from solvers.model.outcome import Outcome, Proof, Value
from solvers.model.solver import Control, Limits, Silent, Task
from solvers.portfolio.joint.in_parts import solve_in_parts
from solvers.portfolio.joint.joint import Joint
from solvers.portfolio.joint.parts import Part, parts_of
from solvers.portfolio.roster import engines_of_auto
from solvers.portfolio.solve import solve as auto
from tests.small.judge import judge
from tests.small.oracle import solve

SIDES = "AB"


def twice(problem: Problem) -> Problem:
    """The problem and its copy, in pools of its own."""
    every = tuple(pool.name for pool in problem.pools)
    pools = tuple(replace(pool, name=pool.name + side) for side in SIDES for pool in problem.pools)
    buffers = tuple(
        replace(buffer, id=f"{buffer.id}{side}", pools=tuple(name + side for name in buffer.pools or every))
        for side in SIDES
        for buffer in problem.buffers
    )
    return replace(problem, buffers=buffers, pools=pools)


@pytest.mark.parametrize("prefer", list(Preference))
def test_two_copies_end_as_one_does_alone(prefer: Preference) -> None:
    pytest.importorskip("ortools")
    problem = generate("pools", Request(100, 3))
    alone = plan(problem, Options(work_limit=300_000, workers=1, time_limit=None, prefer=prefer))
    both = twice(problem)
    made = plan(both, Options(work_limit=600_000, workers=1, time_limit=None, prefer=prefer))
    doubled = [2 * term.value for term in alone.objective.terms if term.value is not None]
    assert [term.value or 0 for term in made.objective.terms] <= doubled
    assert alone.objective.bound is not None
    assert made.objective.bound is not None
    assert made.objective.bound >= 0.998 * 2 * alone.objective.bound
    assert verify(with_preference(both, prefer), made) == ()


TERMS = (
    (Term.SUM_OF_PEAKS, Term.ACCESS_COST),
    (Term.ACCESS_COST, Term.SUM_OF_PEAKS),
    (Term.BALANCED,),
    (Term.REUSE_COST,),
    (Term.REUSE_COST, Term.SUM_OF_PEAKS),
    (Term.SPILLED_BYTES, Term.REUSE_COST, Term.MOVED_BYTES),
    (Term.MOVED_BUFFERS, Term.REUSE_COST, Term.SUM_OF_PEAKS),
    (Term.STABILITY, Term.REUSE_COST),
)


def small(seed: int, has_choice: bool) -> Problem:
    """Few buffers, each in pools of one of two sides, with rules within sides and across them."""
    draw = random.Random(seed)
    numbers = range(2 if has_choice else 1)
    pools = tuple(
        Pool(f"{side}{n}", draw.choice([None, 5, 7]), cost=draw.choice([1, 2]), rank=n)
        for side in SIDES
        for n in numbers
    )
    buffers, was = [], []
    for n in range(6):
        side, start = SIDES[n % 2], draw.randrange(4)
        both, last = tuple(side + str(number) for number in numbers), (side + str(numbers[-1]),)
        homes = draw.choice([both, both, last])
        live = ((start, start + draw.randint(1, 3)),)
        buffers.append(Buffer(n, draw.randint(1, 4), live=live, pools=homes, accesses=draw.randint(0, 3)))
        was.append(Was(n, draw.choice(homes), draw.randint(0, 4)))
    pairs = draw.sample(list(combinations(range(6), 2)), 6)
    penalties = tuple(ReusePenalty(a, b, draw.randint(1, 5)) for a, b in pairs[1:])
    rule = draw.choice(["", "conflicts", "exclusions", "different_pool"])
    rules = Constraints(reuse_penalties=penalties, **({rule: (pairs[0],)} if rule else {}))  # type: ignore[arg-type]
    return Problem(tuple(buffers), pools, rules, draw.choice(TERMS), was=tuple(was[:4]))


@pytest.mark.parametrize("has_choice", [True, False])
@pytest.mark.parametrize("seed", range(30))
def test_what_is_proven_of_parts_is_true_of_all(seed: int, has_choice: bool) -> None:
    problem = small(seed, has_choice)
    made = plan(problem, Options(work_limit=50_000, workers=1, time_limit=None))
    assert judge(problem, made, solve(problem)) == []


def test_parts_share_no_pool() -> None:
    instance = lower(twice(generate("pools", Request(20, 1)))).instance
    parts = parts_of(instance)
    assert sorted(np.concatenate([part.blocks for part in parts]).tolist()) == list(range(40))
    pools = [set(part.pools.tolist()) for part in parts]
    assert pools == [set(np.flatnonzero(instance.allowed[part.blocks].any(axis=0)).tolist()) for part in parts]
    assert [len(each) for each in pools] == [3, 3]
    assert not pools[0] & pools[1]


def test_the_largest_peak_is_no_sum() -> None:
    problem = replace(twice(generate("pools", Request(20, 1))), terms=(Term.LARGEST_PEAK,))
    assert parts_of(lower(problem).instance) == []


def paying(*terms: Term) -> Problem:
    """Two pools, in each two buffers that have no room side by side, and pay for sharing it."""
    buffers = tuple(
        Buffer(f"{name}{pool}", 10, 1, ((time, time + 1),), fixed=Fixed(pool))
        for pool in ("one", "two")
        for time, name in enumerate("ab")
    )
    penalties = (ReusePenalty("aone", "bone", 7), ReusePenalty("atwo", "btwo", 5))
    return Problem(buffers, (Pool("one", 15), Pool("two", 15)), Constraints(reuse_penalties=penalties), terms)


def test_the_searches_of_all_parts_add_up_to_one() -> None:
    pytest.importorskip("ortools")
    problem = paying(Term.REUSE_COST)
    made = plan(problem, Options(solver="cpsat"))
    assert (made.status, made.objective.value, made.objective.bound) == (PlanStatus.OPTIMAL, 12, 12)
    assert [c.value for c in made.certificates if c.proof is Proof.SEARCH] == [12]
    assert verify(problem, made) == ()
    made = plan(problem)
    assert (made.status, made.objective.value, made.objective.bound) == (PlanStatus.OPTIMAL, 12, 12)
    assert [c.value for c in made.certificates if c.proof is Proof.MUST_SHARE] == [7, 5], "no search was needed"
    assert verify(problem, made) == ()


def test_a_later_term_is_bounded_whatever_is_known_of_the_first() -> None:
    problem = paying(Term.REUSE_COST, Term.SUM_OF_PEAKS)
    made = plan(problem, Options(solver="greedy"))
    assert [(term.value, term.bound) for term in made.objective.terms] == [(12, 0), (20, 20)]
    assert verify(problem, made) == ()


class Watched:
    """A Control that ends when a clock says so, which here counts the work of the parts."""

    def __init__(self, end: int) -> None:
        self.end, self.spent = end, 0
        self.best: Placement | None = None

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """Solve a part; the clock goes on by what it took."""
        outcome = auto(instance, task, control)
        self.spent += outcome.work
        return outcome

    def incumbent(self, placement: Placement) -> None:
        self.best = placement

    def bound(self, bound: Value) -> None: ...

    def log(self, line: str) -> None: ...

    def stopped(self) -> StopReason | None:
        return StopReason.TIME_LIMIT if self.spent >= self.end else None


def test_each_part_has_had_something_when_time_is_up_before_the_work_is() -> None:
    pytest.importorskip("ortools")
    problem = with_preference(twice(generate("pools", Request(100, 2))), Preference.BALANCED)
    instance, work = lower(problem).instance, 1_000_000
    parts = parts_of(instance)
    greedy = auto(instance, Task(Limits(work=0)), Silent()).placement
    watched = Watched(work // 4)
    begin = partial(Joint, engines=engines_of_auto(instance), by_name=False)
    found = solve_in_parts(instance, Task(Limits(work=work)), watched, parts, begin, watched.solve)
    assert watched.stopped() is not None
    assert greedy is not None
    assert found.placement is not None
    for part in map(Part, parts):
        before, after = (evaluate(part.cut.instance, part.part_of(whole)) for whole in (greedy, found.placement))
        assert after < before
