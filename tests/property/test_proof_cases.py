"""For problems with several memories or alternatives, true claims have proofs and false ones none, however forged."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import lru_cache, partial
from itertools import product
from random import Random

import pytest
from hypothesis import assume, given

from planner import Options, PlanStatus, Problem, check_proof, plan, prove
from planner.checks import check
from planner.facts.digest import digest
from planner.facts.variants import broken_rules, costs_of_choice, weighted_cost, with_choice
from planner.generate import Request, generate
from planner.model.problem import Pool
from planner.verifying.proofs.cases import ANY_VALUE, Case, Claim, can_be_claimed, has_cases
from planner.verifying.proofs.check import FORMAT
from planner.verifying.proofs.claims import check_plan_proof
from planner.verifying.proving.cases import refuted_case_by_case
from planner.verifying.proving.search import Ending
from solvers.model.instance import Term
from tests.planner.planning.placing.variants.random_variants import (
    KINDS,
    pinned_problem,
    random_problem_of_kind,
    sound_seeds,
)
from tests.property.test_proofs import forgeries, is_accepted
from tests.small.oracle import solve
from tests.small.strategies import NIGHTLY, effort, problems

SEEDS = 400 if NIGHTLY else 15
"""How many seeds are tried of each kind of problem."""
FORGERIES = 3_000 if NIGHTLY else 15
"""The most forgeries of one proof that are tried."""


@lru_cache(4_096)
def worths(problem: Problem) -> tuple[tuple[int, int | None], ...]:
    """Return the cost and the least value of each allowed choice, by brute force; None if it does not fit."""
    if problem.variants is None:
        return ((0, _least(problem)),)
    found = []
    for choice in product(*(range(len(group.alternatives)) for group in problem.variants.groups)):
        if not any(broken_rules(problem.variants, choice)):
            cost = weighted_cost(problem.variants, costs_of_choice(problem.variants, choice))
            chosen = with_choice(problem, choice)
            found.append((cost, None if check(chosen) else _least(chosen)))
    return tuple(found)


def _least(problem: Problem) -> int | None:
    if len(problem.pools) == 1:
        problem = replace(problem, pools=(replace(problem.pools[0], cost=1),), terms=(Term.SUM_OF_PEAKS,))
    value = solve(problem).value
    return None if value is None else value[0]


def least(problem: Problem, within: int | None = None) -> int | None:
    """Return the least value of the choices that cost no more than `within`; None if none fits."""
    known = [value for cost, value in worths(problem) if value is not None and (within is None or cost <= within)]
    return min(known, default=None)


def written(problem: Problem, claim: Claim, lines: list[str]) -> bytes:
    within = "" if claim.within is None else f" {claim.within}"
    head = (FORMAT, f"problem {digest(problem)}", f"refutes {claim.value}{within}")
    return "".join(f"{line}\n" for line in (*head, *lines)).encode()


def refutation(problem: Problem, claim: Claim) -> list[str]:
    found = refuted_case_by_case(problem, claim, lambda: False)
    assert not isinstance(found, Ending), found
    return list(found)


def require_exact(problem: Problem, within: int | None = None) -> list[str]:
    """Assert that all values below the least are refuted and the least is not; return the refutation's lines."""
    truth = least(problem, within)
    if truth is not None:
        assert refuted_case_by_case(problem, Claim(truth, within), lambda: False) is Ending.FOUND
    claim = Claim(ANY_VALUE if truth is None else truth - 1, within)
    if claim.value < 0:
        return []
    if truth is None and len(problem.pools) == 1:
        claim = claim._replace(value=problem.pools[0].size or 1 << 62)
    lines = refutation(problem, claim)
    proven = check_proof(problem, written(problem, claim, lines))
    assert (proven.height, proven.within) == claim
    return lines


def small_problems() -> list[tuple[str, int, Problem]]:
    found = [(kind, seed, random_problem_of_kind(kind, seed)) for kind in KINDS for seed in range(SEEDS)]
    found += [("pinned", seed, pinned_problem(seed)) for seed in range(SEEDS)]
    return [(kind, seed, problem) for kind, seed, problem in found if problem is not None and can_be_claimed(problem)]


@effort(30, 10_000)
@given(problem=problems(max_buffers=5))
def test_for_several_memories_exactly_the_impossible_is_refuted(problem: Problem) -> None:
    """This holds with every kind of constraint."""
    assume(len(problem.pools) > 1 and can_be_claimed(problem))
    assume(problem.terms[0] not in (Term.MOVED_BUFFERS, Term.MOVED_BYTES, Term.STABILITY))
    require_exact(problem)


def test_for_alternatives_exactly_the_impossible_is_refuted() -> None:
    words = Counter[str]()
    for kind, seed, problem in small_problems():
        costs = [cost for cost, _ in worths(problem)]
        for within in (None, Random(seed).choice(costs) if costs else 0):
            words.update(line.split(" ")[0] for line in require_exact(problem, within))
        assert kind
    assert set("awpmt") <= words.keys()


def test_no_forged_proof_of_a_false_claim_is_accepted() -> None:
    forged = 0
    for _, seed, problem in small_problems():
        truth = least(problem)
        if truth is None or truth < 1:
            continue
        lines = refutation(problem, Claim(truth - 1))
        draw = Random(seed)
        some = [lines, *forgeries(lines, len(problem.buffers) + 2, draw)]
        some += [lines[:at] + lines[at + 1 + draw.randrange(4) :] for at in range(len(lines))]
        for one in draw.sample(some, min(FORGERIES, len(some))):
            # The first words of lines are forged, too.
            one = [draw.choice("awpm") + line[1:] if draw.random() < 0.1 else line for line in one]
            forged += 1
            for claim in (Claim(truth), Claim(truth + 3), Claim(ANY_VALUE)):
                assert not is_accepted(problem, written(problem, claim, one)), (seed, claim, one)
    assert forged > 50 * SEEDS


def test_a_proof_of_dear_choices_left_out_says_so_and_shows_no_more() -> None:
    shown = 0
    for _, _, problem in small_problems():
        whole = least(problem)
        for within in sorted({cost for cost, _ in worths(problem)}):
            truth = least(problem, within)
            if whole is None or truth is None or truth == whole or truth < 1:
                continue
            lines = refutation(problem, Claim(truth - 1, within))
            assert is_accepted(problem, written(problem, Claim(truth - 1, within), lines))
            assert not is_accepted(problem, written(problem, Claim(truth - 1), lines))
            shown += 1
    assert shown


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        (kind, seed)
        for kind in ("pools", "largest", "plain", "pins")
        for seed in sound_seeds(partial(random_problem_of_kind, kind), 40 if NIGHTLY else 3)
    ],
)
def test_the_planner_s_own_claims_are_proven(kind: str, seed: int) -> None:
    problem = random_problem_of_kind(kind, seed)
    assert problem is not None
    for most_cost in (None, 4):
        made = plan(problem, Options(max_cost=most_cost, workers=1))
        proof = prove(problem, made)
        if proof.text is None:
            assert made.status is PlanStatus.INFEASIBLE
            assert most_cost is not None
            continue
        verdict = check_plan_proof(problem, made, proof.text)
        assert verdict.findings == ()
        assert verdict.notes(problem)


def test_like_memories_are_not_distinguished() -> None:
    """Of equal memories only one needs to be tried."""
    problem = replace(generate("random", Request(7, seed=1)), pools=tuple(Pool(f"p{n}") for n in range(4)))
    case = Case(problem, Claim(1))
    assert len(list(case.memories(0))) == 1
    (first,) = case.memories(0)
    assert len(list(first.memories(1))) == 2
    assert has_cases(problem)
