"""Looks for prices that bound a second term of peaks alone, with a first one of the choice alone held (solvers.bounds.prices.priced_room).

A unit of the first term then has a price as well. At the price at which all that the choice can gain is worth as much as all that is live at the fullest
section in the dearest pool, or half or twice that, prices mostly prove most.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...model.instance import Instance
from ...model.linear_terms import choice_cost, moved_column, peak_price
from ...model.outcome import Certificate, Proof
from ...model.solver import Control, Task
from .market import Market
from .priced_room import priced_value

TIMES = (1.0, 0.5, 2.0)
FOR_EACH, AT_BEST = 8, 2
"""Each of these prices is tried with such a part of the work, and the best of them then gets the other."""
LONGEST = 40
"""So many digits of the price of the first term count, to the base of 2."""


def has_second_of_peaks(instance: Instance) -> bool:
    """Does the first term count the choice of pools alone, and the second one peaks alone?"""
    if len(instance.terms) < 2 or any(moved_column(instance, term) is not None for term in instance.terms[:2]):
        return False
    first, second = instance.terms[:2]
    is_of_choice = choice_cost(instance, first) is not None and not peak_price(instance, first)
    return is_of_choice and choice_cost(instance, second) is None and peak_price(instance, second) > 0


def bounded_second(
    instance: Instance, most: int, task: Task, control: Control, work: int
) -> tuple[Certificate | None, int]:
    """The best proof found within about so much work, with the first term no higher than `most`, and what it took; None if nothing was proven."""
    usual = _usual_price(instance)
    best: tuple[float, float] | None = None
    spent = 0
    for times in TIMES if usual else ():
        market, part = Market(instance, of_first=usual * times), _with_work(task, work // FOR_EACH)
        prices, taken, _ = market.haggle(None, part, control)
        spent += taken
        value = market.worth(prices) - usual * times * most
        if best is None or value > best[0]:
            best = value, usual * times
    if best is None:
        return None, spent
    under = 1 << min(max(LONGEST - int(np.frexp(best[1])[1]), 0), 60)
    over = round(best[1] * under)
    market = Market(instance, of_first=over / under)
    prices, taken, _ = market.haggle(None, _with_work(task, work // AT_BEST), control)
    weights, held = tuple(market.weights(prices)), ((instance.terms[0], most, over, under),)
    value = priced_value(instance, weights, (), instance.terms[1], held)
    proof = Certificate(Proof.PRICED_ROOM, value, weights=weights, term=instance.terms[1], held=held)
    return proof if value else None, spent + taken


def _with_work(task: Task, work: int) -> Task:
    return replace(task, limits=replace(task.limits, work=work))


def _usual_price(instance: Instance) -> float:
    """Of a unit of the first term; 0 if the choice gains nothing."""
    market = Market(instance)
    gain = market.most_gained()
    dearest = max(pool.cost for pool in instance.pools) * peak_price(instance, instance.terms[1])
    return market.most_live() * dearest / gain if gain else 0.0
