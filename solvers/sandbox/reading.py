"""Reads messages from a solver's process: the parent never executes what it receives."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from solvers.model.errors import SolverFailed, StopReason, Unavailable, Unsupported
from solvers.model.instance import ADDRESS_LIMIT, Ints, Placement, Term
from solvers.model.outcome import Certificate, Outcome, Proof

from .messages import Crashed, Ended, Found, Message, Proven, Refusal, Refused, Said

REFUSALS: dict[str, type[Refusal]] = {kind.__name__: kind for kind in (Unsupported, Unavailable, SolverFailed)}


class Unreadable(Exception):
    """A payload that is not a message: its sender is broken. Caught where messages are read."""


def decode(payload: bytes) -> Message:
    """The message in these bytes. Raises Unreadable."""
    try:
        return _decode(json.loads(payload))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise Unreadable(f"{type(error).__name__}: {error}"[:200]) from error


def _decode(fields: Mapping[str, object]) -> Message:
    match fields["kind"]:
        case "found":
            return Found(_read_placement(fields))
        case "proven":
            return Proven(_numbers(fields["bound"]))
        case "ended":
            return Ended(_read_outcome(fields))
        case "refused":
            kind = REFUSALS[str(fields["error"])]
            return Refused(kind(str(fields["solver"]), str(fields["reason"])))
        case "crashed":
            return Crashed(str(fields["reason"]), fields["out_of_memory"] is True)
        case "said":
            return Said(dict(cast("Mapping[str, Any]", fields["fields"])))
    raise ValueError("no such kind of message")


def _read_placement(fields: Mapping[str, object]) -> Placement:
    return Placement(pool=_array(fields["pool"]), offset=_array(fields["offset"]))


def _read_outcome(fields: Mapping[str, object]) -> Outcome:
    placement, value, solver = fields["placement"], fields["value"], fields["solver"]
    return Outcome(
        stop=StopReason(cast(str, fields["stop"])),
        placement=None if placement is None else _read_placement(cast("Mapping[str, object]", placement)),
        value=None if value is None else _numbers(value),
        bound=_numbers(fields["bound"]),
        pool_bounds=_numbers(fields["pool_bounds"]),
        certificates=tuple(_read_certificate(c) for c in cast("list[Mapping[str, object]]", fields["certificates"])),
        infeasible=fields["infeasible"] is True,
        solver=None if solver is None else str(solver),
        work=_number(fields["work"]),
        reproducible=fields["reproducible"] is True,
        notes=tuple(str(note) for note in cast("list[object]", fields["notes"])),
        stuck=None if fields["stuck"] is None else _number(fields["stuck"]),
    )


def _read_certificate(fields: Mapping[str, object]) -> Certificate:
    solver = fields["solver"]
    return Certificate(
        proof=Proof(cast(str, fields["proof"])),
        value=_number(fields["value"]),
        pool=None if fields["pool"] is None else _number(fields["pool"]),
        section=None if fields["section"] is None else _number(fields["section"]),
        parts=_numbers(fields["parts"]),
        weights=tuple(_weight(w) for w in cast("list[object]", fields["weights"])),
        sets=tuple(_set(row) for row in cast("list[list[object]]", fields["sets"])),
        crowds=tuple(_crowd(row) for row in cast("list[list[object]]", fields["crowds"])),
        term=None if fields["term"] is None else Term(cast(str, fields["term"])),
        solver=None if solver is None else str(solver),
        held=tuple(_held(row) for row in cast("list[list[object]]", fields["held"])),
    )


def _held(row: list[object]) -> tuple[Term, int, int, int]:
    term, most, numerator, denominator = row
    return Term(cast(str, term)), _number(most), _number(numerator), _number(denominator)


def _set(row: list[object]) -> tuple[tuple[int, ...], int, int]:
    parts, numerator, denominator = row
    return _numbers(parts), _number(numerator), _number(denominator)


def _crowd(row: list[object]) -> tuple[int, int, tuple[int, ...], tuple[int, ...], int, int]:
    pool, section, parts, votes, numerator, denominator = row
    return _number(pool), _number(section), _numbers(parts), _numbers(votes), _number(numerator), _number(denominator)


def _weight(row: object) -> tuple[int, int, int, int]:
    pool, section, numerator, denominator = _numbers(row)
    return pool, section, numerator, denominator


def _number(value: object) -> int:
    if type(value) is not int:
        raise TypeError("not an integer")
    return value


def _numbers(values: object) -> tuple[int, ...]:
    if not isinstance(values, list):
        raise TypeError("not a list")
    return tuple(_number(v) for v in values)


def _array(values: object) -> Ints:
    numbers = _numbers(values)
    if any(not 0 <= n < ADDRESS_LIMIT for n in numbers):
        raise ValueError("an address out of range")
    return np.array(numbers, dtype=np.int64)
