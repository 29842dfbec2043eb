"""Where a few classes cost far more than all others: a choice for these first, and then for those that cost less, step by step.

Costs are counted in coarse units at first, so that only the dearest classes count: that is soon solved. What decides many units stays as it is;
then the units become finer, until the last step counts costs as they are. With all costs at once CP-SAT often finds no choice at all.
"""

from __future__ import annotations

from dataclasses import replace

from ....model.errors import StopReason
from ..program.program import Pools, Program, settled_in
from ..questions.asking import Asking
from ..questions.question import Answer, Question

PARTS = (3_000, 10_000, 30_000, 100_000)
"""The unit of each step: the value of the last choice divided by this."""
PARTS_WITH_HEIGHTS = (1_000, 3_000, 30_000)
"""The same where heights have prices, of the whole that is open at first. The first step leaves these prices out."""
FINE = 1 << 10
"""Where heights have prices, costs and prices are multiples of 1/FINE of a unit."""
DEAR = 10
"""Classes whose homes differ by so many units keep the home that was chosen."""


def choose_dearest_first(asking: Asking, program: Program, question: Question, work: int) -> Pools | None:
    """A choice of little cost in the question's term, which counts no peaks, or only those that are given; None if none was found within the work."""
    end, index = asking.work + work, question.term
    costs = program.terms[index].of_homes
    best, least = None, sum(map(max, costs))
    kept = dict[int, int]()
    for number, parts in enumerate((*PARTS, None)):
        left = (end - asking.work) // (len(PARTS) + 1 - number)
        if left <= 0:
            break
        unit = 1 if parts is None else max(least // parts, 1)
        coarse = settled_in(_in_units(program, index, unit), kept)
        near = question.near if best is None else best
        pools = asking.ask(coarse, replace(question, most=None, least=None, near=near), left).pools
        if pools is None:
            break
        cost = _cost(program, index, pools)
        if best is None or cost <= least:
            best, least = pools, cost
        if unit == 1:
            break
        for group, due in enumerate(costs):
            if len(due) > 1 and _margin(due) >= DEAR * unit:
                kept.setdefault(group, best[group])
    return best


def choose_with_heights(
    asking: Asking, program: Program, question: Question, work: int, *, is_bounded: bool = True
) -> Answer:
    """The same where heights have prices, too, which may be negative: a choice, and a bound on all choices, unless none is wanted."""
    end, index = asking.work + work, question.term
    costs = program.terms[index].of_homes
    whole = sum(max(due) - min(due) for due in costs)
    best: Pools | None = None
    kept = dict[int, int]()
    for number, parts in enumerate(PARTS_WITH_HEIGHTS):
        unit = max(whole // parts, 1)
        part = settled_in(_in_parts_of_units(program, index, unit, FINE if number else 0), kept)
        found = asking.ask(part, replace(question, near=best), max((end - asking.work) // 2, 1)).pools
        best = best if found is None else found  # that of no classes is empty
        if best is None:
            break
        for group, due in enumerate(costs):
            if number and len(due) > 1 and _margin(due) >= DEAR * unit:
                kept.setdefault(group, best[group])
    if best is not None and not is_bounded:
        return Answer(best, program.value(index, best, program.least_tops(best)), None, StopReason.WORK_LIMIT)
    answer = asking.ask(program, replace(question, near=best), max(end - asking.work, 1))
    return answer._replace(pools=best if answer.pools is None else answer.pools)


def _in_units(program: Program, index: int, unit: int) -> Program:
    """The program with one term in units, rounded down; what a class costs in its cheapest home is left out."""
    term = program.terms[index]
    coarse = term._replace(of_homes=tuple(tuple((cost - min(due)) // unit for cost in due) for due in term.of_homes))
    return replace(program, terms=(*program.terms[:index], coarse, *program.terms[index + 1 :]))


def _in_parts_of_units(program: Program, index: int, unit: int, fine: int) -> Program:
    """The program with one term in parts of units, `fine` of them in each, and costs of choices in whole units; without prices of heights if `fine` is 0."""
    coarse = _in_units(program, index, unit)
    term = coarse.terms[index]
    of_homes = tuple(tuple(cost * max(fine, 1) for cost in due) for due in term.of_homes)
    of_peaks = tuple(price * fine // unit for price in term.of_peaks)
    term = term._replace(of_homes=of_homes, of_peaks=of_peaks)
    return replace(coarse, terms=(*coarse.terms[:index], term, *coarse.terms[index + 1 :]))


def _margin(due: tuple[int, ...]) -> int:
    """By how much the second cheapest home costs more than the cheapest."""
    least, second = sorted(due)[:2]
    return second - least


def _cost(program: Program, index: int, pools: Pools) -> int:
    """The term's value without peaks."""
    chosen = zip(program.homes, program.terms[index].of_homes, pools, strict=True)
    return sum(costs[homes.index(pool)] for homes, costs, pool in chosen)
