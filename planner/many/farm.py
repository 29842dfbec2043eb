"""How files are planned: with which options, where, and what earlier runs and other stores have to say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..model.problem import Buffer, Problem
from ..planning.options.options import Options, bad_option, require_valid
from ..planning.placing.solving import plan
from .manifest import Manifest
from .worker import WasRead

GRACE_SECONDS = 30.0
"""What reading, verification and writing may take beside the planning, before a process is killed."""


class Answers(Protocol):
    """A place where plans are kept, by the problem and the options that decide them. None of this fails: what cannot be had is planned."""

    def find(self, problem: WasRead, options: Options) -> bytes | None:
        """The plan as it was given out, if there is one."""
        ...

    def keep(self, problem: WasRead, options: Options, plan: bytes) -> None:
        """A plan for equal requests, if it is one that lasts."""
        ...


@dataclass(frozen=True, slots=True)
class Farm:
    """How the files are planned."""

    options: Options
    processes: int = 1
    """Of this machine."""
    cluster: str | None = None
    """A Dask cluster to plan on instead: its scheduler's address, or the file that says it."""
    format: str | None = None
    """Of all files; None: recognised."""
    baseline: Manifest | None = None
    """An earlier run: a problem that is in it keeps its plan, one that has changed starts from it."""
    anew: bool = False
    """True: what the folder holds does not count."""
    grace: float = GRACE_SECONDS
    answers: Answers | None = None
    """Where plans are kept that others made, and may use."""


def require_usable(farm: Farm) -> None:
    """Raises BadInput and CannotSolve for options that no file could be planned with."""
    require_valid(farm.options)
    options = farm.options
    if options.stability is not None and farm.baseline is None:
        raise bad_option("stability", "it needs a baseline: an earlier run that says where buffers were")
    if options.solver != Options().solver:
        plan(Problem((Buffer("a", 1, live=((0, 1),)),)), Options(solver=options.solver, workers=1))
