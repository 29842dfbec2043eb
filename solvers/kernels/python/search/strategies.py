"""The strategies of a round, and the work that each of their attempts may take."""

from __future__ import annotations

from ....model.splitmix import SplitMix64
from .building.glue import Glued, glue
from .building.model import Model
from .choice import Order
from .decision import Answer, Attempt, Decision
from .watch import Watch

STRATEGIES = 4
MANY_BLOCKS = 2000
"""With more blocks an attempt takes so long that only two are made before the next height."""

FEW_STRATEGIES = 2
GLUED = 2
"""The first strategies, this many, search the glued model; the others search the full one."""

BASE_NODES = 1000
NODES_PER_ROUND = 10
MOST_EXTRA_NODES = 300


class Strategy:
    """One strategy's model, and what its failures taught."""

    def __init__(self, model: Model, number: int, watch: Watch) -> None:
        self._glued = _glued(model, number)
        self._decision = Decision(model if self._glued is None else self._glued.model, watch)

    @property
    def nodes(self) -> int:
        return self._decision.nodes

    @property
    def work(self) -> int:
        return self._decision.state.work

    @property
    def offsets(self) -> list[int]:
        """Offsets of the model's blocks, once a placement is found."""
        found = self._decision.state.offset
        return found if self._glued is None else self._glued.expand(found)

    def decide(self, height: int, attempt: Attempt) -> Answer:
        answer = self._decision.decide(height, attempt)
        # An impossible glued model proves nothing.
        return Answer.BUDGET if self._glued is not None and answer is Answer.IMPOSSIBLE else answer


def _glued(model: Model, strategy: int) -> Glued | None:
    if strategy >= GLUED or len(model.blocks) > MANY_BLOCKS:
        return None
    return glue(model, chains=strategy == 0)


def strategies(blocks: int) -> int:
    """The number of strategies."""
    return FEW_STRATEGIES if blocks > MANY_BLOCKS else STRATEGIES


def attempt(seed: int, strategy: int, round_: int, blocks: int, work: int | None) -> Attempt:
    """A strategy's attempt in a round."""
    # Lifetime first is best on most of the hardest instances and useless on some; which ones cannot be predicted.
    order = Order.LIFETIME if strategy % 2 == 0 else Order((strategy // 2 + round_) % len(Order))
    # Short attempts find placements; the last strategy also makes long ones, which can prove.
    length = luby(round_ + 1) if strategy == strategies(blocks) - 1 else 1
    return Attempt(
        seed=SplitMix64(SplitMix64(seed).next() + round_ * STRATEGIES + strategy).next(),
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
