"""`memplan verify`: checks that a plan is one of this problem, and that its claims hold; also all plans of a frontier or a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import typer

from planner.formats import (
    is_frontier,
    is_shapes_plan,
    is_sharing,
    is_sweep,
    read_plan,
    read_problem,
    read_shaped,
    read_shapes_plan,
    read_sharing,
)
from planner.model.errors import MAX_FINDINGS
from planner.model.problem import Problem
from planner.planning.options.capacity import planned_problem
from planner.planning.options.preference import Preference, Stability
from planner.planning.shapes import ShapedProblem
from planner.planning.sharing import verify_sharing
from planner.planning.sharing.findings import SharingFinding
from planner.verifying.arguments.bounds import notes
from planner.verifying.findings import VerifyFinding
from planner.verifying.frontier import verify_frontier
from planner.verifying.verify import verify

from ...exit_codes import ExitCode
from ...terminal.reading import (
    open_input,
    read_baseline,
    read_bytes,
    read_frontier_file,
    read_sweep_file,
    require_one_standard_input,
    shown_name,
)
from ...terminal.refusals import refusing
from ...terminal.standard_output import print_json, prints_json
from ...terminal.text import grouped


def run(
    problem_file: str,
    plan_file: str,
    *,
    capacity: int | Mapping[str, int] | None,
    prefer: Preference | None,
    stability: Stability | None,
    baseline: str | None,
    proof: str | None,
    as_json: bool,
    input_format: str | None,
) -> ExitCode:
    """Verify, and print the findings. A plan for other pool sizes, or another objective, is checked with those."""
    require_one_standard_input(problem_file, plan_file, proof)
    with refusing(shown_name(problem_file), as_json=as_json):
        given = read_bytes(problem_file)
        problem, _warnings = read_problem(given, name=problem_file, format=input_format)
        problem = planned_problem(problem, capacity, prefer, stability, read_baseline(baseline))
    with refusing(shown_name(plan_file), as_json=as_json):
        data = read_bytes(plan_file)
        others = (is_shapes_plan, is_sharing, is_frontier, is_sweep)
        if proof is not None and any(is_one(data) for is_one in others):
            text = "there are proofs of plans, not of sharings, shapes, frontiers or sweeps"
            raise typer.BadParameter(text, param_hint="--proof")
        if is_frontier(data):
            verdict = _frontier(problem, plan_file, data)
        elif is_shapes_plan(data):
            verdict = _shapes(read_shaped(given, name=problem_file, format=input_format)[0], problem, data)
        elif is_sharing(data):
            verdict = _sharing(problem, data)
        elif is_sweep(data):
            verdict = _sweep(problem, plan_file, data)
        else:
            verdict = _plan(problem, data, proof, as_json=as_json)
    with refusing(None, as_json=as_json):
        if prints_json(as_json=as_json):
            listed = [asdict(finding) for finding in verdict.findings]
            print_json({"valid": not listed, "findings": listed, "notes": list(verdict.notes)})
        else:
            show(verdict)
    return ExitCode.FINDINGS if verdict.findings else ExitCode.OK


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was checked, and the findings."""

    checked: str
    findings: Sequence[VerifyFinding | SharingFinding | SaidFinding]
    notes: Sequence[str]


def _plan(problem: Problem, data: bytes, proof: str | None, *, as_json: bool) -> Verdict:
    plan = read_plan(data)
    findings = verify(problem, plan)
    checked = _counted(len(plan.placements), "placement")
    if proof is None:
        return Verdict(checked, findings, notes(plan))
    from planner.verifying.proofs.claims import check_plan_proof

    with refusing(shown_name(proof), as_json=as_json), open_input(proof) as stream:
        shown = check_plan_proof(problem, plan, stream)
    believed = notes(plan, lambda certificate: shown.confirms(problem, plan, certificate))
    return Verdict(checked, (*findings, *shown.findings), (*shown.notes(problem), *believed))


def _frontier(problem: Problem, file: str, data: bytes) -> Verdict:
    found = read_frontier_file(file, data)
    remarks = dict.fromkeys(note for plan in found.points for note in notes(plan))
    return Verdict(_counted(len(found.points), "plan"), verify_frontier(problem, found), tuple(remarks))


def _sharing(problem: Problem, data: bytes) -> Verdict:
    from planner.planning.sharing.bounds import notes as notes_on_sharing

    sharing = read_sharing(data)
    findings = verify_sharing(problem, sharing)
    return Verdict(_counted(len(sharing.assignments), "assignment"), findings, notes_on_sharing(sharing))


def _sweep(problem: Problem, file: str, data: bytes) -> Verdict:
    from planner.planning.sweeping import verify_sweep

    found = replace(read_sweep_file(file, data), peak_price=problem.peak_price)
    plans = [point.plan for point in found.points] + [None if found.smallest is None else found.smallest.plan]
    remarks = dict.fromkeys(note for plan in plans if plan is not None for note in notes(plan))
    findings = [SaidFinding("sweep", text) for text in verify_sweep(problem, found)]
    return Verdict(_counted(len(found.points), "configuration"), findings, tuple(remarks))


@dataclass(frozen=True, slots=True)
class SaidFinding:
    """A fault of a plan for all shapes, or of a sweep."""

    kind: str
    message: str


def _shapes(shaped: ShapedProblem, problem: Problem, data: bytes) -> Verdict:
    from planner.planning.shapes import verify_shapes

    shaped = replace(shaped, largest=problem)
    found = read_shapes_plan(data)
    findings = [SaidFinding("shapes", text) for text in verify_shapes(shaped, found)]
    return Verdict(_counted(len(shaped.sizes), "buffer"), findings, ())


def _counted(count: int, what: str) -> str:
    return f"{grouped(count)} {what}{'' if count == 1 else 's'}"


def show(verdict: Verdict) -> None:
    """Print the verdict for a terminal."""
    from rich.text import Text

    from ...terminal.tables.consoles import console_on, plain, word

    console = console_on()
    findings = verdict.findings
    if not findings:
        console.print(Text.assemble(word("valid"), f"   {verdict.checked} checked, nothing wrong"))
        for note in verdict.notes:
            console.print(Text.assemble("  note: ", plain(note)))
        return
    console.print(
        Text.assemble(word("not valid"), f"   {grouped(len(findings))} finding{'' if len(findings) == 1 else 's'}")
    )
    for finding in findings[:MAX_FINDINGS]:
        kind = str(finding.kind).replace("_", " ")
        console.print(Text.assemble("  ", Text(kind, style="bold"), ": ", plain(finding.message)))
    if len(findings) > MAX_FINDINGS:
        console.print(f"  and {grouped(len(findings) - MAX_FINDINGS)} more; --json lists all")
