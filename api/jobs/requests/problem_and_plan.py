"""A problem posted with its plan: as one JSON document, or as two files in a form."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from planner.formats.answers.opened import Opened
from planner.formats.documents import Source
from planner.formats.json.scan import members, scan
from planner.formats.tables.answers import answer_kind, asked
from planner.model.errors import BadAnswer, BadInput, Code, Finding, PlannerError, echo

from ...errors import Refusal, refused_findings
from ...settings import Settings
from ..kinds import kind_of
from .endpoints import ENDPOINT_OF, OFFERED, PLANS, RequestOptions
from .options import endpoint_for, from_body, merged, options_of, placed
from .posted_problem import FORMAT_PLACE, read_subject, require_few, separate

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

    from planner.formats.tables.plans import PlanFormat

PARTS = ("problem", "plan")


class Both(NamedTuple):
    """What was posted: an answer beside its problem, and warnings of that one's reader."""

    answer: Opened
    warnings: tuple[str, ...]


def problem_and_plan(
    data: bytes,
    boundary: str | None,
    format_: str | None,
    settings: Settings,
    query: RequestOptions,
    wanted: PlanFormat | None = None,
) -> Both:
    """Return the answer and its problem with these options and its own, from a document, or from a form with this boundary.

    Raises PlannerError and Refusal, also if no plan of what was posted can be written as wanted.
    """
    problem, plan = in_document(data) if boundary is None else in_form(data, boundary)
    try:
        answered = answer_kind(plan)
    except PlannerError as error:
        raise below("plan", error) from None
    try:
        problem, solve = separate(problem, format_)
        if wanted is not None:
            wanted.require_source(Source(problem))
            format_ = format_ or wanted.read_as
        kind = kind_of(answered.name if answered.name in ("shapes", "nested") else "plan")
        row, subject = read_subject(kind, problem, format_, settings)
    except PlannerError as error:
        raise below("problem", error) from None
    with _placed_in_problem(solve or ()):
        options = options_of(merged(query, None if solve is None else _options_in(solve, answered.name)))
        whose = asked(row, Source(problem), subject.planned(options), options.capacity)
    try:
        lists = scan(plan).top or {}
        for name in ("placements", "objects", "assignments", "buffers", "points", "arenas", "shapes"):
            require_few(lists.get(name), name, settings)
        return Both(answered.open(whose, plan), subject.warnings)
    except PlannerError as error:
        raise below("plan", error) from None


def _options_in(solve: object, kind: str) -> RequestOptions:
    """Return the library's options in a problem's `solve`, which may be for the path of another answer, as of a sweep for one of its plans. Raises Refusal."""
    endpoint = endpoint_for(solve, ENDPOINT_OF[kind])
    given = from_body(solve, endpoint).given()
    own = {name for name in given if name in endpoint.own or name not in OFFERED}
    return PLANS.loose.model_validate({name: value for name, value in given.items() if name not in own})


@contextmanager
def _placed_in_problem(solve: Collection[str]) -> Iterator[None]:
    """Report what is wrong with options under `solve` there, below `problem`."""
    try:
        with placed(solve):
            yield
    except Refusal as error:
        if not error.findings:
            raise
        findings = [
            replace(found, pointer=f"/problem{found.pointer}") if found.pointer.startswith("/solve") else found
            for found in error.findings
        ]
        raise refused_findings(findings, error.more) from None


def in_document(data: bytes) -> tuple[bytes, bytes]:
    """Return `problem` and `plan` of a document; a problem in a text format is a string there."""
    top = scan(data).top
    if top is None:
        raise BadInput(Finding(Code.WRONG_TYPE, "", "must be an object with the fields 'problem' and 'plan'"))
    _require_both(top)
    parts = members(data)
    problem = top["problem"]
    return problem.encode("utf-8") if isinstance(problem, str) else parts["problem"], parts["plan"]


def in_form(data: bytes, boundary: str) -> tuple[bytes, bytes]:
    """Return the parts `problem` and `plan` of a form (RFC 7578)."""
    form = _Form()
    try:
        parser = MultipartParser(boundary, form.callbacks())
        parser.write(data)
        parser.finalize()
    except FormParserError as error:
        raise unreadable(f"is no form that can be read: {echo(str(error))}") from None
    if not form.has_ended:
        raise unreadable("the form ends before its last boundary")
    _require_both(form.parts)
    return bytes(form.parts["problem"]), bytes(form.parts["plan"])


def _require_both(given: Collection[str]) -> None:
    for name in PARTS:
        if name not in given:
            raise BadInput(Finding(Code.MISSING_FIELD, f"/{name}", f"the field '{name}' is missing"))
    if any(name not in PARTS for name in given):
        raise unknown_field()


def unknown_field() -> BadInput:
    return BadInput(Finding(Code.UNKNOWN_FIELD, "", "only the fields 'problem' and 'plan' are known here"))


def unreadable(what: str) -> BadInput:
    return BadInput(Finding(Code.UNREADABLE, "", what))


class _Form:
    """Collects the parts of a form from its parser."""

    def __init__(self) -> None:
        self.parts: dict[str, bytearray] = {}
        self.has_ended = False
        self._header, self._value, self._disposition = bytearray(), bytearray(), b""
        self._into = bytearray()

    def callbacks(self) -> MultipartCallbacks:
        return {
            "on_part_begin": self._begin,
            "on_header_field": lambda data, start, end: self._header.extend(data[start:end]),
            "on_header_value": lambda data, start, end: self._value.extend(data[start:end]),
            "on_header_end": self._end_of_header,
            "on_headers_finished": self._end_of_headers,
            "on_part_data": lambda data, start, end: self._into.extend(memoryview(data)[start:end]),
            "on_end": self._end,
        }

    def _begin(self) -> None:
        self._disposition = b""

    def _end_of_header(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = bytes(self._value)
        self._header, self._value = bytearray(), bytearray()

    def _end_of_headers(self) -> None:
        _, options = parse_options_header(self._disposition)
        name = options.get(b"name", b"").decode("utf-8", "replace")
        if name in self.parts:
            raise BadInput(Finding(Code.DUPLICATE_KEY, f"/{name}", f"the field '{name}' appears twice"))
        if name not in PARTS:
            raise unknown_field()
        self._into = self.parts[name] = bytearray()

    def _end(self) -> None:
        self.has_ended = True


def below_its_part(error: PlannerError) -> PlannerError:
    """Return the same error about the problem or, beside it, the plan."""
    is_of_the_problem = isinstance(error, BadInput) and not isinstance(error, BadAnswer)
    return below("problem" if is_of_the_problem else "plan", error)


def below(name: str, error: PlannerError) -> PlannerError:
    """Return the same error about a part of the document; what is wrong with the query stays there."""

    def placed(found: Finding) -> Finding:
        is_in_query = found.code is Code.INVALID_OPTION and found.pointer == FORMAT_PLACE
        return found if is_in_query else replace(found, pointer=f"/{name}{found.pointer}")

    return type(error)(*map(placed, error.findings), more=error.more)
