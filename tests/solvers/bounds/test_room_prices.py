"""Prices on room: the bound that any prices prove is true, and the prices that are found prove nearly the best one."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import Options, Preference, plan, verify, with_preference
from planner.checks import check
from planner.facts.possible_places import Places
from planner.generate import Request, generate
from planner.model.plan import PlanCertificate
from planner.model.problem import Pool, Problem
from planner.planning.placing.lowering import lower
from planner.verifying.arguments.certificates import objections
from planner.verifying.arguments.prices import priced_bound
from solvers.bounds.first_bounds import first_bounds
from solvers.bounds.prices.held_prices import bounded_second, has_second_of_peaks
from solvers.bounds.prices.priced_room import priced_value
from solvers.bounds.room_prices import RoomPrices
from solvers.model.instance import PoolSpec, Term
from solvers.model.linear_terms import LINEAR
from solvers.model.outcome import Proof
from solvers.model.solver import Limits, Silent, Task
from tests.small import oracle
from tests.small.instances import make_instance, plain
from tests.small.strategies import effort, problems


@effort(9, 3000)
@given(
    problems(max_buffers=5), st.sampled_from([*sorted(LINEAR), Term.LARGEST_PEAK]), st.randoms(use_true_random=False)
)
def test_no_prices_prove_more_than_is_true(problem: Problem, term: Term, chance: random.Random) -> None:
    problem = replace(problem, terms=(term,))
    if check(problem):
        return
    lowered = lower(problem)
    instance = lowered.instance
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
    named = tuple((problem.pools[p].name, int(lowered.times[at]), over, under) for p, at, over, under in prices)
    verified = priced_bound(Places(problem), PlanCertificate(Proof.PRICED_ROOM, 0, weights=named))
    assert truth is None or isinstance(verified, str) or verified <= truth[0]


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
    reuse = make_instance([(0, 1, 4)], pools=pools, terms=[Term.REUSE_COST])
    assert RoomPrices().solve(reuse, Task(), Silent()).bound == ()
    assert priced_value(reuse, [(0, 0, 1, 1)]) == 0
    unlimited = make_instance([plain(0, 1, 4, access=[1, 2])], pools=pools, terms=[Term.ACCESS_COST])
    assert priced_value(unlimited, [(1, 0, 1, 1)]) == 0, "room without an end has no price"


def test_the_largest_peak_is_bounded_by_what_the_smaller_memories_leave() -> None:
    """60 bytes are live at once: 20 in each of three memories, unless one of them has only 8; then 26 in each of the others."""
    blocks = [(0, 2, 10), (0, 2, 10), (0, 2, 10), (1, 3, 10), (1, 3, 10), (1, 3, 10)]
    for sizes, least in (((None, None, None), 20), ((8, None, None), 26), ((8, 12, None), 40), ((8, 12, 50), 40)):
        instance = make_instance(blocks, pools=[PoolSpec(size) for size in sizes], terms=[Term.LARGEST_PEAK])
        first = first_bounds(instance)
        assert first.priced is not None
        assert (first.value, first.priced.value) == ((least,), least)
        found = RoomPrices().solve(instance, Task(), Silent())
        assert found.bound[0] >= least * 9 // 10
        dear = [(0, 1, 1, 1), (2, 1, 1, 1), (1, 1, 1, 1)]
        assert priced_value(instance, dear) == (0 if sizes.count(None) > 1 else least)


def test_the_largest_peak_of_a_large_problem_has_a_bound_that_can_be_added_up() -> None:
    pools = (Pool("one", 1_000_000), Pool("two", 1_000_000), Pool("three", 2_000))
    problem = replace(generate("hot", Request(600, 3)), pools=pools, terms=(Term.LARGEST_PEAK,))
    made = plan(problem, Options(time_limit=None, work_limit=60_000))
    assert made.objective.bound is not None
    assert made.objective.bound >= (made.bound - 2_000) // 2 > 10_000
    assert verify(problem, made) == ()
    (proof,) = [c for c in made.certificates if c.proof is Proof.PRICED_ROOM]
    for forged in (replace(proof, value=proof.value + 1), replace(proof, value=1 << 70, weights=(("one", 0, 1, 1),))):
        assert objections(Places(problem), [forged]), forged.value


@pytest.mark.parametrize("prefer", Preference)
def test_a_plan_s_prices_stand_up_to_verification_and_spoiled_ones_do_not(prefer: Preference) -> None:
    problem = with_preference(generate("hot", Request(150, 2)), prefer)
    made = plan(problem, Options(time_limit=None, work_limit=60_000))
    assert verify(problem, made) == ()
    kind = Proof.POOL_SHARING if prefer is Preference.SIZE else Proof.PRICED_ROOM
    proof = next(c for c in made.certificates if c.proof is kind)
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


@effort(9, 1000)
@given(problems(max_buffers=5), st.randoms(use_true_random=False))
def test_no_prices_prove_more_of_a_second_term_than_is_true(problem: Problem, chance: random.Random) -> None:
    problem = replace(problem, terms=(Term.ACCESS_COST, Term.SUM_OF_PEAKS))
    truth = None if check(problem) else oracle.solve(problem)
    if truth is None or truth.value is None:
        return
    instance = lower(problem).instance
    assert has_second_of_peaks(instance) is bool(instance.access_cost.any())
    proof, _ = bounded_second(instance, truth.value[0], Task(), Silent(), chance.randrange(200, 5_000))
    assert proof is None or (proof.term, proof.held[0][:2]) == (Term.SUM_OF_PEAKS, (Term.ACCESS_COST, truth.value[0]))
    assert proof is None or proof.value <= truth.value[1]


def test_a_second_term_of_peaks_has_prices_where_work_is_scarce() -> None:
    """Without them it keeps the bound of all in the pool whose peak costs least."""
    problem = with_preference(generate("pools", Request(300, 7)), Preference.SPEED)
    made = plan(problem, Options(time_limit=None, work_limit=110_000))
    term = made.objective.terms[1]
    assert term.value is not None
    assert term.bound is not None
    assert term.bound > term.value * 2 // 3
    assert verify(problem, made) == ()
    proof = next(c for c in made.certificates if c.held)
    spoiled = replace(
        made, certificates=tuple(replace(c, value=c.value + 1) if c is proof else c for c in made.certificates)
    )
    assert "wrong_certificate" in {finding.kind for finding in verify(problem, spoiled)}
