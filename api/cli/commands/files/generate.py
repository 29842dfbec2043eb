"""`memplan generate`: a made-up problem of some kind, the same for the same seed everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

import typer

from planner.formats import write_shaped
from planner.formats.tables.format import Format
from planner.formats.tables.plans import require_ending
from planner.formats.tables.problems import USUAL, written
from planner.generate import Request, generate_shaped
from planner.generate.kinds import check_kind
from planner.planning.options.capacity import quoted

from ...terminal.output_file import STANDARD_OUTPUT, OutputFile
from ...terminal.refusals import refusing
from ...terminal.standard_output import write_out
from ...terminal.text import say_warnings
from .convert import target


def known(kind: str) -> str:
    """Return the kind, if it exists."""
    with refusing(None, as_json=False):
        check_kind(kind)
    return kind


def run(kind: str, request: Request, out: str) -> None:
    """Make it and write it."""
    with refusing(None, as_json=False):
        row = _target(out)
        output = OutputFile(out)
        if out != STANDARD_OUTPUT:
            output.check()
        made = generate_shaped(kind, request)
        if made.symbols and row.name != USUAL:
            say_warnings([f"{row.name} has no symbols: these are the largest sizes"])
        data = write_shaped(made) if made.symbols and row.name == USUAL else row.write(made.largest)
        if out == STANDARD_OUTPUT:
            write_out(data)
        else:
            output.write(data)


def _target(out: str) -> Format:
    """Return the format of the file's ending; the usual one if it has none. Raises BadInput."""
    known = written()
    require_ending(out, [ending for row in known.values() for ending in row.endings])
    return target(out, None if PurePath(out).suffix else USUAL)


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
