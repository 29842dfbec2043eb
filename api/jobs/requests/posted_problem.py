"""What was posted: a problem in one of the formats, and perhaps options under `solve`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from planner.formats.documents import Source
from planner.formats.json.scan import scan
from planner.formats.tables.format import BYTES, Format
from planner.formats.tables.problems import format_named, recognised
from planner.model.deadline import time_limit
from planner.model.errors import BadInput, Code, Finding
from planner.model.problem import Problem

from ...errors import too_large, unsupported
from ...settings import Settings
from ..kinds import kind_of
from ..kinds.kind import Instructions, Kind, Subject, answer_key
from .doors import PLANS, Door, RequestOptions
from .options import as_document, clipped, from_body, merged


@dataclass(frozen=True, slots=True)
class Understood:
    """What was posted, read and found sound, and how it will be worked on."""

    kind: Kind
    subject: Subject
    instructions: Instructions
    """Its notes are of the reader, and of the service where it clipped something."""
    document: dict[str, Any]
    """The same options, as JSON can hold them."""
    format: str
    """What it was written in."""

    @property
    def key(self) -> str:
        """Equal for requests that must have equal answers: the problem, options and versions that count, and what is said besides."""
        listed = self.subject.problem.constraints.listed
        return answer_key(
            self.kind.name, self.subject.digest, self.subject.identity, listed, self.document, self.instructions.notes
        )


def understand(
    data: bytes,
    format_: str | None,
    query: RequestOptions,
    settings: Settings,
    media_type: str = BYTES,
    door: Door = PLANS,
    begun: float | None = None,
) -> Understood:
    """What it is, and what is asked for; its time counts from `begun`. Raises PlannerError and Refusal."""
    data, solve = separate(data, format_)
    wanted = clipped(merged(query, None if solve is None else from_body(solve, door), door), settings, door)
    kind = kind_of(door.kind(wanted.own))
    with time_limit(wanted.options.time_limit, begun):
        row, subject = read_subject(kind, data, format_, settings, media_type)
    instructions = Instructions(wanted.options, wanted.own, (*subject.warnings, *wanted.notes))
    kind.check(subject, instructions, settings)
    return Understood(kind, subject, instructions, as_document(wanted.options, wanted.own), format_ or row.name)


def read_subject(
    kind: Kind, data: bytes, format_: str | None, settings: Settings, media_type: str = BYTES
) -> tuple[Format, Subject]:
    """As the kind reads it, if it is no larger than the service takes and was sent as what it is."""
    source = Source(data)
    row = recognised(source, media_type) if format_ is None else format_named(format_)
    require_format(row, media_type, settings)
    if row.is_json:
        require_few(source.top.get("buffers"), "buffers", settings)
    subject = kind.read(row, source)
    require_few(subject.problem.buffers, "buffers", settings)
    return row, subject


def read(
    data: bytes, format_: str | None, settings: Settings, media_type: str = BYTES
) -> tuple[Format, Problem, tuple[str, ...]]:
    """A problem that nothing is asked of, what it was written in, and warnings."""
    row, subject = read_subject(kind_of("plan"), data, format_, settings, media_type)
    return row, subject.problem, subject.warnings


def require_few(items: object, what: str, settings: Settings) -> None:
    """Raises Refusal for more of them than a problem may have buffers. Lists are counted before what is in them is loaded."""
    if isinstance(items, Sequence) and not isinstance(items, str) and len(items) > settings.max_buffers:
        raise too_large(f"there are {len(items)} {what}; at most {settings.max_buffers} are taken")


def require_format(row: Format, media_type: str, settings: Settings) -> None:
    """Raises Refusal for a format that is not sent as that, or that the service does not read."""
    if not row.fits(media_type):
        raise unsupported(f"the format {row.name} is not sent as {media_type}, but as {' or '.join(row.media_types)}")
    if row.name not in settings.formats:
        raise unsupported(f"this service does not read the format {row.name}")


def separate(data: bytes, format_: str | None) -> tuple[bytes, Any]:
    """The document without its `solve`, and that; None where there is none."""
    if (
        (format_ is not None and not format_named(format_).is_json)
        or b'"solve"' not in data
        or data.lstrip()[:1] != b"{"
    ):
        return data, None
    top = scan(data).top
    if top is None or "solve" not in top:
        return data, None
    document = json.loads(data)
    solve = document.pop("solve")
    if not isinstance(solve, dict):
        raise BadInput(Finding(Code.WRONG_TYPE, "/solve", "must be an object with options"))
    return json.dumps(document).encode("ascii"), solve
