"""memplan-plan/1: from bytes to a Plan. Whether it is good, or fits its problem, is for planner.verify."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from solvers.model.errors import StopReason
from solvers.model.instance import Term
from solvers.model.outcome import Proof

from ...checks.report import bad_input, pointer
from ...model.errors import BadInput, Code
from ...model.plan import (
    Choice,
    ChoiceCertificate,
    ChoiceGoal,
    Objective,
    Placement,
    Plan,
    PlanCertificate,
    PlanStatus,
    PoolUse,
    Run,
    Shortage,
    TermValue,
    TracePoint,
)
from ..json.scan import Scanned, scan
from ..json.strict import Part, Wire
from ..json.validate import validate
from . import plan_wire as w


@cache
def _wire() -> Wire:
    return Wire(TypeAdapter(w.PlanWire), _lists, free=frozenset({"versions", "machine"}))


@cache
def _lists() -> dict[tuple[str, ...], Part]:
    return {
        ("pools",): Part(TypeAdapter(w.PoolUseWire)),
        ("placements",): Part(TypeAdapter(w.PlacementWire)),
        ("choice", "alternatives"): Part(TypeAdapter(w.PickWire)),
        ("certificate",): Part(TypeAdapter(w.CertificateWire)),
        ("run", "trace"): Part(TypeAdapter(w.TracePointWire)),
    }


def read_plan_json(data: bytes, scanned: Scanned) -> Plan:
    """Return the Plan in the document."""
    document: w.PlanWire = validate(_wire(), data, scanned)
    objective = document["objective"]
    shortage = document.get("shortage")
    return Plan(
        status=PlanStatus(document["status"]),
        stop=StopReason(document["stop"]),
        peak=document["peak"],
        bound=document["bound"],
        gap=document["gap"],
        objective=Objective(
            objective["value"],
            objective["bound"],
            tuple(TermValue(Term(t["name"]), t["value"], t["bound"]) for t in objective["terms"]),
        ),
        pools=tuple(PoolUse(p["name"], p["size"], p["peak"], p["bound"]) for p in document["pools"]),
        placements=tuple(Placement(p["id"], p["pool"], p["offset"], p["size"]) for p in document["placements"]),
        solver=document["solver"],
        seed=document["seed"],
        reproducible=document["reproducible"],
        versions=document.get("versions", {}),
        problem_digest=document["problem_digest"],
        certificates=tuple(_certificate(c) for c in document.get("certificate", [])),
        shortage=None if shortage is None else read_shortage(shortage),
        warnings=tuple(document.get("warnings", [])),
        run=read_run(document["run"]) if "run" in document else Run(0.0),
        choice=None if (choice := document.get("choice")) is None else _choice(choice),
    )


def plan_of_answer(answer: Any, place: tuple[str | int, ...], read_file: Callable[[str], bytes] | None = None) -> Plan:
    """Return the plan at that place of an answer, or in the file named there, which `read_file` reads. Raises BadInput."""
    try:
        if isinstance(answer, str) and read_file is not None:
            data = read_file(answer)
        elif isinstance(answer, dict):
            data = json.dumps(answer).encode("ascii")
        else:
            beside = ": it names a file, which is looked for only beside a file that is named itself"
            raise bad_input(Code.WRONG_TYPE, (), f"must be a plan{beside if isinstance(answer, str) else ''}")
        return read_plan_json(data, scan(data))
    except BadInput as error:
        there = f"{answer}: " if isinstance(answer, str) and read_file is not None else ""
        findings = (
            replace(each, pointer=pointer(place) + each.pointer, message=there + each.message)
            for each in error.findings
        )
        raise BadInput(*findings, more=error.more) from None


def _choice(c: w.ChoiceWire) -> Choice:
    return Choice(
        alternatives=tuple((pick["group"], pick["alternative"]) for pick in c["alternatives"]),
        costs=tuple((paid["name"], paid["value"]) for paid in c["costs"]),
        cost=c["cost"],
        cost_bound=c["cost_bound"],
        goal=ChoiceGoal(c["goal"]),
        most_cost=c["most_cost"],
        certificates=tuple(
            ChoiceCertificate(
                x["value"],
                x["memory"],
                x["cost"],
                tuple((y["pool"], y["time"], y["price"]) for y in x["weights"]),
                x.get("within"),
            )
            for x in c.get("certificate", [])
        ),
    )


def _certificate(c: w.CertificateWire) -> PlanCertificate:
    return PlanCertificate(
        Proof(c["proof"]),
        c["value"],
        c.get("pool"),
        c.get("time"),
        tuple(c.get("buffers", [])),
        tuple((x["pool"], x["time"], x["numerator"], x["denominator"]) for x in c.get("weights", [])),
        c.get("solver"),
        None if (term := c.get("term")) is None else Term(term),
        tuple((tuple(x["buffers"]), x["numerator"], x["denominator"]) for x in c.get("sets", [])),
        tuple(_crowd(x) for x in c.get("crowds", [])),
        tuple((Term(x["term"]), x["most"], x["numerator"], x["denominator"]) for x in c.get("held", [])),
    )


def _crowd(x: w.CrowdWire) -> tuple[str, int, tuple[int | str, ...], tuple[int, ...], int, int]:
    buffers = tuple(x["buffers"])
    votes = tuple(x.get("votes", [1] * len(buffers)))
    return x["pool"], x["time"], buffers, votes, x["numerator"], x["denominator"]


def read_shortage(s: w.ShortageWire) -> Shortage:
    subset = s.get("subset")
    return Shortage(
        s["message"],
        s.get("pool"),
        s.get("bytes_short"),
        s.get("time"),
        tuple(s.get("buffers", [])),
        None if subset is None else tuple(subset),
        s.get("irreducible"),
        s.get("max_cost"),
    )


def read_run(run: w.RunWire) -> Run:
    trace = tuple(TracePoint(p["seconds"], p["value"], p["bound"]) for p in run.get("trace", []))
    return Run(run["seconds"], trace, run.get("machine", {}))
