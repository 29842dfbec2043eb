"""`memplan inspect`: the contents of a file: operators, tensors, their need in the file's own order, and what is in use at the peak."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import typer

import planner
from planner.drawing import Sheet, profile
from planner.formats import is_frontier, write_frontier
from planner.formats.answers.write_report import write_inspection
from planner.formats.documents import Source
from planner.formats.tables.endings import require_ending
from planner.formats.tables.plans import PLAN_FORMATS, USUAL
from planner.formats.tables.problems import chosen
from planner.model.deadline import time_limit
from planner.model.plan import Plan
from planner.model.problem import Problem
from planner.planning.options.capacity import planned_problem
from planner.planning.options.options import Options
from planner.planning.placing.time_to_finish import MICROSECONDS_REPORTED, seconds_to_finish
from planner.reporting.report import memory_report
from planner.verifying.findings import VerifyFinding

from ...exit_codes import ExitCode
from ...terminal.output_file import OutputFile
from ...terminal.picture_file import PictureFile
from ...terminal.reading import read_bytes, read_frontier_file, shown_name
from ...terminal.refusals import refusing
from ...terminal.standard_output import STANDARD_OUTPUT, print_document, say_written, write_out
from ...terminal.text import counted_wrong, is_terminal, say, say_warnings, visible


class Request(NamedTuple):
    """What to read and to show."""

    file: str
    plot: str | None
    own_plan: str | None
    """The file for the plan of the file's own places."""
    sheet: Sheet
    as_json: bool
    tables: bool
    input_format: str | None


def run(request: Request, options: Options) -> ExitCode:
    """Read the file, plan it for the figures, and show them. A frontier is shown as it is."""
    wrong: Sequence[VerifyFinding] = ()
    with refusing(shown_name(request.file), as_json=request.as_json):
        own = None if request.own_plan is None else _plan_file(request.own_plan, request)
        picture = None if request.plot is None else PictureFile.checked(request.plot, "plot", request.file)
        source = Source(read_bytes(request.file), request.file)
        begun = time.monotonic()  # waiting for somebody to write the input does not count
        if is_frontier(source.data):
            return _frontier(request, source.data)
        with time_limit(options.time_limit, begun):
            row = chosen(source, request.input_format)
            problem, warnings = row.read(source)
            contents = row.contained(source)
            problem = planned_problem(problem, options.capacity, None)
            say_warnings(warnings)
            plan = planner.plan(problem, _leaving_time(problem, options, request), begun=begun)
            report = memory_report(problem, plan)
            if own is not None:
                wrong = _write_own(problem, plan, own)
            if picture is not None:
                drawn = profile(problem, plan, picture.sheet(request.sheet))
                if request.plot == STANDARD_OUTPUT:
                    write_out(drawn)
                else:
                    picture.write(drawn)
    code = ExitCode.FINDINGS if wrong else ExitCode.OK
    if STANDARD_OUTPUT in (request.plot, request.own_plan):
        return code
    if request.as_json or not (request.tables or is_terminal(sys.stdout)):
        print_document(write_inspection(row.name, problem, contents, report, plan.choice))
    else:
        from ...terminal.tables.consoles import console_on
        from ...terminal.tables.inspection import print_inspection

        print_inspection(row.title, problem, contents, report, plan.choice, console_on())
        say_written(request.plot, request.own_plan)
    return code


def _leaving_time(problem: Problem, options: Options, request: Request) -> Options:
    """Return the options with the time that planning has if what follows is to end within the limit, too."""
    if options.time_limit is None:
        return options
    reported = seconds_to_finish(problem, MICROSECONDS_REPORTED)
    drawn = 0.0 if request.plot is None else 1.5 * reported
    own = 0.0 if request.own_plan is None else seconds_to_finish(problem)
    return replace(options, time_limit=max(options.time_limit - reported - drawn - own, 0.0))


def _plan_file(name: str, request: Request) -> OutputFile:
    """Return the file to write a plan to. Raises BadInput if that could not work."""
    require_ending(name, PLAN_FORMATS[USUAL].endings)
    file = OutputFile(name)
    if name != STANDARD_OUTPUT:
        file.check(request.file)
    return file


def _write_own(problem: Problem, best: Plan, file: OutputFile) -> Sequence[VerifyFinding]:
    """Write the plan of the places in the file, and return what is wrong with it. Raises BadInput if there is none."""
    found, wrong = planner.own_plan(problem, best=best)
    data = planner.write_plan(found)
    if file.name == STANDARD_OUTPUT:
        write_out(data)
    else:
        file.write(data)
    if wrong:
        say(
            f"error: the plan in the file breaks rules of its problem: {counted_wrong(len(wrong))}; the first: {visible(wrong[0].message)}"
        )
    return wrong


def _frontier(request: Request, data: bytes) -> ExitCode:
    """Show its points; in JSON also their plans. Without the problem, nothing tells that they are right, or in bytes."""
    found = read_frontier_file(request.file, data)
    if request.plot is not None:
        text = "cannot be drawn without the problem; 'memplan pareto -o FOLDER' draws the curve of a frontier"
        raise typer.BadParameter(text, param_hint="--plot")
    if request.as_json or not (request.tables or is_terminal(sys.stdout)):
        print_document(write_frontier(found))
    else:
        from ...terminal.tables.frontier import print_frontier

        print_frontier(found, in_bytes=False)
    return ExitCode.OK
