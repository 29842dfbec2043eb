"""What a proof must show for a plan (that nothing ends below its bound, or that nothing fits at all), and whether it does."""

from __future__ import annotations

from io import BufferedReader
from typing import NamedTuple

from solvers.model.instance import Term
from solvers.model.outcome import Proof

from ...model.plan import Plan, PlanCertificate, PlanStatus
from ...model.problem import Problem
from ..findings import FindingKind, VerifyFinding
from .blocks import BEYOND
from .replay import BadProof, Proven, check_proof


def height_to_refute(problem: Problem, plan: Plan) -> int:
    """The greatest peak that the plan claims to be impossible: the memory's size, or one byte less than the bound."""
    if plan.status is not PlanStatus.INFEASIBLE:
        return plan.bound - 1
    size = problem.pools[0].size
    return BEYOND if size is None else size


class ProofVerdict(NamedTuple):
    """What came of a plan's proof."""

    findings: tuple[VerifyFinding, ...]
    proven: Proven | None
    """None if the proof shows nothing."""

    def notes(self, problem: Problem) -> tuple[str, ...]:
        """What it shows, in a sentence."""
        if self.proven is None:
            return ()
        size = problem.pools[0].size
        shown = self.proven.height
        what = "no plan fits" if shown >= (BEYOND if size is None else size) else f"no plan ends below {shown + 1}"
        return (f"{what}: the proof was replayed, {self.proven.lines} lines",)

    def confirms(self, problem: Problem, plan: Plan, certificate: PlanCertificate) -> bool:
        """True if the proof shows what a search is said to have shown."""
        if self.proven is None or self.findings or certificate.proof is not Proof.SEARCH:
            return False
        if plan.status is PlanStatus.INFEASIBLE:
            return True
        scale = problem.pools[0].cost if certificate.term is Term.SUM_OF_PEAKS else 1
        of_the_peak = certificate.pool is not None or certificate.term in (Term.SUM_OF_PEAKS, Term.LARGEST_PEAK)
        return of_the_peak and certificate.value <= scale * (self.proven.height + 1)


def check_plan_proof(problem: Problem, plan: Plan, proof: bytes | BufferedReader) -> ProofVerdict:
    """Replays a proof, and compares what it shows with what the plan claims."""
    try:
        proven = check_proof(problem, proof)
    except BadProof as error:
        where = f"line {error.line} of the proof: " if error.line else ""
        text = where + error.findings[0].message
        return ProofVerdict((VerifyFinding(FindingKind.WRONG_PROOF, text),), None)
    wanted = height_to_refute(problem, plan)
    if proven.height >= wanted:
        return ProofVerdict((), proven)
    claims = "nothing fits" if plan.status is PlanStatus.INFEASIBLE else f"no plan ends below {plan.bound}"
    text = f"the plan claims that {claims}, but its proof shows only that no plan ends below {proven.height + 1}"
    return ProofVerdict((VerifyFinding(FindingKind.WRONG_PROOF, text),), proven)
