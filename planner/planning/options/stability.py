"""The option `stability`: adds to the objective what moves away from its place in an older plan."""

from __future__ import annotations

from dataclasses import replace

from solvers.model.instance import Term

from ...checks import require_sound
from ...facts.moments.lifetimes import with_lifetimes
from ...model.plan import Plan
from ...model.problem import Problem, Was
from .options import Options, Preference, Stability, as_choice, bad_option
from .preference import most_live


def with_stability(problem: Problem, stability: Stability | str | None, old: Plan | None) -> Problem:
    """Return the problem with an objective that counts moves since the older plan. Raises BadInput.

    Buffers and pools that only one of the two knows do not count.
    """
    stability = as_choice("stability", stability)
    if stability is None:
        return problem
    require_sound(problem)
    if problem.variants is not None:
        raise bad_option("stability", "the problem has variants: choose them first, then plan what was chosen")
    if old is not None:
        problem = replace(problem, was=places_of(old, problem))
    if not problem.was:
        raise bad_option("stability", "nothing says where buffers were: it needs an older plan of some of them")
    terms = tuple(term for term in problem.terms if term not in (Term.MOVED_BYTES, Term.STABILITY))
    if stability is Stability.TIES:
        return replace(problem, terms=(*terms, Term.MOVED_BYTES))
    if stability is Stability.FIRST:
        return replace(problem, terms=(Term.MOVED_BYTES, *terms))
    if Term.BALANCED in terms:
        text = f"the term balanced has weighed the peaks already: choose ties or first, or another preference than {Preference.BALANCED}"
        raise bad_option("stability", text)
    rest = tuple(term for term in terms if term is not Term.SUM_OF_PEAKS)
    return replace(problem, terms=(Term.STABILITY, *rest), peak_price=price_of_all_moves(problem))


def require_no_stability(options: Options) -> None:
    """Raise BadInput if stability is requested for anything but one plan of one problem."""
    if options.stability is not None:
        raise bad_option(
            "stability", "it is for single plans, of one problem each, whose buffers an older plan had somewhere"
        )


def places_of(old: Plan, problem: Problem) -> tuple[Was, ...]:
    """Return the plan's places of the problem's buffers, as far as both know them."""
    there = {place.id: place for place in old.placements}
    pools = {pool.name for pool in problem.pools}
    found = ((buffer.id, there.get(buffer.id)) for buffer in problem.buffers)
    return tuple(Was(id_, at.pool, at.offset) for id_, at in found if at is not None and at.pool in pools)


def price_of_all_moves(problem: Problem) -> int:
    """Return a peak byte's price at which all bytes live at once are worth all bytes that can move. Rounded down, but at least 1.

    Bytes count at the dearest pool's cost.
    """
    named = {was.buffer for was in problem.was}
    movable = sum(buffer.size for buffer in problem.buffers if buffer.id in named)
    dearest = max(pool.cost for pool in problem.pools)
    return max(movable // max(most_live(with_lifetimes(problem)) * dearest, 1), 1)
