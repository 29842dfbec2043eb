"""Checks that a problem is sound in itself. Contradictions are bad input; whether a problem fits is for the solvers to prove."""

from __future__ import annotations

from ..facts.constants import has_read_only_pools, spell_out_constants
from ..facts.figures import amounts, fixed_ones, has_the_rules_of_its_neighbour, of_rules
from ..model.columns.buffers import BufferColumns
from ..model.columns.varied import are_any_fixed
from ..model.deadline import CHECKING, look
from ..model.errors import Finding
from ..model.problem import NO_CONSTRAINTS, Problem, has_one_peak
from .buffers import check_buffers
from .colocations import NO_GROUPS, check_colocations
from .memories import check_constants, check_speeds
from .names import Names, check_heading, check_mentions, check_terms
from .pairs import check_pairs
from .pool_choice import check_pool_choice
from .pools import check_pools
from .report import Report
from .totals import check_totals


def check(problem: Problem) -> tuple[Finding, ...]:
    """Return at most MAX_FINDINGS faults of the problem, with pointers as if it were its JSON."""
    return tuple(examine(problem).listed)


def require_sound(problem: Problem) -> None:
    """Raises BadInput if anything is wrong with the problem."""
    facts = problem.facts
    if not facts.is_sound:
        examine(problem).raise_if_any()
        facts.is_sound_but_for_objective = facts.neighbour is not None


def sound_as_read(problem: Problem) -> Problem:
    """Check a problem just made from bytes and record that it is sound. Raises BadInput."""
    problem.facts.is_from_bytes = True
    require_sound(problem)
    problem.facts.is_sound = True
    return problem


def examine(problem: Problem) -> Report:
    """Collect all faults of the problem. Each step relies on what earlier steps ensured."""
    report = _examine(problem)
    if problem.variants is not None and not report:
        from .variants import check_variants

        check_variants(problem, report, _examine)
    return report


def _examine(problem: Problem) -> Report:
    """Collect the faults of the problem apart from its variants."""
    report, facts = Report(), problem.facts
    if facts.is_sound_but_for_objective and not (problem.was or problem.constraints.colocations):
        check_terms(problem, report)
        check_speeds(problem, report)
        if not report:
            check_totals(problem, NO_GROUPS, report)
        return report
    names = Names(problem)
    check_heading(problem, report)
    check_pools(problem, names, report)
    look(CHECKING)
    check_buffers(problem, names, report)
    look(CHECKING)
    check_terms(problem, report)
    if problem.was or not has_the_rules_of_its_neighbour(problem):
        check_mentions(problem, names, report)
    look(CHECKING)
    check_speeds(problem, report)
    if report:
        return report
    in_columns = isinstance(problem.buffers, BufferColumns) and has_one_peak(problem)
    if in_columns or _has_only_numbers(problem):
        # Such a problem has only numbers, and these were checked above.
        check_totals(problem, NO_GROUPS, report)
        return report
    check_constants(problem, names, report)
    if report:
        return report
    look(CHECKING)
    problem = spell_out_constants(problem)
    look(CHECKING)
    if not has_the_rules_of_its_neighbour(problem):
        check_pairs(problem, names, report)
    look(CHECKING)
    # Of a problem that is not sound, nothing is known to others.
    groups = of_rules(problem, "checked", lambda: check_colocations(problem, names, report))
    if groups is None:
        return report
    look(CHECKING)
    check_totals(problem, groups, report)
    look(CHECKING)
    homes = check_pool_choice(problem, names, groups, report)
    if homes is not None and (groups.are_any or _are_any_fixed(problem)):
        from .fixed import check_fixed

        look(CHECKING)
        check_fixed(problem, names, groups, homes, report)
    return report


def _are_any_fixed(problem: Problem) -> bool:
    if problem.facts.neighbour is not None:
        return any(True for _ in fixed_ones(problem))
    return are_any_fixed(problem.buffers)


def _has_only_numbers(problem: Problem) -> bool:
    """True if nothing relates the buffers to each other, or ties them to pools; known only of variations."""
    if problem.facts.neighbour is None or problem.constraints != NO_CONSTRAINTS or problem.variants is not None:
        return False
    return not has_read_only_pools(problem) and amounts(problem).is_free


__all__ = ["check", "examine", "require_sound", "sound_as_read"]
