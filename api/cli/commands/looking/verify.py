"""`memplan verify`: checks that a plan is one of this problem, and that its claims hold; likewise every other kind of answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import typer

from planner.formats.answers.opened import Opened, OpenedPlan, SaidFinding
from planner.formats.tables.answers import USUAL, answer_kind
from planner.model.errors import MAX_FINDINGS
from planner.verifying.arguments.bounds import notes
from planner.verifying.findings import AnswerFinding

from ...exit_codes import ExitCode
from ...terminal.reading import (
    PlannedFile,
    beside,
    open_input,
    read_asked,
    read_bytes,
    require_one_standard_input,
    shown_name,
)
from ...terminal.refusals import refusing
from ...terminal.repeating import advice_on
from ...terminal.standard_output import print_json, prints_json
from ...terminal.text import counted


def run(
    problem: PlannedFile,
    plan_file: str,
    *,
    proof: str | None,
    as_json: bool,
) -> ExitCode:
    """Verify, and print the findings. A plan for other pool sizes, or another objective, is checked with those."""
    require_one_standard_input(problem.name, plan_file, proof)
    with refusing(problem.shown_name, as_json=as_json):
        asked = read_asked(problem)
    with refusing(shown_name(plan_file), as_json=as_json):
        data = read_bytes(plan_file)
        kind = answer_kind(data)
        if proof is not None and kind.name != USUAL:
            raise typer.BadParameter(f"it goes beside a plan alone, and this is a {kind.title}", param_hint="--proof")
        opened = kind.open(asked, data, beside(plan_file))
    with refusing(problem.shown_name, as_json=as_json, answer=shown_name(plan_file)):
        advice = advice_on(opened) if opened.findings else None
        verdict = Verdict(counted(*opened.checked), opened.findings, opened.notes, advice)
        if proof is not None:
            verdict = _with_proof(verdict, opened, proof, as_json=as_json)
    with refusing(None, as_json=as_json):
        if prints_json(as_json=as_json):
            listed = [asdict(finding) for finding in verdict.findings]
            told = [*([] if verdict.advice is None else [verdict.advice]), *verdict.notes]
            print_json({"valid": not listed, "findings": listed, "notes": told})
        else:
            show(verdict)
    return ExitCode.FINDINGS if verdict.findings else ExitCode.OK


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was checked, and the findings."""

    checked: str
    findings: Sequence[AnswerFinding | SaidFinding]
    notes: Sequence[str]
    advice: str | None
    """Which options to repeat."""


def _with_proof(verdict: Verdict, opened: Opened, proof: str, *, as_json: bool) -> Verdict:
    from planner.verifying.proofs.claims import check_plan_proof

    assert isinstance(opened, OpenedPlan)
    problem, plan = opened.asked.problem, opened.plan
    with refusing(shown_name(proof), as_json=as_json), open_input(proof) as stream:
        shown = check_plan_proof(problem, plan, stream)
    believed = notes(plan, lambda certificate: shown.confirms(problem, plan, certificate))
    return Verdict(
        verdict.checked, (*verdict.findings, *shown.findings), (*shown.notes(problem), *believed), verdict.advice
    )


def show(verdict: Verdict) -> None:
    """Print the verdict for a terminal."""
    from rich.text import Text

    from ...terminal.tables.columns import IN_JSON, more
    from ...terminal.tables.consoles import console_on, plain, word

    console = console_on()
    findings = verdict.findings
    if not findings:
        console.print(Text.assemble(word("valid"), f"   {verdict.checked} checked, nothing wrong"))
        for note in verdict.notes:
            console.print(Text.assemble("  note: ", plain(note)))
        return
    console.print(Text.assemble(word("not valid"), f"   {counted(len(findings), 'finding')}"))
    for finding in findings[:MAX_FINDINGS]:
        kind = str(finding.kind).replace("_", " ")
        console.print(Text.assemble("  ", Text(kind, style="bold"), ": ", plain(finding.message)))
    if rest := more(len(findings), MAX_FINDINGS, IN_JSON):
        console.print(f"  {rest}")
    if verdict.advice is not None:
        console.print(Text.assemble("  note: ", plain(verdict.advice)))
