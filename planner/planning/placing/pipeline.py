"""The steps from a lowered problem to its answer, a plan or a sharing: a start, the solvers, the verification."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import ClassVar, Generic, Protocol, TypeVar

from solvers.model.errors import SolverError, StopReason, Unavailable, UnknownSolver, Unsupported
from solvers.model.instance import Instance, Placement
from solvers.model.interruption import GivenUp
from solvers.model.needs import is_joint
from solvers.model.solver import Limits

from ...model.deadline import OutOfTime, finish, granting, leaving
from ...model.errors import CannotSolve, Code, Finding
from ...model.plan import Plan, PlanStatus, Run, TracePoint
from ...model.problem import Problem
from ...model.storage import Sharing
from ...model.versions import cores, machine
from ...verifying.findings import AnswerFinding
from ..options.options import Options
from .time_to_finish import seconds_to_check, seconds_to_finish
from .watching import Caller, Clock, Watch

WORK_PER_SECOND = 750_000
"""The default work limit per second of the time limit: about half of a machine's speed, so that ordinary runs end by work, not by the clock."""

MOST_WORKERS = 1024
"""More of them find nothing to do."""

REPORT = "please report this problem"
UNPROVEN = "time was over before what was proven could be verified, so it is withheld"

Answer = TypeVar("Answer", Plan, Sharing)
Known = TypeVar("Known")
"""The solvers' form of an answer."""
Answer_contra = TypeVar("Answer_contra", Plan, Sharing, contravariant=True)


class Verifying(Protocol[Answer_contra]):
    """The verification of one answer."""

    def findings(self) -> Sequence[AnswerFinding]:
        """Return what is wrong with the answer."""

    def is_right_without_proofs(self, unproven: Answer_contra) -> bool:
        """True if everything but the proofs was found right before time ended it, and so are the claims of this answer, which lacks the proofs."""


class AnswerPipeline(ABC, Generic[Answer, Known]):
    """The steps for one lowered problem; plans and sharings each implement the abstract ones."""

    name: ClassVar[str]
    """The answer's name in warnings."""
    claims: ClassVar[frozenset[StrEnum]]
    """The findings about claims of proofs: the rest of the answer may still be right."""

    def __init__(
        self, problem: Problem, instance: Instance, options: Options, clock: Clock, counted: float | None = None
    ) -> None:
        """`counted`: the seconds needed after solving, where they are known."""
        self.problem, self.instance, self.options, self.clock = problem, instance, options, clock
        self.seconds_after_solving = seconds_to_finish(problem) if counted is None else counted

    @abstractmethod
    def lower_start(self, start: Answer) -> Known | None:
        """Return the start in the solvers' form; None if it lacks buffers or tears blocks apart. Other rules are not checked."""

    @abstractmethod
    def of_placement(self, placement: Placement) -> Known:
        """Return a placement of the solvers in this pipeline's form."""

    @abstractmethod
    def bare(self, known: Known) -> Answer:
        """Return the answer of a run that was cancelled at this point; it claims no bound."""

    @abstractmethod
    def solve(self, known: Known | None, limits: Limits, watch: Watch) -> Answer:
        """Run the solvers and lift their result. Raises SolverError."""

    @abstractmethod
    def verification(self, made: Answer) -> Verifying[Answer]:
        """Return the verification of the answer, which has not begun."""

    @abstractmethod
    def entries(self, made: Answer) -> Sequence[object]:
        """Return the answer's placements or assignments."""

    @abstractmethod
    def without_entries(self, made: Answer) -> Answer:
        """Return the answer without its entries and their totals."""

    def run(self, start: Answer | None, caller: Caller) -> Answer:
        """Run all steps after lowering. Raises CannotSolve."""
        sure = None if start is None else self._known(start)
        known = None if sure is None else sure[0]
        counted, joint = self.seconds_after_solving, is_joint(self.instance)
        limits = limits_of(self.options, self.clock, counted, chooses_pools=joint)
        watch = Watch(self.clock, limits.deadline, self.instance, self._so_far, caller)
        try:
            made = self._found(known, limits, watch)
            if start is not None:
                repeats = made.reproducible
                made = self._with_start(start, made, used=known is not None)
                made = replace(made, run=replace(made.run, repeats=repeats))
            return self._finished(made, tuple(watch.trace))
        except SolverError as refusal:
            raise cannot_solve(refusal) from refusal
        except OutOfTime:
            if start is None or sure is None:
                raise
            kept = replace(self._with_start(start, sure[1], used=True), stop=StopReason.TIME_LIMIT)
            return self._with_run(kept, tuple(watch.trace))

    def _found(self, known: Known | None, limits: Limits, watch: Watch) -> Answer:
        """Return what the solvers find; if time runs out before they can say what they proved, the best that they found."""
        try:
            with watch.ends_solvers():
                return self.solve(known, limits, watch)
        except (GivenUp, OutOfTime):
            if watch.best is None:
                raise
            finish(self.seconds_after_solving)
            stop = watch.stopped() or StopReason.TIME_LIMIT
            return replace(self.bare(self.of_placement(watch.best)), stop=stop)

    def _known(self, start: Answer) -> tuple[Known, Answer] | None:
        """Return the start and its verified answer, if it keeps every rule. Its claims are not used, so they do not matter."""
        known = self.lower_start(start)
        if known is None:
            return None
        bare = self.bare(known)
        return None if bare.status is PlanStatus.UNKNOWN or self.verification(bare).findings() else (known, bare)

    def _so_far(self, placement: Placement) -> Answer:
        return self._finished(self.bare(self.of_placement(placement)))

    def _with_start(self, start: Answer, made: Answer, *, used: bool) -> Answer:
        """Return the answer of a run that was given a start."""
        if not used:
            text = f"the {self.name} to start from is no {self.name} of this problem and was left aside"
            return replace(made, warnings=(*made.warnings, text))
        return replace(made, reproducible=False, solver=made.solver or (start.solver if self.entries(made) else None))

    def _finished(self, made: Answer, trace: tuple[TracePoint, ...] = ()) -> Answer:
        """Return the answer as far as its verification confirms it."""
        verification, needed = self.verification(made), seconds_to_check(self.problem)
        try:
            with leaving(needed):
                findings = verification.findings()
        except OutOfTime:
            unproven = self.without_claims(made, UNPROVEN, StopReason.TIME_LIMIT)
            with granting(needed):
                if not self.entries(made) or not verification.is_right_without_proofs(unproven):
                    raise
            made, findings = unproven, ()
        if findings:
            made = self._withdrawn(made, findings)
        return self._with_run(made, trace)

    def _with_run(self, made: Answer, trace: tuple[TracePoint, ...]) -> Answer:
        return replace(made, run=Run(round(self.clock.seconds, 6), trace, machine(), made.run.work, made.run.repeats))

    def _withdrawn(self, made: Answer, findings: Sequence[AnswerFinding]) -> Answer:
        """Return the answer without its claims, if only these are wrong; otherwise an unknown answer."""
        first = findings[0]
        if self.entries(made) and all(finding.kind in self.claims for finding in findings):
            text = f"a bound could not be verified and is withheld ({first.message}); {REPORT}"
            humble = self.without_claims(made, text, StopReason.SOLVER_FAILED)
            if not self.verification(humble).findings():
                return humble
        text = f"the {self.name} that was made failed verification and is withheld ({first.kind}: {first.message}); {REPORT}"
        empty = self.without_entries(self.without_claims(made, text, StopReason.SOLVER_FAILED))
        return replace(empty, status=PlanStatus.UNKNOWN, shortage=None)

    def without_claims(self, made: Answer, warning: str, stop: StopReason) -> Answer:
        """Return the answer without anything that it claims to be proven; `stop` is why nothing is."""
        return replace(
            made,
            status=PlanStatus.FEASIBLE,
            stop=stop,
            bound=0,
            gap=None,
            pools=tuple(replace(pool, bound=0) for pool in made.pools),
            reproducible=False,
            certificates=(),
            warnings=(*made.warnings, warning),
        )


def limits_of(
    options: Options, clock: Clock, counted: float, *, chooses_pools: bool = False, rate: int = WORK_PER_SECOND
) -> Limits:
    """Return the solvers' limits, with `counted` seconds reserved for the time after them; a limit of time allows `rate` units of work a second."""
    work = options.work_limit
    if work is None and options.time_limit is not None:
        work = int(rate * options.time_limit)
    return Limits(
        clock.deadline(counted, chooses_pools=chooses_pools),
        work,
        options.memory_limit_bytes,
        min(options.workers or cores(), MOST_WORKERS),
    )


def cannot_solve(error: SolverError) -> CannotSolve:
    """Return a solver's refusal as a user's error."""
    codes = {UnknownSolver: Code.UNKNOWN_SOLVER, Unavailable: Code.UNAVAILABLE, Unsupported: Code.UNSUPPORTED}
    code = next((code for kind, code in codes.items() if isinstance(error, kind)), Code.SOLVER_FAILED)
    return CannotSolve(Finding(code, "/options/solver", str(error)))
