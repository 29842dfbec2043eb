"""Documents: bytes to be read and what a first look at them shows, and the `format` of memplan's own."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from ..checks.report import bad_input, quoted
from ..model.columns.rows import FEW
from ..model.deadline import expect
from ..model.errors import BadInput, Code

if TYPE_CHECKING:
    from .json.pieces import Path
    from .json.records import Taken
    from .json.scan import Scanned

PROBLEM_FORMAT: Final = "memplan/1"
PLAN_FORMAT: Final = "memplan-plan/1"
FRONTIER_FORMAT = "memplan-frontier/1"
PROVED_FORMAT = "memplan-proved/1"
SHARING_FORMAT: Final = "memplan-sharing/1"
REPORT_FORMAT = "memplan-report/1"
FRONTIER_REPORT_FORMAT = "memplan-frontier-report/1"
NESTED_REPORT_FORMAT = "memplan-nested-report/1"
SHARING_REPORT_FORMAT = "memplan-sharing-report/1"
MAP_FORMAT = "memplan-map/1"
SWEEP_FORMAT = "memplan-sweep/1"
SHAPES_FORMAT = "memplan-shapes/1"
GRAPH_FORMAT: Final = "memplan-graph/1"
PROGRAM_FORMAT: Final = "memplan-graph/2"
CASCADE_FORMAT: Final = "memplan-cascade/1"
NESTED_FORMAT = "memplan-nested/1"
INSPECTION_FORMAT = "memplan-inspection/1"

LOOKED_AT = "'memplan verify', 'memplan draw' and 'memplan write' take such a file after the problem's"
REPORTED = f"'memplan report', {LOOKED_AT}"
ANSWERS = {
    PLAN_FORMAT: REPORTED,
    SHARING_FORMAT: REPORTED,
    FRONTIER_FORMAT: f"{REPORTED}, 'memplan inspect' takes it alone",
    SWEEP_FORMAT: LOOKED_AT,
    SHAPES_FORMAT: LOOKED_AT,
    NESTED_FORMAT: f"{REPORTED}, which is a program",
    PROVED_FORMAT: REPORTED,
}
"""memplan's answers, and the command that takes each."""


def require_format(scanned: Scanned, wanted: str, what: str) -> None:
    """Raise BadInput unless the document claims that format."""
    if scanned.top is None:
        raise bad_input(Code.WRONG_TYPE, (), f"{what} must be a JSON object")
    if "format" not in scanned.top:
        raise bad_input(
            Code.UNKNOWN_FORMAT, (), f"the field 'format' is missing; it must be {quoted(wanted)} for {what}"
        )
    found = scanned.top["format"]
    if found != wanted:
        shown = quoted(found) if isinstance(found, str) else "something else"
        advice = f"; {ANSWERS[found]}" if isinstance(found, str) and found in ANSWERS else ""
        raise bad_input(
            Code.UNKNOWN_FORMAT, ("format",), f"{what} has the format {quoted(wanted)}, not {shown}{advice}"
        )


LEAST_BYTES = 24 * FEW
"""A shorter document has few buffers."""


class Source:
    """Bytes to be read, the name of their file, and what a first look at them shows."""

    def __init__(self, data: bytes, name: str | None = None) -> None:
        self.data = data
        self.name = name

    @cached_property
    def scanned(self) -> Scanned:
        """Return the first look at JSON. Raises BadInput unless it is sound."""
        from .json.scan import scan

        if self.taken is not None:
            try:
                return scan(self.taken.rest)
            except BadInput:  # which reports the faults of the rest
                self.taken = None
        return scan(self.data)

    @cached_property
    def taken(self) -> Taken | None:
        """Return a JSON document parsed in columns, if its buffers are many and plain."""
        if len(self.data) < LEAST_BYTES or not self.may_be_json:
            return None
        from .json.records import taken_apart

        return taken_apart(self.data)

    def loaded(self, *lists: Path) -> Any:
        """Return the whole JSON document; in a long one, the long lists at these places are read in pieces. Raises BadInput unless it is sound."""
        from .json.loading import loaded

        expect(self.scanned.seconds, "reading")
        self.scanned.marks = None  # which are not needed again, and take as much as the document
        return loaded(self.data, lists)

    @property
    def top(self) -> dict[str, Any]:
        """Return the keys of a JSON document, if it is an object."""
        return self.scanned.top or {}

    @cached_property
    def is_trace(self) -> bool:
        """True if the first line that is not blank claims to be a trace: one JSON object per line."""
        return b'"memplan-trace/' in self.data[:65536].lstrip().split(b"\n", 1)[0]

    @cached_property
    def may_be_json(self) -> bool:
        """True if the first significant character opens an object or a list, and the file is not JSON lines."""
        return not self.is_trace and self.data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")
