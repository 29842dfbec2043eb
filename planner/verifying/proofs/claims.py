"""What a proof must show for a plan (that nothing ends below its bound, or that nothing fits), and whether it does."""

from __future__ import annotations

from io import BufferedReader
from typing import NamedTuple

from solvers.model.instance import Term
from solvers.model.outcome import Proof

from ...model.plan import ChoiceGoal, Plan, PlanCertificate, PlanStatus
from ...model.problem import Problem
from ..findings import FindingKind, VerifyFinding
from .blocks import BEYOND
from .cases import ANY_VALUE
from .check import Proven, check_proof
from .reading import BadProof


def height_to_refute(problem: Problem, plan: Plan) -> int:
    """Return the greatest peak that the plan claims to be impossible: the memory's size, or one byte less than the bound.

    With several memories it is the greatest such value of the objective's first term.
    """
    if plan.status is PlanStatus.INFEASIBLE:
        return _all_heights(problem)
    return (plan.bound if len(problem.pools) == 1 else plan.objective.bound or 0) - 1


def cost_to_refute(plan: Plan) -> int | None:
    """Return the greatest cost of the choices that the plan's claim covers; None: all choices."""
    choice = plan.choice
    if choice is None:
        return None if plan.shortage is None else plan.shortage.most_cost
    return choice.most_cost if choice.goal is ChoiceGoal.SIZE else choice.cost


def _all_heights(problem: Problem) -> int:
    """Return an upper bound of every fitting plan."""
    if len(problem.pools) > 1:
        return ANY_VALUE
    size = problem.pools[0].size
    return BEYOND if size is None else size


class ProofVerdict(NamedTuple):
    """The result of replaying a plan's proof."""

    findings: tuple[VerifyFinding, ...]
    proven: Proven | None
    """None if the proof shows nothing."""

    def notes(self, problem: Problem) -> tuple[str, ...]:
        """Return what it shows, in a sentence."""
        if self.proven is None:
            return ()
        shown, within = self.proven.height, self.proven.within
        what = "no plan fits" if shown >= _all_heights(problem) else f"no plan {_falls_below(problem, shown + 1)}"
        which = "" if within is None else f" at a cost of {within} or less"
        return (f"{what}{which}: the proof was replayed, {self.proven.lines} lines",)

    def confirms(self, problem: Problem, plan: Plan, certificate: PlanCertificate) -> bool:
        """True if the proof shows what a search is claimed to have shown."""
        if self.proven is None or self.findings or certificate.proof is not Proof.SEARCH:
            return False
        if plan.status is PlanStatus.INFEASIBLE:
            return True
        if len(problem.pools) > 1:
            of_all = certificate.pool is None and certificate.term is problem.terms[0]
            return of_all and certificate.value <= self.proven.height + 1
        scale = problem.pools[0].cost if certificate.term is Term.SUM_OF_PEAKS else 1
        of_the_peak = certificate.pool is not None or certificate.term in (Term.SUM_OF_PEAKS, Term.LARGEST_PEAK)
        return of_the_peak and certificate.value <= scale * (self.proven.height + 1)


def check_plan_proof(problem: Problem, plan: Plan, proof: bytes | BufferedReader) -> ProofVerdict:
    """Replay a proof and compare what it shows with the plan's claims."""
    try:
        proven = check_proof(problem, proof)
    except BadProof as error:
        where = f"line {error.line} of the proof: " if error.line else ""
        text = where + error.findings[0].message
        return ProofVerdict((VerifyFinding(FindingKind.WRONG_PROOF, text),), None)
    wanted, within = height_to_refute(problem, plan), cost_to_refute(plan)
    covers = proven.within is None or (within is not None and proven.within >= within)
    if proven.height >= wanted and covers:
        return ProofVerdict((), proven)
    is_infeasible = plan.status is PlanStatus.INFEASIBLE
    claims = "nothing fits" if is_infeasible else f"no plan {_falls_below(problem, wanted + 1)}"
    shows = f"no plan {_falls_below(problem, proven.height + 1)}"
    if not covers:
        shows += f" at a cost of {proven.within} or less"
    text = f"the plan claims that {claims}, but its proof shows only that {shows}"
    return ProofVerdict((VerifyFinding(FindingKind.WRONG_PROOF, text),), proven)


def _falls_below(problem: Problem, value: int) -> str:
    return f"ends below {value}" if len(problem.pools) == 1 else f"has {problem.terms[0]} below {value}"
