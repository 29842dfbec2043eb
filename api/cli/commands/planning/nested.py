"""`memplan plan --arenas nested`: plans a program function by function, for comparison with one arena."""

from __future__ import annotations

from dataclasses import replace

from planner.formats import read_model, read_problem
from planner.formats.answers.nested import write_nested_json
from planner.formats.tables.endings import JSON_ENDINGS, require_ending
from planner.graph import nested_plan
from planner.model.deadline import time_limit
from planner.model.errors import BadInput
from planner.model.problem import Problem
from planner.planning.options.capacity import with_capacity
from planner.planning.options.options import Options
from planner.planning.placing.shared_limits import SharedLimits

from ...exit_codes import ExitCode
from ...terminal.interrupt import Interrupt
from ...terminal.reading import read_bytes, shown_name
from ...terminal.refusals import refusing
from ...terminal.standard_output import print_document, say_written
from ...terminal.text import say_warnings
from .plan import EXIT_CODES, Request, checked_output, say_what_is_wrong


def run(request: Request, options: Options) -> ExitCode:
    """Plan each function within its share of the limits, deliver all plans in one document, and return the exit code."""
    with refusing(shown_name(request.file), as_json=request.as_json):
        require_ending(request.target or "", JSON_ENDINGS)
        output = checked_output(request)
        data = read_bytes(request.file)
        with time_limit(options.time_limit, request.begun):
            file, warnings = read_model(data, name=request.file, format=request.input_format)
        pools = with_capacity(Problem((), file.pools), options.capacity).pools if options.capacity else file.pools
        with Interrupt() as interrupt:
            count = len(file.program.functions) + 1  # an arena for each, and that of state
            limits = SharedLimits(replace(options, capacity=None), count, request.begun, interrupt.requested)
            with time_limit(options.time_limit, request.begun):
                try:
                    made = nested_plan(file.program, pools, file.options, limits.plan)
                except BadInput:
                    read_problem(data, name=request.file, format=request.input_format)  # says where in the file it is
                    raise
        written = write_nested_json(made, warnings)
        if output is not None:
            output.write(written)
        if request.prints_json:
            print_document(written)
        if not (request.as_json or request.quiet):
            say_warnings(warnings)
        if request.prints_tables:
            from ...terminal.tables.plan import print_nested

            print_nested(made)
            say_written(request.target)
        worst = made.worst
    if interrupt.requested():
        return ExitCode.INTERRUPTED
    if worst is None:
        return ExitCode.OK
    if made.peaks is None and not request.as_json:
        say_what_is_wrong(worst, quiet=request.quiet)
    return EXIT_CODES[worst.status]
