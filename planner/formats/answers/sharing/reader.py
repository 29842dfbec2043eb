"""memplan-sharing/1: from bytes to a Sharing. Whether it is good, or fits its problem, is for planner.planning.sharing.verify."""

from __future__ import annotations

from functools import cache

from pydantic import TypeAdapter

from solvers.model.errors import StopReason

from ....model.plan import PlanStatus, Run
from ....model.storage import (
    Assignment,
    Kind,
    PoolTotal,
    Sharing,
    SharingCertificate,
    SharingProof,
    StorageObject,
    Witness,
)
from ...json.scan import Scanned
from ...json.strict import Part, Wire
from ...json.validate import validate
from .. import plan_wire as p
from ..plan_reader import read_run, read_shortage
from . import wire as w


@cache
def _wire() -> Wire:
    return Wire(TypeAdapter(w.SharingWire), _lists, free=frozenset({"versions", "machine"}))


@cache
def _lists() -> dict[tuple[str, ...], Part]:
    return {
        ("pools",): Part(TypeAdapter(w.PoolTotalWire)),
        ("objects",): Part(TypeAdapter(w.ObjectWire)),
        ("assignments",): Part(TypeAdapter(w.AssignmentWire)),
        ("certificate",): Part(TypeAdapter(w.SharingCertificateWire), {"sets": Part(TypeAdapter(w.WitnessWire))}),
        ("run", "trace"): Part(TypeAdapter(p.TracePointWire)),
    }


def read_sharing_json(data: bytes, scanned: Scanned) -> Sharing:
    """Return the Sharing in the document."""
    document: w.SharingWire = validate(_wire(), data, scanned)
    shortage = document.get("shortage")
    return Sharing(
        status=PlanStatus(document["status"]),
        stop=StopReason(document["stop"]),
        total=document["total"],
        bound=document["bound"],
        gap=document["gap"],
        pools=tuple(PoolTotal(x["name"], x["size"], x["total"], x["bound"]) for x in document["pools"]),
        objects=tuple(StorageObject(x["id"], x["size"], _kind(x)) for x in document["objects"]),
        assignments=tuple(Assignment(x["id"], x["object"]) for x in document["assignments"]),
        solver=document["solver"],
        seed=document["seed"],
        reproducible=document["reproducible"],
        versions=document.get("versions", {}),
        problem_digest=document["problem_digest"],
        certificates=tuple(_certificate(c) for c in document.get("certificate", [])),
        shortage=None if shortage is None else read_shortage(shortage),
        warnings=tuple(document.get("warnings", [])),
        run=read_run(document["run"]) if "run" in document else Run(0.0),
    )


def _kind(x: w.ObjectWire | w.SharingCertificateWire) -> Kind:
    return Kind(x["pool"], x.get("device"), x.get("dtype"))


def _certificate(c: w.SharingCertificateWire) -> SharingCertificate:
    sets = tuple(Witness(each.get("time"), tuple(each["buffers"])) for each in c.get("sets", []))
    return SharingCertificate(SharingProof(c["proof"]), c["value"], _kind(c), sets, c.get("solver"))
