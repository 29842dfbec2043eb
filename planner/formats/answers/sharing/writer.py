"""memplan-sharing/1: from a Sharing to bytes, the same for the same Sharing, with what depends on the clock at the end."""

from __future__ import annotations

from typing import Any

from ....model.storage import Kind, Sharing, SharingCertificate
from ...documents import SHARING_FORMAT
from ...json.lines import Written, compact, document
from ..plan_writer import last_fields


def write_sharing_json(sharing: Sharing) -> bytes:
    return document(_fields(sharing), listed=("pools", "objects", "assignments", "certificate", "run"))


def _fields(sharing: Sharing) -> dict[str, Any]:
    """Return the sharing as plain Python values, in the order of the document."""
    return {
        "format": SHARING_FORMAT,
        "status": str(sharing.status),
        "stop": str(sharing.stop),
        "total": sharing.total,
        "bound": sharing.bound,
        "gap": sharing.gap,
        "pools": [{"name": p.name, "size": p.size, "total": p.total, "bound": p.bound} for p in sharing.pools],
        "objects": [{"id": thing.id, "size": thing.size, **kind_fields(thing.kind)} for thing in sharing.objects],
        "assignments": Written(f'{{"id": {compact(a.id)}, "object": {a.object}}}' for a in sharing.assignments),
        **last_fields(sharing, [_certificate(c) for c in sharing.certificates]),
    }


def kind_fields(kind: Kind) -> dict[str, str | None]:
    """Return what all objects of a kind have in common, by the names of its fields."""
    return {"pool": kind.pool, "device": kind.device, "dtype": kind.dtype}


def _certificate(certificate: SharingCertificate) -> dict[str, Any]:
    return {
        "proof": str(certificate.proof),
        "value": certificate.value,
        **kind_fields(certificate.kind),
        "sets": [{"time": each.time, "buffers": list(each.buffers)} for each in certificate.sets],
        "solver": certificate.solver,
    }
