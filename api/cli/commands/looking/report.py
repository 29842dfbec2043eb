"""`memplan report`: what a plan does with each memory, when most is in use, and which buffers would have to shrink."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import partial

import typer

from planner.formats import is_frontier, is_sharing, read_plan, read_sharing
from planner.model.plan import Frontier, Plan
from planner.model.problem import Problem, measures_bytes
from planner.planning.options.preference import Preference, Stability
from planner.planning.sharing import Sharing, verify_sharing
from planner.planning.sharing.findings import SharingFinding
from planner.reporting.report import memory_report
from planner.verifying.findings import VerifyFinding
from planner.verifying.frontier import verify_frontier
from planner.verifying.verify import verify

from ...exit_codes import ExitCode
from ...terminal.reading import (
    read_bytes,
    read_frontier_file,
    read_planned_problem,
    require_one_standard_input,
    shown_name,
)
from ...terminal.refusals import refusing
from ...terminal.repeating import advice
from ...terminal.standard_output import print_document, prints_json, write_out
from ...terminal.text import grouped, is_terminal, say, visible


class View(StrEnum):
    """The ways to show a report."""

    FULL = "full"
    """Everything, as tables."""
    CADENCE = "cadence"
    """The two tables of ExecuTorch's Cadence back end."""
    JSON = "json"
    CSV = "csv"


def view(tables: str | None, *, as_json: bool, as_csv: bool) -> View:
    """Return the requested view; by default tables on a terminal and JSON elsewhere."""
    if as_csv and (as_json or tables):
        raise typer.BadParameter("cannot be combined with --json or --report", param_hint="--csv")
    if as_json and tables:
        raise typer.BadParameter("cannot be combined with --json", param_hint="--report")
    if as_csv:
        return View.CSV
    if tables:
        return View(tables)
    return View.JSON if prints_json(as_json=as_json) else View.FULL


def run(
    problem_file: str,
    plan_file: str,
    shown: View,
    *,
    capacity: int | Mapping[str, int] | None,
    prefer: Preference | None,
    stability: Stability | None,
    baseline: str | None,
    as_json: bool,
    input_format: str | None,
) -> ExitCode:
    """Read both, check that they belong together, and show the report. A wrong plan gets none: its figures would be wrong too."""
    require_one_standard_input(problem_file, plan_file)
    with refusing(shown_name(problem_file), as_json=as_json):
        problem = read_planned_problem(problem_file, input_format, capacity, prefer, stability, baseline)
    with refusing(shown_name(plan_file), as_json=as_json):
        answer = _answer(plan_file, read_bytes(plan_file))
    if isinstance(answer, Sharing) and shown is View.CADENCE:
        raise typer.BadParameter("its two tables are for plans with offsets, not for a sharing", param_hint="--report")
    if isinstance(answer, Frontier) and shown in (View.CADENCE, View.CSV):
        text = "of a frontier there are its points on a terminal and JSON; of each point, by its own file, everything"
        raise typer.BadParameter(text, param_hint="--csv" if shown is View.CSV else "--report")
    with refusing(None, as_json=as_json):
        findings = _findings(problem, answer)
    if findings:
        count = f"{grouped(len(findings))} thing{' is' if len(findings) == 1 else 's are'} wrong with it"
        what = "sharing" if isinstance(answer, Sharing) else "frontier" if isinstance(answer, Frontier) else "plan"
        say(f"error: {visible(plan_file)}: is no {what} of this problem: {count}; 'memplan verify' lists them")
        say(f"  the first: {visible(findings[0].message)}")
        told = advice(problem, answer) if isinstance(answer, Plan) else None
        if told is not None:
            say(f"  {visible(told)}")
        return ExitCode.FINDINGS
    if isinstance(answer, Sharing):
        show_sharing(problem, answer, shown)
    elif isinstance(answer, Frontier):
        show_frontier(problem, answer, shown)
    else:
        show(problem, answer, shown)
    return ExitCode.OK


def _answer(file: str, data: bytes) -> Plan | Sharing | Frontier:
    if is_frontier(data):
        return read_frontier_file(file, data)
    return read_sharing(data) if is_sharing(data) else read_plan(data)


def _findings(problem: Problem, answer: Plan | Sharing | Frontier) -> Sequence[VerifyFinding | SharingFinding]:
    if isinstance(answer, Frontier):
        return verify_frontier(problem, answer)
    return verify_sharing(problem, answer) if isinstance(answer, Sharing) else verify(problem, answer)


def show_frontier(problem: Problem, found: Frontier, shown: View) -> None:
    """Print the points of a verified frontier; in JSON each with its report."""
    if shown is View.JSON:
        from planner.formats.answers.write_report import write_frontier_report

        print_document(write_frontier_report(found, [memory_report(problem, plan) for plan in found.points]))
    else:
        from ...terminal.tables.frontier import print_frontier

        print_frontier(found, in_bytes=measures_bytes(problem))


def show(problem: Problem, plan: Plan, shown: View) -> None:
    """Print the report of a verified plan."""
    report = memory_report(problem, plan)
    match shown:
        case View.JSON:
            from planner.formats.answers.write_report import write_report_json

            print_document(write_report_json(report))
        case View.CSV:
            from planner.formats.answers.write_report import write_report_csv

            _print_csv(partial(write_report_csv, report))
        case View.FULL | View.CADENCE:
            from ...terminal.tables.consoles import console_on
            from ...terminal.tables.plan import terms
            from ...terminal.tables.report import print_cadence, print_full

            if shown is View.CADENCE:
                print_cadence(report, console_on())
            else:
                print_full(report, console_on(), terms(problem, plan))


def show_sharing(problem: Problem, sharing: Sharing, shown: View) -> None:
    """Print the report of a verified sharing."""
    from planner.planning.sharing.report import sharing_report

    report = sharing_report(problem, sharing)
    if shown is View.JSON:
        from planner.formats.answers.sharing.write_report import write_sharing_report_json

        print_document(write_sharing_report_json(report))
    elif shown is View.CSV:
        from planner.formats.answers.sharing.write_report import write_sharing_report_csv

        _print_csv(partial(write_sharing_report_csv, report))
    else:
        from ...terminal.tables.consoles import console_on
        from ...terminal.tables.sharing_report import print_sharing_report

        print_sharing_report(report, console_on())


def _print_csv(write: Callable[[Callable[[str], str]], bytes]) -> None:
    """Write names unchanged, except on a terminal."""
    if is_terminal(sys.stdout):
        write_out(write(visible).decode("utf-8").encode(sys.stdout.encoding or "utf-8", "backslashreplace"))
    else:
        write_out(write(str))
