"""The objective's terms as expressions of the program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....bounds.one_pool import pool_bound
from ....bounds.weighted_sections import LiveHeights, peak_sections
from ....model.errors import Unsupported
from ....model.instance import Instance, Term
from ....model.linear_terms import LINEAR, choice_cost, peak_price
from ....model.objective import peaks
from .model import Expression, Program
from .pairs import constant_penalty


def floors(instance: Instance, known: tuple[int, ...]) -> tuple[int, ...]:
    """A lower bound on every pool's peak: the known one, or one that is cheap to prove."""
    found = []
    for pool in range(len(instance.pools)):
        certificate = pool_bound(instance, pool)
        found.append(max(0, 0 if certificate is None else certificate.value, known[pool] if known else 0))
    return tuple(found)


def expression(program: Program, term: Term) -> tuple[Expression, int]:
    """The term as an expression and a constant to add to it; lengths in the expression are in the program's unit."""
    instance = program.instance
    match term:
        case Term.LARGEST_PEAK:
            return _largest(program), 0
        case Term.REUSE_COST:
            costs = instance.penalties[:, 2].tolist()
            return sum(costs[row] * share for row, share in program.penalised), constant_penalty(instance)
        case _ if term not in LINEAR:
            raise Unsupported("milp", f"it does not know the term {term}")
        case _:
            chosen, constant = _chosen(program, term)
            price = peak_price(instance, term) * (1 if is_length(term) else program.unit)
            if price:
                priced = zip(instance.pools, program.peak, strict=True)
                chosen = chosen + sum(price * spec.cost * peak for spec, peak in priced if spec.cost)
            return chosen, constant


def is_length(term: Term) -> bool:
    """True if the term's expression is divided by the program's unit."""
    return term in (Term.SUM_OF_PEAKS, Term.LARGEST_PEAK)


def scale(program: Program, term: Term) -> float:
    """The value of one unit of the term's expression, in the instance's units."""
    return program.unit if is_length(term) else 1


def is_constant(term_expression: Expression) -> bool:
    """True if the expression has no variables."""
    return isinstance(term_expression, int)


def add_limits(program: Program, limits: Mapping[Term, int], least: Mapping[Term, int]) -> None:
    """Adds rows that hold terms within proven or wanted bounds."""
    for term, limit in limits.items():
        found, constant = expression(program, term)
        if is_constant(found):
            program.impossible |= found + constant > limit
        else:
            program.require(found <= (limit - constant) / scale(program, term), f"limit_{term}")
    for term, bound in least.items():
        found, constant = expression(program, term)
        if not is_constant(found) and bound > constant:
            program.require(found >= (bound - constant) / scale(program, term), f"bound_{term}")


def add_live_rows(program: Program) -> None:
    """Adds rows: each pool's peak is at least its live sum at any section. Without a choice of pools, the floors already imply them."""
    instance = program.instance
    if not program.home:
        return
    for section, heights in LiveHeights(instance).over(peak_sections(instance)):
        for pool in range(len(instance.pools)):
            inside = {b: h for b, h in heights.items() if pool in program.ranges.homes[b]}
            if any((b, pool) in program.home for b in inside):
                load = sum(program.length(h) * program.is_in(b, pool) for b, h in inside.items())
                program.require(program.peak[pool] - load >= 0, f"live_{section}_{program.names.pools[pool]}")


def _largest(program: Program) -> Any:
    """A variable that is at least all peaks."""
    name = "largest_peak"
    if name not in program.value_of:
        low = max((low for low, _ in program.ranges.peak), default=0)
        high = max((high for _, high in program.ranges.peak), default=0)
        top = program.variable(
            name,
            program.length(low),
            program.length(high),
            lambda at: program.length(max([low, *peaks(program.instance, at)])),
            integer=program.unit == 1,
        )
        for pool, peak in enumerate(program.peak):
            program.require(top - peak >= 0, f"largest_{program.names.pools[pool]}")
    return program.value_of[name][0]


def _chosen(program: Program, term: Term) -> tuple[Expression, int]:
    """The cost of the choice of pools in the term."""
    total: Expression = 0
    constant = 0
    every = choice_cost(program.instance, term)
    if every is None:
        return total, constant
    for block, homes in enumerate(program.ranges.homes):
        costs = every[block]
        cheapest = int(np.min(costs[list(homes)]))
        constant += cheapest
        for pool in homes:
            extra = int(costs[pool]) - cheapest
            if extra:
                total = total + extra * program.home[block, pool]
    return total, constant
