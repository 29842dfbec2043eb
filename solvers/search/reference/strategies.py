"""Who tries what for how long: the strategies of a round, and what an attempt of each may cost."""

from __future__ import annotations

from .decision import Attempt
from .generator import WORD, Generator
from .orders import Order

STRATEGIES = 4
MANY_BLOCKS = 2000
"""Where an attempt takes so long that no more than two go before another height."""

FEW_STRATEGIES = 2
BASE_NODES = 1000
NODES_PER_ROUND = 10
MOST_EXTRA_NODES = 300


def strategies(blocks: int) -> int:
    """How many there are."""
    return FEW_STRATEGIES if blocks > MANY_BLOCKS else STRATEGIES


def attempt(seed: int, strategy: int, round_: int, blocks: int, work: int | None) -> Attempt:
    """What a strategy does in a round."""
    # Lifetime first is best on most of the hardest instances and useless on some; which, cannot be told in advance.
    order = Order.LIFETIME if strategy % 2 == 0 else Order((strategy // 2 + round_) % len(Order))
    # Short attempts find; the last strategy also makes long ones, which can prove.
    length = luby(round_ + 1) if strategy == strategies(blocks) - 1 else 1
    return Attempt(
        seed=Generator((Generator(seed).next() + round_ * STRATEGIES + strategy) & WORD).next(),
        order=order,
        nodes=length * (BASE_NODES + min(round_ * NODES_PER_ROUND, MOST_EXTRA_NODES) + blocks),
        work=work,
    )


def luby(i: int) -> int:
    """The i-th of 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ..."""
    while True:
        power = 1 << ((i + 1).bit_length() - 1)
        if power == i + 1:
            return power // 2
        i -= power - 1
