"""A plan, and a proof that no plan is lower, or that nothing fits: what `memplan plan --proof` writes, in one document."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import planner
from planner.formats.documents import PROVED_FORMAT
from planner.planning.placing.watching import Progress
from planner.verifying.proving.prove import prove, require_provable
from solvers.model.errors import StopReason

from ...errors import HttpCode, Refusal
from ...settings import Settings
from .kind import Answer, Asked, Line, Subject, answer, end_in_words, no_such_part
from .plans import PlanKind, as_written, described

MOST_PROOF_BYTES = 1 << 24
"""Longer proofs are not kept."""
PLAN, PROOF = "plan", "proof"
"""The parts of an answer."""


class ProofKind(PlanKind):
    """A proof with its plan. What is known before the end is not kept: who wants plans that get better asks for a plan."""

    name = "proof"

    def check(self, subject: Subject, asked: Asked, settings: Settings) -> None:
        super().check(subject, asked, settings)
        require_provable(subject.planned(asked.options))

    def run(self, subject: Subject, asked: Asked, line: Line, begun: float, best: bytes | None) -> Answer:
        def progress(moment: Progress) -> None:
            line.progress(replace(moment, answer=None))

        options = asked.options
        end = None if options.time_limit is None else begun + options.time_limit

        def stopped() -> bool:
            return line.cancelled() or (end is not None and time.monotonic() >= end)

        plan = planner.plan(subject.problem, options, progress, line.cancelled, begun=begun)
        found = prove(subject.planned(options), plan, stopped)
        why_not, text = found.why_not and str(found.why_not), found.text
        if text is not None and len(text) > MOST_PROOF_BYTES:
            text, why_not = None, f"it is longer than {MOST_PROOF_BYTES} bytes; the command writes it"
        fields, data = described(plan, asked.notes)
        document = {
            "format": PROVED_FORMAT,
            "height": found.height,
            "proof": None if text is None else text.decode("ascii"),
            "why_not": why_not,
            "plan": json.loads(data),
        }
        worth = {name: fields[name] for name in ("status", "stop", "best", "bound", "gap")}
        return answer(
            json.dumps(document, allow_nan=False).encode("ascii"),
            **worth,
            lasting=bool(fields["lasting"]) and text is not None,
        )

    def cut_short(self, best: bytes, stop: StopReason) -> Answer:
        raise Refusal(503, HttpCode.NO_PLAN, f"{end_in_words(stop)}, and nothing of a proof is kept before its end")

    def part(self, answer: bytes, name: str) -> bytes:
        document: dict[str, Any] = json.loads(answer)
        if name == PLAN:
            return as_written(document[PLAN])
        if name != PROOF:
            raise no_such_part(name)
        if document[PROOF] is None:
            raise Refusal(409, HttpCode.NO_PROOF, f"there is no proof: {document['why_not']}")
        text: str = document[PROOF]
        return text.encode("ascii")

    def draw(self, subject: Subject, asked: Asked, answer: bytes, part: str | None, wanted: str) -> bytes:
        return super().draw(subject, asked, self.part(answer, PLAN), None, wanted)
