"""`memplan write`: an existing plan in the form for compilers, linkers and runtimes."""

from __future__ import annotations

from collections.abc import Mapping

from planner.formats import read_plan, read_problem
from planner.formats.tables.plans import plan_format
from planner.planning.options.capacity import planned_problem
from planner.planning.options.preference import Preference, Stability
from planner.verifying.verify import verify

from ...exit_codes import ExitCode
from ...terminal.output_file import STANDARD_OUTPUT, OutputFile
from ...terminal.reading import read_baseline, read_bytes, require_one_standard_input, shown_name
from ...terminal.refusals import refusing
from ...terminal.standard_output import write_out
from ...terminal.text import say, visible


def run(
    problem_file: str,
    plan_file: str,
    out: str,
    output_format: str | None,
    *,
    capacity: int | Mapping[str, int] | None,
    prefer: Preference | None,
    stability: Stability | None,
    baseline: str | None,
    input_format: str | None,
) -> ExitCode:
    """Read both, verify, write. A wrong plan is not written."""
    require_one_standard_input(problem_file, plan_file)
    with refusing(shown_name(problem_file), as_json=False):
        row = plan_format(output_format, out)
        output = OutputFile(out)
        if out != STANDARD_OUTPUT:
            output.check(problem_file, plan_file)
        data = read_bytes(problem_file)
        problem, _warnings = read_problem(data, name=problem_file, format=input_format or row.read_as)
        problem = planned_problem(problem, capacity, prefer, stability, read_baseline(baseline))
    with refusing(shown_name(plan_file), as_json=False):
        plan = read_plan(read_bytes(plan_file))
        findings = verify(problem, plan)
        for finding in findings:
            say(f"error: {visible(finding.message)} [{finding.kind}]")
        if findings:
            return ExitCode.FINDINGS
        written = row.write(problem, plan, data)
        if out == STANDARD_OUTPUT:
            write_out(written)
        else:
            output.write(written)
    return ExitCode.OK
