"""Lower bounds on what must move: they never exceed the optimum, and come near it where old places overlap."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from planner import Options, plan, verify
from planner.facts.possible_places import Places
from planner.model.plan import Plan, PlanCertificate
from planner.model.problem import Buffer, Pool, Problem, Was
from planner.planning.placing.lowering import lower
from planner.verifying.arguments.certificates import objections
from solvers.bounds.must_move import MustMove
from solvers.model.instance import Term
from solvers.model.outcome import Certificate, Proof
from solvers.model.solver import Silent, Task
from tests.small import oracle
from tests.small.strategies import effort, problems


def proofs(problem: Problem) -> tuple[Certificate, ...]:
    return MustMove().solve(lower(problem).instance, Task(), Silent()).certificates


@effort(20, 6000)
@given(problems(max_buffers=5, moves=True))
def test_bounds_are_true_and_the_verifier_proves_the_same(problem: Problem) -> None:
    for proof in proofs(problem):
        assert proof.term is not None
        (truth,) = oracle.solve(replace(problem, terms=(proof.term,))).value or (None,)
        assert truth is None or proof.value <= truth
        sets = tuple((tuple(problem.buffers[part].id for part in parts), n, d) for parts, n, d in proof.sets)
        lifted = PlanCertificate(proof.proof, proof.value, term=proof.term, sets=sets)
        assert objections(Places(problem), [lifted]) == []


def grown(*terms: Term) -> Problem:
    """Five buffers that are live together; three have grown, so each of them reaches into the next one's old place."""
    sizes = (6, 6, 4, 6, 4)
    return Problem(
        tuple(Buffer(f"b{number}", size, 1, ((0, 1),)) for number, size in enumerate(sizes)),
        (Pool("arena", 40),),
        terms=terms,
        was=tuple(Was(f"b{number}", "arena", 4 * number) for number in range(5)),
    )


def test_the_lighter_of_two_overlapping_buffers_moves() -> None:
    problem = grown(Term.MOVED_BYTES)
    (proof,) = proofs(problem)
    assert (proof.value, proof.term) == (*(oracle.solve(problem).value or (0,)), Term.MOVED_BYTES)
    (proof,) = proofs(grown(Term.MOVED_BUFFERS))
    assert proof.value == 2


def test_buffers_that_were_beyond_the_end_have_moved() -> None:
    problem = replace(grown(Term.MOVED_BUFFERS), was=(Was("b0", "arena", 35), Was("b1", "nowhere", 0)))
    (proof,) = proofs(problem)
    assert proof.value == 2
    assert [parts for parts, _, _ in proof.sets] == [(0,), (1,)]


def made(*terms: Term) -> tuple[Problem, Plan, PlanCertificate]:
    problem = grown(*terms)
    found = plan(problem, Options(time_limit=60))
    assert verify(problem, found) == ()
    (proof,) = (c for c in found.certificates if c.proof is Proof.MUST_MOVE)
    return problem, found, proof


def test_a_later_term_has_its_own_bound_and_a_sum_counts_it() -> None:
    problem, _, proof = made(Term.SUM_OF_PEAKS, Term.MOVED_BYTES)
    assert proof.value == 10
    hurried = plan(problem, Options(work_limit=500))
    (moves,) = (term for term in hurried.objective.terms if term.name is Term.MOVED_BYTES)
    assert moves.bound is not None
    assert moves.bound >= 10
    beside = replace(
        problem, pools=(Pool("arena", 40), Pool("other", 1)), terms=(Term.SUM_OF_PEAKS, Term.MOVED_BUFFERS)
    )
    settled = plan(beside, Options(solver="auto", work_limit=20_000))
    truth = oracle.solve(beside).value
    assert truth is not None
    assert tuple(term.bound or 0 for term in settled.objective.terms) <= truth
    problem, found, _ = made(Term.STABILITY)
    assert found.objective.bound == (oracle.solve(problem).value or (0,))[0]


def test_spoiled_certificates_are_refused() -> None:
    problem, found, proof = made(Term.MOVED_BYTES)
    spoiled = [
        ("no more", replace(proof, value=proof.value + 1)),
        ("than that it has moved", replace(proof, sets=tuple((ids, 9 * n, d) for ids, n, d in proof.sets))),
        ("can be where it was", replace(proof, sets=((("b0",), 1, 1),))),
        ("may both be where they were", replace(proof, sets=((("b0", "b4"), 1, 1),))),
        ("less than nothing", replace(proof, sets=((("b0", "b1"), -1, 1),))),
        ("there is no buffer", replace(proof, sets=((("b0", "nobody"), 1, 1),))),
        ("no more", replace(proof, sets=())),
        ("prove nothing", replace(proof, term=Term.SUM_OF_PEAKS)),
        ("its sets say which", replace(proof, buffers=("b0",))),
    ]
    for text, wrong in spoiled:
        other = replace(found, certificates=tuple(wrong if c is proof else c for c in found.certificates))
        findings = verify(problem, other)
        assert any(text in finding.message for finding in findings), (text, findings)


def test_bounds_on_moves_are_sought_for_each_term_with_moves() -> None:
    assert {proof.term for term in sorted(oracle.MOVES) for proof in proofs(grown(term))} == {
        Term.MOVED_BUFFERS,
        Term.MOVED_BYTES,
    }
