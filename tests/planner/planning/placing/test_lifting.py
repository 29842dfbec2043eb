"""What a plan claims holds at its own values."""

from __future__ import annotations

import numpy as np
import pytest

from planner import Buffer, Options, PlanStatus, Pool, Preference, Problem, Term, plan, verify, with_preference
from planner.generate import Request, generate
from planner.planning.placing import solving
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Placement
from solvers.model.objective import evaluate
from solvers.model.outcome import Certificate, Outcome, Proof

CERTIFICATE = Certificate(
    Proof.SEARCH,
    4,
    solver="pools_first",
    term=Term.SPILLED_BYTES,
    held=((Term.ACCESS_COST, 1, 0, 1), (Term.LARGEST_PEAK, 4, 0, 1)),
)


def test_a_bound_of_a_later_term_goes_with_the_plan_for_which_it_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """When time is over, a quick plan may be better in an earlier term, but worse in the next."""
    buffers = tuple(Buffer(id_, 4, live=((0, 1),), accesses=1) for id_ in "ab")
    terms = (Term.ACCESS_COST, Term.LARGEST_PEAK, Term.SPILLED_BYTES)
    problem = Problem(buffers, (Pool("fast", rank=0), Pool("slow", rank=1)), terms=terms)

    def hasty(instance: Instance, *_of_the_run: object) -> Outcome:
        placement = Placement(np.array([0, 1]), np.array([0, 0]))
        value = evaluate(instance, placement)
        assert value == (1, 4, 4)
        return Outcome(
            StopReason.TIME_LIMIT, placement, value, (0,), (0, 0), (CERTIFICATE,), floors=(0, 0, 4), reproducible=False
        )

    monkeypatch.setattr(solving, "solve", hasty)
    made = plan(problem, Options())
    assert [(term.value, term.bound or 0) for term in made.objective.terms] == [(0, 0), (8, 0), (0, 0)]
    assert made.certificates == ()
    assert verify(problem, made) == ()
    assert made.warnings == ()


def test_a_search_is_no_certificate_of_what_anybody_can_add_up() -> None:
    problem = generate("pools", Request(60, 55511))
    made = plan(problem, Options(time_limit=None, work_limit=1_000_000, workers=1, prefer=Preference.SIZE))
    first, second = made.objective.terms
    assert made.status is PlanStatus.OPTIMAL
    proofs = [(each.proof, each.term, each.value) for each in made.certificates if each.pool is None]
    assert proofs == [
        (Proof.POOL_SHARING, Term.SUM_OF_PEAKS, first.value),
        (Proof.PRICED_ROOM, Term.ACCESS_COST, second.value),
    ]
    assert verify(with_preference(problem, Preference.SIZE), made) == ()
