"""`memplan verify`: is this plan a plan of this problem, and are its claims possible?"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import typer

from planner.capacity import with_capacity
from planner.errors import MAX_FINDINGS
from planner.findings import VerifyFinding
from planner.formats import read_plan, read_problem
from planner.plan import Plan
from planner.proven import notes
from planner.verify import verify

from .exit_codes import ExitCode
from .json_output import print_json
from .reading import STANDARD_INPUT, read_bytes, shown_name
from .refusals import refusing
from .sizes import grouped
from .terminal import is_terminal


def run(
    problem_file: str,
    plan_file: str,
    capacity: int | Mapping[str, int] | None,
    *,
    as_json: bool,
    input_format: str | None,
) -> ExitCode:
    """Verify, and print what was found. A plan that was made for other pool sizes is checked with those."""
    if problem_file == plan_file == STANDARD_INPUT:
        raise typer.BadParameter("only one of the two files can be the standard input", param_hint="PLAN")
    with refusing(shown_name(problem_file), as_json=as_json):
        problem, _warnings = read_problem(read_bytes(problem_file), name=problem_file, format=input_format)
        problem = with_capacity(problem, capacity)
    with refusing(shown_name(plan_file), as_json=as_json):
        plan = read_plan(read_bytes(plan_file))
    with refusing(None, as_json=as_json):
        findings = verify(problem, plan)
        if as_json or not is_terminal(sys.stdout):
            listed = [asdict(finding) for finding in findings]
            print_json({"valid": not findings, "findings": listed, "notes": list(notes(plan))})
        else:
            show(plan, findings)
    return ExitCode.FINDINGS if findings else ExitCode.OK


def show(plan: Plan, findings: Sequence[VerifyFinding]) -> None:
    """For a terminal."""
    from rich.text import Text

    from .consoles import console_on, plain, word

    console = console_on()
    if not findings:
        count = len(plan.placements)
        checked = f"{grouped(count)} placement{'' if count == 1 else 's'} checked, nothing wrong"
        console.print(Text.assemble(word("valid"), "   ", checked))
        for note in notes(plan):
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
