"""Speeds of memories in USMP's words, constants' data in base64, what ties buffers to each other, and the simplification of problems whose memories need not say all."""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Mapping
from dataclasses import asdict, replace
from math import lcm
from typing import Any

from ..checks.report import Place, Report, quoted
from ..model.errors import Code
from ..model.problem import Constraints, Problem, Speed

SPEED_FIELDS = tuple(Speed.__dataclass_fields__)
CONSTRAINTS = tuple(name for name, field in Constraints.__dataclass_fields__.items() if field.compare)
_NEEDED = SPEED_FIELDS[:3]
_DEFAULTS = {"read_latency_cycles": 0, "write_latency_cycles": 0, "target_burst_bytes": 1}


def ties(problem: Problem) -> list[tuple[Place, str]]:
    """Return the place and the name of each kind of constraint in the problem, and of its variants: many files of other planners have none of these."""
    names = [name for name in CONSTRAINTS if len(getattr(problem.constraints, name))]
    found: list[tuple[Place, str]] = [(("constraints", name), name.replace("_", " ")) for name in names]
    return found if problem.variants is None else [*found, (("variants",), "variants")]


def read_speed(pool: Mapping[str, Any], place: Place, report: Report) -> Speed | None:
    """Return the speed in a pool's fields; clock and bandwidths must appear together, or no field at all."""
    given = {name: pool[name] for name in SPEED_FIELDS if name in pool}
    if not given:
        return None
    missing = [name for name in _NEEDED if name not in given]
    if missing:
        text = f"is needed to know the pool's speed, since {next(iter(given))} is given"
        report.add(Code.MISSING_FIELD, (*place, missing[0]), text)
        return None
    return Speed(**given)


def write_speed(speed: Speed | None) -> dict[str, int]:
    """Return its fields without defaults."""
    fields = {} if speed is None else asdict(speed)
    return {name: value for name, value in fields.items() if value != _DEFAULTS.get(name)}


def read_data(text: str | None, place: Place, report: Report) -> bytes | None:
    """Return bytes from base64 without anything else in it."""
    if text is None:
        return None
    try:
        return b64decode(text, validate=True)
    except (Error, ValueError):  # the latter if it is not ASCII
        report.add(Code.INVALID_VALUE, place, f"must be base64, not {quoted(text)}")
        return None


def write_data(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode("ascii")


def with_aligned_buffers(problem: Problem) -> Problem:
    """Return the same problem with the alignments of memories on the buffers; as it is if a buffer may be in memories of different ones."""
    if all(pool.alignment == 1 for pool in problem.pools):
        return problem
    of = {pool.name: pool.alignment for pool in problem.pools}
    buffers = []
    for buffer in problem.buffers:
        homes = (buffer.fixed.pool,) if buffer.fixed is not None else buffer.pools or (*of,)
        first, *others = {of[home] for home in homes}
        if others:
            return problem
        buffers.append(replace(buffer, alignment=lcm(buffer.alignment, first)))
    pools = tuple(replace(pool, alignment=1) for pool in problem.pools)
    return replace(problem, buffers=tuple(buffers), pools=pools)


def in_one_memory(problem: Problem) -> Problem:
    """Return the same problem with its only memory implied: buffers carry its alignment, and need not name it."""
    if len(problem.pools) != 1:
        return problem
    (pool,) = problem.pools
    if pool.alignment == 1 and all(buffer.pools is None for buffer in problem.buffers):
        return problem
    buffers = (replace(b, pools=None, alignment=lcm(b.alignment, pool.alignment)) for b in problem.buffers)
    return replace(problem, buffers=tuple(buffers), pools=(replace(pool, alignment=1),))
