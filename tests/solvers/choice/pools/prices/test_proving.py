"""Certificates made of prices on room and on crowds prove true bounds, and the verifier computes the same values."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import Options, Plan, Preference, plan, read_plan, verify, with_preference, write_plan
from planner.checks import check
from planner.facts.possible_places import Places
from planner.generate import Request, generate
from planner.model.plan import PlanCertificate, PlanStatus
from planner.model.problem import Buffer, Pool, Problem
from planner.planning.placing.lowering import lower
from planner.reporting.explain import explain_bound
from planner.verifying.arguments.certificates import objections
from planner.verifying.findings import FindingKind
from solvers.bounds.prices.priced_room import priced_value
from solvers.choice.pools.prices.crowds import Crowd, Relaxed
from solvers.choice.pools.prices.proving import certificate_of
from solvers.choice.pools.program.writing import program_of
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Ints, Term
from solvers.model.linear_terms import LINEAR
from solvers.model.outcome import Certificate, Proof
from tests.small import oracle
from tests.small.strategies import effort, problems


def certificate_at_random(instance: Instance, chance: random.Random, held: tuple[int, ...] = ()) -> Certificate:
    """A certificate of the term after those held, with random prices on these, on some rows of the program, and on crowds of blocks live in them."""
    program = program_of(instance)
    most = 1 + max((cost for term in program.terms for costs in term.of_homes for cost in costs), default=0)
    of_rows, of_crowds = [], []
    for number, row in enumerate(program.rows):
        if chance.random() < 0.4:
            of_rows.append((number, chance.random() * most / 8))
        classes = [group for group, _ in row.members if chance.random() < 0.8]
        if classes:
            votes = tuple(chance.choice((1, 1, 2, 3)) for _ in classes)
            of_crowds.append((Crowd(number, tuple(classes), votes), chance.random() * most))
    of_held = tuple(chance.choice((0.0, 2.0 * chance.random(), most * chance.random())) for _ in held)
    nothing = (0,) * len(program.rooms)
    relaxed = Relaxed(nothing, tuple(of_rows), tuple(of_crowds), of_held, 0.0, 0, nothing, ())
    return certificate_of(instance, program, instance.class_number, relaxed, held)


def lifted(problem: Problem, times: Ints, proof: Certificate) -> PlanCertificate:
    return PlanCertificate(
        proof.proof,
        proof.value,
        term=proof.term or problem.terms[0],
        weights=tuple((problem.pools[p].name, int(times[s]), n, d) for p, s, n, d in proof.weights),
        crowds=tuple(
            (problem.pools[p].name, int(times[s]), tuple(problem.buffers[part].id for part in parts), votes, n, d)
            for p, s, parts, votes, n, d in proof.crowds
        ),
        held=proof.held,
    )


@effort(15, 6_000)
@given(
    problems(max_buffers=5), st.sampled_from(sorted(LINEAR - {Term.SUM_OF_PEAKS})), st.randoms(use_true_random=False)
)
def test_bounds_are_true_and_the_verifier_proves_the_same(problem: Problem, term: Term, chance: random.Random) -> None:
    problem = replace(problem, terms=(term,))
    if check(problem):
        return
    lowered = lower(problem)
    if not program_of(lowered.instance).terms:
        return
    proof = certificate_at_random(lowered.instance, chance)
    truth = oracle.solve(problem).value
    assert truth is None or proof.value <= truth[0]
    assert objections(Places(problem), [lifted(problem, lowered.times, proof)]) == []


@effort(24, 6_000)
@given(
    problems(max_buffers=5),
    st.lists(st.sampled_from(sorted(LINEAR)), min_size=2, max_size=3, unique=True),
    st.randoms(use_true_random=False),
)
def test_bounds_of_later_terms_are_true_with_the_earlier_ones_held(
    problem: Problem, terms: list[Term], chance: random.Random
) -> None:
    problem = replace(problem, terms=tuple(terms))
    if check(problem):
        return
    truth, lowered = oracle.solve(problem).value, lower(problem)
    if truth is None or len(program_of(lowered.instance).terms) < len(terms):
        return
    proof = certificate_at_random(lowered.instance, chance, truth[:-1])
    assert proof.value <= truth[-1]
    claimed = lifted(problem, lowered.times, proof)
    assert objections(Places(problem), [claimed]) == []
    untrue = replace(claimed, value=truth[-1] + 1)
    assert objections(Places(problem), [untrue]), "no prices prove more than the truth"


@lru_cache(1)
def priced() -> tuple[Problem, Plan, PlanCertificate]:
    problem = generate("pools", Request(150, 5))
    made = plan(problem, Options(time_limit=None, work_limit=320_000, prefer=Preference.BALANCED))
    (proof,) = (c for c in made.certificates if c.proof is Proof.PRICED_ROOM)
    return with_preference(problem, Preference.BALANCED), made, proof


def test_a_bound_by_crowds_is_verified_without_trusting_a_search() -> None:
    problem, made, proof = priced()
    assert proof.crowds
    assert proof.value == made.objective.bound
    assert not any(c.proof is Proof.SEARCH for c in made.certificates)
    without = replace(proof, crowds=())
    assert objections(Places(problem), [without]), "crowds prove what room alone does not"
    assert verify(problem, made) == ()
    assert read_plan(write_plan(made)).certificates == made.certificates


def test_spoiled_certificates_are_refused() -> None:
    problem, made, proof = priced()
    (pool, time, ids, votes, over, under), *others = proof.crowds
    dead = next(b.id for b in problem.buffers if not any(start <= time < end for start, end in b.live or ()))
    spoiled: list[tuple[str, PlanCertificate]] = [
        ("no more", replace(proof, value=proof.value + 1)),
        ("no more", replace(proof, crowds=((pool, time, ids, votes, 1_000_000 * over, under), *others))),
        ("no more", replace(proof, crowds=tuple(others))),
        ("below zero", replace(proof, crowds=((pool, time, ids, votes, -1, under), *others))),
        ("below zero", replace(proof, crowds=((pool, time, ids, votes, 1, 0), *others))),
        ("is not live at", replace(proof, crowds=((pool, time, (*ids, dead), (*votes, 1), over, under), *others))),
        ("there is no buffer", replace(proof, crowds=((pool, time, ("nobody",), (1,), over, under), *others))),
        ("names a buffer twice", replace(proof, crowds=((pool, time, (ids[0], ids[0]), (1, 1), over, under), *others))),
        ("a vote or more", replace(proof, crowds=((pool, time, ids, (0, *votes[1:]), over, under), *others))),
        ("a vote or more", replace(proof, crowds=((pool, time, ids, votes[1:], over, under), *others))),
        (
            "only 1000 are counted",
            replace(proof, crowds=((pool, time, ids, (1_001, *votes[1:]), over, under), *others)),
        ),
        ("no more", replace(proof, crowds=((pool, time, ids, (*votes[1:], votes[0] + 9), over, under), *others))),
        ("there is no pool", replace(proof, crowds=(("nowhere", time, ids, votes, over, under), *others))),
        ("it has crowds", replace(proof, proof=Proof.SEARCH, solver="cpsat", weights=())),
    ]
    for text, wrong in spoiled:
        certificates = tuple(wrong if c is proof else c for c in made.certificates)
        findings = verify(problem, replace(made, certificates=certificates))
        assert any(text in finding.message for finding in findings), (text, findings)


@lru_cache(1)
def priced_later() -> tuple[Problem, Plan, PlanCertificate]:
    problem = generate("hot", Request(150, 5))
    made = plan(problem, Options(time_limit=None, work_limit=300_000, prefer=Preference.SIZE))
    (proof,) = (c for c in made.certificates if c.held)
    return with_preference(problem, Preference.SIZE), made, proof


def test_prices_bound_a_later_term_with_the_first_held() -> None:
    problem, made, proof = priced_later()
    first, second = made.objective.terms
    assert first.value == first.bound
    assert proof.term is second.name
    assert [each[:2] for each in proof.held] == [(first.name, first.bound)]
    assert second.bound is not None
    assert 0 < proof.value <= second.bound <= 1.1 * proof.value
    assert verify(problem, made) == ()
    assert read_plan(write_plan(made)).certificates == made.certificates
    assert f"with sum of peaks at most {first.bound}" in explain_bound(problem, made)


def test_spoiled_certificates_of_later_terms_are_refused() -> None:
    problem, made, proof = priced_later()
    assert made.objective.terms[1].value is not None
    ((term, most, over, under),) = proof.held
    less = replace(proof, value=1)
    looser = replace(made, certificates=tuple(c for c in made.certificates if c.proof is not Proof.SEARCH))
    spoiled: list[tuple[str, PlanCertificate]] = [
        ("no more", replace(proof, value=proof.value + 1)),
        ("above what its peak costs", replace(proof, held=())),
        ("no more", replace(proof, held=((term, most + 1_000, over, under),))),
        ("the certificates prove", replace(less, held=((term, most - 1, over, under),))),
        ("below zero", replace(less, held=((term, most, -1, under),))),
        ("below zero", replace(less, held=((term, most, 1, 0),))),
        ("is not one of the terms before", replace(less, held=((term, most, over, under),) * 2)),
        ("is not one of the terms before", replace(less, held=((Term.ACCESS_COST, most, 1, 1),))),
        ("it holds terms", replace(proof, proof=Proof.SEARCH, solver="cpsat", weights=(), crowds=())),
    ]
    first, second = made.objective.terms
    assert first.bound is not None
    unproven = replace(made.objective, terms=(replace(first, bound=first.bound - 1), second))
    findings = verify(problem, replace(made, objective=unproven, certificates=(proof,)))
    assert any(f"the bound of access_cost is {second.bound}" in finding.message for finding in findings), (
        "the first term is open"
    )
    for text, wrong in spoiled:
        certificates = tuple(wrong if c is proof else c for c in looser.certificates)
        findings = verify(problem, replace(looser, certificates=certificates))
        assert any(text in finding.message for finding in findings), (text, findings)


def test_buffers_that_may_share_addresses_are_no_crowd() -> None:
    """Two buffers that exclude each other may be at the same addresses of a pool, so they are no crowd."""
    problem, _, proof = priced()
    (pool, time, ids, votes, over, under), *_ = (crowd for crowd in proof.crowds if len(crowd[2]) > 1)
    rules = replace(problem.constraints, exclusions=(ids[:2],))  # type: ignore[arg-type]
    (found,) = objections(
        Places(replace(problem, constraints=rules)), [replace(proof, crowds=((pool, time, ids, votes, over, under),))]
    )
    assert "may share addresses" in found[1]


def test_a_step_counts_from_the_height_with_room_for_one_more() -> None:
    """Of two buffers of 10, a pool of 19 has room for one; rows, which let buffers be cut, do not prove it."""
    problem = generate("pools", Request(2, 1))
    buffers = tuple(
        replace(b, size=10, live=((0, 2),), pools=("tcm", "dram"), accesses=1, alignment=1) for b in problem.buffers
    )
    pools = tuple(replace(p, size=19 if p.name == "tcm" else p.size, alignment=1) for p in problem.pools)
    problem = with_preference(replace(problem, buffers=buffers, pools=pools), Preference.SPEED)
    instance = lower(problem).instance
    crowd = [(0, 0, (0, 1), (1, 1), 2, 1)]
    assert priced_value(instance, [], crowd) == 2
    assert priced_value(instance, [], ()) == 0
    roomier = replace(instance, pools=(replace(instance.pools[0], capacity=20), *instance.pools[1:]))
    assert priced_value(roomier, [], crowd) == 0


def in_large_units() -> Problem:
    """Sizes and alignments of 4 096 bytes, so that the price of a later term is small."""
    fine = generate("hot", Request(60, 5))
    pools = tuple(
        replace(each, size=None if each.size is None else each.size << 12, alignment=1 << 12, speed=None, rank=rank)
        for rank, each in enumerate(fine.pools)
    )
    buffers = tuple(replace(each, size=each.size << 12) for each in fine.buffers)
    return replace(fine, pools=pools, buffers=buffers, terms=(Term.SUM_OF_PEAKS, Term.ACCESS_COST))


def test_prices_of_large_units_are_read_again() -> None:
    problem = in_large_units()
    made = plan(problem, Options(time_limit=None, work_limit=300_000))
    assert any(proof.held for proof in made.certificates)
    assert read_plan(write_plan(made)).certificates == made.certificates
    assert verify(problem, made) == ()


def test_prices_hold_for_all_plans_whose_earlier_terms_are_no_higher() -> None:
    """So they bound a later term although nobody knows how low the first could be; but not if the plan itself is higher than they allow."""
    problem = in_large_units()
    made = plan(problem, Options(time_limit=None, work_limit=300_000))
    first, second = made.objective.terms
    proof = next(each for each in made.certificates if each.held)
    terms = (replace(first, bound=None), replace(second, bound=proof.value))
    claim = replace(
        made,
        status=PlanStatus.FEASIBLE,
        stop=StopReason.WORK_LIMIT,
        objective=replace(made.objective, bound=None, terms=terms),
        certificates=(*(each for each in made.certificates if each.term is not second.name), proof),
    )
    assert verify(problem, claim) == ()
    lower = replace(proof, held=tuple((term, most - 1, over, under) for term, most, over, under in proof.held))
    forged = replace(claim, certificates=tuple(lower if each is proof else each for each in claim.certificates))
    assert FindingKind.UNPROVEN_BOUND in {finding.kind for finding in verify(problem, forged)}


@pytest.mark.parametrize(
    ("kind", "buffers", "prefer"),
    [("memories", 60, Preference.SIZE), ("memories", 60, Preference.SPEED), ("pools", 60, Preference.SPEED)],
)
def test_prices_prove_again_what_a_search_has_proven(kind: str, buffers: int, prefer: Preference) -> None:
    problem = with_preference(generate(kind, Request(buffers, 500)), prefer)
    made = plan(problem, Options(time_limit=None, work_limit=3_000_000))
    assert made.status is PlanStatus.OPTIMAL
    proven = tuple(each for each in made.certificates if each.proof is not Proof.SEARCH)
    assert verify(problem, replace(made, certificates=proven)) == ()


def test_what_is_there_in_any_case_has_its_room_in_a_crowd() -> None:
    """Of the other two only one has room beside it."""
    near, far = Pool("near", size=8), Pool("far", rank=1)
    here = Buffer("here", size=5, live=((0, 1),), pools=("near",))
    others = (Buffer(name, size=2, live=((0, 1),), accesses=3) for name in "ab")
    problem = Problem((here, *others), (near, far), terms=(Term.ACCESS_COST,))
    instance = lower(problem).instance
    program = program_of(instance)
    number = instance.class_number
    (row,) = (n for n, each in enumerate(program.rows) if each.pool == 0)
    classes = tuple(group for group, _ in program.rows[row].members)
    crowd = Crowd(row, classes, (1,) * len(classes))
    truth = oracle.solve(problem).value
    assert truth is not None
    relaxed = Relaxed((0, 0), (), ((crowd, float(truth[0])),), (), 0.0, 0, (0.0, 0.0), ())
    proof = certificate_of(instance, program, number, relaxed)
    assert proof.value == truth[0] > 0
    assert objections(Places(problem), [lifted(problem, lower(problem).times, proof)]) == []


def test_a_peak_is_no_lower_than_what_is_there_in_any_case() -> None:
    here = Buffer("here", size=5, live=((0, 1),), pools=("near",))
    problem = Problem((here,), (Pool("near"), Pool("far", rank=1)), terms=(Term.BALANCED,), peak_price=4)
    instance = lower(problem).instance
    proof = certificate_of(
        instance, program_of(instance), instance.class_number, Relaxed((0, 0), (), (), (), 0.0, 0, (0.0, 0.0), ())
    )
    truth = oracle.solve(problem).value
    assert truth is not None
    assert proof.value == truth[0] >= 20
    assert objections(Places(problem), [lifted(problem, lower(problem).times, proof)]) == []
