"""A SharingReport as bytes: JSON (memplan-sharing-report/1) with everything, CSV with a row for each object, each kind and all of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ....planning.sharing.report import KindReport, SharingReport
from ...documents import SHARING_REPORT_FORMAT
from ...json.lines import document
from ...text.lines import table
from ..plan_writer import shortage_fields
from .writer import kind_fields

COLUMNS = ("scope", "pool", "device", "dtype", "object", "objects", "size", "bound", "idle", "unused", "buffers")


def write_sharing_report_json(report: SharingReport) -> bytes:
    """Return the report as JSON, one kind per line."""
    fields = {
        "format": SHARING_REPORT_FORMAT,
        "problem": report.problem,
        "status": str(report.status),
        "total": report.total,
        "bound": report.bound,
        "time": None if report.time is None else list(report.time),
        "unused": report.unused,
        "kinds": [_kind(each) for each in report.kinds],
        "untimed": report.untimed,
        "shortage": None if report.shortage is None else shortage_fields(report.shortage),
    }
    return document(fields, listed=("kinds",))


def write_sharing_report_csv(report: SharingReport, naming: Callable[[str], str] = str) -> bytes:
    """Return a row for each object, then one of scope `kind` for each kind, and a last one of scope `all`, in which `size` is the sum.

    `buffers` is a JSON list of the object's users. `naming` determines what replaces names; terminals must not get them unchanged.
    """
    rows = list[dict[str, Any]]()
    for each in report.kinds:
        named = {name: value and naming(value) for name, value in kind_fields(each.kind).items()}
        for thing in each.objects:
            users = naming(json.dumps(thing.users, ensure_ascii=False))
            row = {"scope": "object", **named, "object": thing.id, "size": thing.size, "buffers": users}
            rows.append(row | {"idle": thing.idle, "unused": thing.unused})
        whole = {"scope": "kind", **named, "objects": len(each.objects), "size": each.total}
        rows.append(whole | {"bound": each.bound, "unused": each.unused})
    whole = {"scope": "all", "objects": sum(len(each.objects) for each in report.kinds), "size": report.total}
    rows.append(whole | {"bound": report.bound, "unused": report.unused})
    return table(COLUMNS, rows).encode("utf-8", "surrogatepass")


def _kind(each: KindReport) -> dict[str, Any]:
    return {
        **kind_fields(each.kind),
        "buffers": each.buffers,
        "total": each.total,
        "bound": each.bound,
        "unused": each.unused,
        "objects": [
            {"id": o.id, "size": o.size, "users": list(o.users), "idle": o.idle, "unused": o.unused}
            for o in each.objects
        ],
    }
