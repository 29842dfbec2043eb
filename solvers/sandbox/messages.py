"""Messages from a solver's process to its parent, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from solvers.model.errors import SolverFailed, Unavailable, Unsupported

if TYPE_CHECKING:
    from solvers.model.instance import Placement
    from solvers.model.outcome import Certificate, Outcome, Value

Refusal: TypeAlias = Unsupported | Unavailable | SolverFailed


@dataclass(frozen=True, slots=True)
class Found:
    """A placement better than all before."""

    placement: Placement


@dataclass(frozen=True, slots=True)
class Proven:
    """A bound."""

    bound: Value


@dataclass(frozen=True, slots=True)
class Ended:
    """The solver returned."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Refused:
    """The solver raised one of its expected errors."""

    error: Refusal


@dataclass(frozen=True, slots=True)
class Crashed:
    """The solver raised any other error."""

    reason: str
    out_of_memory: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """A service's answer to one question; the asker knows its form."""

    fields: Mapping[str, Any]


Message: TypeAlias = Found | Proven | Ended | Refused | Crashed | Said


def encode(message: Message) -> bytes:
    """A message as bytes."""
    match message:
        case Found(placement):
            fields: dict[str, object] = {"kind": "found", **_placement(placement)}
        case Proven(bound):
            fields = {"kind": "proven", "bound": [int(x) for x in bound]}
        case Ended(outcome):
            fields = {"kind": "ended", **_outcome(outcome)}
        case Refused(error):
            fields = {"kind": "refused", "error": type(error).__name__, "solver": error.solver, "reason": error.reason}
        case Crashed(reason, out_of_memory):
            fields = {"kind": "crashed", "reason": reason, "out_of_memory": out_of_memory}
        case Said(answer):
            fields = {"kind": "said", "fields": dict(answer)}
    return json.dumps(fields).encode()


def _placement(placement: Placement) -> dict[str, object]:
    return {"pool": placement.pool.tolist(), "offset": placement.offset.tolist()}


def _outcome(outcome: Outcome) -> dict[str, object]:
    return {
        "stop": outcome.stop.value,
        "placement": None if outcome.placement is None else _placement(outcome.placement),
        "value": None if outcome.value is None else [int(x) for x in outcome.value],
        "bound": [int(x) for x in outcome.bound],
        "pool_bounds": [int(x) for x in outcome.pool_bounds],
        "certificates": [_certificate(c) for c in outcome.certificates],
        "infeasible": outcome.infeasible,
        "solver": outcome.solver,
        "work": int(outcome.work),
        "reproducible": outcome.reproducible,
        "notes": list(outcome.notes),
        "stuck": None if outcome.stuck is None else int(outcome.stuck),
    }


def _certificate(certificate: Certificate) -> dict[str, object]:
    return {
        "proof": certificate.proof.value,
        "value": int(certificate.value),
        "pool": None if certificate.pool is None else int(certificate.pool),
        "section": None if certificate.section is None else int(certificate.section),
        "parts": [int(p) for p in certificate.parts],
        "weights": [[int(x) for x in weight] for weight in certificate.weights],
        "sets": [[[int(p) for p in parts], int(n), int(d)] for parts, n, d in certificate.sets],
        "crowds": [
            [int(pool), int(section), [int(p) for p in parts], [int(v) for v in votes], int(n), int(d)]
            for pool, section, parts, votes, n, d in certificate.crowds
        ],
        "term": certificate.term,
        "solver": certificate.solver,
        "held": [[term.value, int(most), int(n), int(d)] for term, most, n, d in certificate.held],
    }
