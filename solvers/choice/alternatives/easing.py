"""Looks for a choice that can be placed where a cheaper one reached too high: one with a little less live at those times."""

from __future__ import annotations

from collections.abc import Callable

from .instance import Choice
from .known import Known
from .points import Measure

EASINGS = 6
"""Choices tried, at most, with less live where the one before reached too high."""
EASED = 64
"""Each of them has less live there by 1/EASED."""
NEAR = 3
"""It has less live at this many times before and after, too."""


def choice_with_less_live(
    known: Known, measure: Measure, value: int, choice: Choice, is_too_dear: Callable[[Choice], bool]
) -> Choice | None:
    """A choice placed in the value: one with a little less live where this one reaches too high, or else the cheapest that was placed in it before."""
    choices = known.master.choices
    fitting = [
        (choices.cost(each), each)
        for each, placed in known.placed.items()
        if placed.value is not None and placed.value <= value and not is_too_dear(each)
    ]
    if not fitting:
        return None
    cost, anchor = min(fitting)
    most_load = measure.most_load(value)
    caps: dict[int, int] = {}
    for attempt in range(EASINGS):
        tops = known.placed[choice].tops
        for k in range(len(tops)):
            if max(tops[max(k - NEAR, 0) : k + NEAR + 1]) > most_load:
                less = caps.get(k, most_load) - most_load // EASED
                caps[k] = max(less, choices.loads[k].of(anchor))
        less = most_load if tops else most_load - (most_load >> (EASINGS - attempt + 4))
        answer = known.ask(known.master.cheapest, less, choice, sorted(caps.items()))
        if answer is None or answer.choice is None or choices.cost(answer.choice) >= cost:
            break
        choice = answer.choice
        reached = known.place(choice).value
        if reached is not None and reached <= value:
            return choice
    return anchor
