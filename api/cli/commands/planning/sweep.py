"""`memplan sweep`: the result for each size of memory, and the smallest sufficient one."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import NamedTuple

from planner.formats import read_problem
from planner.formats.answers.plan_writer import PlanWriter
from planner.formats.answers.sweep import plan_file, write_sweep_files, write_sweep_json
from planner.formats.tables.endings import JSON_ENDINGS, require_ending
from planner.model.deadline import time_limit
from planner.model.plan import PlanStatus
from planner.planning.options.options import Options, bad_option
from planner.planning.placing.time_to_finish import seconds_to_write_sweep
from planner.planning.sweeping import Sweep, parse_ranges, sweep

from ...exit_codes import ExitCode
from ...terminal.interrupt import Interrupt
from ...terminal.output_file import OutputFile, make_folder
from ...terminal.picture_file import PictureFile
from ...terminal.reading import read_bytes, shown_name
from ...terminal.refusals import refusing
from ...terminal.standard_output import STANDARD_OUTPUT, print_document, prints_json, say_written
from ...terminal.text import is_terminal, say_warnings

DRAWN = "the option --plot draws it"
INDEX = "sweep.json"
"""The file in the folder of plans that names them."""
MOST_IN_NAME = 255
"""The most characters of a file's name."""


class Request(NamedTuple):
    """What to read, where to write, and what to show."""

    file: str
    capacities: Sequence[str]
    step: int
    out: str | None
    plot: str | None
    theme: str
    plans: str | None
    processes: int
    input_format: str | None
    as_json: bool
    quiet: bool


def run(request: Request, options: Options) -> ExitCode:
    """Sweep, deliver, and return the exit code: whether anything fits."""
    with refusing(shown_name(request.file), as_json=request.as_json):
        plot = _check_outputs(request)
        data, begun = read_bytes(request.file), time.monotonic()
        with time_limit(options.time_limit, begun):
            problem, warnings = read_problem(data, name=request.file, format=request.input_format)
        say_warnings(warnings)
        sizes = parse_ranges(request.capacities, problem, request.step)
        if request.plans is not None:
            _require_names(sizes)
        count = prod(map(len, sizes.values()))
        kept = 0.0 if request.plans is None else seconds_to_write_sweep(problem, count, in_files=True)
        with Interrupt() as interrupt:
            found = sweep(
                problem,
                sizes,
                options,
                processes=request.processes,
                cancelled=interrupt.requested,
                begun=begun,
                kept=kept,
            )
            _write(request, found, plot)
            if prints_json(request.out, as_json=request.as_json):
                print_document(write_sweep_json(found))
            elif not request.quiet and is_terminal(sys.stdout):
                from ...terminal.tables.sweep import print_sweep

                print_sweep(found)
                say_written(request.out, request.plot, request.plans)
            interrupted = interrupt.requested()
    if interrupted:
        return ExitCode.INTERRUPTED
    if any(point.status.has_plan for point in found.points):
        return ExitCode.OK
    hopeless = all(point.status is PlanStatus.INFEASIBLE for point in found.points)
    return ExitCode.INFEASIBLE if hopeless else ExitCode.UNKNOWN


def _check_outputs(request: Request) -> PictureFile | None:
    """Check the file of the plot, if one was requested."""
    if request.out is not None and request.out != STANDARD_OUTPUT:
        require_ending(request.out, JSON_ENDINGS, DRAWN)
        OutputFile(request.out).check(request.file)
    if request.plans is not None:
        make_folder(request.plans, "/options/plans")
    return None if request.plot is None else PictureFile.checked(request.plot, "plot", request.file)


def _require_names(sizes: Mapping[str, Sequence[int]]) -> None:
    """Raise BadInput if the files of plans would have longer names than files can have."""
    longest = len(plan_file({name: max(each) for name, each in sizes.items()}))
    if longest > MOST_IN_NAME:
        raise bad_option(
            "plans",
            f"files of plans are named by all sizes, and these names would have up to {longest} characters, where {MOST_IN_NAME} are the most; "
            f"give the sizes that stay the same in the problem, and only the others as capacities",
        )


def _write(request: Request, found: Sweep, plot: PictureFile | None) -> None:
    if request.out is not None and request.out != STANDARD_OUTPUT:
        OutputFile(request.out).write(write_sweep_json(found))
    if plot is not None:
        from planner.drawing import Sheet, Theme, sweep_curve

        plot.write(sweep_curve(found, plot.sheet(Sheet(theme=Theme(request.theme)))))
    if request.plans is not None:
        (index, files), writer = write_sweep_files(found), PlanWriter()
        for name, plan in files.items():
            OutputFile(str(Path(request.plans) / name)).write(writer.write(plan))
        OutputFile(str(Path(request.plans) / INDEX)).write(index)
