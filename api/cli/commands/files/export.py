"""`memplan export-model`: writes a problem's integer program in the format of the file's ending."""

from __future__ import annotations

from pathlib import PurePath
from typing import Literal

import typer

import planner
from planner.formats import read_problem
from planner.formats.tables.endings import require_ending

from ...arguments import blaming
from ...terminal.output_file import OutputFile
from ...terminal.reading import read_bytes, shown_name
from ...terminal.refusals import refusing
from ...terminal.standard_output import STANDARD_OUTPUT, say_written, write_out

ModelFormat = Literal["lp", "mps", "cpsat"]
ENDINGS: dict[str, ModelFormat] = {".lp": "lp", ".mps": "mps", ".pbtxt": "cpsat"}
USUAL: ModelFormat = "lp"


def run(file: str, out: str, model_format: ModelFormat | None, *, plain: bool, input_format: str | None) -> None:
    """Write the program."""
    chosen = model_format or format_of(out)
    if plain and chosen == "cpsat":
        raise typer.BadParameter(
            "is for LP and MPS; CP-SAT's model has no rows that could be left out", param_hint="--plain"
        )
    with refusing(shown_name(file), as_json=False):
        output = OutputFile(out)
        if out != STANDARD_OUTPUT:
            output.check(file)
        problem, _warnings = read_problem(read_bytes(file), name=file, format=input_format)
        model = planner.export_model(problem, chosen, plain=plain).encode("utf-8", "backslashreplace")
        if out == STANDARD_OUTPUT:
            write_out(model)
        else:
            output.write(model)
            say_written(out)


def format_of(out: str) -> ModelFormat:
    """Return the format of the file's ending."""
    if out == STANDARD_OUTPUT:
        return USUAL
    with blaming("--out"):
        require_ending(out, ENDINGS, "for another one, name the format (--as)")
    return ENDINGS.get(PurePath(out).suffix.lower(), USUAL)
