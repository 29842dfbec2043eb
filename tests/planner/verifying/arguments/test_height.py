"""The height that buffers need at least is no less than solvers say, and is worked out with an eye on the clock."""

from __future__ import annotations

from random import Random

import pytest

from planner import BadInput, Options, plan
from planner.facts.possible_places import Places
from planner.model import deadline
from planner.model.problem import Buffer, Colocation, Constraints, Pool, Problem
from planner.verifying.arguments.height import least_height


def test_the_height_of_many_buffers_looks_at_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "LEAST_SECONDS", 0.0)
    many = deadline.LOOK_EVERY + 1
    places = Places(Problem(tuple(Buffer(i, 8, live=((0, 1),)) for i in range(many)), (Pool("p"),)))
    assert least_height(places, "p", range(many)) == 8 * many
    with deadline.time_limit(0.0, begun=-1e9), pytest.raises(deadline.OutOfTime):
        least_height(places, "p", range(many))


def test_what_solvers_say_of_buffers_that_fit_nowhere_holds() -> None:
    """Solvers and this check work out apart what buffers would need that a reserved range and the pool's end leave no place."""
    places = Places(
        Problem(
            (Buffer("a", 6), Buffer("b", 9, max_offset=4), Buffer("c", 1, max_offset=0)),
            (Pool("p", alignment=2, reserved=((5, 6),)),),
        )
    )
    assert least_height(places, "p", range(3)) == 6 + 6 + 9  # beside c, which stays


def test_where_fixed_buffers_overlap_no_more_is_told_than_is_proven() -> None:
    """Both may only begin at 0, and 5 bytes are proven: the next multiple of their sizes, 6, had been told."""
    both = tuple(Buffer(i, 2, 3, live=((0, 1),), pools=("p",), max_offset=0) for i in range(2))
    made = plan(Problem(both, (Pool("p"), Pool("q"))), Options(time_limit=None, work_limit=1, solver="greedy"))
    assert (made.warnings, made.pools[0].bound) == ((), 4)


def test_bounds_of_problems_without_a_plan_hold() -> None:
    answered = 0
    for seed in range(600):
        random = Random(seed)
        begin = random.randint(0, 6)
        reserved = ((begin, begin + random.randint(1, 3)),)
        pool = Pool("p", random.choice([None, random.randint(8, 20)]), random.choice([1, 2]), reserved=reserved)
        buffers = tuple(
            Buffer(
                i,
                random.randint(1, 9),
                random.choice([1, 2, 3, 4]),
                live=((0, 1),),
                max_offset=random.choice([None, random.randint(0, 5)]),
            )
            for i in range(4)
        )
        tied = (Colocation(1, 0, random.randint(0, 4)),) if random.random() < 0.3 else ()
        problem = Problem(buffers, (pool,), Constraints(colocations=tied, exclusions=((0, 1),) if tied else ()))
        try:
            made = plan(problem, Options(time_limit=None, work_limit=1, solver="greedy"))
        except BadInput:
            continue
        assert made.warnings == (), seed
        answered += 1
    assert answered > 500
