"""Prices on room: the bound that any prices prove is true, and the prices that are found prove nearly the best one."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import Options, Preference, plan, verify, with_preference
from planner.checks import check
from planner.generate import Request, generate
from planner.model.problem import Problem
from planner.planning.placing.lowering import lower
from solvers.bounds.priced_room import priced_value
from solvers.bounds.room_prices import RoomPrices
from solvers.model.instance import PoolSpec, Term
from solvers.model.linear_terms import LINEAR
from solvers.model.outcome import Proof
from solvers.model.solver import Limits, Silent, Task
from tests.small import oracle
from tests.small.instances import make_instance, plain
from tests.small.strategies import effort, problems


@effort(9, 3000)
@given(problems(max_buffers=5), st.sampled_from(sorted(LINEAR)), st.randoms(use_true_random=False))
def test_no_prices_prove_more_than_is_true(problem: Problem, term: Term, chance: random.Random) -> None:
    problem = replace(problem, terms=(term,))
    if check(problem):
        return
    instance = lower(problem).instance
    prices = [
        (
            chance.randrange(len(instance.pools)),
            chance.randrange(instance.sections),
            chance.randrange(9),
            1 + chance.randrange(4),
        )
        for _ in range(chance.randrange(6) if instance.sections else 0)
    ]
    truth = oracle.solve(problem).value
    assert truth is None or priced_value(instance, prices) <= truth[0]
    found = RoomPrices().solve(instance, Task(), Silent())
    assert truth is None or not found.bound or found.bound[0] <= truth[0]


def test_room_for_one_of_two_blocks_costs_the_cheaper_one_s_loss() -> None:
    pools = [PoolSpec(10), PoolSpec(None, rank=1)]
    blocks = [plain(0, 2, 10, access=[0, 70]), plain(1, 3, 10, access=[0, 50])]
    instance = make_instance(blocks, pools=pools, terms=[Term.ACCESS_COST])
    assert priced_value(instance, [(0, 1, 5, 1)]) == 50
    found = RoomPrices().solve(instance, Task(), Silent())
    assert found.bound == (50,)
    assert [certificate.proof for certificate in found.certificates] == [Proof.PRICED_ROOM]


def test_instances_that_cannot_be_priced_get_no_bound() -> None:
    pools = [PoolSpec(10), PoolSpec(None)]
    largest = make_instance([(0, 1, 4)], pools=pools, terms=[Term.LARGEST_PEAK])
    assert RoomPrices().solve(largest, Task(), Silent()).bound == ()
    assert priced_value(largest, [(0, 0, 1, 1)]) == 0
    unlimited = make_instance([plain(0, 1, 4, access=[1, 2])], pools=pools, terms=[Term.ACCESS_COST])
    assert priced_value(unlimited, [(1, 0, 1, 1)]) == 0, "room without an end has no price"


@pytest.mark.parametrize("prefer", Preference)
def test_a_plan_s_prices_stand_up_to_verification_and_spoiled_ones_do_not(prefer: Preference) -> None:
    problem = with_preference(generate("hot", Request(150, 2)), prefer)
    made = plan(problem, Options(time_limit=None, work_limit=60_000))
    assert verify(problem, made) == ()
    kind = Proof.POOL_SHARING if prefer is Preference.SIZE else Proof.PRICED_ROOM
    (proof,) = [c for c in made.certificates if c.proof is kind]
    assert proof.value > 0
    higher = replace(proof, value=proof.value + 1)
    spoiled = replace(made, certificates=tuple(higher if c is proof else c for c in made.certificates))
    assert "wrong_certificate" in {finding.kind for finding in verify(problem, spoiled)}


def test_the_search_for_prices_ends_alike_at_its_work_limit() -> None:
    instance = lower(generate("hot", Request(200, 1))).instance
    some = [RoomPrices().solve(instance, Task(limits=Limits(work=2_000)), Silent()) for _ in range(2)]
    assert some[0] == some[1]
    assert some[0].reproducible
    assert some[0].bound <= RoomPrices().solve(instance, Task(), Silent()).bound
