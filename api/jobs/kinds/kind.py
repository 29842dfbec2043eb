"""The interface of all kinds of jobs: read what was posted, work on it, write its answer, and draw it."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, islice
from typing import Any, ClassVar, Protocol, TypeAlias

from planner.facts.digest import digest
from planner.formats.documents import Source
from planner.formats.tables.format import Format
from planner.model.plan import Plan
from planner.model.problem import Pair, Problem
from planner.model.storage import Sharing
from planner.model.versions import versions
from planner.planning.options.capacity import planned_problem
from planner.planning.options.options import Options
from planner.planning.placing.watching import Progress
from solvers.model.errors import StopReason
from solvers.model.registry import SOLVERS

from ...errors import HttpCode, Refusal

Answer: TypeAlias = tuple[dict[str, Any], bytes]
"""A header, and bytes that are passed on unchanged."""


MOST_SHOWN, MOST_LISTED = 60, 20
"""The most characters of an unknown part's name that are shown, and the most names that are listed."""
ROOM = 2000
"""The most characters of the listed names together, if there are several: each is whole, so that it can be asked for."""
Written: TypeAlias = Callable[[Plan | Sharing, tuple[str, ...]], Answer]
"""Makes an answer from a plan or a sharing and additional notes."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What was posted, read and found sound."""

    problem: Problem
    """Its largest sizes, or all of a program in one arena, if it is more than a problem."""
    warnings: tuple[str, ...]
    more: Any = None
    """What only its kind knows."""
    digest: str = ""
    """The problem's digest."""
    identity: str = ""
    """Identifies what is more than the problem."""

    @classmethod
    def of(cls, problem: Problem, warnings: tuple[str, ...]) -> Subject:
        """Return a subject that is only a problem."""
        return cls(problem, warnings, None, digest(problem))

    def planned(self, options: Options) -> Problem:
        """Return the problem with the requested sizes and objective. Raises PlannerError."""
        return planned_problem(self.problem, options.capacity, options.prefer, options.stability)


@dataclass(frozen=True, slots=True)
class Instructions:
    """How it is to be worked on."""

    options: Options
    own: Mapping[str, Any]
    """Options that only its endpoint knows."""
    notes: tuple[str, ...] = ()
    """For the answer's warnings."""
    in_body: frozenset[str] = frozenset()
    """The names of the options that the posted document has under `solve`."""


class Line(Protocol):
    """A task's connection to its caller."""

    def understood(self, fields: dict[str, Any]) -> None:
        """Report the description of the work."""

    def progress(self, moment: Progress, write: Written | None = None) -> None:
        """Report an improvement; `write` makes an answer of the best so far (None: the plan or sharing itself)."""

    def point(self, figures: Mapping[str, Any], so_far: Callable[[], Answer]) -> None:
        """Report a part of the answer: its figures, and a function that writes everything found so far, which any thread may call."""

    def cancelled(self) -> bool:
        """True if the answer is not wanted any more."""


class Kind(ABC):
    """One kind of job."""

    name: ClassVar[str]

    def read(self, row: Format, source: Source) -> Subject:
        """Return the subject in the bytes. Raises PlannerError."""
        return Subject.of(*row.read(source))

    @abstractmethod
    def check(self, subject: Subject, instructions: Instructions) -> None:
        """Raise PlannerError or Refusal if it makes no sense to begin."""

    @abstractmethod
    def run(self, subject: Subject, instructions: Instructions, line: Line, begun: float, best: bytes | None) -> Answer:
        """Return the answer. `begun` is when its time began, `best` the result of an earlier attempt."""

    @abstractmethod
    def cut_short(self, best: bytes, stop: StopReason) -> Answer:
        """Return the answer of a run that was killed after reporting this best one. Raises Refusal if that is no answer."""

    def part(self, answer: bytes, name: str) -> bytes:
        """Return one of the answer's plans. Raises Refusal."""
        raise no_such_part(name, ())

    @abstractmethod
    def draw(self, subject: Subject, instructions: Instructions, answer: bytes, wanted: str) -> bytes:
        """Return a picture (`svg`) of the answer, or its data (`map`) as JSON. Raises PlannerError and Refusal."""

    def draw_part(self, subject: Subject, instructions: Instructions, answer: bytes, name: str, wanted: str) -> bytes:
        """Return the same of one of its parts."""
        raise no_such_part(name, ())


def answer(
    data: bytes,
    *,
    status: str,
    stop: str,
    best: int | None = None,
    bound: int | None = None,
    gap: float | None = None,
    lasting: bool,
) -> Answer:
    """Return the bytes, and what the service must know about them. Lasting answers are kept for equal requests."""
    worth = {"status": status, "stop": stop, "best": best, "bound": bound, "gap": gap}
    return {"etag": etag_of(data), **worth, "lasting": lasting}, data


def answer_key(
    kind: str,
    digest: str,
    identity: Any,
    listed: Sequence[Pair],
    options: Mapping[str, Any],
    notes: Sequence[str],
) -> str:
    """Return an answer's key. It is equal for requests with equal answers: the problem, relevant options and versions, and notes."""
    counting = {name: value for name, value in options.items() if name != "workers"}
    content = [kind, digest, identity, [*listed], counting, notes, all_versions()]
    return hashlib.sha256(json.dumps(content, allow_nan=False).encode("ascii")).hexdigest()


@cache
def all_versions() -> dict[str, str]:
    """Return the versions of everything that may contribute to a plan."""
    return versions(SOLVERS)


def etag_of(data: bytes) -> str:
    """Return the tag as in the header."""
    return f'"{hashlib.sha256(data).hexdigest()[:32]}"'


def stop_in_words(stop: StopReason) -> str:
    """Return a warning that a run was ended from outside."""
    return f"{end_in_words(stop)}: this is the best that was known by then"


def end_in_words(stop: StopReason) -> str:
    """Return a sentence that a run was ended from outside."""
    when = "when it ran out of memory" if stop is StopReason.MEMORY_LIMIT else "after its time limit"
    return f"the run was ended from outside, {when}"


def no_such_part(name: str, there: Collection[str]) -> Refusal:
    """Return the refusal of a part that is not among those that are there."""
    ends = accumulate(map(len, islice(there, MOST_LISTED)))
    listed = [json.dumps(each) for i, (each, end) in enumerate(zip(there, ends, strict=False)) if not i or end <= ROOM]
    if len(there) > len(listed):
        listed.append(f"{len(there) - len(listed)} more")
    known = f"its parts are {', '.join(listed)}" if there else "it has no parts, so leave 'part' out"
    return Refusal(404, HttpCode.NOT_FOUND, f"the answer has no part {json.dumps(name[:MOST_SHOWN])}; {known}")
