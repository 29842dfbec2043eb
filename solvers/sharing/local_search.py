"""Makes an order better, move by move: blocks that make an object larger than it is proven to be come sooner, and what is no worse stays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from .passes import Choice, Passes

MOVES = 400
"""More hardly ever find more."""
AIMED = 0.7
"""The share of moves that concern a block at which an object grew too large; the others concern any."""
FICKLE = 0.1
"""The share of moves that change the rule by which objects are chosen as well."""
RULES = (Choice.SNUG, Choice.SOON)


def improved(
    passes: Passes, order: Sequence[int], choice: Choice, start: Sequence[int], least: Sequence[int], random: Random
) -> Iterator[list[list[int]]]:
    """The users of each object, after each move: from an order, a rule and the objects that are there from the start.

    `least[k]`: proven of the k-th largest object.
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
    """The largest user of each object that is larger than the one of its rank is proven to be."""
    leaders = sorted((max(users, key=passes.size_of) for users in objects), key=passes.size_of, reverse=True)
    return [leader for rank, leader in enumerate(leaders) if rank >= len(least) or passes.size_of(leader) > least[rank]]
