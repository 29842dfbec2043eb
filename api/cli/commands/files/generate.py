"""`memplan generate`: a made-up problem of some kind, the same for the same seed everywhere."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from planner.checks.report import bad_input
from planner.formats import write_shaped
from planner.formats.tables.endings import of_ending, require_ending
from planner.formats.tables.problems import USUAL, converted_to, written
from planner.generate import Request
from planner.generate.kinds import check_kind, generated
from planner.model.errors import Code
from planner.planning.options.capacity import quoted
from planner.planning.shapes import ShapedProblem

from ...terminal.output_file import OutputFile
from ...terminal.refusals import refusing
from ...terminal.standard_output import STANDARD_OUTPUT, say_written, write_out
from ...terminal.text import say_warnings


def known(kind: str) -> str:
    """Return the kind, if it exists."""
    with refusing(None, as_json=False):
        check_kind(kind)
    return kind


def run(kind: str, request: Request, out: str) -> None:
    """Make it and write it."""
    with refusing(None, as_json=False):
        formats = written()
        require_ending(out, [ending for each in formats.values() for ending in each.endings])
        row = of_ending(out, converted_to().values(), formats[USUAL])
        if row.name not in formats:
            text = f"{quoted(out)} ends as programs do, and what is made up is a problem: give it another ending, such as .json"
            raise bad_input(Code.INVALID_OPTION, (), text)
        output = OutputFile(out)
        if out != STANDARD_OUTPUT:
            output.check()
        made = generated(kind, request)
        if isinstance(made, ShapedProblem) and row.name != USUAL:
            say_warnings([f"{row.name} has no symbols: these are the largest sizes"])
            made = made.largest
        data = write_shaped(made) if isinstance(made, ShapedProblem) else row.write(made)
        if out == STANDARD_OUTPUT:
            write_out(data)
        else:
            output.write(data)
            say_written(out)


def parameters(texts: Sequence[str]) -> dict[str, int]:
    """Return the parameters in `live=32`, one per text."""
    parsed: dict[str, int] = {}
    for text in texts:
        name, _, number = text.partition("=")
        if not (number.isascii() and number.isdigit() and len(number) <= 19):
            raise typer.BadParameter(f"{quoted(text)} is not of the form NAME=NUMBER", param_hint="--set")
        if name in parsed:
            raise typer.BadParameter(f"{quoted(name)} is given twice", param_hint="--set")
        parsed[name] = int(number)
    return parsed
