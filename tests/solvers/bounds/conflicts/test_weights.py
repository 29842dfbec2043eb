"""Bounds by weights of conflicts: above all cliques on odd rings, never above the optimum, and always believed by the verifier."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given

from planner import Options, plan, verify
from planner.facts.possible_places import Places
from planner.model.plan import PlanCertificate
from planner.model.problem import Buffer, Constraints, Pool, Problem
from planner.planning.placing.lowering import lower
from planner.verifying.arguments.certificates import objections
from solvers.bounds.conflicts.weights import weigh, weighed_conflicts
from solvers.model.instance import Term
from solvers.model.outcome import Proof
from tests.small import oracle
from tests.small.strategies import effort, problems


def ring(count: int, *, conflicts_beside: bool, size: int = 1, pool: Pool | None = None) -> Problem:
    """Blocks in a ring, of which those beside each other conflict, or all others."""
    beside = {frozenset((n, (n + 1) % count)) for n in range(count)}
    pairs = [pair for pair in combinations(range(count), 2) if (frozenset(pair) in beside) == conflicts_beside]
    return Problem(
        buffers=tuple(Buffer(f"b{n}", size) for n in range(count)),
        pools=(pool or Pool("m"),),
        constraints=Constraints(conflicts=tuple((f"b{a}", f"b{b}") for a, b in pairs)),
    )


def proven(problem: Problem, known: int = 0) -> PlanCertificate | None:
    """The certificate of the first pool, believed by the verifier."""
    lowered = lower(problem)
    found, _ = weighed_conflicts(lowered.instance, 0, known, None, 100_000)
    if found is None:
        return None
    names = [buffer.id for buffer in problem.buffers]
    sets = tuple((tuple(names[part] for part in parts), n, d) for parts, n, d in found.sets)
    certificate = PlanCertificate(Proof.CONFLICT_WEIGHTS, found.value, problem.pools[0].name, sets=sets)
    assert objections(Places(problem), [certificate]) == []
    return certificate


@pytest.mark.parametrize(
    ("count", "conflicts_beside", "size", "least"),
    [(5, True, 1, 3), (5, True, 8, 24), (11, False, 1, 6), (9, True, 4, 12)],
)
def test_an_odd_ring_needs_more_than_its_cliques(count: int, conflicts_beside: bool, size: int, least: int) -> None:
    certificate = proven(ring(count, conflicts_beside=conflicts_beside, size=size))
    assert certificate is not None
    assert certificate.value == least


def test_reserved_ranges_lift_the_bound_and_alignments_count() -> None:
    walled = proven(ring(5, conflicts_beside=True, size=8, pool=Pool("m", reserved=((10, 20), (25, 27)))))
    assert walled is not None
    assert walled.value == 24 + 10 + 2
    aligned = proven(ring(5, conflicts_beside=True, size=9, pool=Pool("m", alignment=16)))
    assert aligned is not None
    assert aligned.value == 2 * 16 + 9


def test_a_ring_of_many_is_proven_optimal() -> None:
    problem = ring(41, conflicts_beside=False, size=64)
    answer = plan(problem, Options(work_limit=1_500_000, workers=1))
    assert (answer.status, answer.peak) == ("optimal", 21 * 64)
    assert [each.proof for each in answer.certificates] == [Proof.CONFLICT_WEIGHTS]
    assert verify(problem, answer) == ()
    short = plan(ring(41, conflicts_beside=False, size=64, pool=Pool("m", 20 * 64)), Options(work_limit=1_500_000))
    assert short.status == "infeasible"
    assert short.shortage is not None
    assert "64 bytes too small" in short.shortage.message


@effort(60, 10_000)
@given(problems(max_pools=1, plain_terms=True))
def test_no_bound_is_above_the_optimum(problem: Problem) -> None:
    certificate = proven(problem)
    best = oracle.solve(replace(problem, terms=(Term.LARGEST_PEAK,))).value
    if certificate is not None and best is not None:
        assert certificate.value <= best[0]


def wrong(change: Callable[[PlanCertificate], PlanCertificate]) -> str:
    problem = ring(5, conflicts_beside=True, size=8)
    certificate = proven(problem)
    assert certificate is not None
    [(_, message)] = objections(Places(problem), [change(certificate)])
    return message


def test_wrong_weights_are_refused() -> None:
    assert "prove 24, no more" in wrong(lambda good: replace(good, value=25))
    assert "weigh more than 1 together" in wrong(
        lambda good: replace(good, sets=tuple((ids, n, d - 1) for ids, n, d in good.sets))
    )
    assert "names no pool" in wrong(lambda good: replace(good, pool=None))
    assert "names buffers or a time" in wrong(lambda good: replace(good, time=3))
    assert "less than nothing" in wrong(lambda good: replace(good, sets=tuple((ids, -n, d) for ids, n, d in good.sets)))


def test_work_is_bounded() -> None:
    apart = [
        sum(1 << other for other in range(60) if (part * 7 + other * 7) % 13 < 6 and other != part)
        for part in range(60)
    ]
    sizes = [1 + part % 5 for part in range(60)]
    assert weigh(sizes, apart, 100_000)[1] > 6_000
    assert weigh(sizes, apart, 3_000)[1] < 3_100
