"""A search for a refutation: each block at its least start or higher, keeping only the steps on which the end of each branch rests.

Everything it does is checked by the rules of planner.verifying.proofs at once, so it may choose freely. For each least start it remembers
from which others it follows. So it knows on what the failure of each branch rests: a placement that the failure does not need is left
out, with all that was tried beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from ..proofs.blocks import Blocks
from ..proofs.state import Clique, State
from .cliques import Named, Stopped
from .refutation import Facts, Lesson, Refutation, Script, lessons_of
from .trail import Trail

LOOKS_BETWEEN_POLLS = 20_000
"""Examinations of buffers: some ten milliseconds."""


class Ending(StrEnum):
    """How a search ends."""

    REFUTED = "refuted"
    FOUND = "found"
    """Nothing is left to place: there is a plan."""
    STOPPED = "stopped"
    TOO_LARGE = "too large"
    """There are too many blocks, or cliques."""


@dataclass(slots=True)
class _Branch:
    """A block that is placed at its least start."""

    block: int
    alternative: int
    low: dict[int, int]
    """All least starts when it began."""
    facts: dict[int, int]
    held: frozenset[int]
    """Blocks that placed ones restrict."""
    twins: list[int]
    beyond: list[Facts]
    """For each twin: why it begins at least at the alternative if the block is not here."""
    begin: int
    """Facts from here on belong to the current side."""
    known: dict[int, int]
    """Facts about blocks that have changed since it began."""
    choice: int
    first: Refutation | None = None


@dataclass(slots=True)
class _Look:
    """A clique's state when last examined."""

    slack: int
    candidates: int


class Search:
    """The search for a refutation of one height."""

    def __init__(self, blocks: Blocks, named: list[Named], stopped: Callable[[], bool]) -> None:
        self.placements = 0
        self._blocks, self._named, self._stopped = blocks, named, stopped
        self._weight = [0] * len(named)
        self._polled = 0

    def run(self) -> tuple[Ending, Iterable[str]]:
        """Return the lines of the proof after its head, if one is found."""
        try:
            self._begin()
            ending = self._refute()
        except Stopped:
            return Ending.STOPPED, ()
        if ending is not Ending.REFUTED or self._root is None:
            return ending, ()
        return ending, Script(self._root, self._named, self._used, self._settled)

    def _poll(self) -> None:
        """Raise Stopped when it is time."""
        looks = self._state.work - self._polled
        if looks >= LOOKS_BETWEEN_POLLS or not self._polled:
            self._polled = self._state.work
            if self._stopped():
                raise Stopped

    def _begin(self) -> None:
        blocks, state = self._blocks, State(self._blocks)
        self._state = state
        self._polled = 0
        self._settled: list[int] = []
        """Blocks with only one place are placed at once; later cliques go around them."""
        for block in sorted(set(blocks.block_of)):
            self._poll()
            state.know(block)
            shape = blocks.block(block)
            if shape.first <= shape.last < shape.first + shape.rule.modulus and not state.is_empty(block):
                state.place(block)
                self._settled.append(block)
        self._cliques: list[Clique] = [state.clique(named.buffers) for named in self._named]
        self._of_block: dict[int, list[int]] = {}
        for number, clique in enumerate(self._cliques):
            for block in {member.block for member in clique.movers}:
                self._of_block.setdefault(block, []).append(number)
        self._trail = Trail()
        self._branches: list[_Branch] = []
        self._looks: dict[int, _Look] = {}
        self._lessons: dict[int, list[Lesson]] = {}
        """By a block that starts lower than the lesson says, or did when last examined."""
        self._met: Lesson | None = None
        """A lesson that may apply."""
        self._used: list[Lesson] = []
        self._dirty: list[int] = list(range(len(self._cliques)))
        self._queued = set(self._dirty)
        self._root: Refutation | None = None

    # consequences

    def _refute(self) -> Ending:
        closed = next(
            (self._nowhere(block) for block in set(self._blocks.block_of) if self._state.is_empty(block)), None
        )
        while True:
            closed = closed or self._propagate()
            if closed is not None:
                if not self._back(closed):
                    return Ending.REFUTED
                closed = None
                continue
            block = self._choose()
            if block is None:
                return Ending.FOUND
            self._poll()
            self.placements += 1
            closed = self._place(block)

    def _propagate(self) -> Refutation | None:
        """Examine cliques until nothing more follows; return what closes this side, if anything."""
        while self._dirty or self._met is not None:
            self._poll()
            if self._met is not None:
                lesson, self._met = self._met, None
                if not lesson.is_lost and self._free(lesson) is None:
                    return self._remembered(lesson)
                continue
            number = self._dirty.pop()
            self._queued.discard(number)
            closed = self._look(number)
            if closed is not None:
                self._weight[number] += 1
                return closed
        return None

    def _look(self, number: int) -> Refutation | None:
        """Examine all crowds of a clique, from each least address on."""
        state, clique = self._state, self._cliques[number]
        floors: dict[int, int] = {}
        for member in clique.movers:
            if member.block not in state.placed:
                floors.setdefault(state.low[member.block] + member.low, member.buffer)
        self._looks.pop(number, None)
        for floor in sorted(floors):
            first = floors[floor]
            crowd, reach, end = state.raised(clique, first)
            if end is None:
                return Refutation(
                    [f"s {number} {first}"], self._why(clique, floor), frozenset(m.block for _, m in crowd)
                )
            if number not in self._looks:
                self._looks[number] = _Look(reach - floor, sum(least <= reach for least, _ in crowd))
            step = why = None
            for least, member in crowd:
                if reach < least < end:
                    if step is None:
                        speaks_of = frozenset(m.block for _, m in crowd)
                        step = self._trail.step(f"r {number} {first}", names=True, speaks_of=speaks_of)
                        why = self._why(clique, floor)
                    self._raise(member.block, end - member.low, step, why or frozenset(), member.buffer)
                    if state.is_empty(member.block):
                        return self._nowhere(member.block)
            if step is not None:
                self._queue([number])
                return None
        return None

    def _why(self, clique: Clique, floor: int) -> Facts:
        """Return the facts behind a crowd and its room: its members' least starts, and the places of those excluded because they are placed."""
        low, placed, fact, size = self._state.low, self._state.placed, self._trail.latest, self._blocks.size
        return frozenset(
            fact[m.block]
            for part in (clique.movers, clique.walls)
            for m in part
            if m.block in fact and low[m.block] + m.low + (size[m.buffer] - 1 if m.block in placed else 0) >= floor
        )

    def _nowhere(self, block: int) -> Refutation:
        return Refutation([f"e {block}"], self._trail.of(block), frozenset((block,)))

    def _remembered(self, lesson: Lesson) -> Refutation:
        lesson.is_used = True
        self._used.append(lesson)
        return Refutation([f"u {len(self._used) - 1}"], self._trail.of(*lesson.low), frozenset(lesson.low))

    def _free(self, lesson: Lesson) -> int | None:
        """Return a block that may start lower than the lesson says."""
        low, placed = self._state.low, self._state.placed
        return next((c for c, least in lesson.low.items() if low[c] < least or c in placed), None)

    def _meet(self, block: int) -> None:
        """Look for lessons that the block's new least start makes applicable."""
        waiting = self._lessons.get(block)
        if not waiting:
            return
        low, still = self._state.low[block], []
        for lesson in waiting:
            if low < lesson.low[block]:
                still.append(lesson)
            elif not lesson.is_lost:
                free = self._free(lesson)
                if free is None:
                    self._met = lesson
                    still.append(lesson)
                else:
                    self._lessons.setdefault(free, []).append(lesson)
        self._lessons[block] = still

    def _raise(self, block: int, least: int, step: int, why: Facts, buffer: int = -1) -> None:
        """Make the block begin at `least` or higher, and above what is placed there."""
        why |= self._held(block)
        self._state.raise_to(block, least)
        self._note(block, step, buffer, why)

    def _held(self, block: int) -> Facts:
        """Return why some starts above the block's least one are taken."""
        return self._trail.of(*(hold.by for hold in self._state.holds[block]))

    def _note(self, block: int, step: int, buffer: int, rests_on: Facts) -> None:
        """Record a fact about a block."""
        if self._branches:
            self._branches[-1].known.setdefault(block, self._trail.latest.get(block, -1))
        self._trail.note(block, step, buffer, rests_on)
        self._queue(self._of_block.get(block, ()))
        if block not in self._state.placed:
            self._meet(block)

    def _queue(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            if number not in self._queued:
                self._queued.add(number)
                self._dirty.append(number)

    # choices

    def _choose(self) -> int | None:
        """Return the block to place next: the lowest of the clique with the least choice."""
        state = self._state
        best = None
        for number, clique in enumerate(self._cliques):
            if number not in self._looks:
                self._look_again(number, clique)
            look = self._looks[number]
            if look.candidates:
                score = (look.candidates**2 * (look.slack + 8)) / (64 + self._weight[number])
                if best is None or score < best[0]:
                    best = (score, number)
        if best is None:
            return None
        movers = (m for m in self._cliques[best[1]].movers if m.block not in state.placed)
        lowest = min(movers, key=lambda m: (state.low[m.block] + m.low, -m.length, m.block))
        return self._down(lowest.block)

    def _look_again(self, number: int, clique: Clique) -> None:
        state = self._state
        movers = [m for m in clique.movers if m.block not in state.placed]
        if not movers:
            self._looks[number] = _Look(0, 0)
            return
        first = min(movers, key=lambda m: state.low[m.block] + m.low)
        crowd, reach = state.crowd(clique, first.buffer)
        floor = state.low[first.block] + first.low
        self._looks[number] = _Look(reach - floor, sum(least <= reach for least, _ in crowd))

    def _down(self, block: int) -> int:
        """Return the block, or one that could lie below it at its least start, repeatedly."""
        state, blocks = self._state, self._blocks
        for _ in range(len(blocks.size)):
            at, below = state.low[block], None
            for other, ranges in blocks.distances(block).items():
                if other not in state.placed and state.low[other] < at + ranges[0][0]:
                    end = (state.low[other] - ranges[0][0], other)
                    below = end if below is None else min(below, end)
            if below is None:
                break
            block = below[1]
        return block

    def _place(self, block: int) -> Refutation | None:
        """Place the block at its least start, as one of two sides or because there is no other."""
        state = self._state
        alternative = state.alternative(block)
        around = (block, *self._blocks.distances(block))
        near = self._trail.of(*around).union(*map(self._held, around))
        if alternative is None:
            step, why = self._trail.step(f"f {block}", speaks_of=frozenset((block,))), near
        else:
            step, why = self._trail.step("", is_choice=True), self._trail.of(block)
            twins = state.twins(block)
            beyond = [near | self._trail.of(twin) for twin in twins]
            held = frozenset(c for c, holds in state.holds.items() if any(h.by not in self._settled for h in holds))
            known = (dict(state.low), dict(self._trail.latest), held)
            branch = _Branch(block, alternative, *known, twins, beyond, len(self._trail), {}, step)
            self._branches.append(branch)
            state.mark()
        self._note(block, step, block, why)
        placed = self._trail.latest[block]
        before = {other: self._held(other) for other in around if state.holds[other]}
        for other in state.place(block):
            self._note(other, step, -1, self._trail.of(other) | {placed} | before.get(other, frozenset()))
            if state.is_empty(other):
                return self._nowhere(other)
        return None

    # failures

    def _back(self, closed: Refutation) -> bool:
        """Take a refutation of the current side up as far as it goes, and turn to the next side; False if everything is refuted."""
        self._dirty.clear()
        self._queued.clear()
        self._met = None
        while self._branches:
            branch = self._branches[-1]
            closed, rests_on_choice = self._trail.trimmed(closed, branch.begin, branch.choice)
            if branch.first is None:
                self._state.undo()
            self._trail.back(branch.begin, branch.known)
            for block in branch.known:
                for number in self._of_block.get(block, ()):
                    self._looks.pop(number, None)
            branch.known.clear()
            if rests_on_choice and branch.first is None:
                branch.first = closed
                self._turn(branch)
                return True
            self._branches.pop()
            first = branch.first
            if first is not None and (rests_on_choice or any(each.is_used for each in lessons_of(first))):
                whole = first.rests_on | closed.rests_on | branch.beyond[0].union(*branch.beyond)
                speaks_of = first.speaks_of | closed.speaks_of | {branch.block}
                closed = Refutation([], whole, speaks_of, branch.block, (first, closed), self._learn(branch, speaks_of))
            elif first is not None:
                for lesson in lessons_of(first):
                    lesson.is_lost = True
        self._root, _ = self._trail.trimmed(closed, 0, -1)
        return False

    def _learn(self, branch: _Branch, speaks_of: frozenset[int]) -> Lesson | None:
        """Remember the refutation of a branch at the places where it stops to apply."""
        if not branch.held.isdisjoint(speaks_of):
            return None
        lesson = Lesson({c: branch.low[c] for c in sorted(speaks_of)})
        latest = max(lesson.low, key=lambda c: branch.facts.get(c, -1))
        self._lessons.setdefault(latest, []).append(lesson)
        return lesson

    def _turn(self, branch: _Branch) -> None:
        branch.choice = self._trail.step("", is_choice=True)
        for twin, why in zip(branch.twins, branch.beyond, strict=True):
            self._raise(twin, branch.alternative, branch.choice, why)
