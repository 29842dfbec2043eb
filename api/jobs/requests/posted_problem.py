"""A posted problem: in one of the formats, optionally with options under `solve`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
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
from .endpoints import PLANS, Endpoint, RequestOptions
from .options import as_document, clipped, from_body, merged, placed

FORMAT_PLACE = "/options/format"
"""The place of what is wrong with the settings of a format, which go with its name."""


@dataclass(frozen=True, slots=True)
class Understood:
    """A posted problem, read and found sound, and how it will be solved."""

    kind: Kind
    subject: Subject
    instructions: Instructions
    """Its notes are the reader's warnings, and one for each option that the service reduced."""
    document: dict[str, Any]
    """The same options for JSON."""
    format: str
    """The name of the problem's format."""

    @property
    def key(self) -> str:
        """Return the key of the answer. It is equal for requests with equal answers: the problem, relevant options and versions, and notes."""
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
    endpoint: Endpoint = PLANS,
    begun: float | None = None,
) -> Understood:
    """Return the posted problem and its options; its time counts from `begun`. Raises PlannerError and Refusal."""
    data, solve = separate(data, format_)
    given = merged(query, None if solve is None else from_body(solve, endpoint), endpoint)
    with placed(solve or ()):
        wanted = clipped(given, settings, endpoint)
        kind = kind_of(endpoint.kind(wanted.own))
        with time_limit(wanted.options.time_limit, begun):
            row, subject = read_subject(kind, data, format_, settings, media_type)
        notes = (*subject.warnings, *wanted.notes)
        instructions = Instructions(wanted.options, wanted.own, notes, frozenset(solve or ()))
        kind.check(subject, instructions)
    return Understood(kind, subject, instructions, as_document(wanted.options, wanted.own), format_ or row.name)


def read_subject(
    kind: Kind, data: bytes, format_: str | None, settings: Settings, media_type: str = BYTES
) -> tuple[Format, Subject]:
    """Read the problem as this kind of job does. Raises Refusal if it is too large, or if its media type or format is not accepted."""
    source = Source(data)
    row = recognised(source, media_type) if format_ is None else format_named(format_)
    require_format(row, media_type, settings)
    if row.is_json:
        require_few(source.top.get("buffers"), "buffers", settings)
    with _settings_placed(row):
        subject = kind.read(row, source)
    require_few(subject.problem.buffers, "buffers", settings)
    return row, subject


@contextmanager
def _settings_placed(row: Format) -> Iterator[None]:
    """Report what is wrong with the format's settings where they are given, after their names."""
    try:
        yield
    except BadInput as error:
        named = {f"/options/{setting.name}": f"{setting.name}: " for setting in row.settings} | {"": ""}
        findings = [
            replace(found, pointer=FORMAT_PLACE, message=f"{named[found.pointer]}{found.message}")
            if found.code is Code.INVALID_OPTION and found.pointer in named
            else found
            for found in error.findings
        ]
        if findings == [*error.findings]:
            raise
        raise BadInput(*findings, more=error.more) from None


def read(
    data: bytes, format_: str | None, settings: Settings, media_type: str = BYTES
) -> tuple[Format, Problem, tuple[str, ...]]:
    """Return the format, the problem without options, and warnings."""
    row, subject = read_subject(kind_of("plan"), data, format_, settings, media_type)
    return row, subject.problem, subject.warnings


def require_few(items: object, what: str, settings: Settings) -> None:
    """Raise Refusal if there are more of them than a problem may have buffers. Lists are counted before their items are loaded."""
    if isinstance(items, Sequence) and not isinstance(items, str) and len(items) > settings.max_buffers:
        raise too_large(f"there are {len(items)} {what}; at most {settings.max_buffers} are taken")


def require_format(row: Format, media_type: str, settings: Settings) -> None:
    """Raise Refusal if the media type does not fit the format, or the service does not read the format."""
    if not row.fits(media_type):
        raise unsupported(f"the format {row.name} is not sent as {media_type}, but as {' or '.join(row.media_types)}")
    if row.name not in settings.formats:
        raise unsupported(f"this service does not read the format {row.name}")


def separate(data: bytes, format_: str | None) -> tuple[bytes, Any]:
    """Return the document without its `solve`, and `solve`; None if there is none."""
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
