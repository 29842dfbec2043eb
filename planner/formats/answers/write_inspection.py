"""What is in a file, as JSON (memplan-inspection/1): its operators, and the report of a plan of its problem."""

from __future__ import annotations

from typing import Any

from ...model.problem import Problem
from ...reporting.report import MemoryReport
from ..contents import Contents, own_peak
from ..documents import INSPECTION_FORMAT
from ..json.lines import document
from .write_report import report_fields


def write_inspection(written_in: str, problem: Problem, contents: Contents | None, report: MemoryReport) -> bytes:
    """The document, one memory a line."""
    kinds = dict[str, int]()
    for buffer in problem.buffers:
        kinds[buffer.kind or ""] = kinds.get(buffer.kind or "", 0) + 1
    fields: dict[str, Any] = {
        "format": INSPECTION_FORMAT,
        "written_in": written_in,
        "operators": None if contents is None else dict(contents.operators),
        "constants": None if contents is None else {"count": contents.constants, "bytes": contents.constant_bytes},
        "buffers": {
            "count": len(problem.buffers),
            "bytes": sum(buffer.size for buffer in problem.buffers),
            "kinds": kinds,
        },
    }
    fields["own_peak"] = own_peak(problem)
    rest = {name: value for name, value in report_fields(report).items() if name != "format"}
    return document(fields | rest, listed=("pools",))
