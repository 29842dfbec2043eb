"""How files are planned: options, places, and the answers of earlier runs and other stores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..model.problem import Buffer, Problem
from ..planning.options.options import Options, bad_option, require_valid
from ..planning.placing.solving import plan
from .manifest import Manifest
from .worker import WasRead

GRACE_SECONDS = 30.0
"""The time for reading, verification and writing besides planning, before a process is killed."""


class Answers(Protocol):
    """A store of plans by problem and the options that decide them. It never fails: missing plans are made."""

    def find(self, problem: WasRead, options: Options) -> bytes | None:
        """Return the plan as it was stored, if there is one."""
        ...

    def keep(self, problem: WasRead, options: Options, plan: bytes) -> None:
        """Store a plan for equal requests, if it is final."""
        ...


@dataclass(frozen=True, slots=True)
class Farm:
    """How the files are planned."""

    options: Options
    processes: int = 1
    """On this machine."""
    cluster: str | None = None
    """A Dask cluster to plan on instead: its scheduler's address, or the scheduler file."""
    format: str | None = None
    """The format of all files; None: recognised."""
    baseline: Manifest | None = None
    """An earlier run: unchanged problems keep their plans, changed ones start from them."""
    anew: bool = False
    """True: the folder's existing contents do not count."""
    grace: float = GRACE_SECONDS
    answers: Answers | None = None
    """A store of plans that others made and may use."""


def require_usable(farm: Farm) -> None:
    """Raise BadInput or CannotSolve for options with which no file could be planned."""
    require_valid(farm.options)
    options = farm.options
    if options.stability is not None and farm.baseline is None:
        raise bad_option("stability", "it needs a baseline: an earlier run that says where buffers were")
    if options.solver != Options().solver:
        plan(Problem((Buffer("a", 1, live=((0, 1),)),)), Options(solver=options.solver, workers=1))
