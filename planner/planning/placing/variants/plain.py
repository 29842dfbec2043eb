"""Choices that need no search, for where the time was over before any question about choices was answered."""

from __future__ import annotations

from collections.abc import Callable

from solvers.choice.alternatives.instance import Choice

from ....facts.variants import broken_rules, weighted_cost
from ....model.problem import Alternative, Problem, VariantGroup


def plain_choices(problem: Problem) -> list[Choice]:
    """The smallest alternative of each group, and the cheapest of each, where that breaks no rule."""
    variants = problem.variants
    assert variants is not None
    sizes = {buffer.id: buffer.size for buffer in problem.buffers}

    def size(alternative: Alternative) -> int:
        """Its bytes, each as often as there are times at which they are needed."""
        needed = [(buffer.size, buffer.live or ((0, 1),)) for buffer in alternative.buffers]
        needed += [(sizes[more.buffer], more.live) for more in alternative.live]
        return sum(size * (end - start) for size, times in needed for start, end in times)

    def cost(alternative: Alternative) -> int:
        return weighted_cost(variants, alternative.costs)

    smallest = tuple(_least(group, lambda each: (size(each), cost(each))) for group in variants.groups)
    cheapest = tuple(_least(group, lambda each: (cost(each), size(each))) for group in variants.groups)
    return [choice for choice in dict.fromkeys((smallest, cheapest)) if not any(broken_rules(variants, choice))]


def least_cost(problem: Problem) -> int:
    """No choice costs less."""
    variants = problem.variants
    assert variants is not None
    return sum(min(weighted_cost(variants, each.costs) for each in group.alternatives) for group in variants.groups)


def _least(group: VariantGroup, worth: Callable[[Alternative], tuple[int, int]]) -> int:
    return min(range(len(group.alternatives)), key=lambda a: worth(group.alternatives[a]))
