"""Documents as validated plain Python objects: short ones at once, long ones in pieces, so that few objects exist at a time.

Their long lists are validated in pieces, up to the first fault; later pieces are only searched for faults. The rest is short, or is refused
unless a file of this length may contain so much.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import SchemaValidator, core_schema, from_json

from ...checks.report import Place, Report
from ...model.deadline import expect, look
from ...model.errors import BadInput
from .pieces import LARGE, Marks, Path, Piece, Span, container, long_lists, pieces, require_room, shortened, without
from .scan import Scanned
from .strict import Part, Wire, is_taken_apart, report_wide, take_apart, validate_item, validated

VALIDATED = (350, 32)
"""The memory for validation: of a list or object, and of each entry."""
AT_ONCE = 500
"""The most items whose errors exist at a time; each takes some hundred bytes."""


def validate(wire: Wire, data: bytes, scanned: Scanned) -> Any:
    """Return the document as plain Python objects. Raises BadInput as `validated` does."""
    expect(scanned.seconds, "reading")
    if len(data) > LARGE:
        return _validate_in_pieces(wire, data, scanned)
    if scanned.wide and not wire.is_open:
        report = Report()
        _report_unknown(wire, data, report)
        report.raise_if_any()
        expect(scanned.seconds, "reading")
    return validated(wire, data, scanned.top or {})


def _validate_in_pieces(wire: Wire, data: bytes, scanned: Scanned) -> Any:
    """Return the document as plain Python objects. Raises BadInput as `validated` does."""
    if not scanned.wide:
        wire = wire._replace(is_open=True)  # no object has so many fields that unknown ones are looked for first
    parts, length = wire.lists(), len(data)
    marks = scanned.marks
    if marks is not None and marks.length < length:  # of the document without its buffers
        marks = None
    data = without(data, wire.unread, marks)
    if len(data) < length:
        marks = None
    lists = sorted(long_lists(data, parts, marks), key=lambda found: found[1])
    emptied = [span for path, span in lists if _is_emptied(parts[path], next(pieces(data, span, marks)))]  # type: ignore[index]  # all are names
    rest = shortened(data, [span for _, span in lists], marks, emptied)
    require_room(rest, length, (), VALIDATED)
    report = Report()
    if not wire.is_open:
        _report_unknown(wire, rest, report)
    document = None if report else _rest_of(wire, rest, scanned, report)
    filled = _Lists(wire, data, marks, report)
    for path, span in lists:
        place: Place = tuple(map(str, path))
        part: Part = parts[place]  # type: ignore[index]  # all are names
        kept = [] if report else _list_to_fill(document, place, part)
        filled.add(part, span, place, kept)
    report.raise_if_any()
    scanned.marks = None  # they take as much as the document, and what is made of it takes more
    return document


def _rest_of(wire: Wire, rest: bytes, scanned: Scanned, report: Report) -> Any:
    """Return the document without the items of its long lists; None if there are faults, which are reported."""
    try:
        return validated(wire, rest, scanned.top or {})
    except BadInput as error:
        for finding in error.findings:
            report.include(finding)
        report.count(error.more)
        return None


def _list_to_fill(document: Any, place: Place, part: Part) -> Any:
    """Return the document's list at this place, in the form in which its items are kept."""
    *holders, name = place
    for key in holders:
        document = document[key]
    if part.kept is not None:
        document[name] = part.kept(document[name])
    return document[name]


def _report_unknown(wire: Wire, data: bytes, report: Report) -> None:
    """Report unknown fields of wide objects and, if there are any, all other faults too."""
    document = from_json(data)
    report_wide(wire, document, (), report)
    if report:
        take_apart(wire, document, report)


@dataclass(frozen=True, slots=True)
class _Lists:
    """The long lists of a document, whose items are validated in pieces."""

    wire: Wire
    data: bytes
    marks: Marks | None
    report: Report

    def add(self, part: Part, span: Span, path: Place, found: Any) -> None:
        """Add all items of a list but those already read; if there are faults, they are reported and nothing is added."""
        report, several = self.report, _several(part.item, fail_fast=True)
        for piece in pieces(self.data, span, self.marks):
            look("reading")
            if not piece.first and not _is_emptied(part, piece):
                continue
            if piece.is_large:
                item = self._large(part, piece, (*path, piece.first))
                if not report:
                    found.extend([item])
                continue
            text = self.data[piece.begin : piece.end]
            if not report:
                try:
                    found.extend(several.validate_json(b"[" + text + b"]"))
                    continue
                except ValidationError:
                    found.clear()
            self._find_faults(part, from_json(b"[" + text + b"]"), piece.first, path)

    def _find_faults(self, part: Part, items: list[Any], first: int, path: Place) -> None:
        """Report the faults of items; of those that can no longer be listed, only their number."""
        report, alike = self.report, []
        for i, item in enumerate(items, first):
            if not self.wire.is_open:
                report_wide(self.wire, item, (*path, i), report)
            if report.is_full and not is_taken_apart(part, item):
                alike.append(item)
            else:
                validate_item(part, item, (*path, i), report)
        if alike:
            report.count(_errors(part.item, alike))

    def _large(self, part: Part, piece: Piece, place: Place) -> Any:
        """Validate one long item, whose own lists may be long."""
        data, report = self.data, self.report
        whole = container(data, piece.begin, piece.end)
        lists: list[tuple[Path, Span]] = []
        if whole is not None:
            inner_lists = long_lists(data, [(name,) for name in part.inner], self.marks, whole)
            lists += sorted(inner_lists, key=lambda found: found[1])
        rest = shortened(data, [span for _, span in lists], self.marks, whole=Span(piece.begin, piece.end))
        require_room(rest, len(data), place, VALIDATED)
        item = from_json(rest)
        if not self.wire.is_open:
            report_wide(self.wire, item, place, report)
        validate_item(part, item, place, report)
        for (name,), span in lists:
            inner = part.inner[str(name)]
            if not report and inner.kept is not None:
                item[name] = inner.kept(item[name])
            self.add(inner, span, (*place, str(name)), [] if report else item[name])
        return item


def _is_emptied(part: Part, first: Piece) -> bool:
    """True if the first item of a list is also read separately: it is long, and parts of its lists are kept differently."""
    return first.is_large and any(inner.kept is not None for inner in part.inner.values())


def _errors(item: TypeAdapter[Any], items: list[Any]) -> int:
    """Return the number of faults, found for many items at once: a third of the time of one by one."""
    several, found = _several(item, fail_fast=False), 0
    for first in range(0, len(items), AT_ONCE):
        try:
            several.validate_python(items[first : first + AT_ONCE])
        except ValidationError as error:
            found += error.error_count()
    return found


def _several(item: TypeAdapter[Any], *, fail_fast: bool) -> SchemaValidator:
    """Return an adapter for a list of such items, as strict as for each: an adapter's configuration is not part of its schema."""
    return SchemaValidator(
        core_schema.list_schema(item.core_schema, fail_fast=fail_fast), core_schema.CoreConfig(strict=True)
    )
