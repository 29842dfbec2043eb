"""The decision search: is there a placement that ends at or below a given height?

Every unplaced block has a least possible offset, its low. The search places a block at its low, or proves that it lies higher and raises the low to
the least offset at which another block could have pushed it. Some best placement has every block at the lowest feasible start given all the others,
so nothing is lost.

Placing a block pushes all its unplaced neighbours above it. So a block may be chosen only if no unplaced block can still lie wholly below it. If it
does not lie at its low, another block reaches across its low, and it lies at or above the lowest end of such a block. If there is no such block, the
placement is forced and opens no node.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from .building.model import Model
from .choice import Order, Urgency, ranks
from .parts import Parts
from .refuted import MOST_BLOCKS, Key, Refuted, key_of
from .states.general import GeneralState
from .states.plain import PlainState
from .states.state import State
from .watch import Watch

FADE = 20
"""Each attempt, a failure's weight fades by one part in this many, so that restarts do not repeat each other."""


class Answer(Enum):
    """How an attempt ended."""

    FOUND = auto()
    IMPOSSIBLE = auto()
    BUDGET = auto()


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of the search from the root."""

    seed: int
    order: Order
    nodes: int
    work: int | None


@dataclass(slots=True)
class Frame:
    """An open choice: a placement with an alternative."""

    block: int
    alternative: int
    mark: int
    parts: Parts
    left_behind: Key | None = None
    """The hash of the state after the placement."""


class Decision:
    """Answers for one height after the other, and keeps from attempt to attempt what failures taught."""

    def __init__(self, model: Model, watch: Watch) -> None:
        self.nodes = 0
        self.state: State = PlainState(model, watch) if model.plain else GeneralState(model, watch)
        self._model = model
        self._watch = watch
        self._refuted = Refuted()
        self._remembers = self.state.self_contained and len(model.blocks) <= MOST_BLOCKS
        self._twins: dict[int, list[int]] = {}
        for j, block in enumerate(model.blocks):
            self._twins.setdefault(block.twin, []).append(j)
        self._height = 0
        self._frames: list[Frame] = []
        self._failed: int | None = None

    def decide(self, height: int, attempt: Attempt) -> Answer:
        state = self.state
        self._height = height
        self._frames.clear()
        self._failed = None
        self._parts = Parts.whole(len(self._model.cliques))
        rank = ranks(self._model.blocks, attempt.order, attempt.seed)
        state.weight[:] = [weight - weight // FADE for weight in state.weight]
        if self._model.contradiction is not None or self._model.fixed_peak > height or not state.start(height):
            state.failures.clear()
            return Answer.IMPOSSIBLE
        state.failures.clear()
        self._urgency = Urgency(state, attempt.seed)
        last_node = self.nodes + attempt.nodes
        last_work = None if attempt.work is None else state.work + attempt.work
        self._divide()
        while True:
            self._watch.look()
            clique = self._choose_clique()
            if clique is None:
                if self._parts.agenda is None:
                    return Answer.FOUND
                self._parts = self._parts.next_part(len(self._frames))
                continue
            block, alternative = state.undermost(state.lowest(clique, rank), rank)
            if alternative is not None:
                if self.nodes >= last_node or (last_work is not None and state.work >= last_work):
                    return Answer.BUDGET
                self.nodes += 1
                self._frames.append(Frame(block, alternative, state.mark(), self._parts))
            if state.place(block) and state.settle() and not (alternative is not None and self._known_after_placing()):
                if clique == self._failed:
                    self._failed = None
                self._divide()
            elif not self._backtrack():
                return Answer.IMPOSSIBLE

    def _choose_clique(self) -> int | None:
        """The clique that failed last, until a block is placed in it, since the cause is likely near; else the most urgent."""
        first, last = self._parts.at_hand.first, self._parts.at_hand.last
        if self._failed is not None and first <= self._failed < last and self.state.left[self._failed] > 0:
            return self._failed
        return self._urgency.most_urgent(first, last)

    def _backtrack(self) -> bool:
        """Undoes the last open choice of the current part and takes its alternative, until that is consistent."""
        while True:
            self._learn()
            while len(self._frames) == self._parts.at_hand.start:
                # This part is impossible, whatever was chosen in its siblings.
                gone = self._parts.at_hand
                if gone.parent is None:
                    return False
                while len(self._frames) > gone.height:
                    self._undo(self._frames.pop())
                self._parts = self._parts.back_to(gone.parent)
            frame = self._frames.pop()
            self._undo(frame)
            if frame.left_behind is not None:
                self._refuted.insert(frame.left_behind)
            if (
                self._raise_twins(frame.block, frame.alternative)
                and self.state.settle()
                and not self._known(self._key())
            ):
                return True

    def _undo(self, frame: Frame) -> None:
        self.state.undo(frame.mark)
        self._parts = frame.parts

    def _raise_twins(self, block: int, least: int) -> bool:
        """Raises all interchangeable blocks at the same low: if one cannot lie there, none can."""
        before = self.state.low[block]
        for twin in self._twins[self._model.blocks[block].twin]:
            at_same = self.state.low[twin] == before and not self.state.placed[twin]
            if at_same and not self.state.raise_to(twin, least):
                return False
        return True

    def _learn(self) -> None:
        for clique in self.state.failures:
            self._urgency.rate(clique)
            self._failed = clique
        self.state.failures.clear()

    # --- states known to be impossible ---

    def _known_after_placing(self) -> bool:
        key = self._frames[-1].left_behind = self._key()
        return self._known(key)

    def _known(self, key: Key | None) -> bool:
        return key is not None and key in self._refuted

    def _key(self) -> Key | None:
        if not self._remembers:
            return None
        placed, low = self.state.placed, self.state.low
        self.state.work += 4 * len(low)
        return key_of(self._height, [(j, low[j]) for j in range(len(low)) if not placed[j]])

    # --- parts ---

    def _divide(self) -> None:
        """Splits the search where the last placement opened a cut in time."""
        if self.state.take_cut() and self._model.separable:
            self._parts = self._parts.divided(self.state, len(self._frames))
