"""The table of all solvers: name, kind, module and one-line summary.

Everything that lists, offers or explains solvers reads this table. A solver is a module and a row here; docs/planners.md explains each.
"""

from __future__ import annotations

import os
from enum import StrEnum
from importlib import import_module
from typing import NamedTuple

from .errors import UnknownSolver
from .libraries import Library
from .solver import Solver

AUTO = "auto"
VARIABLE = "MEMPLAN_SOLVERS"
"""Lists the user's own planners that may run."""


class SolverKind(StrEnum):
    """The purpose of a solver."""

    PORTFOLIO = "portfolio"
    """Runs other solvers."""
    METHOD = "method"
    """An exact method: given time, it proves its result optimal."""
    HEURISTIC = "heuristic"
    """Finds placements and proves nothing."""
    RELAXATION = "relaxation"
    """Solves a relaxed problem: its bounds hold for the whole problem, and it makes placements of its solutions where possible."""
    IMPROVER = "improver"
    """Lowers the peak of greedy's placement; proves nothing."""
    BOUNDER = "bounder"
    """Proves bounds and gives no placement of its own: asked for by name, it shows how good greedy's placement is."""
    PUBLISHED = "published"
    """The method of another system's planner."""
    PEER = "peer"
    """Another system's planner itself."""
    USER = "user"
    """The user's own planner."""


OF_OTHERS = frozenset({SolverKind.PUBLISHED, SolverKind.PEER, SolverKind.USER})
"""Planners that are not memplan's own: they are asked exactly what the user asks."""


class Entry(NamedTuple):
    """One solver."""

    kind: SolverKind
    path: str
    """module:Class; imported when the solver is first used. None of them imports its library on import."""
    summary: str


SOLVERS: dict[str, Entry] = {
    AUTO: Entry(
        SolverKind.PORTFOLIO, "solvers.portfolio.solve:Auto", "greedy first, then whatever proves fastest, in rounds"
    ),
    "greedy": Entry(
        SolverKind.HEURISTIC,
        "solvers.heuristics.greedy.solver:Greedy",
        "one block after another: many orders, lowest and best fit",
    ),
    "search": Entry(
        SolverKind.METHOD,
        "solvers.exact.search.solver:Search",
        "the exact search: block by block at a fixed height, with restarts",
    ),
    "saturation": Entry(
        SolverKind.RELAXATION,
        "solvers.exact.saturation.solver:Saturation",
        "where conflicts alone decide: what has the fewest addresses left comes next",
    ),
    "assign": Entry(
        SolverKind.HEURISTIC,
        "solvers.heuristics.assign.search:Assign",
        "local search over which buffer goes to which memory",
    ),
    "keep": Entry(
        SolverKind.HEURISTIC,
        "solvers.heuristics.keep:Keep",
        "local search that leaves buffers where an older plan had them",
    ),
    "reuse": Entry(
        SolverKind.HEURISTIC,
        "solvers.heuristics.reuse.search:Reuse",
        "local search over where buffers begin that pay for sharing addresses",
    ),
    "pools_first": Entry(
        SolverKind.RELAXATION,
        "solvers.choice.pools.solver:PoolsFirst",
        "which buffer goes to which memory by a 0-1 program without addresses; then each memory packed",
    ),
    "cpsat": Entry(SolverKind.METHOD, "solvers.exact.cpsat:CpSat", "OR-Tools CP-SAT: is there a plan of this height?"),
    "cpsat_peak": Entry(
        SolverKind.METHOD, "solvers.exact.cpsat:CpSatPeak", "OR-Tools CP-SAT with the peak as a variable"
    ),
    "cpsat_order": Entry(
        SolverKind.METHOD,
        "solvers.exact.cpsat:CpSatOrder",
        "OR-Tools CP-SAT: who lies below whom in a plan of this height, or of the least peak?",
    ),
    "cbc": Entry(SolverKind.METHOD, "solvers.exact.milp:Cbc", "the integer program, by CBC"),
    "highs": Entry(SolverKind.METHOD, "solvers.exact.milp:Highs", "the integer program, by HiGHS"),
    "improve": Entry(
        SolverKind.IMPROVER, "solvers.heuristics.improve:Improve", "greedy, then moving what defines the peak"
    ),
    "late_first": Entry(
        SolverKind.IMPROVER,
        "solvers.heuristics.improve:LateFirst",
        "greedy, then pass after pass, in which what ended too high comes earlier",
    ),
    "core": Entry(
        SolverKind.IMPROVER,
        "solvers.heuristics.core:Core",
        "greedy, then the few that take most room packed by the search, and thousands of others put where room is left",
    ),
    "mosaic": Entry(
        SolverKind.IMPROVER,
        "solvers.heuristics.mosaic.solver:Mosaic",
        "greedy, then buffers that fit together exactly joined, and the few pieces left packed by the search",
    ),
    "beam": Entry(
        SolverKind.IMPROVER,
        "solvers.heuristics.improve:Beam",
        "greedy, then sweeps through time, both ways, with many placements side by side",
    ),
    "gluing": Entry(
        SolverKind.IMPROVER,
        "solvers.heuristics.improve:Gluing",
        "greedy, then joining pieces until one is left: for thousands of buffers that fill the memory almost without a gap",
    ),
    "cadence_position": Entry(
        SolverKind.PUBLISHED, "solvers.others.named.cadence:CadencePosition", "ExecuTorch, Cadence: by size, lowest gap"
    ),
    "cadence_best_fit": Entry(
        SolverKind.PUBLISHED,
        "solvers.others.named.cadence:CadenceBestFit",
        "ExecuTorch, Cadence: by size, smallest gap",
    ),
    "tflm_greedy": Entry(
        SolverKind.PUBLISHED, "solvers.others.named.tflm:TflmGreedy", "TensorFlow Lite Micro: by size, lowest gap"
    ),
    "tflm_greedy_last_first": Entry(
        SolverKind.PUBLISHED,
        "solvers.others.named.tflm:TflmGreedyLastFirst",
        "TensorFlow Lite Micro since 2020: ties last first",
    ),
    "usmp_by_size": Entry(
        SolverKind.PUBLISHED, "solvers.others.named.usmp.greedy:UsmpBySize", "TVM USMP: greedy by size"
    ),
    "usmp_by_conflicts": Entry(
        SolverKind.PUBLISHED, "solvers.others.named.usmp.greedy:UsmpByConflicts", "TVM USMP: greedy by conflicts"
    ),
    "usmp_hill_climb": Entry(
        SolverKind.PUBLISHED, "solvers.others.named.usmp.hill_climb:UsmpHillClimb", "TVM USMP: hill climb"
    ),
    "exir_naive": Entry(SolverKind.PUBLISHED, "solvers.others.named.exir:ExirNaive", "ExecuTorch: one after the other"),
    "exir_greedy": Entry(
        SolverKind.PUBLISHED, "solvers.others.named.exir:ExirGreedy", "ExecuTorch: by size, into shared objects"
    ),
    "relay_tokens": Entry(SolverKind.PUBLISHED, "solvers.others.named.relay:RelayTokens", "TVM Relay: storage tokens"),
    "xla_heap": Entry(SolverKind.PUBLISHED, "solvers.others.named.xla:XlaHeap", "OpenXLA: the lower of the next two"),
    "xla_heap_spatial": Entry(
        SolverKind.PUBLISHED, "solvers.others.named.xla:XlaHeapSpatial", "OpenXLA: by size, smallest gap"
    ),
    "xla_heap_temporal": Entry(
        SolverKind.PUBLISHED, "solvers.others.named.xla:XlaHeapTemporal", "OpenXLA: by length of life, smallest gap"
    ),
    "vela_hill_climb": Entry(SolverKind.PUBLISHED, "solvers.others.named.vela:VelaHillClimb", "Arm Vela: hill climb"),
    "two_ended": Entry(SolverKind.PUBLISHED, "solvers.others.named.two_ended:TwoEnded", "DORY: a stack from each end"),
    "omnimalloc": Entry(SolverKind.PEER, "solvers.others.peers.omnimalloc:Omnimalloc", "omnimalloc itself"),
    "vela": Entry(SolverKind.PEER, "solvers.others.peers.vela:Vela", "Arm Vela itself"),
    "room_prices": Entry(
        SolverKind.BOUNDER, "solvers.bounds.room_prices:RoomPrices", "a bound from prices on room in each memory"
    ),
    "must_share": Entry(
        SolverKind.BOUNDER, "solvers.bounds.must_share:MustShare", "a bound on the cost of reuse, for want of room"
    ),
    "must_move": Entry(
        SolverKind.BOUNDER, "solvers.bounds.must_move:MustMove", "a bound on what moves, for old places that overlap"
    ),
    "pool_sharing": Entry(
        SolverKind.BOUNDER, "solvers.exact.milp:PoolSharing", "a bound from weights on what is live in several memories"
    ),
}


def names(*kinds: SolverKind) -> tuple[str, ...]:
    """The solvers of these kinds; without kinds all of them, the user's own last."""
    if kinds:
        return tuple(name for name, entry in SOLVERS.items() if entry.kind in kinds)
    return (*SOLVERS, *(name for name in allowed() if name not in SOLVERS))


def entry_of(name: str) -> Entry:
    """The solver's row. Raises UnknownSolver."""
    if name in SOLVERS:
        return SOLVERS[name]
    if name in allowed():
        path = f"solvers.others.users.planners:{OF_USER}{name}"
        return Entry(SolverKind.USER, path, f"your own, as {VARIABLE} names it")
    raise UnknownSolver(name, names())


def is_of(kind: SolverKind, name: str) -> bool:
    """True if the solver is of that kind."""
    return name in SOLVERS and SOLVERS[name].kind is kind


def proves(name: str) -> bool:
    """True if the solver may go on until something is proven; the others only look for placements."""
    return not (is_of(SolverKind.HEURISTIC, name) or is_of(SolverKind.IMPROVER, name))


def get(name: str) -> Solver:
    """The solver of that name. Raises UnknownSolver."""
    module, _, attribute = entry_of(name).path.partition(":")
    solver: Solver = getattr(import_module(module), attribute)()
    return solver


def searchers() -> tuple[str, ...]:
    """The solvers that may claim to have exhausted all placements. Heuristics cannot, and the portfolio names the solver that did."""
    return (*names(SolverKind.METHOD, SolverKind.RELAXATION, SolverKind.BOUNDER, SolverKind.PEER), *allowed())


def libraries_of(name: str) -> tuple[Library, ...]:
    """The libraries that the solver uses; empty for a solver that is not in the table."""
    return get(name).libraries if name in SOLVERS else ()


def allowed() -> tuple[str, ...]:
    """The names in MEMPLAN_SOLVERS, separated by commas, each once. Imports nothing."""
    return tuple(dict.fromkeys(name for part in os.environ.get(VARIABLE, "").split(",") if (name := part.strip())))


OF_USER = "planner "
"""Prefix of a user's planner's name used as an attribute, so that it never collides with another."""
