"""A sharing for a problem: check, lower, solve, lift, verify."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from solvers.model.instance import Placement
from solvers.model.solver import Goal, Limits
from solvers.sharing.adapters import AsSharingControl
from solvers.sharing.arrangement import Arrangement, from_placement
from solvers.sharing.portfolio import solve
from solvers.sharing.solver import SharingTask

from ...checks import require_sound
from ...facts.variants import require_nothing_to_choose
from ...model.deadline import finish
from ...model.problem import Problem
from ...model.storage import Assignment, Sharing
from ..options.capacity import with_capacity
from ..options.options import Options, bad_option, require_valid
from ..options.stability import require_no_stability
from ..placing.pipeline import AnswerPipeline
from ..placing.time_to_finish import MICROSECONDS_SHARED, seconds_to_finish
from ..placing.watching import Caller, Clock, Watch
from .findings import CLAIMS
from .kinds import with_kept_buffers
from .lifting import Lift
from .lowering import LoweredSharing, lower_sharing, lower_start
from .plain import BRIEF
from .verify import Verification


def find(
    problem: Problem,
    options: Options | None,
    caller: Caller,
    begun: float | None,
    start: Sharing | None,
) -> Sharing:
    """Implement planner.share."""
    options = options or Options()
    require_valid(options)
    _require_of_use(options)
    require_no_stability(options)
    clock = Clock(options.time_limit, begun)
    with clock.holds():
        problem = with_capacity(problem, options.capacity)
        require_sound(problem)
        require_nothing_to_choose(problem)
        problem = with_kept_buffers(problem)
        with clock.while_lowering():
            low = lower_sharing(problem)
        return _SharingPipeline(problem, low, options, clock).run(start, caller)


class _SharingPipeline(AnswerPipeline[Sharing, Arrangement]):
    """The steps to a sharing."""

    name = "sharing"
    claims = CLAIMS

    def __init__(self, problem: Problem, low: LoweredSharing, options: Options, clock: Clock) -> None:
        counted = seconds_to_finish(problem, MICROSECONDS_SHARED)
        super().__init__(problem, low.lowered.instance, options, clock, counted)
        self._lowered, self._lift = low.lowered, Lift(problem, low, options.seed)

    def lower_start(self, start: Sharing) -> Arrangement | None:
        return lower_start(self.problem, self._lowered, start)

    def of_placement(self, placement: Placement) -> Arrangement:
        return from_placement(self.instance, placement)

    def bare(self, known: Arrangement) -> Sharing:
        return self._lift.bare(known)

    def solve(self, known: Arrangement | None, limits: Limits, watch: Watch) -> Sharing:
        task = SharingTask(limits, self.options.seed, known, verbose=self.options.verbose)
        control = AsSharingControl(self.instance, watch)
        found = solve(self.instance, task, control, self.options.solver, self._lift.may_fit)
        finish(self.seconds_after_solving)
        return self._lift.sharing(found)

    def verification(self, made: Sharing) -> Verification:
        return Verification(self.problem, made, made.problem_digest, effort=BRIEF)

    def entries(self, made: Sharing) -> Sequence[Assignment]:
        return made.assignments

    def without_entries(self, made: Sharing) -> Sharing:
        pools = tuple(replace(pool, total=None) for pool in made.pools)
        return replace(made, total=None, pools=pools, objects=(), assignments=())


def _require_of_use(options: Options) -> None:
    """Raise BadInput for options that only have a meaning for offsets."""
    if options.goal is not Goal.MINIMISE:
        raise bad_option("goal", "with shared objects the sum of sizes is always minimised")
    if options.warm is not None:
        raise bad_option(
            "warm", "with shared objects there is nothing to choose: solvers are told the best known total"
        )
    if options.explain:
        raise bad_option("explain", "there is no explanation for shared objects but their certificates")
