"""`memplan report`: what a plan does with each memory, when most is in use, and which buffers would have to shrink."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import StrEnum
from functools import partial

import typer

from planner.formats.answers.opened import Opened, OpenedFrontier, OpenedNested, OpenedPlan, OpenedSharing
from planner.formats.tables.answers import answer_kind
from planner.model.plan import Plan
from planner.model.problem import Problem, measures_bytes
from planner.planning.sharing import Sharing
from planner.reporting.report import memory_report

from ...exit_codes import ExitCode
from ...terminal.reading import PlannedFile, beside, read_asked, read_bytes, require_one_standard_input, shown_name
from ...terminal.refusals import refusing
from ...terminal.repeating import advice_on
from ...terminal.standard_output import print_document, prints_json, write_out
from ...terminal.text import counted_wrong, is_terminal, say, visible


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
    problem: PlannedFile,
    plan_file: str,
    shown: View,
    *,
    as_json: bool,
) -> ExitCode:
    """Read both, check that they belong together, and show the report. A wrong plan gets none: its figures would be wrong too."""
    require_one_standard_input(problem.name, plan_file)
    with refusing(problem.shown_name, as_json=as_json):
        asked = read_asked(problem)
    with refusing(shown_name(plan_file), as_json=as_json):
        data = read_bytes(plan_file)
        kind = answer_kind(data)
        opened = kind.open(asked, data, beside(plan_file))
    _require_view(opened, shown)
    with refusing(problem.shown_name, as_json=as_json, answer=shown_name(plan_file)):
        findings = opened.findings
    if findings:
        wrong = f"{counted_wrong(len(findings))} with it"
        say(f"error: {visible(plan_file)}: is no {kind.title} of this problem: {wrong}; 'memplan verify' lists them")
        say(f"  the first: {visible(findings[0].message)}")
        if (told := advice_on(opened)) is not None:
            say(f"  {visible(told)}")
        return ExitCode.FINDINGS
    with refusing(problem.shown_name, as_json=as_json, answer=shown_name(plan_file)):
        _show(opened, shown)
    return ExitCode.OK


def _require_view(opened: Opened, shown: View) -> None:
    if isinstance(opened, OpenedSharing) and shown is View.CADENCE:
        raise typer.BadParameter("its two tables are for plans with offsets, not for a sharing", param_hint="--report")
    if isinstance(opened, OpenedNested) and shown is View.CADENCE:
        raise typer.BadParameter(
            "its two tables are for one plan, not for the arenas of functions", param_hint="--report"
        )
    if isinstance(opened, OpenedFrontier) and shown in (View.CADENCE, View.CSV):
        text = "of a frontier there are its points on a terminal and JSON; of each point, by its own file, everything"
        raise typer.BadParameter(text, param_hint="--csv" if shown is View.CSV else "--report")


def _show(opened: Opened, shown: View) -> None:
    """Show the report of what was verified. Raises BadInput if there is none."""
    problem = opened.asked.problem
    if isinstance(opened, OpenedPlan) and shown is not View.JSON:
        show(problem, opened.plan, shown)
    elif isinstance(opened, OpenedSharing) and shown is not View.JSON:
        _show_sharing(problem, opened.sharing, shown)
    elif isinstance(opened, OpenedNested) and shown is not View.JSON:
        _show_nested(opened, shown)
    elif isinstance(opened, OpenedFrontier) and shown is not View.JSON:
        from ...terminal.tables.frontier import print_frontier

        print_frontier(opened.frontier, in_bytes=measures_bytes(problem))
    else:
        print_document(opened.report())


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


def _show_sharing(problem: Problem, sharing: Sharing, shown: View) -> None:
    from planner.planning.sharing.report import sharing_report

    report = sharing_report(problem, sharing)
    if shown is View.CSV:
        from planner.formats.answers.sharing.write_report import write_sharing_report_csv

        _print_csv(partial(write_sharing_report_csv, report))
    else:
        from ...terminal.tables.consoles import console_on
        from ...terminal.tables.sharing_report import print_sharing_report

        print_sharing_report(report, console_on())


def _show_nested(opened: OpenedNested, shown: View) -> None:
    if shown is View.CSV:
        from planner.formats.answers.write_report import write_nested_report_csv

        _print_csv(partial(write_nested_report_csv, opened.reports))
        return
    from ...terminal.tables.consoles import console_on
    from ...terminal.tables.report import print_nested

    print_nested(opened.answer.peak, opened.reports, console_on())


def _print_csv(write: Callable[[Callable[[str], str]], bytes]) -> None:
    """Write names unchanged, except on a terminal."""
    write_out(write(visible if is_terminal(sys.stdout) else str))
