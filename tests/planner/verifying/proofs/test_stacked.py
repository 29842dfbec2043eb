"""The line `o`: buffers that may not overlap have no room in any order. It is accepted exactly where that is so, and written where plans claim it."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import Buffer, Constraints, Options, PlanStatus, Pool, Problem, check_proof, plan, prove, verify
from planner.generate import Request, generate
from planner.verifying.proofs.claims import check_plan_proof
from planner.verifying.proofs.stacked import MOST_STACKED
from tests.planner.verifying.proofs.test_proofs import objection, proof_of

TIME = ((0, 2),)
PAIR = Problem((Buffer("a", 5, alignment=4, live=TIME), Buffer("b", 5, alignment=8, live=TIME)), (Pool("p"),))
"""b first, a at 8: it ends at 13. Their sizes add up to 10, and to 13 as multiples of 4."""
MIXED = Problem(
    tuple(Buffer(i, size, alignment=a, live=TIME) for i, (size, a) in enumerate([(5, 4), (5, 4), (3, 2), (9, 8)])),
    (Pool("p"),),
)
ALIGNMENTS = st.sampled_from((1, 2, 3, 4, 8))


def least_end(problem: Problem) -> int:
    """The least peak of buffers that are all live together, by trying each order at each address."""
    (pool,) = problem.pools

    def is_open(buffer: Buffer, at: int) -> bool:
        is_aligned = (at + (pool.base or 0)) % buffer.alignment == 0
        return is_aligned and all(at + buffer.size <= begin or end <= at for begin, end in pool.reserved)

    def end_of(order: tuple[Buffer, ...]) -> int:
        end = 0
        for buffer in order:
            while not is_open(buffer, end):
                end += 1
            end += buffer.size
        return end

    return min(map(end_of, permutations(problem.buffers)))


@given(
    st.lists(st.tuples(st.integers(1, 9), ALIGNMENTS), min_size=1, max_size=5),
    st.integers(0, 9),
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 6)), max_size=3),
)
def test_a_stack_is_refuted_below_the_end_of_its_best_order_and_no_higher(
    drawn: list[tuple[int, int]], base: int, reserved: list[tuple[int, int]]
) -> None:
    buffers = tuple(Buffer(i, size, alignment=alignment, live=TIME) for i, (size, alignment) in enumerate(drawn))
    pool = Pool("p", base=base, reserved=tuple((begin, begin + length) for begin, length in reserved))
    problem = Problem(buffers, (pool,))
    least = least_end(problem)
    for named in ("t 1", " ".join(("c", *map(str, range(len(drawn)))))):
        assert check_proof(problem, proof_of(problem, least - 1, named, "o 0")).height == least - 1
        assert "in some order there is room" in objection(problem, proof_of(problem, least, named, "o 0"))[1]


def test_what_the_rule_does_not_allow_is_refused() -> None:
    assert check_proof(MIXED, proof_of(MIXED, least_end(MIXED) - 1, "c 0 1 2 3", "o 0")).placements == 0
    apart = replace(PAIR, buffers=(PAIR.buffers[0], replace(PAIR.buffers[1], live=((2, 4),))))
    assert objection(apart, proof_of(apart, 12, "c 0 1", "o 0")) == (4, "buffers 0 and 1 may share addresses")
    in_conflict = replace(apart, constraints=Constraints(conflicts=(("a", "b"),)))
    assert check_proof(in_conflict, proof_of(in_conflict, 12, "c 0 1", "o 0")).height == 12
    for lines, at in (
        (["c 0 2", "o 0"], 4),
        (["c 0 1", "o 1"], 5),
        (["c 0 1", "o 0 1"], 5),
        (["o 0"], 4),
        (["c", "o 0"], 5),
        (["c 0", "o 0"], 5),
    ):
        assert objection(PAIR, proof_of(PAIR, 12, *lines))[0] == at


@pytest.mark.parametrize("count", [MOST_STACKED, MOST_STACKED + 1])
def test_of_too_many_buffers_orders_are_not_gone_through(count: int) -> None:
    problem = Problem(tuple(Buffer(i, 1, alignment=1 + i % 2, live=TIME) for i in range(count)), (Pool("p"),))
    proof = proof_of(problem, count - 1, "t 1", "o 0")
    if count == MOST_STACKED:
        assert check_proof(problem, proof).height == count - 1
    else:
        assert "more than 14 buffers" in objection(problem, proof)[1]


def test_placed_buffers_are_in_the_way_of_a_stack() -> None:
    """Below 13, b must be at 0; then a is at 8 or higher, and ends at 13."""
    for lines in (("c 0 1", "f 1"), ("f 1", "c 0 1")):
        assert check_proof(PAIR, proof_of(PAIR, 12, *lines, "o 0")).height == 12
    assert objection(PAIR, proof_of(PAIR, 13, "c 0 1", "b 1", "o 0"))[0] == 6


def test_plans_at_the_end_of_the_best_order_have_a_proof_of_one_step() -> None:
    stacked = 0
    for seed in range(12):
        problem, rng = generate("convnet", Request(60, seed)), random.Random(seed)
        drawn = (
            replace(each, size=rng.randrange(1, 50_000), alignment=1 << rng.randrange(14)) for each in problem.buffers
        )
        problem = replace(problem, buffers=tuple(drawn))
        found = plan(problem, Options(time_limit=None, work_limit=100_000))
        assert not verify(problem, found)
        text = prove(problem, found).text
        assert text is not None
        assert len(text.splitlines()) == 5
        assert not check_plan_proof(problem, found, text).findings
        stacked += text.endswith(b"o 0\n") and found.status is PlanStatus.OPTIMAL
    assert stacked >= 4
