"""Certificates made of prices on room and on crowds prove true bounds, and the verifier computes the same values."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import lru_cache

from hypothesis import given
from hypothesis import strategies as st

from planner import Options, Plan, Preference, plan, read_plan, verify, with_preference, write_plan
from planner.checks import check
from planner.facts.possible_places import Places
from planner.generate import Request, generate
from planner.model.plan import PlanCertificate
from planner.model.problem import Problem
from planner.planning.placing.lowering import lower
from planner.verifying.arguments.certificates import objections
from solvers.bounds.priced_room import priced_value
from solvers.choice.pools.prices.crowds import Crowd, Relaxed
from solvers.choice.pools.prices.proving import certificate_of
from solvers.choice.pools.program import class_numbers, program_of
from solvers.model.instance import Instance, Term
from solvers.model.linear_terms import LINEAR
from solvers.model.outcome import Certificate, Proof
from tests.small import oracle
from tests.small.strategies import effort, problems


def certificate_at_random(instance: Instance, chance: random.Random) -> Certificate:
    """A certificate with random prices on some rows of the program, and on crowds of blocks live in them."""
    program = program_of(instance)
    most = 1 + max((cost for costs in program.terms[0].of_homes for cost in costs), default=0)
    of_rows, of_crowds = [], []
    for number, row in enumerate(program.rows):
        if chance.random() < 0.4:
            of_rows.append((number, chance.random() * most / 8))
        classes = [group for group, _ in row.members if chance.random() < 0.8]
        if classes:
            of_crowds.append((Crowd(number, tuple(classes)), chance.random() * most))
    relaxed = Relaxed((0,) * len(program.rooms), tuple(of_rows), tuple(of_crowds), (), 0.0, 0)
    return certificate_of(instance, program, class_numbers(instance), relaxed)


@effort(24, 6_000)
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
    lifted = PlanCertificate(
        proof.proof,
        proof.value,
        term=term,
        weights=tuple((problem.pools[p].name, int(lowered.times[s]), n, d) for p, s, n, d in proof.weights),
        crowds=tuple(
            (problem.pools[p].name, int(lowered.times[s]), tuple(problem.buffers[part].id for part in parts), n, d)
            for p, s, parts, n, d in proof.crowds
        ),
    )
    assert objections(Places(problem), [lifted]) == []


@lru_cache(1)
def priced() -> tuple[Problem, Plan, PlanCertificate]:
    problem = generate("pools", Request(150, 5))
    made = plan(problem, Options(time_limit=None, work_limit=700_000, prefer=Preference.BALANCED))
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
    (pool, time, ids, over, under), *others = proof.crowds
    dead = next(b.id for b in problem.buffers if not any(start <= time < end for start, end in b.live or ()))
    spoiled: list[tuple[str, PlanCertificate]] = [
        ("no more", replace(proof, value=proof.value + 1)),
        ("no more", replace(proof, crowds=((pool, time, ids, 1_000_000 * over, under), *others))),
        ("no more", replace(proof, crowds=tuple(others))),
        ("below zero", replace(proof, crowds=((pool, time, ids, -1, under), *others))),
        ("below zero", replace(proof, crowds=((pool, time, ids, 1, 0), *others))),
        ("is not live at", replace(proof, crowds=((pool, time, (*ids, dead), over, under), *others))),
        ("there is no buffer", replace(proof, crowds=((pool, time, ("nobody",), over, under), *others))),
        ("names a buffer twice", replace(proof, crowds=((pool, time, (ids[0], ids[0]), over, under), *others))),
        ("there is no pool", replace(proof, crowds=(("nowhere", time, ids, over, under), *others))),
        ("it has crowds", replace(proof, proof=Proof.SEARCH, solver="cpsat", weights=())),
    ]
    for text, wrong in spoiled:
        certificates = tuple(wrong if c is proof else c for c in made.certificates)
        findings = verify(problem, replace(made, certificates=certificates))
        assert any(text in finding.message for finding in findings), (text, findings)


def test_buffers_that_may_share_addresses_are_no_crowd() -> None:
    """Two buffers that exclude each other may be at the same addresses of a pool, so they are no crowd."""
    problem, _, proof = priced()
    (pool, time, ids, over, under), *_ = (crowd for crowd in proof.crowds if len(crowd[2]) > 1)
    rules = replace(problem.constraints, exclusions=(ids[:2],))  # type: ignore[arg-type]
    (found,) = objections(
        Places(replace(problem, constraints=rules)), [replace(proof, crowds=((pool, time, ids, over, under),))]
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
    crowd = [(0, 0, (0, 1), 2, 1)]
    assert priced_value(instance, [], crowd) == 2
    assert priced_value(instance, [], ()) == 0
    roomier = replace(instance, pools=(replace(instance.pools[0], capacity=20), *instance.pools[1:]))
    assert priced_value(roomier, [], crowd) == 0
