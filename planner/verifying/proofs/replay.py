"""Replays a proof about one memory line by line, as far as the rules allow: at its end, every possible plan is ruled out.

The grammar, and why each rule is sound, is in docs/proofs.md.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import and_
from typing import NamedTuple

from ...facts.sweep import VERIFYING
from ...model.deadline import tick
from ...model.errors import echo
from .blocks import Blocks
from .kept import Recent, Rows
from .reading import Reader, Refused, exactly
from .stacked import have_no_room, loose_members
from .state import Clique, State

MOST_TREE_BUFFERS = 2_000
"""With more buffers, nothing is placed; any number may be live at one moment."""
MOST_BYTES = 1 << 27
"""The most that open branches may take, about, for what they changed."""
MOST_RECENT = 200_000
"""So many members of cliques are kept as objects, which take a few times ten MiB; of the others only the buffers' numbers are."""


@dataclass(slots=True)
class _Lesson:
    """What to remember of a branch once both its sides are refuted."""

    low: array[int]
    """All least starts when the branch began, in the order in which blocks became known."""
    held: bytearray
    """A flag for each block: was it kept from some starts by placements in other branches?"""
    looked_at: bytearray
    """A flag for each block: does the refutation rest on it?"""
    depth: int | None = None
    """The number of open first sides around the second side, once that has begun."""


class _Branch(NamedTuple):
    """A block that was placed at its least start; it remains to refute that it begins higher."""

    twins: list[int]
    alternative: int
    lesson: _Lesson | None


class Replay:
    """The replay of a proof that the blocks of one memory cannot all end as low as required."""

    def __init__(self, reader: Reader, blocks: Blocks) -> None:
        self._reader, self._state = reader, State(blocks)
        self.placements = 0
        """The number of placements that were refuted."""
        self._named = Rows()
        """Of each clique the number of its buffers that were placed, these, and the others."""
        self._cliques = Recent(MOST_RECENT, self._made)
        self._branches: list[_Branch] = []
        self._open: list[_Lesson] = []
        """Those whose branches are not refuted yet."""
        self._lessons = Rows()
        """Blocks, each with a start: they cannot all start there or higher."""
        self._settled: frozenset[int] | None = None
        """The blocks placed before the first branch, and so in every branch."""

    def refute(self) -> None:
        """Replay steps until nothing is open. Raises BadProof."""
        steps = {
            "c": self._name,
            "t": self._name_live,
            "r": self._lift,
            "f": self._force,
            "b": self._branch,
            "k": self._keep,
        }
        while True:
            word, numbers = self._reader.words()
            try:
                if word in steps:
                    steps[word](numbers)
                elif word in ("s", "o", "e", "u"):
                    self._close(word, numbers)
                    self._learn()
                    if not self._branches:
                        self._reader.spend(self._state.work)
                        return
                    self._turn(self._branches.pop())
                else:
                    raise Refused(f"{echo(word)} is no step")
                self._spend(1)
            except Refused as why:
                raise self._reader.bad(str(why)) from None

    def _name(self, buffers: list[int]) -> None:
        self._add(named_clique(self._state.blocks, buffers, self._spend))

    def _name_live(self, times: list[int]) -> None:
        self._add(live_clique(self._state.blocks, times, self._spend))

    def _add(self, buffers: Sequence[int]) -> None:
        self._reader.hold(len(buffers) + 1)
        walls, loose = self._state.walls_and_loose(buffers)
        self._named.add((len(walls), *walls, *loose))

    def _made(self, number: int) -> tuple[Clique, int]:
        """Return a clique that was named, and the number of its buffers."""
        walls, *buffers = self._named[number]
        return self._state.clique_of(buffers[:walls], buffers[walls:]), len(buffers)

    def _lift(self, numbers: list[int]) -> None:
        clique, first, *buffers = self._at_least(numbers, 3)
        self._look_at(self._state.lift(self._clique(clique), first, buffers))
        self._spend(len(buffers))

    def _force(self, numbers: list[int]) -> None:
        block = self._placeable(numbers)
        if self._state.alternative(block) is not None:
            raise Refused(f"buffer {numbers[0]} may also begin higher")
        self._look_at((block,))
        self._state.place(block)

    def _keep(self, numbers: list[int]) -> None:
        """Open a branch whose refutation is remembered."""
        state, block = self._state, self._placeable(numbers)
        if self._settled is None:
            self._settled = frozenset(state.placed)
        self._reader.hold(len(state.low))
        flags = len(state.blocks.size)
        lesson = _Lesson(array("q", state.low.values()), bytearray(flags), bytearray(flags))
        for each, holds in state.holds.items():
            lesson.held[each] = any(hold.by not in self._settled for hold in holds)
        self._open.append(lesson)
        self._begin(block, numbers[0], lesson)

    def _branch(self, numbers: list[int]) -> None:
        self._begin(self._placeable(numbers), numbers[0])

    def _begin(self, block: int, buffer: int, lesson: _Lesson | None = None) -> None:
        alternative = self._state.alternative(block)
        if alternative is None:
            raise Refused(f"buffer {buffer} can begin nowhere else")
        if self._settled is None:
            self._settled = frozenset(self._state.placed)
        self._look_at((block,))
        self._branches.append(_Branch(self._state.twins(block), alternative, lesson))
        self._state.mark()
        self._state.place(block)

    def _turn(self, branch: _Branch) -> None:
        """Turn to the second side: the placement is refuted, so the block begins higher."""
        self._state.undo()
        if branch.lesson is not None:
            branch.lesson.depth = len(self._branches)
        for block in branch.twins:
            self._state.raise_to(block, branch.alternative)

    def _close(self, word: str, numbers: list[int]) -> None:
        state = self._state
        if word == "e":
            (buffer,) = exactly(numbers, 1)
            block = self._block(buffer)
            if block in state.placed or not state.is_empty(block):
                raise Refused(f"there is a place left for buffer {buffer}")
            self._look_at((block,))
            return
        if word == "u":
            self._use(*exactly(numbers, 1))
            return
        if word == "o":
            self._stack(*exactly(numbers, 1))
            return
        clique, first = exactly(numbers, 2)
        crowd, _, end = state.raised(self._clique(clique), first)
        if end is not None:
            raise Refused(f"there may be room for what is in clique {clique} from where buffer {first} can begin")
        self._look_at(member.block for _, member in crowd)

    def _stack(self, number: int) -> None:
        """Close this branch, as those of the clique have no room in any order."""
        loose = loose_members(self._state, self._clique(number))
        if not have_no_room(self._state, loose, lambda: self._spend(0)):
            raise Refused(f"in some order there is room for what is in clique {number}")
        self._look_at(member.block for member in loose)

    def _use(self, number: int) -> None:
        """Close this branch by an earlier refutation that covers it."""
        state = self._state
        if not 0 <= number < len(self._lessons):
            raise Refused(f"nothing is kept yet as number {number}")
        lesson = self.lesson(number)
        self._spend(len(lesson))
        free = next((c for c, low in lesson.items() if c in state.placed or state.low[c] < low), None)
        if free is not None:
            raise Refused(f"buffer {free} can start lower here than in what was kept as number {number}")
        self._look_at(lesson)

    def lesson(self, number: int) -> dict[int, int]:
        """Return what is kept as this number: blocks that cannot all start at these starts or higher."""
        row = self._lessons[number]
        return dict(zip(row[::2], row[1::2], strict=True))

    def _look_at(self, blocks: Iterable[int]) -> None:
        """Record for all remembered open branches that the refutation rests on these blocks."""
        if self._open:
            flags = self._open[-1].looked_at
            for block in blocks:
                flags[block] = True

    def _learn(self) -> None:
        """Keep the lessons of the branches whose second sides end here."""
        while self._open and self._open[-1].depth == len(self._branches):
            lesson = self._open.pop()
            if any(map(and_, lesson.held, lesson.looked_at)):
                raise Refused("the lesson rests on blocks that are placed elsewhere")
            looked_at = lesson.looked_at
            known = zip(self._state.low, lesson.low)  # noqa: B905 - some became known later
            self._lessons.add(each for block, low in known if looked_at[block] for each in (block, low))
            self._look_at(block for block, flag in enumerate(looked_at) if flag)

    def _placeable(self, numbers: list[int]) -> int:
        """Return the block of the named buffer, which can be placed."""
        (buffer,) = exactly(numbers, 1)
        blocks = self._state.blocks
        if len(blocks.size) > MOST_TREE_BUFFERS:
            raise Refused(f"nothing is placed one by one where there are more than {MOST_TREE_BUFFERS} buffers")
        block = self._block(buffer)
        if block in self._state.placed or self._state.is_empty(block):
            raise Refused(f"buffer {buffer} is placed already, or can be nowhere")
        self.placements += 1
        self._spend(len(blocks.size))
        return block

    def _clique(self, number: int) -> Clique:
        if not 0 <= number < len(self._named):
            raise Refused(f"there is no clique {number} yet")
        return self._cliques[number]

    def _block(self, buffer: int) -> int:
        block = self._state.blocks.block_of[a_buffer(self._state.blocks, buffer)]
        self._state.know(block)
        return block

    def _at_least(self, numbers: list[int], count: int) -> list[int]:
        if len(numbers) < count:
            raise Refused(f"the step takes {count} numbers or more")
        return numbers

    def _spend(self, looks: int) -> None:
        self._state.blocks.looks += looks + 1
        tick(VERIFYING, looks + 1)
        self._reader.require_work(self._state.work)
        if self._state.kept > MOST_BYTES:
            raise Refused(f"what the open branches changed takes more than {MOST_BYTES} bytes")


def named_clique(blocks: Blocks, buffers: list[int], spend: Callable[[int], None]) -> list[int]:
    seen: set[int] = set()
    for b in buffers:
        a_buffer(blocks, b)
        spend(len(seen) + 1)
        other = next((a for a in seen if a == b or not blocks.must_be_apart(a, b)), None)
        if other is not None:
            raise Refused(f"buffers {other} and {b} may share addresses")
        seen.add(b)
    return buffers


def live_clique(blocks: Blocks, times: list[int], spend: Callable[[int], None]) -> Sequence[int]:
    """Return a clique of all buffers live at a time."""
    (time,) = exactly(times, 1)
    spend(len(blocks.size))
    live = blocks.live_at(time)
    found = blocks.sharing_among(live)
    if found is not None:
        raise Refused(f"buffers {found[0]} and {found[1]} are live then, but may share addresses")
    return live


def a_buffer(blocks: Blocks, number: int) -> int:
    """Return the number, if it is a buffer's. Raises Refused."""
    if not 0 <= number < len(blocks.size):
        raise Refused(f"there is no buffer {number}")
    return number
