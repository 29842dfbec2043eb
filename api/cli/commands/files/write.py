"""`memplan write`: an existing plan in the form for compilers, linkers and runtimes; any other answer as a table."""

from __future__ import annotations

from planner.formats.tables.answers import answer_kind, write_answer
from planner.formats.tables.plans import plan_format

from ...exit_codes import ExitCode
from ...terminal.output_file import OutputFile
from ...terminal.reading import PlannedFile, beside, read_asked, read_bytes, require_one_standard_input, shown_name
from ...terminal.refusals import refusing
from ...terminal.repeating import advice_on
from ...terminal.standard_output import STANDARD_OUTPUT, say_written, write_out
from ...terminal.text import say, visible


def run(
    problem: PlannedFile,
    plan_file: str,
    out: str,
    output_format: str | None,
) -> ExitCode:
    """Read both, verify, write. A wrong plan is not written."""
    require_one_standard_input(problem.name, plan_file)
    with refusing(problem.shown_name, as_json=False):
        row = plan_format(output_format, out)
        output = OutputFile(out)
        if out != STANDARD_OUTPUT:
            output.check(problem.name, plan_file)
        asked = read_asked(problem, row)
    with refusing(shown_name(plan_file), as_json=False):
        data = read_bytes(plan_file)
        opened = answer_kind(data).open(asked, data, beside(plan_file))
    with refusing(problem.shown_name, as_json=False, answer=shown_name(plan_file)):
        for finding in opened.findings:
            say(f"error: {visible(finding.message)} [{finding.kind}]")
        if opened.findings:
            if (told := advice_on(opened, row)) is not None:
                say(f"  {visible(told)}")
            return ExitCode.FINDINGS
        written = write_answer(row, opened)
        if out == STANDARD_OUTPUT:
            write_out(written)
        else:
            output.write(written)
            say_written(out)
    return ExitCode.OK
