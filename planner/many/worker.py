"""Plans one file after the other: reads it, reports which problem it is, and plans it on request."""

from __future__ import annotations

import errno
import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ..facts.digest import digest
from ..facts.variants import most_buffers
from ..formats import read_plan, read_problem, write_plan
from ..model.errors import Code, Finding, PlannerError
from ..model.plan import Plan
from ..model.problem import Pair, Problem
from ..planning.options.capacity import planned_problem
from ..planning.options.options import Options
from ..planning.options.stability import places_of
from ..planning.placing.solving import plan
from ..reporting.difference import difference
from ..verifying.verify import verify
from .progress import ProgressSender

NAMES_FAULTS = frozenset({errno.ENAMETOOLONG, errno.EISDIR})
"""Errors that concern one file's name, not the folder."""


@dataclass(frozen=True, slots=True)
class Read:
    """Request to read a file."""

    path: str
    format: str | None
    data: bytes | None = None
    """Its bytes, if the process cannot read the file."""


@dataclass(frozen=True, slots=True)
class WasRead:
    """Report: which problem it holds."""

    sha256: str
    digest: str
    buffers: int
    warnings: tuple[str, ...] = ()
    listed: tuple[Pair, ...] = ()
    """The source's asymmetric conflict lists (see planner.model.problem), for planners that follow it to the letter."""


@dataclass(frozen=True, slots=True)
class WasRefused:
    """Report: why it cannot be planned."""

    sha256: str
    reason: str
    is_no_problem: bool
    """True if it does not even claim to be one."""


@dataclass(frozen=True, slots=True)
class Make:
    """Request to plan the problem that was read."""

    options: Options
    out: str | None
    """The file to write; None: send the plan."""
    start: bytes | None
    """A plan to start from, or to stay close to."""
    tells: bool = False
    """True: send progress now and then (planner.many.progress) before the answer."""
    known: bytes | None = None
    """A plan of this problem with these options, to be verified and used again."""


@dataclass(frozen=True, slots=True)
class Moves:
    """How many of an older plan's buffers, and how many bytes, moved; and that plan's peak."""

    buffers: int
    bytes: int
    peak_before: int | None


@dataclass(frozen=True, slots=True)
class WasMade:
    """Report: what was made."""

    status: str
    stop: str
    peak: int | None
    bound: int
    seconds: float
    reason: str | None
    """Why there is no plan."""
    plan_sha256: str | None = None
    """None: there is no plan."""
    plan: bytes | None = None
    """The plan itself, if it was not written."""
    moves: Moves | None = None
    """None: there was no plan to compare with."""
    is_known: bool = False
    """True if it existed already."""

    def without_plan(self) -> WasMade:
        return replace(self, plan=None)


@dataclass(frozen=True, slots=True)
class Unwritable:
    """Report: a plan could not be written."""

    reason: str
    is_its_own: bool
    """True: the plan's name is at fault. False: nothing can be written there."""

    @classmethod
    def of(cls, path: Path, error: OSError) -> Unwritable:
        return cls(f"cannot write {path}: {(error.strerror or str(error)).lower()}", error.errno in NAMES_FAULTS)


@dataclass(frozen=True, slots=True)
class Lost:
    """Report: the process that planned it is gone."""

    reason: str
    is_its_fault: bool = True
    """True: the file may be the cause. False: everything in progress was lost with it."""


class Reader:
    """Reads files, and keeps the last one's problem."""

    def __init__(self) -> None:
        self.problem: Problem | None = None
        self.warnings: tuple[str, ...] = ()
        self.sha256 = ""
        self.seconds = 0.0
        """The time for reading, which counts towards the time limit."""

    def read(self, data: bytes, name: str, format_: str | None) -> WasRead | WasRefused:
        """Return which problem the file holds."""
        begun = time.monotonic()
        self.problem = None
        self.sha256 = hashlib.sha256(data).hexdigest()
        try:
            problem, warnings = read_problem(data, name=name, format=format_)
        except PlannerError as error:
            return WasRefused(self.sha256, str(error), _is_other_document(error.findings[0]))
        self.problem, self.warnings = problem, tuple(warnings)
        listed = tuple(problem.constraints.listed)
        found = WasRead(self.sha256, digest(problem), most_buffers(problem), self.warnings, listed)
        self.seconds = time.monotonic() - begun
        return found


_reader = Reader()
_sender = ProgressSender()


def work(request: Read | Make, send: Callable[[object], None]) -> None:
    """Answer a request, in a process that does nothing else."""
    if isinstance(request, Make):
        if request.tells:
            _sender.begin(send)
        try:
            made = _make(request)
        finally:
            _sender.end()
        send(made)
        return
    try:
        data = Path(request.path).read_bytes() if request.data is None else request.data
    except OSError as error:
        send(WasRefused("", f"cannot be read: {(error.strerror or str(error)).lower()}", is_no_problem=False))
        return
    send(_reader.read(data, request.path, request.format))


def _is_other_document(finding: Finding) -> bool:
    """True if it is not a damaged problem but something else: a manifest, a schema, a table."""
    is_nameless = finding.code is Code.MISSING_FIELD and "'format'" in finding.message
    return is_nameless or finding.code is Code.UNKNOWN_FORMAT or finding.pointer.startswith("/header/")


def _make(request: Make) -> WasMade | WasRefused | Unwritable:
    begun = time.monotonic() - _reader.seconds
    problem = _reader.problem
    assert problem is not None
    old = _old(request)
    options = request.options
    if old is None or not places_of(old, problem):
        options = replace(options, stability=None)  # nothing of it was written yet
    start = old if options.stability is not None or _is_of(old, problem) else None
    try:
        known = _known(request, problem)
        made = plan(problem, options, _sender.hear, start=start, begun=begun) if known is None else known
    except PlannerError as error:
        return WasRefused(_reader.sha256, str(error), is_no_problem=False)
    reason = None if made.shortage is None else made.shortage.message
    reply = WasMade(str(made.status), str(made.stop), made.peak, made.bound, round(made.run.seconds, 6), reason)
    if not made.status.has_plan:
        return reply
    reply = replace(reply, moves=None if old is None else _moves(old, made))
    if known is None or request.known is None:
        data = write_plan(replace(made, warnings=(*_reader.warnings, *made.warnings)))
    else:
        data, reply = request.known, replace(reply, is_known=True)
    reply = replace(reply, plan_sha256=hashlib.sha256(data).hexdigest())
    if request.out is None:
        return replace(reply, plan=data)
    try:
        write_whole(Path(request.out), data)
    except OSError as error:
        return Unwritable.of(Path(request.out), error)
    return reply


def _known(request: Make, problem: Problem) -> Plan | None:
    """Return the stored plan, if it is readable and right. Raises BadInput."""
    if request.known is None:
        return None
    planned = planned_problem(problem, request.options.capacity, request.options.prefer)
    with suppress(PlannerError):
        kept = read_plan(request.known)
        if kept.status.has_plan and kept.problem_digest == digest(planned) and not verify(planned, kept):
            return kept
    return None


def _old(request: Make) -> Plan | None:
    if request.start is not None:
        with suppress(PlannerError):
            return read_plan(request.start)
    return None


def _is_of(old: Plan | None, problem: Problem) -> bool:
    """True if the plan places exactly this problem's buffers."""
    return old is not None and {place.id for place in old.placements} == {buffer.id for buffer in problem.buffers}


def _moves(old: Plan, made: Plan) -> Moves:
    found = difference(old, made)
    both = ((change.before, change.after) for change in found.changes)
    moved = [
        after
        for before, after in both
        if before is not None and after is not None and (before.pool, before.offset) != (after.pool, after.offset)
    ]
    return Moves(len(moved), sum(place.size for place in moved), old.peak)


def write_whole(path: Path, data: bytes) -> None:
    """Write atomically: afterwards the file is whole, or as before. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".unfinished-{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def remove_unfinished(folders: Iterable[Path]) -> None:
    """Remove files in these folders that a killed `write_whole` left."""
    for folder in folders:
        for left in folder.glob(".unfinished-*.tmp"):
            with suppress(OSError):
                left.unlink()
