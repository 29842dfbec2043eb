"""The path of one problem: check, lower, solve, lift, verify."""

from __future__ import annotations

from dataclasses import replace

from solvers.model.errors import SolverError, StopReason, Unavailable, UnknownSolver, Unsupported
from solvers.model.instance import Placement
from solvers.model.objective import evaluate
from solvers.model.outcome import Outcome
from solvers.model.solver import Goal, Limits, Task
from solvers.portfolio.solve import solve

from ..checks import require_sound
from ..errors import CannotSolve, Code, Finding
from ..facts.constants import spell_out_constants
from ..facts.digest import digest
from ..options.asked import as_asked
from ..options.options import Options, require_valid
from ..plan import Plan, PlanStatus, Run, Shortage
from ..problem import Problem
from ..verifying.verify import verify
from ..versions import cores, machine, versions
from . import lifting
from .lowering import Lowered, lower
from .watching import Cancelled, Clock, OnLog, OnProgress, Watch
from .withdrawal import withdrawn

WORK_PER_SECOND = 750_000
"""The default work limit for each second of the time limit: about half of what a machine does, so that work ends ordinary runs, not the clock."""

SUBSET_SECONDS = 10.0
"""Time for finding an irreducible subset, where the run has no time limit of its own."""


def plan(
    problem: Problem,
    options: Options | None = None,
    on_progress: OnProgress | None = None,
    cancelled: Cancelled | None = None,
    on_log: OnLog | None = None,
    begun: float | None = None,
    start: Plan | None = None,
) -> Plan:
    """An address for every buffer, the smallest peak that was found, and what is proven of it.

    The time limit counts from `begun` (on time.monotonic(); default: now), so that a caller may count reading the problem in.
    `start` is a plan that is known already, from an earlier run, say: solvers begin with its addresses, and the answer is no worse. It is
    verified first; if it breaks a rule of the problem it is left aside, with a warning. An answer that had a start is not reproducible.
    Raises BadInput for a problem or option that is wrong in itself, CannotSolve for a solver that does not exist or does not take the problem.
    """
    options = options or Options()
    require_valid(options)
    clock = Clock(options.time_limit, begun)
    problem = as_asked(problem, options.capacity, options.prefer)
    require_sound(problem)
    problem = spell_out_constants(problem)
    with clock.while_lowering():
        lowered = lower(problem)
    known = None if start is None else _known(problem, lowered, start, options)
    task = replace(_task(options, clock), start=known)

    def so_far(placement: Placement) -> Plan:
        """A plan as if the run had been cancelled at that placement; it claims no bound."""
        made = _verified(problem, _bare(problem, lowered, placement, options))
        return replace(made, run=Run(round(clock.seconds, 6), (), machine()))

    watch = Watch(clock, task.limits.deadline, lowered.instance, on_progress, cancelled, on_log, so_far)
    try:
        outcome = solve(lowered.instance, task, watch, options.solver)
    except SolverError as refusal:
        raise cannot_solve(refusal) from refusal
    made = _made(problem, lowered, outcome, options)
    if start is not None:
        made = _after(start, made, used=known is not None)
    if made.status is PlanStatus.INFEASIBLE:
        why = _shortage(problem, made, options, clock, cancelled)
        made = replace(made, shortage=why, reproducible=made.reproducible and why.irreducible is not False)
    made = _verified(problem, made)
    return replace(made, run=Run(round(clock.seconds, 6), tuple(watch.trace), machine()))


def _made(problem: Problem, lowered: Lowered, outcome: Outcome, options: Options) -> Plan:
    """The outcome in the user's words."""
    objective = lifting.objective(problem, outcome)
    uses = lifting.pool_uses(problem, lowered, outcome)
    return Plan(
        status=lifting.status(outcome),
        stop=outcome.stop,
        peak=None if outcome.placement is None else sum(use.peak or 0 for use in uses),
        bound=lifting.total_bound(problem, outcome),
        gap=lifting.gap(objective),
        objective=objective,
        pools=uses,
        placements=lifting.placements(problem, lowered, outcome),
        solver=outcome.solver,
        seed=options.seed,
        reproducible=outcome.reproducible,
        versions=versions(outcome.asked),
        problem_digest=digest(problem),
        certificates=lifting.certificates(problem, lowered, outcome),
        warnings=lifting.warnings(problem, outcome),
    )


def _bare(problem: Problem, lowered: Lowered, placement: Placement, options: Options) -> Plan:
    """A plan of that placement which claims no bound."""
    value = evaluate(lowered.instance, placement)
    return _made(problem, lowered, Outcome(StopReason.CANCELLED, placement, value, reproducible=False), options)


def _known(problem: Problem, lowered: Lowered, start: Plan, options: Options) -> Placement | None:
    """What the start says of addresses, if that keeps every rule. Its claims are not taken over, so they may be what they are."""
    from .starting import as_placement

    placement = as_placement(problem, lowered, start)
    if placement is None or verify(problem, _bare(problem, lowered, placement, options)):
        return None
    return placement


def _after(start: Plan, made: Plan, *, used: bool) -> Plan:
    """The answer of a run that was given a start."""
    if not used:
        return replace(
            made, warnings=(*made.warnings, "the plan to start from is no plan of this problem and was left aside")
        )
    return replace(made, reproducible=False, solver=made.solver or (start.solver if made.placements else None))


def _verified(problem: Problem, made: Plan) -> Plan:
    """The plan, or what is left of it if its verification objects."""
    findings = verify(problem, made, made.problem_digest)
    return withdrawn(problem, made, findings) if findings else made


def _task(options: Options, clock: Clock) -> Task:
    work = options.work_limit
    if work is None and options.time_limit is not None:
        work = int(WORK_PER_SECOND * options.time_limit)
    limits = Limits(clock.deadline(), work, options.memory_limit_bytes, options.workers or cores())
    return Task(limits=limits, goal=options.goal, seed=options.seed, warm=options.warm, verbose=options.verbose)


def cannot_solve(error: SolverError) -> CannotSolve:
    """A solver's refusal in the words of users' errors."""
    codes = {UnknownSolver: Code.UNKNOWN_SOLVER, Unavailable: Code.UNAVAILABLE, Unsupported: Code.UNSUPPORTED}
    code = codes.get(type(error), Code.SOLVER_FAILED)
    return CannotSolve(Finding(code, "/options/solver", str(error)))


def _shortage(problem: Problem, made: Plan, options: Options, clock: Clock, cancelled: Cancelled | None) -> Shortage:
    """Why nothing fits; on request with a set of buffers that cannot be placed together."""
    from ..reporting.explain import shortage
    from ..reporting.subset import irreducible_subset

    why = shortage(problem, made.certificates)
    if not options.explain:
        return why
    small = replace(options, explain=False, goal=Goal.FIT, capacity=None, prefer=None)

    def fits(part: Problem) -> bool | None:
        left = None if clock.end is None else max(clock.end - clock.begun - clock.seconds, 0.0)
        answer = plan(
            part, replace(small, time_limit=left, work_limit=_task(options, clock).limits.work), None, cancelled
        )
        return {PlanStatus.INFEASIBLE: False, PlanStatus.UNKNOWN: None}.get(answer.status, True)

    deadline = clock.begun + SUBSET_SECONDS if clock.end is None else clock.deadline()
    subset, irreducible = irreducible_subset(problem, fits, deadline, why.buffers)
    return replace(why, subset=subset, irreducible=irreducible)
