"""`memplan pareto`: the frontier of memory and cost, a plan for each point, and the curve."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import planner
from planner.drawing import frontier_curve
from planner.formats import read_problem, write_frontier, write_plan
from planner.model.deadline import time_limit
from planner.model.plan import Frontier, Plan
from planner.model.problem import Problem, measures_bytes
from planner.planning.options.options import Options
from planner.planning.placing.solving import frontier_problem
from solvers.model.errors import StopReason

from ...exit_codes import ExitCode
from ...terminal.interrupt import Interrupt
from ...terminal.output_file import OutputFile, make_folder
from ...terminal.reading import read_bytes, shown_name
from ...terminal.refusals import refusing
from ...terminal.standard_output import STANDARD_OUTPUT, print_document, prints_json, say_written
from ...terminal.tables.frontier import point_text, print_frontier
from ...terminal.text import is_terminal, say, say_warnings, visible

INDEX = "frontier.json"
PICTURE = "frontier.svg"


class Request(NamedTuple):
    """What to read, where to write, and what to show."""

    file: str
    begun: float
    folder: str | None
    points: int | None
    as_json: bool
    quiet: bool
    input_format: str | None


def run(request: Request, options: Options) -> ExitCode:
    """Find the frontier, write it, show it, and return the exit code."""
    with refusing(shown_name(request.file), as_json=request.as_json):
        data = read_bytes(request.file)
        with time_limit(options.time_limit, request.begun):
            problem, warnings = read_problem(data, name=request.file, format=request.input_format)
        say_warnings(warnings)
        frontier_problem(problem, options, request.points)  # before there is a folder
        folder = None if request.folder in (None, STANDARD_OUTPUT) else _folder(str(request.folder))
        in_bytes = measures_bytes(problem)
        with Interrupt() as interrupt:

            def on_plan(plan: Plan) -> None:
                if not request.quiet:
                    say(f"  found {point_text(plan, in_bytes=in_bytes)}")

            found = planner.pareto(
                problem, options, request.points, on_plan, cancelled=interrupt.requested, begun=request.begun
            )
            files = [
                f"point-{number:0{len(str(len(found.points)))}}.json" for number in range(1, len(found.points) + 1)
            ]
            if folder is not None:
                _write(folder, problem, found, files, warnings)
        if prints_json(request.folder, as_json=request.as_json):
            print_document(write_frontier(found, None if folder is None else files, warnings))
        elif not request.quiet and is_terminal(sys.stdout):
            print_frontier(found, in_bytes=in_bytes)
            say_written(request.folder)
        if found.is_infeasible:
            say("infeasible" if found.missing is None else f"infeasible: {visible(found.missing)}")
    return _exit_code(found)


def _folder(name: str) -> Path:
    """Return the folder, which is made if missing."""
    path = make_folder(name, "/options/out")
    OutputFile(str(path / INDEX)).check()
    return path


def _write(folder: Path, problem: Problem, found: Frontier, files: Sequence[str], warnings: Sequence[str]) -> None:
    for plan, file in zip(found.points, files, strict=True):
        OutputFile(str(folder / file)).write(write_plan(plan))
    if found.points:
        OutputFile(str(folder / PICTURE)).write(frontier_curve(problem, found))
    OutputFile(str(folder / INDEX)).write(write_frontier(found, files, warnings))


def _exit_code(found: Frontier) -> ExitCode:
    if found.stop is StopReason.CANCELLED:
        return ExitCode.INTERRUPTED
    if found.points:
        return ExitCode.OK
    return ExitCode.INFEASIBLE if found.is_infeasible else ExitCode.UNKNOWN
