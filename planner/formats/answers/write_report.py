"""A MemoryReport as bytes: JSON (memplan-report/1) with everything, CSV with a row for each memory and one for all of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...facts.variants import count_of_alternatives
from ...model.plan import Choice, Frontier
from ...model.problem import BufferId, Problem
from ...reporting.own_places import own_peaks
from ...reporting.report import LivePeak, MemoryReport, PeakCause, PoolReport
from ..contents import Contents
from ..documents import FRONTIER_REPORT_FORMAT, INSPECTION_FORMAT, NESTED_REPORT_FORMAT, REPORT_FORMAT
from ..json.lines import document
from ..text.lines import table
from .frontier import point_fields
from .plan_writer import shortage_fields

COLUMNS = ("scope", "name", "base", "size", "peak", "bound", "free", "fragmentation", "most_live", "step", "buffers")


def report_fields(report: MemoryReport) -> dict[str, Any]:
    """Return the report as plain Python values, in the order of the document."""
    return {
        "format": REPORT_FORMAT,
        "problem": report.problem,
        "status": str(report.status),
        "peak": report.peak,
        "bound": report.bound,
        "pools": [_pool(pool) for pool in report.pools],
        "live": None if report.live is None else _live(report.live),
        "untimed": report.untimed,
        "shortage": None if report.shortage is None else shortage_fields(report.shortage),
    }


def write_report_json(report: MemoryReport) -> bytes:
    """Return the report as JSON, one pool per line."""
    return document(report_fields(report), listed=("pools",))


def write_frontier_report(found: Frontier, reports: Sequence[MemoryReport]) -> bytes:
    """Return a report of each point of a frontier as JSON, one point per line: its figures, and what it does with memory."""
    points = [
        point_fields(plan) | {"report": report_fields(report)}
        for plan, report in zip(found.points, reports, strict=True)
    ]
    whole = {"format": FRONTIER_REPORT_FORMAT, "complete": found.is_complete, "within": found.within, "points": points}
    return document(whole, listed=("points",))


def write_nested_report(peak: int | None, reports: Iterable[tuple[str, MemoryReport]]) -> bytes:
    """Return a report of each function's arena as JSON, one arena per line. `peak` is what all need together."""
    arenas = [{"function": function, "report": report_fields(report)} for function, report in reports]
    return document({"format": NESTED_REPORT_FORMAT, "peak": peak, "arenas": arenas}, listed=("arenas",))


def write_nested_report_csv(reports: Iterable[tuple[str, MemoryReport]], naming: Callable[[str], str] = str) -> bytes:
    """Return the rows of each function's arena, one arena after the other."""
    rows = [{"function": naming(function), **row} for function, report in reports for row in _rows(report, naming)]
    return table(("function", *COLUMNS), rows).encode("utf-8", "surrogatepass")


def write_report_csv(report: MemoryReport, naming: Callable[[str], str] = str) -> bytes:
    """Return one row for each memory, and a last one of scope `all` for what is in use at once over all of them.

    `buffers` is a JSON list: for a memory, those that would have to shrink for its peak to fall; for all, those in use at the step. `naming`
    determines what replaces names; terminals must not get them unchanged.
    """
    return table(COLUMNS, _rows(report, naming)).encode("utf-8", "surrogatepass")


def _rows(report: MemoryReport, naming: Callable[[str], str]) -> list[dict[str, Any]]:
    rows = list[dict[str, Any]]()
    for pool in report.pools:
        fields = _pool(pool)
        buffers = [] if pool.cause is None else list(pool.cause.buffers)
        row = {name: fields[name] for name in COLUMNS if name in fields}
        row |= {"scope": "memory", "name": naming(pool.name), "buffers": naming(_listed(buffers))}
        rows.append(row)
    sizes = [pool.size for pool in report.pools if pool.size is not None]
    total: dict[str, Any] = {
        "scope": "all",
        "size": sum(sizes) if len(sizes) == len(report.pools) else None,
        "peak": report.peak,
        "bound": report.bound,
    }
    if report.live is not None:
        total |= {
            "most_live": report.live.bytes,
            "step": report.live.step,
            "buffers": naming(_listed([buffer.id for buffer in report.live.buffers])),
        }
    return [*rows, total]


def _pool(pool: PoolReport) -> dict[str, Any]:
    return {
        "name": pool.name,
        "base": None if pool.base is None else f"{pool.base:#x}",
        "size": pool.size,
        "peak": pool.peak,
        "bound": pool.bound,
        "free": pool.free,
        "fragmentation": pool.fragmentation,
        "most_live": pool.most_live,
        "step": pool.step,
        "cause": None if pool.cause is None else _cause(pool.cause),
    }


def _cause(cause: PeakCause) -> dict[str, Any]:
    return {"proven": cause.proven, "step": cause.step, "buffers": list(cause.buffers)}


def _live(live: LivePeak) -> dict[str, Any]:
    buffers = [
        {"id": b.id, "pool": b.pool, "offset": b.offset, "size": b.size, "live": [list(range_) for range_ in b.live]}
        for b in live.buffers
    ]
    return {
        "bytes": live.bytes,
        "step": live.step,
        "buffers": buffers,
        "moments": live.moments,
        "throughout": list(live.throughout),
    }


def _listed(ids: list[BufferId]) -> str:
    return json.dumps(ids, ensure_ascii=False)


def write_inspection(
    written_in: str, problem: Problem, contents: Contents | None, report: MemoryReport, choice: Choice | None = None
) -> bytes:
    """Return a file's contents as JSON (memplan-inspection/1): its operators, and the report of a plan of its problem, one memory per line."""
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
    if problem.variants is not None:
        fields["variants"] = {
            "groups": len(problem.variants.groups),
            "alternatives": count_of_alternatives(problem.variants),
            "chosen": None if choice is None else dict(choice.alternatives),
            "cost": None if choice is None else choice.cost,
        }
    own = own_peaks(problem)
    fields["own_peak"] = None if own is None else sum(own.values())
    fields["own_peaks"] = own
    rest = {name: value for name, value in report_fields(report).items() if name != "format"}
    return document(fields | rest, listed=("pools",))
