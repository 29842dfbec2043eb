"""Every kind of answer. The command and the service read this table: what is verified, drawn and written as CSV by one is so by the other.

A kind is a class of `planner/formats/answers/opened.py` and a row here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...checks.report import bad_input
from ...model.deadline import about
from ...model.errors import Code
from ..documents import (
    FRONTIER_FORMAT,
    NESTED_FORMAT,
    PLAN_FORMAT,
    PROVED_FORMAT,
    SHAPES_FORMAT,
    SHARING_FORMAT,
    SWEEP_FORMAT,
)
from .format import CSV, JSON, SVG, found
from .settings import AS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...model.problem import Problem
    from ..answers.opened import Asked, Opened, ReadFile
    from ..documents import Source
    from .format import Format
    from .plans import PlanFormat


class AnswerKind(NamedTuple):
    """One kind of answer."""

    name: str
    title: str
    """In a few words, for messages and lists."""
    format: str
    """Its JSON's."""
    opener: str
    """module:class, imported on first use."""
    picture: str
    """What is drawn of it."""
    rows: str
    """What its CSV has a row for."""

    def open(self, asked: Asked, data: bytes, read_file: ReadFile | None = None) -> Opened:
        """Return the answer, read beside its problem. `read_file` reads plans in files beside it. Raises BadInput."""
        made: Opened = found(self.opener)(asked, data, read_file)
        return made


_OPENED = "planner.formats.answers.opened"
ANSWER_KINDS = {
    row.name: row
    for row in (
        AnswerKind("plan", "plan", PLAN_FORMAT, f"{_OPENED}:OpenedPlan", "the memory map", "each buffer"),
        AnswerKind(
            "sharing",
            "sharing",
            SHARING_FORMAT,
            f"{_OPENED}:OpenedSharing",
            "the objects one above the other",
            "each buffer",
        ),
        AnswerKind(
            "frontier", "frontier", FRONTIER_FORMAT, f"{_OPENED}:OpenedFrontier", "memory over cost", "each point"
        ),
        AnswerKind("sweep", "sweep", SWEEP_FORMAT, f"{_OPENED}:OpenedSweep", "what each size buys", "each size"),
        AnswerKind(
            "shapes",
            "plan for all shapes",
            SHAPES_FORMAT,
            f"{_OPENED}:OpenedShapes",
            "what each shape takes",
            "each shape",
        ),
        AnswerKind(
            "nested",
            "plan function by function",
            NESTED_FORMAT,
            f"{_OPENED}:OpenedNested",
            "the arenas one below the other",
            "each arena",
        ),
        AnswerKind(
            "proof",
            "plan with its proof",
            PROVED_FORMAT,
            "planner.formats.answers.proved:OpenedProof",
            "the memory map",
            "each buffer",
        ),
    )
}
USUAL = "plan"

FORMS = {"svg": SVG, "map": JSON, "csv": CSV}
"""What answers are written as beside their own JSON, with the media type: the picture; the memory map's figures, of plans and sharings; the table."""


def asked(row: Format, source: Source, problem: Problem, capacity: int | Mapping[str, int] | None) -> Asked:
    """Return what an answer is opened beside: the problem of these bytes in this format, as it was planned."""
    from ...planning.shapes.shaped import as_shaped
    from ..answers.opened import Asked

    program = None if row.program is None else lambda: row.read_program(source)[0]
    return Asked(source.data, problem, capacity, lambda: as_shaped(row.read_with_symbols(source)[0]), program)


@about("file")
def answer_kind(data: bytes) -> AnswerKind:
    """Return the kind that the bytes claim to be; a plan, whose errors tell what is missing, if they claim none. Raises BadInput for what is no JSON."""
    from ..json.scan import scan

    named = (scan(data).top or {}).get("format")
    return next((row for row in ANSWER_KINDS.values() if row.format == named), ANSWER_KINDS[USUAL])


def write_answer(row: PlanFormat, opened: Opened) -> bytes:
    """Return the answer in this format; of what is no plan there is only its table. Raises BadInput."""
    from ..answers.opened import OpenedPlan

    if isinstance(opened, OpenedPlan):
        return row.write(opened.asked.problem, opened.plan, opened.asked.source)
    if row.media_type != CSV:
        raise bad_input(
            Code.INVALID_OPTION, AS, f"{row.title} is for plans with addresses; other answers are written as CSV"
        )
    return opened.figures()
