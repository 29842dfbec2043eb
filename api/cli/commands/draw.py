"""`memplan draw`: a plan as a picture, its memory map or how it was found."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from planner.drawing import Sheet, convergence, memory_map, svg
from planner.formats import read_plan
from planner.options.options import bad_option
from planner.options.preference import Preference
from planner.verifying.verify import verify

from ..exit_codes import ExitCode
from ..terminal.output_file import STANDARD_OUTPUT, OutputFile
from ..terminal.reading import read_bytes, read_planned_problem, require_one_standard_input, shown_name
from ..terminal.refusals import refusing
from ..terminal.sizes import grouped
from ..terminal.standard_output import write_out
from ..terminal.text import say, visible


def run(
    problem_file: str,
    plan_file: str,
    out: str,
    *,
    what: str,
    sheet: Sheet,
    capacity: int | Mapping[str, int] | None,
    prefer: Preference | None,
    input_format: str | None,
) -> ExitCode:
    """Read both, draw, and say what is wrong with the plan if something is: to see that, one may want to look at it."""
    require_one_standard_input(problem_file, plan_file)
    output = OutputFile(out)
    with refusing(shown_name(problem_file), as_json=False):
        if out != STANDARD_OUTPUT:
            output.check(problem_file, plan_file)
            if PurePath(out).suffix.lower() != ".svg":
                raise bad_option("out", "the file must end in .svg: pictures are drawn as SVG")
        problem = read_planned_problem(problem_file, input_format, capacity, prefer)
    with refusing(shown_name(plan_file), as_json=False):
        plan = read_plan(read_bytes(plan_file))
        findings = verify(problem, plan)
        if what == "convergence":
            picture = convergence(problem, plan, sheet)
        else:
            picture = svg(memory_map(problem, plan, findings), sheet)
        if out == STANDARD_OUTPUT:
            write_out(picture)
        else:
            output.write(picture)
    if findings:
        count = f"{grouped(len(findings))} thing{' is' if len(findings) == 1 else 's are'} wrong with it{', and marked' * (what == 'map')}"
        say(
            f"error: {visible(plan_file)}: is no plan of this problem: {count}; the first: {visible(findings[0].message)}"
        )
    return ExitCode.FINDINGS if findings else ExitCode.OK
