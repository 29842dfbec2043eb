"""What a process does that plans one file after the other: it reads a file and says which problem that is, then plans it if it is told to."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..facts.digest import digest
from ..formats import read_plan, read_problem, write_plan
from ..model.errors import Code, Finding, PlannerError
from ..model.problem import Problem
from ..options.options import Options
from ..planning.placing.solving import plan


@dataclass(frozen=True, slots=True)
class Read:
    """Asks to read a file."""

    path: str
    format: str | None


@dataclass(frozen=True, slots=True)
class WasRead:
    """Says which problem it holds."""

    sha256: str
    digest: str
    buffers: int


@dataclass(frozen=True, slots=True)
class WasRefused:
    """Says why it cannot be planned."""

    sha256: str
    reason: str
    is_no_problem: bool
    """It does not even say that it is one."""


@dataclass(frozen=True, slots=True)
class Make:
    """Asks for a plan of the problem that was read."""

    options: Options
    out: str
    start: bytes | None
    """A plan to begin with."""


@dataclass(frozen=True, slots=True)
class WasMade:
    """Says what was made, and written."""

    status: str
    stop: str
    peak: int | None
    bound: int
    seconds: float
    plan_sha256: str | None
    """None: there is no plan."""
    reason: str | None


@dataclass(frozen=True, slots=True)
class Unwritable:
    """Says that a plan could not be written."""

    reason: str


_held: dict[str, Any] = {}
"""The problem that was read last."""


def work(asked: Read | Make, send: Callable[[object], None]) -> None:
    """Answer what was asked."""
    send(_read(asked) if isinstance(asked, Read) else _make(asked))


def _read(asked: Read) -> WasRead | WasRefused:
    _held.clear()
    try:
        data = Path(asked.path).read_bytes()
    except OSError as error:
        return WasRefused("", f"cannot be read: {(error.strerror or str(error)).lower()}", is_no_problem=False)
    sha256 = hashlib.sha256(data).hexdigest()
    try:
        problem, warnings = read_problem(data, name=asked.path, format=asked.format)
    except PlannerError as error:
        finding = error.findings[0]
        return WasRefused(sha256, str(error), _says_it_is_none(finding))
    _held.update(problem=problem, warnings=warnings, sha256=sha256)
    return WasRead(sha256, digest(problem), len(problem.buffers))


def _says_it_is_none(finding: Finding) -> bool:
    """Whether it is not a damaged problem but something else: a manifest, a schema, a table."""
    is_nameless = finding.code is Code.MISSING_FIELD and "'format'" in finding.message
    return is_nameless or finding.code is Code.UNKNOWN_FORMAT or finding.pointer.startswith("/header/")


def _make(asked: Make) -> WasMade | WasRefused | Unwritable:
    problem: Problem = _held["problem"]
    try:
        made = plan(problem, asked.options, start=_start(asked, problem))
    except PlannerError as error:
        return WasRefused(_held["sha256"], str(error), is_no_problem=False)
    said = WasMade(
        str(made.status),
        str(made.stop),
        made.peak,
        made.bound,
        round(made.run.seconds, 6),
        None,
        None if made.shortage is None else made.shortage.message,
    )
    if not made.status.has_plan:
        return said
    data = write_plan(replace(made, warnings=(*_held["warnings"], *made.warnings)))
    try:
        write_whole(Path(asked.out), data)
    except OSError as error:
        return Unwritable(f"{asked.out}: {(error.strerror or str(error)).lower()}")
    return replace(said, plan_sha256=hashlib.sha256(data).hexdigest())


def _start(asked: Make, problem: Problem) -> Any:
    """The plan to begin with, as far as it is one of this problem's buffers."""
    if asked.start is None:
        return None
    with suppress(PlannerError):
        old = read_plan(asked.start)
        if {place.id for place in old.placements} == {buffer.id for buffer in problem.buffers}:
            return old
    return None


def write_whole(path: Path, data: bytes) -> None:
    """The file is there whole, or as it was before. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
