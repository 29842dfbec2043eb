"""`memplan shapes`: plans a problem whose sizes depend on symbols, for all or some of their values."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from planner.formats import read_shaped
from planner.formats.answers.shapes_writer import write_shapes_plan
from planner.formats.tables.endings import JSON_ENDINGS, require_ending
from planner.model.deadline import finish, time_limit
from planner.planning.options.options import Options, bad_option
from planner.planning.shapes import Mode, ShapesPlan, c_source, parse_shape, plan_shapes, planned_shapes, require_right
from planner.planning.shapes.c_source import require_prefix

from ...exit_codes import ExitCode
from ...terminal.output_file import OutputFile
from ...terminal.picture_file import PictureFile
from ...terminal.reading import read_bytes, shown_name
from ...terminal.refusals import refusing
from ...terminal.standard_output import STANDARD_OUTPUT, print_document, prints_json, say_written
from ...terminal.text import is_terminal, say_warnings

DRAWN = "the option --plot draws what the plan takes"


class Request(NamedTuple):
    """What to read, where to write, and what to show."""

    file: str
    mode: str
    at: Sequence[str]
    out: str | None
    c: str | None
    prefix: str
    plot: str | None
    theme: str
    as_json: bool
    quiet: bool
    input_format: str | None = None

    @property
    def prints_json(self) -> bool:
        return prints_json(self.out, as_json=self.as_json, nothing_else=self.c != STANDARD_OUTPUT)


def run(request: Request, options: Options) -> ExitCode:
    """Plan, verify, deliver."""
    with refusing(shown_name(request.file), as_json=request.as_json):
        plot = _check_outputs(request)
        data, begun = read_bytes(request.file), time.monotonic()
        with time_limit(options.time_limit, begun):
            problem, warnings = read_shaped(data, name=request.file, format=request.input_format)
        say_warnings(warnings)
        shapes = [parse_shape(text) for text in request.at]
        with time_limit(options.time_limit, begun):
            found = plan_shapes(problem, Mode(request.mode), shapes, options, begun=begun)
            finish()
            require_right(planned_shapes(problem, options), found)
        say_warnings(found.notes)
        _write(request, found, plot, [buffer.id for buffer in problem.largest.buffers], problem.largest.name)
        if request.prints_json:
            print_document(write_shapes_plan(found))
        elif not request.quiet and is_terminal(sys.stdout) and request.c != STANDARD_OUTPUT:
            from ...terminal.tables.shapes import print_shapes

            print_shapes(found)
            say_written(request.out, request.c, request.plot)
    return ExitCode.OK


def _check_outputs(request: Request) -> PictureFile | None:
    """Check the file of the plot, if one was requested."""
    if request.out is not None:
        require_ending(request.out, JSON_ENDINGS, DRAWN)
    for name in (request.out, request.c):
        if name is not None and name != STANDARD_OUTPUT:
            OutputFile(name).check(request.file)
    if request.c is not None:
        if Mode(request.mode) is not Mode.EXPRESSIONS:
            raise bad_option("c", "C functions are for offsets that are expressions; the others are numbers")
        require_prefix(request.prefix, "prefix")
    return None if request.plot is None else PictureFile.checked(request.plot, "plot", request.file)


def _write(
    request: Request, found: ShapesPlan, plot: PictureFile | None, ids: list[int | str], name: str | None
) -> None:
    from ...terminal.standard_output import write_out

    if request.out is not None and request.out != STANDARD_OUTPUT:
        OutputFile(request.out).write(write_shapes_plan(found))
    if request.c is not None:
        source = c_source(found, ids, request.prefix)
        if request.c == STANDARD_OUTPUT:
            write_out(source)
        else:
            OutputFile(request.c).write(source)
    if plot is not None:
        from planner.drawing import Sheet, Theme, shapes_curve

        plot.write(shapes_curve(name, [found], plot.sheet(Sheet(theme=Theme(request.theme)))))
