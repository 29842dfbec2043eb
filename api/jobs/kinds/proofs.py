"""A plan, and a proof that no plan is lower, or that nothing fits, as written by `memplan plan --proof`, in one document."""

from __future__ import annotations

import json
import time
from functools import partial
from typing import Any

import planner
from planner.formats.documents import PROVED_FORMAT
from planner.model.plan import Plan
from planner.model.storage import Sharing
from planner.planning.placing.watching import Progress
from planner.verifying.proofs.claims import height_to_refute
from planner.verifying.proving.prove import NoProof, PlanProof, prove, require_provable
from solvers.model.errors import StopReason

from ...errors import HttpCode, Refusal
from .kind import Answer, Instructions, Line, Subject, answer, no_such_part
from .plans import PlanKind, as_written, described, ended, known, plan_within

MOST_PROOF_BYTES = 1 << 24
"""Longer proofs are not kept."""
PLAN, PROOF = "plan", "proof"
"""The parts of an answer."""


class ProofKind(PlanKind):
    """A proof with its plan. Until the proof is found, the answer is the best plan so far without one."""

    name = "proof"

    def check(self, subject: Subject, instructions: Instructions) -> None:
        super().check(subject, instructions)
        require_provable(subject.planned(instructions.options))

    def run(self, subject: Subject, instructions: Instructions, line: Line, begun: float, best: bytes | None) -> Answer:
        options = instructions.options
        end = None if options.time_limit is None else begun + options.time_limit
        height = partial(height_to_refute, subject.planned(options))

        def without_proof(known: Plan | Sharing, notes: tuple[str, ...]) -> Answer:
            assert isinstance(known, Plan)
            return _proved(known, PlanProof(height(known), None, NoProof.TIME), notes, known.stop)

        def progress(moment: Progress) -> None:
            line.progress(moment, without_proof)

        def stopped() -> bool:
            return line.cancelled() or (end is not None and time.monotonic() >= end)

        start = known(best, lambda data: plan_within(json.loads(data)[PLAN]))
        plan = planner.plan(subject.problem, options, progress, line.cancelled, begun=begun, start=start)
        if plan.status.has_plan:
            progress(Progress(time.monotonic() - begun, plan.objective.value, plan.objective.bound, lambda: plan))
        found = prove(subject.planned(options), plan, stopped)
        is_cancelled = found.why_not is NoProof.TIME and line.cancelled()
        return _proved(plan, found, instructions.notes, StopReason.CANCELLED if is_cancelled else plan.stop)

    def cut_short(self, best: bytes, stop: StopReason) -> Answer:
        document = json.loads(best)
        plan = ended(plan_within(document[PLAN]), stop)
        return _proved(plan, PlanProof(document["height"], None, NoProof.TIME), (), plan.stop)

    def part(self, answer: bytes, name: str) -> bytes:
        document: dict[str, Any] = json.loads(answer)
        if name == PLAN:
            return as_written(document[PLAN])
        if name != PROOF:
            raise no_such_part(name, (PLAN, PROOF))
        if document[PROOF] is None:
            raise Refusal(409, HttpCode.NO_PROOF, f"there is no proof: {document['why_not']}")
        text: str = document[PROOF]
        return text.encode("ascii")

    def draw(self, subject: Subject, instructions: Instructions, answer: bytes, wanted: str) -> bytes:
        return super().draw(subject, instructions, self.part(answer, PLAN), wanted)

    def draw_part(self, subject: Subject, instructions: Instructions, answer: bytes, name: str, wanted: str) -> bytes:
        if name != PLAN:
            raise no_such_part(name, (PLAN,))
        return self.draw(subject, instructions, answer, wanted)


def _proved(plan: Plan, found: PlanProof, notes: tuple[str, ...], stop: StopReason) -> Answer:
    """Return the document, and what the service must know about it. `stop`: why the work on both ended."""
    why_not, text = found.why_not and str(found.why_not), None if found.lines is None else b""
    for piece in found.pieces():
        assert text is not None
        text += piece
        if len(text) > MOST_PROOF_BYTES:
            text, why_not = None, f"it is longer than {MOST_PROOF_BYTES} bytes; the command writes it"
            break
    fields, data = described(plan, notes)
    document = {
        "format": PROVED_FORMAT,
        "height": found.height,
        "proof": None if text is None else text.decode("ascii"),
        "why_not": why_not,
        "plan": json.loads(data),
    }
    worth = {name: fields[name] for name in ("status", "best", "bound", "gap")}
    lasting = bool(fields["lasting"]) and text is not None
    return answer(json.dumps(document, allow_nan=False).encode("ascii"), stop=stop.value, **worth, lasting=lasting)
