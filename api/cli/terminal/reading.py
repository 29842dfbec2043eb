"""Input files: read whole, or refused in one sentence."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import typer

from planner.formats import read_frontier, read_plan
from planner.formats.documents import Source
from planner.formats.tables.answers import asked
from planner.formats.tables.problems import chosen
from planner.model.errors import BadInput, Code, Finding, PlannerError
from planner.model.plan import Frontier, Plan
from planner.planning.options.capacity import planned_problem
from planner.planning.options.options import Preference, Stability

from .output_file import reason
from .refusals import BadFile
from .text import is_terminal, say

if TYPE_CHECKING:
    from planner.formats.answers.opened import Asked
    from planner.formats.tables.plans import PlanFormat

STANDARD_INPUT = "-"
MAX_INPUT_BYTES = 1 << 30
PIECE = 1 << 20
"""A million buffers take about a tenth of this; an endless device must not fill the memory."""


def shown_name(file: str) -> str:
    """Return the file's name for messages."""
    return "standard input" if file == STANDARD_INPUT else file


def require_one_standard_input(*files: str | None) -> None:
    """Raise BadParameter if several are to be read from standard input."""
    if files.count(STANDARD_INPUT) > 1:
        several = "two files" if len(files) == 2 else "files"
        raise typer.BadParameter(f"only one of the {several} can be the standard input", param_hint="PLAN")


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """The file of a problem, and the options with which it was planned."""

    name: str
    input_format: str | None
    baseline: str | None
    capacity: int | Mapping[str, int] | None
    prefer: Preference | None
    stability: Stability | None

    @property
    def shown_name(self) -> str:
        return shown_name(self.name)


def read_asked(file: PlannedFile, wanted: PlanFormat | None = None) -> Asked:
    """Return the problem that is planned, beside what was read. Raises BadInput, also if its plans cannot be written as wanted."""
    source, input_format = Source(read_bytes(file.name), file.name), file.input_format
    if wanted is not None:
        wanted.require_source(source)
        input_format = input_format or wanted.read_as
    row = chosen(source, input_format)
    problem, _warnings = row.read(source)
    problem = planned_problem(problem, file.capacity, file.prefer, file.stability, read_baseline(file.baseline))
    return asked(row, source, problem, file.capacity)


def read_baseline(file: str | None) -> Plan | None:
    """Return the older plan that tells where buffers were. Raises BadFile."""
    if file is None:
        return None
    try:
        return read_plan(read_bytes(file))
    except PlannerError as error:
        raise BadFile("--baseline", shown_name(file), error) from error


def read_frontier_file(file: str, data: bytes) -> Frontier:
    """Return the frontier in that file, with plans from files beside it. Raises BadInput with their names."""
    return read_frontier(data, beside(file))


def beside(file: str) -> Callable[[str], bytes] | None:
    """Return a reader of the files beside that one; None if it has no folder."""

    def read(name: str) -> bytes:
        if Path(name).name != name:
            raise unreadable("is not the name of a file in the same folder")
        return read_bytes(str(Path(file).with_name(name)))

    return None if file == STANDARD_INPUT else read


def read_bytes(file: str) -> bytes:
    """Return everything in the file, or in standard input for `-`. Raises BadInput."""
    try:
        if file == STANDARD_INPUT:
            return _read_standard_input()
        with Path(file).open("rb") as stream:
            return _read(stream)
    except (OSError, ValueError) as error:
        raise unreadable(reason(error)) from error


@contextmanager
def open_input(file: str) -> Iterator[BufferedReader]:
    """Return the file, or standard input for `-`, for reading bit by bit. Raises BadInput."""
    try:
        with Path(file).open("rb") if file != STANDARD_INPUT else nullcontext(sys.stdin.buffer) as stream:
            yield stream  # type: ignore[misc]
    except (OSError, ValueError) as error:
        raise unreadable(reason(error)) from error


def unreadable(why: str) -> BadInput:
    return BadInput(Finding(Code.UNREADABLE, "", f"cannot be read: {why}"))


def _read_standard_input() -> bytes:
    if sys.stdin is None:
        raise unreadable("the standard input is closed")
    if is_terminal(sys.stdin):
        say("reading the problem from the terminal; end it with Ctrl-D on a line of its own")
    return _read(sys.stdin.buffer)


def _read(stream: BinaryIO) -> bytes:
    read = BytesIO()  # asked for all at once, room for the largest input would be taken
    while piece := stream.read(PIECE):
        if read.tell() + len(piece) > MAX_INPUT_BYTES:
            raise BadInput(Finding(Code.TOO_LARGE, "", f"is larger than {MAX_INPUT_BYTES} bytes"))
        read.write(piece)
    return read.getvalue()
