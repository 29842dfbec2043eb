"""Improves an order by moves: blocks that make an object larger than its proven size are moved forward; results that are no worse are kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from .passes import Choice, Passes

MOVES = 400
"""More moves hardly ever find more."""
AIMED = 0.7
"""The share of moves of a block whose object is too large; the others move any block."""
FICKLE = 0.1
"""The share of moves that also change the rule by which objects are chosen."""
RULES = (Choice.SNUG, Choice.SOON)


def improved(
    passes: Passes, order: Sequence[int], choice: Choice, start: Sequence[int], least: Sequence[int], random: Random
) -> Iterator[list[list[int]]]:
    """The users of each object after each accepted move, starting from an order, a rule and given objects.

    `least[k]`: proven least size of the k-th largest object.
    """
    current = list(order)
    objects = passes.run(current, choice, start)
    total = passes.total(objects)
    for _ in range(MOVES):
        culprits = _too_large(passes, objects, least)
        if not culprits:
            return
        tried = list(current)
        for _ in range(random.randint(1, 2)):
            block = random.choice(culprits if random.random() < AIMED else tried)
            at = tried.index(block)
            del tried[at]
            tried.insert(random.randrange(max(at, 1)), block)
        rule = random.choice(RULES) if random.random() < FICKLE else choice
        found = passes.run(tried, rule, start)
        value = passes.total(found)
        if value <= total:
            current, choice, objects, total = tried, rule, found, value
            yield found


def _too_large(passes: Passes, objects: list[list[int]], least: Sequence[int]) -> list[int]:
    """The largest user of each object that is larger than the proven size of its rank."""
    leaders = sorted((max(users, key=passes.size_of) for users in objects), key=passes.size_of, reverse=True)
    return [leader for rank, leader in enumerate(leaders) if rank >= len(least) or passes.size_of(leader) > least[rank]]
