"""memplan-proved/1: a plan with its proof, in one document."""

from __future__ import annotations

import json
from functools import cached_property

from ...checks.report import bad_input
from ...model.deadline import about
from ...model.errors import Code
from ...model.plan import Plan
from ...verifying.arguments.bounds import notes
from ...verifying.findings import FindingKind, VerifyFinding
from ...verifying.proofs.claims import ProofVerdict, check_plan_proof
from ...verifying.verify import verify
from ..documents import PROVED_FORMAT, require_format
from ..json.scan import scan
from .opened import OpenedPlan, ReadFile


class OpenedProof(OpenedPlan):
    """A plan and, unless none was found, the proof of its bound."""

    def read(self, data: bytes, read_file: ReadFile | None) -> None:
        self.plan, self.height, self.proof = read_proved(data)

    @cached_property
    def findings(self) -> tuple[VerifyFinding, ...]:
        wrong = [*verify(self.asked.problem, self.plan), *self._shown.findings]
        proven = self._shown.proven
        if proven is not None and self.height > proven.height:
            text = f"the height is {self.height}, but the proof shows only that of {proven.height}"
            wrong.append(VerifyFinding(FindingKind.WRONG_PROOF, text))
        return tuple(wrong)

    @property
    def notes(self) -> tuple[str, ...]:
        problem, shown = self.asked.problem, self._shown
        believed = notes(self.plan, lambda certificate: shown.confirms(problem, self.plan, certificate))
        return (*shown.notes(problem), *believed)

    @cached_property
    def _shown(self) -> ProofVerdict:
        if self.proof is None:
            return ProofVerdict((), None)
        return check_plan_proof(self.asked.problem, self.plan, self.proof)


@about("plan")
def read_proved(data: bytes) -> tuple[Plan, int, bytes | None]:
    """Return the plan, the height that its proof is said to refute, and the proof. Raises BadInput."""
    from .plan_reader import plan_of_answer  # imports pydantic, which writing does not need

    require_format(scan(data), PROVED_FORMAT, "a plan with its proof")
    document = json.loads(data)
    height, proof = document.get("height"), document.get("proof")
    if type(height) is not int:
        raise bad_input(Code.WRONG_TYPE, ("height",), "must be a whole number")
    if not (proof is None or isinstance(proof, str)):
        raise bad_input(Code.WRONG_TYPE, ("proof",), "must be the text of a proof, or null if there is none")
    plan = plan_of_answer(document.get("plan"), ("plan",))
    return plan, height, None if proof is None else proof.encode("utf-8", "surrogatepass")
