"""`memplan convert`: from any format that can be read to any that can be written; programs only from programs."""

from __future__ import annotations

from planner.checks.report import bad_input, quoted
from planner.formats import read_model, read_problem
from planner.formats.tables.endings import of_ending
from planner.formats.tables.format import Format
from planner.formats.tables.problems import USUAL, converted_to
from planner.model.errors import BadInput, Code
from planner.model.problem import Problem
from planner.planning.options.options import bad_option
from planner.reporting.lost import lost

from ...terminal.output_file import OutputFile
from ...terminal.reading import read_bytes, shown_name
from ...terminal.refusals import refusing
from ...terminal.standard_output import STANDARD_OUTPUT, say_written, write_out
from ...terminal.text import say_warnings


def run(file: str, out: str, to: str | None, *, input_format: str | None) -> None:
    """Read, write, pass warnings on, and say what was not written."""
    with refusing(shown_name(file), as_json=False):
        row = target(out, to)
        output = OutputFile(out)
        if out != STANDARD_OUTPUT:
            output.check(file)
        read = read_bytes(file)
        program = None
        if row.program_writer is not None:
            program, _warnings = read_model(read, name=file, format=input_format)
        problem, warnings = read_problem(read, name=file, format=input_format)
        say_warnings(warnings)
        data = row.write(problem) if program is None else row.write_program(program)
        if row.name != USUAL:
            missing = lost(problem, _read_again(row, data))
            say_warnings([f"{row.name} does not say all: {', '.join(missing)}"] if missing else [])
        if out == STANDARD_OUTPUT:
            write_out(data)
        else:
            output.write(data)
            say_written(out)


def _read_again(row: Format, data: bytes) -> Problem:
    """Return the problem as it was written. Raises BadInput if nobody could read it."""
    try:
        return read_problem(data, format=row.name)[0]
    except BadInput as error:
        text = f"{row.name} cannot express this problem: read again, {error.findings[0].message}"
        raise bad_input(Code.UNSUPPORTED, (), text) from None


def target(out: str, to: str | None) -> Format:
    """Return the format to write: the named one, or the one of the file's ending. Raises BadInput."""
    known = converted_to()
    if to is not None:
        if to not in known:
            raise bad_option("to", f"{quoted(to)} is not written; written are {', '.join(known)}")
        return known[to]
    instead = f"for another one, name the format (--to); written are {', '.join(known)}"
    return of_ending(out, known.values(), known[USUAL], instead)
