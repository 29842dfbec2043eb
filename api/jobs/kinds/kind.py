"""What every kind of job can do: read what was posted, work on it, write its answer out, and draw it."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
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
from ...settings import Settings

Answer: TypeAlias = tuple[dict[str, Any], bytes]
"""A header, and bytes that are passed on as they are."""


Written: TypeAlias = Callable[[Plan | Sharing, tuple[str, ...]], Answer]
"""Makes an answer of a plan or a sharing, and of what is said besides."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What was posted, read and found sound in itself."""

    problem: Problem
    """Its largest sizes, or all of a program in one arena, where it is more than a problem."""
    warnings: tuple[str, ...]
    more: Any = None
    """What only its kind knows."""
    digest: str = ""
    """Of the problem."""
    identity: str = ""
    """Of what is more than that."""

    @classmethod
    def of(cls, problem: Problem, warnings: tuple[str, ...]) -> Subject:
        """A problem that is nothing more."""
        return cls(problem, warnings, None, digest(problem))

    def planned(self, options: Options) -> Problem:
        """The problem with the sizes and the objective that are asked for. Raises PlannerError."""
        return planned_problem(self.problem, options.capacity, options.prefer, options.stability)


@dataclass(frozen=True, slots=True)
class Instructions:
    """How it is to be worked on."""

    options: Options
    own: Mapping[str, Any]
    """What its door alone knows."""
    notes: tuple[str, ...] = ()
    """For the answer's warnings."""


class Line(Protocol):
    """A task's connection to its caller."""

    def understood(self, fields: dict[str, Any]) -> None:
        """What it is that is going to be worked on."""

    def progress(self, moment: Progress, write: Written | None = None) -> None:
        """Something got better; `write` makes an answer of the best so far (None: the plan or sharing itself)."""

    def point(self, figures: Mapping[str, Any], so_far: Callable[[], Answer]) -> None:
        """A part of the answer was found: its figures, and how to write out all that there is by now. That may be called from any thread."""

    def cancelled(self) -> bool:
        """Is the answer not wanted any more?"""


class Kind(ABC):
    """One kind of job."""

    name: ClassVar[str]

    def read(self, row: Format, source: Source) -> Subject:
        """What the bytes say. Raises PlannerError."""
        return Subject.of(*row.read(source))

    @abstractmethod
    def check(self, subject: Subject, instructions: Instructions, settings: Settings) -> None:
        """Raises PlannerError or Refusal where it makes no sense to begin."""

    @abstractmethod
    def run(self, subject: Subject, instructions: Instructions, line: Line, begun: float, best: bytes | None) -> Answer:
        """The answer. `begun` is when its time began, `best` what an earlier attempt had come to."""

    @abstractmethod
    def cut_short(self, best: bytes, stop: StopReason) -> Answer:
        """The answer of a run that was killed when this was the best it had told. Raises Refusal where that is no answer."""

    def part(self, answer: bytes, name: str) -> bytes:
        """One of the plans that the answer is made of. Raises Refusal."""
        raise Refusal(404, HttpCode.NOT_FOUND, "this answer is not made of parts")

    @abstractmethod
    def draw(self, subject: Subject, instructions: Instructions, answer: bytes, part: str | None, wanted: str) -> bytes:
        """A picture (`svg`) of the answer or of a part of it, or what there is to draw (`map`), as JSON. Raises PlannerError and Refusal."""


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
    """The bytes, and what the service must know of them. Lasting answers are kept for equal requests."""
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
    """Under which an answer is kept. Equal for whoever must get an equal answer: the problem, the options and versions that count, and what is said besides."""
    counting = {name: value for name, value in options.items() if name != "workers"}
    content = [kind, digest, identity, listed, counting, notes, all_versions()]
    return hashlib.sha256(json.dumps(content, allow_nan=False).encode("ascii")).hexdigest()


@cache
def all_versions() -> dict[str, str]:
    """Of everything that may have a part in a plan."""
    return versions(SOLVERS)


def etag_of(data: bytes) -> str:
    """As the header has it."""
    return f'"{hashlib.sha256(data).hexdigest()[:32]}"'


def stop_in_words(stop: StopReason) -> str:
    """That a run was ended from outside, as a warning of what it had found."""
    return f"{end_in_words(stop)}: this is the best that was known by then"


def end_in_words(stop: StopReason) -> str:
    """That a run was ended from outside."""
    when = "when it ran out of memory" if stop is StopReason.MEMORY_LIMIT else "after its time limit"
    return f"the run was ended from outside, {when}"


def no_such_part(name: str) -> Refusal:
    return Refusal(404, HttpCode.NOT_FOUND, f"the answer has no part {json.dumps(name[:60])}")
