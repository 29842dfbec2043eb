"""The path of one problem whose buffers share storage objects: check, lower, solve, lift, verify."""

from __future__ import annotations

from dataclasses import replace

from solvers.model.errors import SolverError, StopReason
from solvers.model.instance import Placement
from solvers.model.solver import Goal, Limits
from solvers.sharing.arrangement import Arrangement, from_placement
from solvers.sharing.crossing import AsSharingControl
from solvers.sharing.portfolio import solve
from solvers.sharing.solver import SharingTask

from ..checks import require_sound
from ..facts.digest import digest
from ..options.capacity import with_capacity
from ..options.options import Options, bad_option, require_valid
from ..placing.planning import WORK_PER_SECOND, cannot_solve
from ..placing.watching import Cancelled, Clock, OnLog, OnProgress, Watch
from ..plan import PlanStatus, Run
from ..problem import Problem
from ..storage import Sharing
from ..versions import cores, machine
from .findings import SharingFinding, SharingFindingKind
from .lifting import Lift
from .lowering import LoweredSharing, lower_sharing
from .starting import as_arrangement
from .verify import verify

REPORT = "please report this problem"
CLAIMS = frozenset(
    {
        SharingFindingKind.WRONG_CERTIFICATE,
        SharingFindingKind.UNPROVEN_BOUND,
        SharingFindingKind.BOUND_ABOVE_TOTAL,
        SharingFindingKind.CLAIMED_OPTIMAL_ABOVE_BOUND,
        SharingFindingKind.WRONG_STATUS,
        SharingFindingKind.WRONG_GAP,
    }
)
"""Findings about what a sharing claims to be proven. Its assignments may be right all the same."""


def find(
    problem: Problem,
    options: Options | None = None,
    on_progress: OnProgress | None = None,
    cancelled: Cancelled | None = None,
    on_log: OnLog | None = None,
    begun: float | None = None,
    start: Sharing | None = None,
) -> Sharing:
    """What planner.share promises."""
    options = options or Options()
    require_valid(options)
    _require_of_use(options)
    clock = Clock(options.time_limit, begun)
    problem = with_capacity(problem, options.capacity)
    require_sound(problem)
    with clock.while_lowering():
        low = lower_sharing(problem)
    instance = low.lowered.instance
    deadline = clock.deadline()
    lift, whole = Lift(problem, low, options.seed), digest(problem)
    known = None if start is None else _known(problem, low, lift, start, whole)
    work = options.work_limit
    if work is None and options.time_limit is not None:
        work = int(WORK_PER_SECOND * options.time_limit)
    limits = Limits(deadline, work, options.memory_limit_bytes, options.workers or cores())

    def so_far(placement: Placement) -> Sharing:
        """A sharing as if the run had been cancelled at that arrangement; it claims no bound."""
        made = _verified(problem, lift.bare(from_placement(instance, placement), whole))
        return replace(made, run=Run(round(clock.seconds, 6), (), machine()))

    watch = Watch(clock, deadline, instance, on_progress, cancelled, on_log, as_sharing=so_far)
    task = SharingTask(limits, options.seed, known, verbose=options.verbose)
    try:
        shared = solve(instance, task, AsSharingControl(instance, watch), options.solver, lift.may_fit)
    except SolverError as refusal:
        raise cannot_solve(refusal) from refusal
    made = lift.sharing(shared, whole)
    if start is not None:
        made = _after(start, made, used=known is not None)
    made = _verified(problem, made)
    return replace(made, run=Run(round(clock.seconds, 6), tuple(watch.trace), machine()))


def _known(problem: Problem, low: LoweredSharing, lift: Lift, start: Sharing, whole: str) -> Arrangement | None:
    """Who shares with whom in the start, if that keeps every rule. Its claims are not taken over, so they may be what they are."""
    arrangement = as_arrangement(problem, low.lowered, start)
    if arrangement is None:
        return None
    bare = lift.bare(arrangement, whole)
    return arrangement if bare.status is not PlanStatus.UNKNOWN and not verify(problem, bare, whole) else None


def _after(start: Sharing, made: Sharing, *, used: bool) -> Sharing:
    """The answer of a run that was given a start."""
    if not used:
        text = "the sharing to start from is no sharing of this problem and was left aside"
        return replace(made, warnings=(*made.warnings, text))
    return replace(made, reproducible=False, solver=made.solver or (start.solver if made.assignments else None))


def _verified(problem: Problem, made: Sharing) -> Sharing:
    """The sharing, or what is left of it if its verification objects."""
    findings = verify(problem, made, made.problem_digest)
    return _withdrawn(problem, made, findings) if findings else made


def _require_of_use(options: Options) -> None:
    """Raises BadInput for options that only mean something where offsets are planned."""
    if options.goal is not Goal.MINIMISE:
        raise bad_option("goal", "with shared objects the sum of sizes is always minimised")
    if options.warm is not None:
        raise bad_option(
            "warm", "with shared objects there is nothing to choose: solvers are told the best known total"
        )
    if options.explain:
        raise bad_option("explain", "there is no explanation for shared objects but their certificates")


def _withdrawn(problem: Problem, made: Sharing, findings: tuple[SharingFinding, ...]) -> Sharing:
    """The sharing without its claims if they are all that is wrong with it; otherwise one that says that nothing is known."""
    first = findings[0]
    humble = replace(
        made,
        status=PlanStatus.FEASIBLE,
        stop=StopReason.SOLVER_FAILED,
        bound=0,
        gap=None,
        pools=tuple(replace(pool, bound=0) for pool in made.pools),
        reproducible=False,
        certificates=(),
        shortage=None,
        warnings=(*made.warnings, f"a claim could not be verified and is withheld ({first.message}); {REPORT}"),
    )
    only_claims = all(finding.kind in CLAIMS for finding in findings)
    if made.assignments and only_claims and not verify(problem, humble, humble.problem_digest):
        return humble
    return replace(
        humble,
        status=PlanStatus.UNKNOWN,
        total=None,
        pools=tuple(replace(pool, total=None) for pool in humble.pools),
        objects=(),
        assignments=(),
        warnings=(
            *made.warnings,
            f"what was made failed verification and is withheld ({first.kind}: {first.message}); {REPORT}",
        ),
    )
