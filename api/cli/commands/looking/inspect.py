"""`memplan inspect`: the contents of a file: operators, tensors, their need in the file's own order, and what is in use at the peak."""

from __future__ import annotations

import sys
from typing import NamedTuple

import typer

import planner
from planner.drawing import Sheet, profile
from planner.formats import is_frontier, write_frontier
from planner.formats.answers.write_report import write_inspection
from planner.formats.documents import Source
from planner.formats.tables.problems import chosen
from planner.planning.options.capacity import planned_problem
from planner.planning.options.options import Options
from planner.reporting.report import memory_report

from ...exit_codes import ExitCode
from ...terminal.output_file import STANDARD_OUTPUT
from ...terminal.picture_file import PictureFile
from ...terminal.reading import read_bytes, read_frontier_file, shown_name
from ...terminal.refusals import refusing
from ...terminal.standard_output import print_document, write_out
from ...terminal.text import is_terminal, say_warnings


class Request(NamedTuple):
    """What to read and to show."""

    file: str
    plot: str | None
    sheet: Sheet
    as_json: bool
    tables: bool
    input_format: str | None


def run(request: Request, options: Options) -> ExitCode:
    """Read the file, plan it for the figures, and show them. A frontier is shown as it is."""
    with refusing(shown_name(request.file), as_json=request.as_json):
        picture = None if request.plot is None else PictureFile.checked(request.plot, "plot", request.file)
        source = Source(read_bytes(request.file), request.file)
        if is_frontier(source.data):
            return _frontier(request, source.data)
        row = chosen(source, request.input_format)
        problem, warnings = row.read(source)
        contents = row.contained(source)
        problem = planned_problem(problem, options.capacity, None)
        say_warnings(warnings)
        plan = planner.plan(problem, options)
        report = memory_report(problem, plan)
        if picture is not None:
            drawn = profile(problem, plan, picture.sheet(request.sheet))
            if request.plot == STANDARD_OUTPUT:
                write_out(drawn)
            else:
                picture.write(drawn)
    if request.plot == STANDARD_OUTPUT:
        return ExitCode.OK
    if request.as_json or not (request.tables or is_terminal(sys.stdout)):
        print_document(write_inspection(row.name, problem, contents, report))
    else:
        from ...terminal.tables.consoles import console_on
        from ...terminal.tables.inspection import print_inspection

        print_inspection(row.title, problem, contents, report, console_on())
    return ExitCode.OK


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
