"""What every solver looks like, what it is asked, and the registry that finds it by name."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from typing import ClassVar, Protocol

from .errors import StopReason, UnknownSolver
from .instance import Instance, Placement
from .outcome import Outcome, Value
from .user_names import allowed, path_of_user_planner


class Goal(StrEnum):
    """When is a plan good enough?"""

    MINIMISE = "minimise"
    FIT = "fit"
    """Stop at the first placement within all capacities."""


class Warm(StrEnum):
    """What of the best known placement a solver is told. Which helps differs by solver, so it is measured."""

    NONE = "none"
    BOUND = "bound"
    HINT = "hint"
    BOTH = "both"

    @property
    def gives_bound(self) -> bool:
        return self in (Warm.BOUND, Warm.BOTH)

    @property
    def gives_hint(self) -> bool:
        return self in (Warm.HINT, Warm.BOTH)


class Feature(StrEnum):
    """What a solver can take beyond one rect per block, one pool and the peak."""

    FIXED = "fixed"
    RESERVED = "reserved"
    CAPACITY = "capacity"
    MULTI_RECT = "multi_rect"
    CONFLICTS = "conflicts"
    EXCLUSIONS = "exclusions"
    POOLS = "pools"
    """Several pools with a choice; without it a solver takes one pool at a time."""
    TERMS = "terms"
    """Lexicographic objectives and reuse penalties."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a solver may use. Work is counted, not timed, so that it ends alike on every machine: a unit is about a microsecond."""

    deadline: float | None = None
    """On the clock of time.monotonic(), which all processes of a machine share."""
    work: int | None = None
    memory_bytes: int | None = None
    workers: int = 1


@dataclass(frozen=True, slots=True)
class Task:
    """What a solver is asked to do with an instance."""

    limits: Limits = field(default_factory=Limits)
    goal: Goal = Goal.MINIMISE
    seed: int = 0
    start: Placement | None = None
    """Best placement known so far; a valid one."""
    bound: Value = ()
    """Best bound known so far."""
    target: Value = ()
    """A placement of this value is good enough: the caller has no use for a better one."""
    pool_bounds: tuple[int, ...] = ()
    warm: Warm | None = None
    """None: the solver's own default."""
    verbose: bool = False

    @property
    def enough(self) -> Value:
        """Stop at a value that is no greater: nothing better exists, or nobody needs it."""
        return max(self.bound, self.target)


class Control(Protocol):
    """A solver's line to whoever started it."""

    def incumbent(self, placement: Placement) -> None:
        """A placement better than any before: keep it, whatever happens to me next."""

    def bound(self, bound: Value) -> None:
        """Proven from now on."""

    def log(self, line: str) -> None:
        """A line for people who asked for the solvers' logs."""

    def stopped(self) -> StopReason | None:
        """Must I stop now, and why? Ask often."""


class Silent:
    """A Control that keeps nothing and stops at the deadline alone."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._deadline = None if limits is None else limits.deadline

    def incumbent(self, placement: Placement) -> None: ...

    def bound(self, bound: Value) -> None: ...

    def log(self, line: str) -> None: ...

    def stopped(self) -> StopReason | None:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return StopReason.TIME_LIMIT
        return None


class Input(StrEnum):
    """In which form a solver wants its instance."""

    PRESOLVED = "presolved"
    """Scaled, squeezed and split."""
    RAW = "raw"
    """As lowered, in the user's order: named heuristics of other planners depend on it."""


class Solver(Protocol):
    """Places the blocks of one instance."""

    name: ClassVar[str]
    features: ClassVar[frozenset[Feature]]
    wants: ClassVar[Input]
    sandboxed: ClassVar[bool]
    """Must it run in a child process of its own?"""

    def unavailable(self) -> str | None:
        """Why this solver cannot run here, or None. Cheap: imports no solver library."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """The best placement within the limits. Raises Unsupported for what it does not take."""


SOLVERS: dict[str, str] = {
    "greedy": "solvers.greedy.solver:Greedy",
    "search": "solvers.search.solver:Search",
    "assign": "solvers.assign.search:Assign",
    "cpsat": "solvers.cpsat:CpSat",
    "cpsat_peak": "solvers.cpsat:CpSatPeak",
    "cbc": "solvers.milp:Cbc",
    "highs": "solvers.milp:Highs",
    "cadence_position": "solvers.others.named.cadence:CadencePosition",
    "cadence_best_fit": "solvers.others.named.cadence:CadenceBestFit",
    "tflm_greedy": "solvers.others.named.tflm:TflmGreedy",
    "tflm_greedy_last_first": "solvers.others.named.tflm:TflmGreedyLastFirst",
    "usmp_by_size": "solvers.others.named.usmp:UsmpBySize",
    "usmp_by_conflicts": "solvers.others.named.usmp:UsmpByConflicts",
    "usmp_hill_climb": "solvers.others.named.usmp_hill_climb:UsmpHillClimb",
    "exir_naive": "solvers.others.named.exir:ExirNaive",
    "exir_greedy": "solvers.others.named.exir:ExirGreedy",
    "relay_tokens": "solvers.others.named.relay:RelayTokens",
    "xla_heap": "solvers.others.named.xla:XlaHeap",
    "xla_heap_spatial": "solvers.others.named.xla:XlaHeapSpatial",
    "xla_heap_temporal": "solvers.others.named.xla:XlaHeapTemporal",
    "vela_hill_climb": "solvers.others.named.vela:VelaHillClimb",
    "two_ended": "solvers.others.named.two_ended:TwoEnded",
    "omnimalloc": "solvers.others.peers.omnimalloc:Omnimalloc",
    "vela": "solvers.others.peers.vela:Vela",
}
"""name -> module:class. A module is imported when its solver is first asked for; none of them imports its library on import."""

BOUNDERS: dict[str, str] = {
    "room_prices": "solvers.bounds.room_prices:RoomPrices",
    "pool_sharing": "solvers.milp:PoolSharing",
}
"""Of the same form, but they only ever prove: of use beside a solver, not to be asked for alone."""

IMPROVERS: dict[str, str] = {"improve": "solvers.improve.ejection:Improve", "beam": "solvers.improve.beam:Beam"}
"""Of the same form, but they only ever improve what is known: likewise."""

HELPERS = {**BOUNDERS, **IMPROVERS}


def names() -> tuple[str, ...]:
    """All registered solvers, and those of the user's own that may run."""
    own = (name for name in allowed() if name not in HELPERS and name != "auto")
    return tuple(dict.fromkeys((*SOLVERS, *own)))


def path_of(name: str) -> str | None:
    """Where the solver of that name is, as module:Class."""
    return SOLVERS.get(name) or HELPERS.get(name) or path_of_user_planner(name)


def get(name: str) -> Solver:
    """The solver of that name."""
    path = path_of(name)
    if path is None:
        raise UnknownSolver(name, ("auto", *names()))
    module, _, attribute = path.partition(":")
    solver: Solver = getattr(import_module(module), attribute)()
    return solver
