"""Options to repeat: a sound plan is one of its problem only with those that it was made with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from planner.facts.digest import digest
from planner.formats.answers.opened import Opened, OpenedPlan
from planner.formats.tables.plans import PlanFormat
from planner.model.plan import Plan
from planner.model.problem import Problem, Was
from planner.planning.options.capacity import planned_problem
from planner.planning.options.options import Preference
from planner.planning.options.preference import PRESETS, preferring
from solvers.model.instance import Term

MOVES = frozenset({Term.MOVED_BUFFERS, Term.MOVED_BYTES, Term.STABILITY})
LISTED = 4
"""The most sizes named."""
_OWN = "the plan was made with the file's own objective: leave out --prefer, if given"
_CLOSE = "leave out --stability and --baseline, if given"


def advice_on(opened: Opened, wanted: PlanFormat | None = None) -> str | None:
    """Return which options an answer was made with that were not given; None if it is no plan, or nothing is known."""
    return advice(opened.asked.problem, opened.plan, wanted) if isinstance(opened, OpenedPlan) else None


def advice(problem: Problem, plan: Plan, wanted: PlanFormat | None = None) -> str | None:
    """Return which options the plan and the problem differ in; None if nothing is known. `wanted`: as what it is to be written."""
    if plan.problem_digest == digest(problem):
        return None
    terms = tuple(term.name for term in plan.objective.terms)
    if not MOVES.isdisjoint(terms) and MOVES.isdisjoint(problem.terms):
        if _would_be(problem, plan, terms, problem.was):
            return _OWN
        return "the plan was made to stay close to an older one: repeat --stability and --baseline"
    if MOVES.isdisjoint(terms) and not MOVES.isdisjoint(problem.terms) and _would_be(problem, plan, terms):
        prefer = next(
            (each for each in _presets(terms) if digest(preferring(problem, each)) == plan.problem_digest), None
        )
        if prefer is not None and terms != tuple(term for term in problem.terms if term not in MOVES):
            return f"the plan was made with --prefer {prefer}: repeat that here, and {_CLOSE}"
        return f"the plan was not made to stay close to an older one: {_CLOSE}"
    sizes = _sizes(problem, plan)
    shown = [f"--capacity {name}={size}" for name, size in [*sizes.items()][:LISTED]]
    shown += ["..."] * (len(sizes) > LISTED)
    resized = planned_problem(problem, sizes or None, None)
    for prefer in (None, *_presets(terms)):
        if digest(planned_problem(resized, None, prefer)) == plan.problem_digest:
            options = [*shown, *([] if prefer is None else [f"--prefer {prefer}"])]
            return f"the plan was made with {' '.join(options)}: repeat that here"
    if problem.terms != terms and _would_be(resized, plan, terms):
        options = [*shown, "the file's own objective"]
        return f"the plan was made with {' and '.join(options)}: leave out --prefer, if given"
    if wanted is not None and wanted.read_as is not None:
        setting = wanted.read_as.partition(":")[2].replace("=", " ")
        return f"only a plan made with --{setting} can be written so: plan it with --{setting}"
    return None


def _presets(terms: tuple[Term, ...]) -> Sequence[Preference]:
    """Return the preferences with these terms."""
    return [prefer for prefer, preset in PRESETS.items() if preset.terms == terms]


def _would_be(problem: Problem, plan: Plan, terms: tuple[Term, ...], was: tuple[Was, ...] = ()) -> bool:
    """Return whether the plan is one of the problem with these terms and older places. Plan-many keeps plans without moves of problems that did not change."""
    prices = {problem.peak_price, 1}
    return any(
        digest(replace(problem, terms=terms, was=was, peak_price=price)) == plan.problem_digest for price in prices
    )


def _sizes(problem: Problem, plan: Plan) -> Mapping[str, int]:
    """Return the sizes of the plan's pools that differ from the problem's."""
    own = {pool.name: pool.size for pool in problem.pools}
    return {
        pool.name: pool.size
        for pool in plan.pools
        if pool.name in own and pool.size is not None and pool.size != own[pool.name]
    }
