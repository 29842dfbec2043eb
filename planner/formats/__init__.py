"""Bytes to Problems and Plans, and back. Everything from outside comes in here, and nowhere else."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ..checks.report import bad_input, quoted
from ..errors import Code
from .tags import PLAN_FORMAT, PROBLEM_FORMAT, SHARING_FORMAT

if TYPE_CHECKING:
    from ..graph.operators import Graph
    from ..plan import Plan
    from ..problem import Problem
    from ..storage import Sharing
    from .scan import Scanned


class Format(StrEnum):
    """What a problem can be written in."""

    MEMPLAN = "memplan"
    """JSON, format memplan/1."""
    MINIMALLOC = "minimalloc"
    """CSV of google/minimalloc."""
    DSA = "dsa"
    """JSON of dsa-solver, schema version 1."""
    USMP = "usmp"
    """JSON with the fields of TVM's USMP."""


def read_problem(
    data: bytes,
    *,
    name: str | None = None,
    format: str | None = None,  # noqa: A002 - the word that users know
) -> tuple[Problem, tuple[str, ...]]:
    """The Problem in the bytes, and warnings. Without `format` the file's name and the content say what they are written in."""
    if format is not None and format not in tuple(Format):
        text = f"there is no format {quoted(format)}; known are {', '.join(Format)}"
        raise bad_input(Code.INVALID_OPTION, (), text)
    if format == Format.MINIMALLOC or (format is None and _is_csv(data, name)):
        from .minimalloc import read_minimalloc

        return read_minimalloc(data)
    from .scan import scan

    scanned = scan(data)
    match Format(format) if format is not None else _json_format(data, scanned):
        case Format.DSA:
            from .dsa import read_dsa

            return read_dsa(data, scanned)
        case Format.USMP:
            from .usmp import read_usmp

            return read_usmp(data, scanned)
        case _:
            from .read_memplan import read_memplan

            _require_format(scanned, PROBLEM_FORMAT, "a problem")
            return read_memplan(data, scanned), ()


def write_problem(problem: Problem) -> bytes:
    """The problem as JSON, format memplan/1; reading it gives the same Problem."""
    from .write_memplan import write_memplan

    return write_memplan(problem)


def read_plan(data: bytes) -> Plan:
    """The Plan in the bytes (JSON, format memplan-plan/1)."""
    from .plan_reader import read_plan_json
    from .scan import scan

    scanned = scan(data)
    _require_format(scanned, PLAN_FORMAT, "a plan")
    return read_plan_json(data, scanned)


def is_sharing(data: bytes) -> bool:
    """Do the bytes say that they are a Sharing? Otherwise they had better be a Plan."""
    from .scan import scan

    return (scan(data).top or {}).get("format") == SHARING_FORMAT


def read_sharing(data: bytes) -> Sharing:
    """The Sharing in the bytes (JSON, format memplan-sharing/1)."""
    from .scan import scan
    from .sharing_reader import read_sharing_json

    scanned = scan(data)
    _require_format(scanned, SHARING_FORMAT, "a sharing")
    return read_sharing_json(data, scanned)


def write_sharing(sharing: Sharing) -> bytes:
    """The sharing as JSON, format memplan-sharing/1, always the same bytes for the same Sharing; what depends on the clock comes last."""
    from .sharing_writer import write_sharing_json

    return write_sharing_json(sharing)


def read_graph(data: bytes) -> Graph:
    """The Graph in the bytes (JSON, format memplan-graph/1)."""
    from .graph_json import read_graph_json

    return read_graph_json(data)


def write_plan(plan: Plan) -> bytes:
    """The plan as JSON, format memplan-plan/1, always the same bytes for the same Plan; what depends on the clock comes last."""
    from .plan_writer import write_plan_json

    return write_plan_json(plan)


def write_usmp(problem: Problem, plan: Plan | None = None) -> bytes:
    """The problem as JSON in the field names of TVM's USMP, with the plan's addresses if there is one. Raises BadInput for what it cannot say."""
    from .usmp_writer import usmp_document

    return usmp_document(problem, plan)


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of memplan/1."""
    from .problem_schema import problem_schema

    return problem_schema()


def _is_csv(data: bytes, name: str | None) -> bool:
    if name is not None and name.lower().endswith(".csv"):
        return True
    if data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        return False
    from .minimalloc import looks_like_csv

    return looks_like_csv(data)


def _json_format(data: bytes, scanned: Scanned) -> Format:
    """What a JSON document without further notice is."""
    top = scanned.top or {}
    if "format" in top:
        return Format.MEMPLAN
    if "schema_version" in top and "problem" in top:
        return Format.DSA
    if "intervals" in top or ("buffers" in top and (b'"name_hint"' in data or b'"size_bytes"' in data)):
        return Format.USMP
    return Format.MEMPLAN


def _require_format(scanned: Scanned, wanted: str, what: str) -> None:
    if scanned.top is None:
        raise bad_input(Code.WRONG_TYPE, (), f"{what} must be a JSON object")
    if "format" not in scanned.top:
        raise bad_input(
            Code.UNKNOWN_FORMAT, (), f"the field 'format' is missing; it must be {quoted(wanted)} for {what}"
        )
    found = scanned.top["format"]
    if found != wanted:
        said = quoted(found) if isinstance(found, str) else "something else"
        raise bad_input(Code.UNKNOWN_FORMAT, ("format",), f"{what} has the format {quoted(wanted)}, not {said}")


__all__ = [
    "Format",
    "is_sharing",
    "read_graph",
    "read_plan",
    "read_problem",
    "read_sharing",
    "schema",
    "write_plan",
    "write_problem",
    "write_sharing",
    "write_usmp",
]
