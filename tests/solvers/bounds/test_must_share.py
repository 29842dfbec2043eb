"""Lower bounds on the cost of sharing addresses: never above the optimum, and mostly equal for like blocks."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import Options, plan, verify
from planner.checks import check
from planner.facts.possible_places import Places
from planner.model.plan import Plan, PlanCertificate
from planner.model.problem import Buffer, Constraints, Pool, Problem, ReusePenalty
from planner.planning.placing.lowering import lower
from planner.verifying.arguments.certificates import objections
from solvers.bounds.must_share import (
    MOST_ENTRIES,
    MOST_TOGETHER,
    MOST_WORK,
    MustShare,
    crowds,
    pairs_in_heaps,
)
from solvers.model.instance import Term
from solvers.model.outcome import Proof
from solvers.model.solver import Silent, Task
from tests.small import oracle
from tests.small.strategies import effort, problems


def bound_of(problem: Problem) -> int:
    found = MustShare().solve(lower(problem).instance, Task(), Silent())
    return max((c.value for c in found.certificates), default=0)


def crowded(problem: Problem, chance: random.Random) -> Problem:
    """Return the problem with a cost on most pairs, pools that are hardly large enough, and one objective term."""
    ids = [buffer.id for buffer in problem.buffers]
    penalties = [ReusePenalty(a, b, chance.randint(1, 3)) for a, b in combinations(ids, 2) if chance.random() < 0.85]
    largest = max((buffer.size for buffer in problem.buffers), default=1)
    pools = tuple(replace(pool, size=largest + chance.randrange(1, 8)) for pool in problem.pools)
    constraints = replace(problem.constraints, reuse_penalties=tuple(penalties))
    return replace(problem, pools=pools, constraints=constraints, terms=(Term.REUSE_COST,))


def kernel(seed: int, buffers: int = 6) -> Problem:
    """A problem with buffers of at most two sizes at random times; sharing addresses costs something for most pairs."""
    chance = random.Random(seed)
    ids = [f"b{number}" for number in range(buffers)]
    sizes = chance.choice(((4,), (1, 4), (2, 3)))
    starts = [chance.randrange(2 * buffers) for _ in ids]
    return Problem(
        tuple(
            Buffer(id_, chance.choice(sizes), chance.choice((1, 2)), ((start, start + chance.randint(1, 4)),))
            for id_, start in zip(ids, starts, strict=True)
        ),
        (Pool("arena", 8 + chance.randrange(5)),),
        Constraints(
            reuse_penalties=tuple(
                ReusePenalty(a, b, chance.choice((1, 1, 2))) for a, b in combinations(ids, 2) if chance.random() < 0.7
            )
        ),
        (Term.REUSE_COST,),
    )


@effort(15, 5000)
@given(problems(max_buffers=5), st.randoms(use_true_random=False))
def test_bounds_are_true_and_the_verifier_proves_the_same(problem: Problem, chance: random.Random) -> None:
    problem = crowded(problem, chance)
    if check(problem):
        return
    found = MustShare().solve(lower(problem).instance, Task(), Silent())
    for proof in found.certificates:
        truth = oracle.solve(problem).value
        assert truth is None or proof.value <= truth[0]
        sets = tuple((tuple(problem.buffers[part].id for part in parts), n, d) for parts, n, d in proof.sets)
        lifted = PlanCertificate(proof.proof, proof.value, term=Term.REUSE_COST, sets=sets)
        assert objections(Places(problem), [lifted]) == []


def test_bounds_mostly_equal_the_optimum() -> None:
    proven = costly = 0
    for seed in range(40):
        problem = kernel(seed)
        truth = oracle.solve(problem).value
        if truth is None or not truth[0]:
            assert truth is None or not bound_of(problem)
            continue
        bound = bound_of(problem)
        assert bound <= truth[0], seed
        costly += 1
        proven += bound == truth[0]
    assert costly >= 10
    assert proven >= 0.7 * costly


def test_cpsat_proves_the_optimum_with_bounds_of_crowds() -> None:
    costly = 0
    for seed in range(0, 40, 4):
        problem = kernel(seed)
        truth = oracle.solve(problem).value
        if truth is not None and truth[0]:
            made = plan(problem, Options(solver="cpsat", time_limit=60))
            assert (made.status, made.objective.value) == ("optimal", truth[0]), seed
            costly += 1
    assert costly


@pytest.mark.parametrize(("count", "heaps", "pairs"), [(3, 3, 0), (4, 3, 1), (6, 3, 3), (7, 3, 5), (5, 1, 10)])
def test_even_heaps_have_the_fewest_pairs(count: int, heaps: int, pairs: int) -> None:
    assert pairs_in_heaps(count, heaps) == pairs


def halves() -> tuple[Problem, Plan]:
    """A problem and its plan: five buffers in room for two; any two that share cost 1, so any three cost at least 1."""
    problem = kernel(0)
    ids = tuple(f"b{number}" for number in range(5))
    penalties = tuple(ReusePenalty(a, b, 1) for a, b in combinations(ids, 2))
    problem = replace(
        problem,
        buffers=tuple(Buffer(id_, 4, 1, ((2 * at, 2 * at + 1),)) for at, id_ in enumerate(ids)),
        pools=(Pool("arena", 8),),
        constraints=Constraints(reuse_penalties=penalties),
    )
    return problem, plan(problem)


def test_a_plan_is_optimal_by_a_proof_that_is_worked_out_again() -> None:
    problem, made = halves()
    (proof,) = (c for c in made.certificates if c.proof is Proof.MUST_SHARE)
    assert (made.status, made.objective.value, proof.value, proof.term) == ("optimal", 4, 4, Term.REUSE_COST)
    assert verify(problem, made) == ()
    assert not any(c.proof is Proof.SEARCH for c in made.certificates)


def test_spoiled_certificates_are_refused() -> None:
    problem, made = halves()
    (proof,) = (c for c in made.certificates if c.proof is Proof.MUST_SHARE)
    ids, over, under = proof.sets[0]
    spoiled: list[tuple[str, PlanCertificate]] = [
        ("its sets prove 4, no more", replace(proof, value=5)),
        ("it counts more for buffers", replace(proof, sets=((ids, 9 * over, under), *proof.sets[1:]))),
        ("less than nothing", replace(proof, sets=((ids, -1, 1),))),
        ("less than nothing", replace(proof, sets=((ids, 1, 0),))),
        ("there is no buffer", replace(proof, sets=((("b0", "nobody"), 1, 1),))),
        ("names a buffer twice", replace(proof, sets=((("b0", "b0"), 1, 1),))),
        ("prove 0, no more", replace(proof, sets=((("b0", "b1"), 1, 1),))),
        ("its sets say which", replace(proof, buffers=("b0",))),
        ("it names a pool", replace(proof, pool="arena", term=None)),
        ("has sets", replace(proof, proof=Proof.SEARCH, solver="cpsat")),
    ]
    for text, wrong in spoiled:
        plan_ = replace(made, certificates=tuple(wrong if c is proof else c for c in made.certificates))
        findings = verify(problem, plan_)
        assert any(text in finding.message for finding in findings), (text, findings)


def test_any_bound_holds_where_a_buffer_fits_nowhere() -> None:
    sizes, ids = (5, 1, 1, 1), ("nowhere", "a", "b", "c")
    problem = Problem(
        tuple(Buffer(id_, size) for id_, size in zip(ids, sizes, strict=True)),
        (Pool("arena", 7, alignment=3, reserved=((4, 6),)),),
        Constraints(reuse_penalties=tuple(ReusePenalty(a, b, 1) for a, b in combinations(ids, 2))),
        (Term.REUSE_COST,),
    )
    found = MustShare().solve(lower(problem).instance, Task(), Silent())
    (proof,) = found.certificates
    sets = tuple((tuple(ids[part] for part in parts), n, d) for parts, n, d in proof.sets)
    lifted = PlanCertificate(proof.proof, proof.value, term=Term.REUSE_COST, sets=sets)
    assert objections(Places(problem), [lifted]) == []
    assert plan(problem).status == "infeasible"


def test_two_proofs_of_the_same_buffers_do_not_add_up() -> None:
    problem, made = halves()
    (proof,) = (c for c in made.certificates if c.proof is Proof.MUST_SHARE)
    terms = (replace(made.objective.terms[0], bound=8, value=8),)
    twice = replace(
        made, certificates=(*made.certificates, proof), objective=replace(made.objective, bound=8, value=8, terms=terms)
    )
    assert any("the certificates prove 4" in finding.message for finding in verify(problem, twice))


def test_the_work_is_bounded_however_many_crowds_there_are() -> None:
    """The crowds to look at are bounded in size for every problem, because nothing looks at the clock in between."""
    chance = random.Random(1)
    ids = [f"b{number}" for number in range(590)]
    lives = [((chance.randrange(600), 600),) for _ in ids]
    together = tuple(Buffer(id_, chance.randint(1, 99), 1, live) for id_, live in zip(ids, lives, strict=True))
    few = Constraints(
        reuse_penalties=tuple(ReusePenalty(a, b, 1) for a, b in (chance.sample(ids, 2) for _ in range(1990)))
    )
    many = Constraints(reuse_penalties=tuple(ReusePenalty(a, b, 1) for a, b in combinations(ids[:80], 2)))
    for size, constraints in ((20_000, few), (500, many)):
        problem = Problem(together, (Pool("arena", size),), constraints, (Term.REUSE_COST,))
        instance = lower(problem).instance
        found = list(crowds(instance))
        assert sum(len(crowd.parts) ** 2 for crowd in found) < 2 * MOST_ENTRIES + 2 * MOST_TOGETHER**2
        assert MustShare().solve(instance, Task(), Silent()).work < 2 * MOST_WORK
