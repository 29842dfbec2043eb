"""One suite for every solver: on any input it gives a valid plan with true claims, or refuses with a typed reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from types import SimpleNamespace
from typing import Any

import pytest

from planner import (
    Buffer,
    CannotSolve,
    Code,
    Colocation,
    Constraints,
    Fixed,
    Goal,
    Options,
    Plan,
    PlanStatus,
    Pool,
    Problem,
    ReusePenalty,
    StopReason,
    Term,
    plan,
    verify,
)
from solvers.exact.cpsat.program.objective import Costs
from solvers.exact.milp.program.terms import expression
from solvers.model import registry
from solvers.model.errors import Unsupported
from solvers.model.solver import Feature, Input
from tests.small.judge import judge
from tests.small.oracle import Truth, solve
from tests.small.strategies import NIGHTLY

AVAILABLE = tuple(name for name in registry.names() if registry.get(name).unavailable() is None)
HEURISTICS = frozenset(
    name
    for name in AVAILABLE
    if name
    in registry.names(
        registry.SolverKind.HEURISTIC,
        registry.SolverKind.IMPROVER,
        registry.SolverKind.RELAXATION,
        registry.SolverKind.BOUNDER,
    )
    or registry.get(name).wants is Input.AS_WRITTEN
)
"""Solvers that may miss a placement that exists; most of them prove nothing themselves."""
PEERS = registry.names(registry.SolverKind.PEER)
"""Other projects' own programs, which take sizes and lifetimes and refuse most of the rest."""
EXACT = tuple(name for name in AVAILABLE if name not in HEURISTICS)
LIMITS = Options(time_limit=20.0, work_limit=5_000_000, workers=1)
ENOUGH_WORK = 100_000
"""A work limit for solvers that prove nothing and so use up all they are given."""

BIG = 1 << 40
ONE_POOL = (Pool("sram"),)


def named(*sizes_and_lives: tuple[int, int, int]) -> tuple[Buffer, ...]:
    """Plain buffers, each given as size, start and end."""
    return tuple(Buffer(f"b{n}", size, 1, ((start, end),)) for n, (size, start, end) in enumerate(sizes_and_lives))


@dataclass(frozen=True)
class Case:
    """A small problem; if its optimum is not given, it is found by trying everything."""

    name: str
    problem: Problem
    best: tuple[int, ...] | None = None
    for_all: bool = False
    """Whether no solver may refuse the case."""

    @cached_property
    def truth(self) -> Truth:
        return solve(self.problem)

    @property
    def optimum(self) -> tuple[int, ...] | None:
        return self.best or self.truth.value


def ring(groups: int, gap: int) -> Problem:
    """Groups of a low and a high range, in a ring: each low range is live with the high one of the group before."""
    buffers, ties = [], []
    for n in range(groups):
        buffers.append(Buffer(f"low{n}", 3, 1, ((n, n + 1),)))
        buffers.append(Buffer(f"high{n}", 2, 1, (((n + 1) % groups, (n + 1) % groups + 1),)))
        ties.append(Colocation(f"high{n}", f"low{n}", 3 + gap))
    return Problem(tuple(buffers), ONE_POOL, Constraints(colocations=tuple(ties)))


TWO_POOLS = (Pool("fast", 8, 4, cost=1, rank=0), Pool("slow", None, 1, cost=3, rank=1))
FOUR = named((4, 0, 3), (6, 1, 4), (3, 2, 5), (5, 4, 6))

CASES = (
    Case("empty", Problem(()), (0,), for_all=True),
    Case("one buffer", Problem(named((7, 0, 1))), (7,), for_all=True),
    Case("one buffer of no size", Problem(named((0, 0, 1))), (0,), for_all=True),
    Case("never live", Problem(named((5, 3, 3), (4, 1, 1))), (5,), for_all=True),
    Case("no live list", Problem((Buffer("a", 5), Buffer("b", 4))), (5,), for_all=True),
    Case("a chain", Problem(FOUR), for_all=True),
    Case("alignment 4", Problem(tuple(replace(b, alignment=4) for b in FOUR)), for_all=True),
    Case(
        "alignments 2, 3 and 6",
        Problem(tuple(replace(b, alignment=a) for b, a in zip(FOUR, (2, 3, 6, 1), strict=True))),
    ),
    Case("alignment 37", Problem(tuple(replace(b, alignment=37) for b in FOUR[:3]))),
    Case("the pool's alignment", Problem(FOUR, (Pool("sram", None, 6),))),
    Case(
        "a base off the alignment", Problem(tuple(replace(b, alignment=4) for b in FOUR), (Pool("sram", None, base=6),))
    ),
    Case("fixed", Problem((replace(FOUR[0], fixed=Fixed("sram", 5)), *FOUR[1:]), ONE_POOL)),
    Case(
        "two fixed",
        Problem(
            (replace(FOUR[0], fixed=Fixed("sram", 3)), *FOUR[1:3], replace(FOUR[3], fixed=Fixed("sram", 0))), ONE_POOL
        ),
    ),
    Case("a greatest offset", Problem((*FOUR[:2], replace(FOUR[2], max_offset=0), FOUR[3]), ONE_POOL)),
    Case("reserved ranges", Problem(FOUR, (Pool("sram", None, reserved=((0, 2), (7, 9))),))),
    Case("a tight capacity", Problem(FOUR, (Pool("sram", 13),))),
    Case("too small a capacity", Problem(FOUR, (Pool("sram", 12),))),
    Case("larger than the pool", Problem(FOUR, (Pool("sram", 5),))),
    Case(
        "several live intervals",
        Problem(
            (Buffer("a", 4, 1, ((0, 1), (4, 6))), Buffer("b", 6, 1, ((1, 3), (5, 6))), Buffer("c", 5, 1, ((2, 5),)))
        ),
    ),
    Case(
        "views",
        Problem(
            (
                Buffer("whole", 8, 2, ((0, 3),)),
                Buffer("view", 3, 1, ((2, 6),)),
                Buffer("x", 4, 1, ((4, 7),)),
                Buffer("y", 2, 1, ((0, 5),)),
            ),
            constraints=Constraints(colocations=(Colocation("view", "whole", 4),)),
        ),
    ),
    Case("groups that interlock", ring(2, 1)),
    Case("groups that interlock in a ring", ring(3, 2)),
    Case(
        "exclusions",
        Problem(
            (*FOUR[:3], Buffer("else", 6, 1, ((1, 4),))),
            constraints=Constraints(exclusions=(("b1", "else"), ("b0", "b2"))),
        ),
    ),
    Case("conflicts", Problem(FOUR, constraints=Constraints(conflicts=(("b0", "b3"), ("b2", "b0"))))),
    Case(
        "conflicts only",
        Problem(
            tuple(replace(b, live=None) for b in FOUR),
            constraints=Constraints(conflicts=(("b0", "b1"), ("b1", "b2"), ("b2", "b3"))),
        ),
    ),
    Case(
        "sizes of nothing",
        Problem(
            (Buffer("none", 0, 8, ((0, 9),)), *FOUR[:2], Buffer("high", 0, 1, ((0, 9),), fixed=Fixed("sram", 30))),
            ONE_POOL,
        ),
    ),
    Case("2^40 bytes", Problem(tuple(replace(b, size=b.size * BIG, alignment=16) for b in FOUR)), (13 * BIG,)),
    Case(
        "2^40 bytes and one",
        Problem((*(replace(b, size=b.size * BIG) for b in FOUR), Buffer("one", 1, 1, ((0, 9),)))),
        (13 * BIG + 1,),
    ),
    Case("two pools", Problem(FOUR, TWO_POOLS)),
    Case(
        "two pools, some decided",
        Problem((replace(FOUR[0], pools=("slow",)), replace(FOUR[1], fixed=Fixed("fast")), *FOUR[2:]), TWO_POOLS),
    ),
    Case(
        "same and different pools",
        Problem(FOUR, TWO_POOLS, Constraints(same_pool=(("b0", "b2"),), different_pool=(("b0", "b3"),))),
    ),
    Case("no pool of its own left", Problem(FOUR, (Pool("sram"),), Constraints(different_pool=(("b0", "b3"),)))),
    Case(
        "accesses first",
        Problem(
            tuple(replace(b, accesses=n + 1) for n, b in enumerate(FOUR)),
            TWO_POOLS,
            terms=(Term.ACCESS_COST, Term.SUM_OF_PEAKS),
        ),
    ),
    Case(
        "accesses in one pool",
        Problem(tuple(replace(b, accesses=2) for b in FOUR), (Pool("sram", rank=3),), terms=(Term.ACCESS_COST,)),
    ),
    Case(
        "accesses alone, the peak open",
        Problem(
            tuple(Buffer(name, 3, 3, ((0, 2),)) for name in "ab"),
            (Pool("sram", None, 4, base=4),),
            terms=(Term.ACCESS_COST,),
        ),
    ),
    Case("the largest peak", Problem(FOUR, (Pool("a"), Pool("b")), terms=(Term.LARGEST_PEAK,))),
    Case(
        "reuse penalties",
        Problem(
            FOUR,
            ONE_POOL,
            Constraints(reuse_penalties=(ReusePenalty("b0", "b3", 4),)),
            (Term.SUM_OF_PEAKS, Term.REUSE_COST),
        ),
    ),
    Case(
        "reuse penalties first",
        Problem(
            FOUR,
            ONE_POOL,
            Constraints(reuse_penalties=(ReusePenalty("b0", "b3", 4),)),
            (Term.REUSE_COST, Term.SUM_OF_PEAKS),
        ),
    ),
)
SMALL = tuple(case for case in CASES if not case.name.startswith("2^40"))


def usual(solver: str) -> Options:
    return replace(LIMITS, work_limit=ENOUGH_WORK) if solver in HEURISTICS else LIMITS


@cache
def attempt(case: Case, solver: str, options: Options) -> Plan | None:
    """Return the solver's plan; None if it refused, which must be allowed and have a typed reason."""
    try:
        return plan(case.problem, replace(options, solver=solver))
    except CannotSolve as error:
        refusal = error
    assert not case.for_all
    assert solver != "auto"
    assert {f.code for f in refusal.findings} == {Code.UNSUPPORTED}
    assert solver in str(refusal)
    return None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("solver", AVAILABLE)
def test_a_plan_is_valid_and_claims_nothing_wrong(solver: str, case: Case) -> None:
    made = attempt(case, solver, usual(solver))
    if made is None:
        return
    assert made.status in (PlanStatus.OPTIMAL, PlanStatus.FEASIBLE, PlanStatus.INFEASIBLE) or solver in HEURISTICS
    if case in SMALL:
        assert judge(case.problem, made, case.truth) == []
    assert verify(case.problem, made) == ()
    if made.placements:
        values = tuple(term.value or 0 for term in made.objective.terms)
        assert values >= (case.optimum or ())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("solver", EXACT)
def test_an_exact_solver_settles_a_small_problem(solver: str, case: Case) -> None:
    made = attempt(case, solver, LIMITS)
    if made is None:
        return
    assert made.stop is StopReason.PROVED
    if case.optimum is None:
        assert made.status is PlanStatus.INFEASIBLE
        assert made.shortage is not None
        assert made.shortage.message
    else:
        assert made.status is PlanStatus.OPTIMAL
        assert tuple(term.value for term in made.objective.terms) == case.optimum


@pytest.mark.parametrize("solver", AVAILABLE)
def test_a_refusal_is_about_a_feature_the_solver_does_not_state(solver: str) -> None:
    options = replace(LIMITS, goal=Goal.FIT) if NIGHTLY else usual(solver)
    refused = [case.name for case in CASES if attempt(case, solver, options) is None]
    assert len(refused) < len(CASES) / 2 or solver in PEERS
    assert not refused or registry.get(solver).features < frozenset(Feature)


@pytest.mark.parametrize("solver", [name for name in registry.names() if name != registry.AUTO])
def test_a_solver_that_is_not_installed_says_so(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(registry.get(solver)), "unavailable", lambda self: "it is not installed")
    with pytest.raises(CannotSolve) as refusal:
        plan(Problem(FOUR), Options(solver=solver))
    assert [f.code for f in refusal.value.findings] == [Code.UNAVAILABLE]


def test_a_solver_that_does_not_exist_says_so() -> None:
    with pytest.raises(CannotSolve) as refusal:
        plan(Problem(FOUR), Options(solver="quantum"))
    assert [f.code for f in refusal.value.findings] == [Code.UNKNOWN_SOLVER]


def tangle(count: int) -> Problem:
    """A problem that is too hard to settle at once, with odd sizes and long lives."""
    numbers = [(7919 * n * n + 104729 * n) % 1009 for n in range(count)]
    return Problem(
        tuple(Buffer(n, 3 + x % 97, 1, ((x % 41, x % 41 + 5 + x % 13),)) for n, x in enumerate(numbers)), ONE_POOL
    )


@pytest.mark.parametrize("solver", AVAILABLE)
@pytest.mark.parametrize("seconds", [0.0, 0.3])
def test_a_time_limit_leaves_a_valid_answer(solver: str, seconds: float) -> None:
    problem = tangle(60)
    made = plan(problem, Options(solver=solver, time_limit=seconds, workers=1))
    assert verify(problem, made) == ()
    assert made.status is not PlanStatus.INFEASIBLE
    assert made.stop in (StopReason.TIME_LIMIT, StopReason.WORK_LIMIT, StopReason.PROVED)
    assert made.reproducible is made.stop.is_repeatable


@pytest.mark.parametrize("solver", AVAILABLE)
def test_a_cancelled_run_returns_the_best_so_far(solver: str) -> None:
    problem = tangle(60)
    found: list[int] = []

    def seen(progress: object) -> None:
        found.append(1)

    made = plan(problem, replace(LIMITS, solver=solver), on_progress=seen, cancelled=lambda: bool(found))
    assert verify(problem, made) == ()
    assert made.stop in (StopReason.CANCELLED, StopReason.PROVED)
    assert made.reproducible is made.stop.is_repeatable


@pytest.mark.parametrize("solver", AVAILABLE)
def test_a_run_cancelled_from_the_start_still_answers(solver: str) -> None:
    problem = tangle(30)
    made = plan(problem, replace(LIMITS, solver=solver), cancelled=lambda: True)
    assert verify(problem, made) == ()
    assert made.stop in (StopReason.CANCELLED, StopReason.PROVED)


@pytest.mark.parametrize("solver", AVAILABLE)
def test_the_goal_fit_is_met_by_any_plan_within_capacity(solver: str) -> None:
    problem = Problem(FOUR, (Pool("sram", 40),))
    made = plan(problem, replace(LIMITS, solver=solver, goal=Goal.FIT))
    assert verify(problem, made) == ()
    assert made.status in (PlanStatus.OPTIMAL, PlanStatus.FEASIBLE)
    assert made.stop in (StopReason.GOAL_MET, StopReason.PROVED)


@pytest.mark.parametrize("solver", AVAILABLE)
def test_a_repeated_run_gives_the_same_plan(solver: str) -> None:
    problem = ring(3, 2) if Feature.MULTI_RECT in registry.get(solver).features else Problem(FOUR)
    first, second = (plan(problem, replace(LIMITS, solver=solver)) for _ in range(2))
    assert first.reproducible
    assert replace(first, run=second.run) == second


# Exact solvers refuse a term that they do not know: as an empty expression, it would be proven optimal at once.
MODEL: Any = SimpleNamespace(instance=SimpleNamespace(pools=(), penalties=(), was=None))
NEW: Any = "a_new_term"


def test_the_constraint_model_refuses_an_unknown_term() -> None:
    cover: Any = None
    with pytest.raises(Unsupported, match=NEW):
        Costs(MODEL, cover).term(NEW)


def test_the_integer_program_refuses_an_unknown_term() -> None:
    with pytest.raises(Unsupported, match=NEW):
        expression(MODEL, NEW)
