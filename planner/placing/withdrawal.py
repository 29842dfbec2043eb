"""What is left of a plan that its own verification objects to: never more than what holds."""

from __future__ import annotations

from dataclasses import replace

from solvers.model.errors import StopReason

from ..plan import Objective, Plan, PlanStatus, TermValue
from ..problem import Problem
from ..verifying.findings import FindingKind, VerifyFinding
from ..verifying.verify import verify

REPORT = "please report this problem"

CLAIMS = frozenset(
    {
        FindingKind.WRONG_CERTIFICATE,
        FindingKind.UNPROVEN_BOUND,
        FindingKind.BOUND_ABOVE_PEAK,
        FindingKind.CLAIMED_OPTIMAL_ABOVE_BOUND,
        FindingKind.WRONG_STATUS,
        FindingKind.WRONG_GAP,
    }
)
"""Findings about what a plan claims to be proven. Its addresses may be right all the same."""


def withdrawn(problem: Problem, made: Plan, findings: tuple[VerifyFinding, ...]) -> Plan:
    """The plan without its claims if they are all that is wrong with it; otherwise a plan that says that nothing is known."""
    first = findings[0]
    if made.placements and all(finding.kind in CLAIMS for finding in findings):
        humble = _without_claims(made, f"a bound could not be verified and is withheld ({first.message}); {REPORT}")
        if not verify(problem, humble, humble.problem_digest):
            return humble
    empty = replace(
        _without_claims(
            made,
            f"the plan that was made failed verification and is withheld ({first.kind}: {first.message}); {REPORT}",
        ),
        status=PlanStatus.UNKNOWN,
        peak=None,
        placements=(),
        shortage=None,
    )
    return replace(
        empty,
        objective=Objective(None, None, tuple(TermValue(term.name, None, None) for term in made.objective.terms)),
        pools=tuple(replace(use, peak=None) for use in empty.pools),
    )


def _without_claims(made: Plan, warning: str) -> Plan:
    terms = tuple(replace(term, bound=None) for term in made.objective.terms)
    return replace(
        made,
        status=PlanStatus.FEASIBLE,
        stop=StopReason.SOLVER_FAILED,
        bound=0,
        gap=None,
        objective=Objective(made.objective.value, None, terms),
        pools=tuple(replace(use, bound=0) for use in made.pools),
        reproducible=False,
        certificates=(),
        warnings=(*made.warnings, warning),
    )
