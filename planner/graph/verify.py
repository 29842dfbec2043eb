"""Verifies plans that were made function by function, from the program and the plans alone.

Each arena's problem is worked out again: what a function's calls need follows from the plans of the functions that it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..model.errors import BadInput
from ..model.plan import Plan
from ..model.problem import Pool, Problem
from ..verifying.findings import FindingKind, VerifyFinding
from ..verifying.verify import verify
from .nested import NestedAnswer, nested_plans
from .problem import GraphOptions
from .program import Program


@dataclass(frozen=True, slots=True)
class CheckedArena:
    """One function's arena, and everything that is wrong with its plan."""

    function: str
    problem: Problem
    plan: Plan
    findings: tuple[VerifyFinding, ...]


@dataclass(frozen=True, slots=True)
class CheckedArenas:
    """The arenas as far as they are known, and everything that is wrong with them, each by itself and all together."""

    arenas: tuple[CheckedArena, ...]
    findings: tuple[VerifyFinding, ...]


class _NothingFollows(Exception):
    """Without a plan for this arena nothing is known of the arenas around it."""


def verify_nested(
    program: Program, pools: Sequence[Pool], options: GraphOptions, answer: NestedAnswer
) -> tuple[VerifyFinding, ...]:
    """Return everything that is wrong with the plans; empty if they may be trusted. Raises BadInput for a program that is wrong in itself."""
    return check_arenas(program, pools, options, answer).findings


def check_arenas(program: Program, pools: Sequence[Pool], options: GraphOptions, answer: NestedAnswer) -> CheckedArenas:
    """Return the arenas with what is wrong with them. Raises BadInput for a program that is wrong in itself."""
    left = iter(answer.plans.items())
    arenas: list[CheckedArena] = []
    wrong: list[VerifyFinding] = []

    def next_plan(function: str, problem: Problem) -> Plan:
        name, plan = next(left, (None, None))
        if plan is None:
            if answer.peaks is not None:
                wrong.append(_wrong(FindingKind.MISSING_BUFFER, f"there is no arena of {function!r}"))
            raise _NothingFollows
        if name != function:
            text = f"the arena of {name!r} stands where that of {function!r} belongs"
            wrong.append(_wrong(FindingKind.WRONG_ORDER, text))
            raise _NothingFollows
        found = verify(problem, plan)
        arenas.append(CheckedArena(function, problem, plan, found))
        wrong.extend(replace(each, message=f"the arena of {function!r}: {each.message}") for each in found)
        if plan.placements and not _places_all(problem, plan):
            raise _NothingFollows
        return plan

    try:
        made = nested_plans(program, pools, options, next_plan)
        wrong += [_wrong(FindingKind.WRONG_ORDER, f"there is no function {name!r} to be planned") for name, _ in left]
        if made.peaks != answer.peaks:
            text = f"the memories need {_listed(made.peaks)}; the answer says {_listed(answer.peaks)}"
            wrong.append(_wrong(FindingKind.WRONG_PEAK, text))
    except _NothingFollows:
        pass
    except BadInput:  # an arena that is wrong may need more than there can be
        if not wrong:
            raise
    total = None if answer.peaks is None else sum(peak for _, peak in answer.peaks)
    if total != answer.peak:
        wrong.append(_wrong(FindingKind.WRONG_PEAK, f"the peaks of the memories add up to {total}, not {answer.peak}"))
    return CheckedArenas(tuple(arenas), tuple(wrong))


def _places_all(problem: Problem, plan: Plan) -> bool:
    """True if the plan places the problem's buffers, each once, in its pools."""
    pools = {pool.name for pool in problem.pools}
    return (
        len(plan.placements) == len(problem.buffers)
        and {place.id for place in plan.placements} == {buffer.id for buffer in problem.buffers}
        and all(place.pool in pools for place in plan.placements)
        and all(use.name in pools and use.peak is not None for use in plan.pools)
    )


def _listed(peaks: Sequence[tuple[str, int]] | None) -> str:
    return "nothing" if peaks is None else ", ".join(f"{peak} B of {name!r}" for name, peak in peaks)


def _wrong(kind: FindingKind, message: str) -> VerifyFinding:
    return VerifyFinding(kind, message)
