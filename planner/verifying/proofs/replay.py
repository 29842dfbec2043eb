"""Reads a proof line by line and does what it says, as far as the rules allow: at its end, all that could have been a plan is ruled out.

The grammar, and why each rule is sound, is in docs/proofs.md.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader, BytesIO
from typing import BinaryIO, NamedTuple

from ...facts.constants import spell_out_constants
from ...facts.digest import digest
from ...model.errors import Code, Finding, PlannerError, echo
from ...model.problem import Problem
from .blocks import Blocks
from .state import Clique, Refused, State

FORMAT = "memplan-proof/1"
MOST_LINES = 10_000_000
MOST_LINE_BYTES = 1 << 24
MOST_MEMBERS = 5_000_000
"""Of all cliques together, and of what is kept."""
MOST_TREE_BUFFERS = 2_000
"""In problems of more, nothing is placed; what is live at one moment may be any number."""
MOST_RESERVED = 500
MOST_WORK = 100_000_000
"""Looks at a buffer: minutes."""

_NUMBERS = re.compile(r"( (0|-?[1-9][0-9]{0,19}))*", re.ASCII)


class BadProof(PlannerError):
    """The proof does not show what it says, or is not one."""

    def __init__(self, line: int, message: str) -> None:
        self.line = line
        """Counted from 1; 0: it is about no line."""
        super().__init__(Finding(Code.INVALID_PROOF, f"/line/{line}" if line else "", message))


@dataclass(frozen=True, slots=True)
class Proven:
    """What a proof shows."""

    height: int
    """No plan ends at or below this address."""
    lines: int
    """How many were replayed."""
    placements: int
    """How often a block was placed to see that this leads nowhere."""


@dataclass(slots=True)
class _Lesson:
    """What is to be remembered of a branch once both its sides are refuted."""

    low: dict[int, int]
    """All least starts as the branch began."""
    held: frozenset[int]
    """Blocks that were kept from some starts by what was placed in other branches."""
    looked_at: set[int]
    """Blocks of which the refutation speaks."""
    depth: int | None = None
    """How many first sides are open around the second side, once that has begun."""


class _Branch(NamedTuple):
    """A block that was placed at its least start; what is left to refute is that it begins higher."""

    twins: list[int]
    alternative: int
    lesson: _Lesson | None


def check_proof(problem: Problem, proof: bytes | BufferedReader) -> Proven:
    """Replays a proof, which may be compressed by gzip, against a sound problem. Raises BadProof unless it shows what it says."""
    return _Replay(spell_out_constants(problem), _lines(proof)).run(digest(problem))


def _lines(proof: bytes | BufferedReader) -> Iterator[str]:
    """The lines without their ends. Raises BadProof at one that is no line of a proof."""
    stream = BufferedReader(BytesIO(proof)) if isinstance(proof, bytes) else proof
    packed = stream.peek(2)[:2] == b"\x1f\x8b"
    source: BinaryIO = gzip.GzipFile(fileobj=stream) if packed else stream  # type: ignore[assignment]
    number = 0
    while True:
        number += 1
        try:
            line = source.readline(MOST_LINE_BYTES + 1)
        except (OSError, EOFError, zlib.error):
            raise BadProof(number, "the compressed data is broken or ends early") from None
        if not line:
            return
        if not line.endswith(b"\n"):
            what = "is too long" if len(line) > MOST_LINE_BYTES else "ends early"
            raise BadProof(number, f"the line {what}")
        if number > MOST_LINES:
            raise BadProof(number, f"there are more than {MOST_LINES} lines")
        try:
            yield line[:-1].decode("ascii")
        except UnicodeDecodeError:
            raise BadProof(number, "the line is not ASCII") from None


def unsupported(problem: Problem) -> str | None:
    """Why there are no proofs about this problem; None: there are."""
    if len(problem.pools) != 1:
        return f"proofs are about problems with one memory, and this one has {len(problem.pools)}"
    if problem.variants is not None:
        return "proofs are about problems that leave no alternatives to choose"
    if len(problem.pools[0].reserved) > MOST_RESERVED:
        return f"proofs are about memories with at most {MOST_RESERVED} reserved ranges"
    return None


class _Replay:
    """One proof on its way."""

    def __init__(self, problem: Problem, lines: Iterator[str]) -> None:
        self._problem, self._lines = problem, lines
        self._line = 0
        self._placements = 0
        self._cliques: list[Clique] = []
        self._members = 0
        self._branches: list[_Branch] = []
        self._open: list[_Lesson] = []
        """Those whose branches are not refuted yet."""
        self._lessons: list[dict[int, int]] = []
        """Blocks that cannot all start at these starts or higher."""
        self._settled: frozenset[int] | None = None
        """What was placed before the first branch, and so is in every branch."""

    def run(self, right_digest: str) -> Proven:
        if self._next() != FORMAT:
            raise self._bad(f"the first line is not {FORMAT}")
        if self._next() != f"problem {right_digest}":
            raise self._bad("the proof is about another problem: the digests differ")
        word, numbers = self._words(self._next())
        if word != "refutes" or len(numbers) != 1:
            raise self._bad("the third line does not say which height is refuted")
        height = numbers[0]
        why = unsupported(self._problem)
        if why is not None:
            raise self._bad(why)
        self._state = State(Blocks(self._problem, height))
        if height >= 0:
            self._refute()
        if next(self._lines, None) is not None:
            self._line += 1
            raise self._bad("everything is refuted already")
        return Proven(height, self._line, self._placements)

    def _refute(self) -> None:
        """Steps until nothing is open."""
        steps = {
            "c": self._name,
            "t": self._name_live,
            "r": self._lift,
            "f": self._force,
            "b": self._branch,
            "k": self._keep,
        }
        while True:
            word, numbers = self._words(self._next())
            try:
                if word in steps:
                    steps[word](numbers)
                elif word in ("s", "e", "u"):
                    self._close(word, numbers)
                    self._learn()
                    if not self._branches:
                        return
                    self._turn(self._branches.pop())
                else:
                    raise Refused(f"{echo(word)} is no step")
                self._spend(1)
            except Refused as why:
                raise self._bad(str(why)) from None

    def _name(self, buffers: list[int]) -> None:
        """A clique of buffers that are named."""
        known = self._state.blocks
        seen: set[int] = set()
        for b in buffers:
            self._number(b)
            self._spend(len(seen) + 1)
            other = next((a for a in seen if a == b or not known.must_be_apart(a, b)), None)
            if other is not None:
                raise Refused(f"buffers {other} and {b} may share addresses")
            seen.add(b)
        self._add(buffers)

    def _name_live(self, times: list[int]) -> None:
        """A clique of all buffers that are live at a time."""
        (time,) = self._exactly(times, 1)
        known = self._state.blocks
        self._spend(len(known.size))
        live = known.live_at(time)
        found = known.sharing_among(live)
        if found is not None:
            raise Refused(f"buffers {found[0]} and {found[1]} are live then, but may share addresses")
        self._add(live)

    def _hold(self, members: int) -> None:
        self._members += members
        if self._members > MOST_MEMBERS:
            raise Refused(f"cliques, and what is kept, have more than {MOST_MEMBERS} members")

    def _add(self, buffers: Sequence[int]) -> None:
        self._hold(len(buffers))
        self._cliques.append(self._state.clique(buffers))

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
        """A branch of which is remembered what its refutation shows."""
        state = self._state
        if self._settled is None:
            self._settled = frozenset(state.placed)
        self._hold(len(state.low))
        held = (c for c, holds in state.holds.items() if any(hold.by not in self._settled for hold in holds))
        lesson = _Lesson(dict(state.low), frozenset(held), set())
        self._open.append(lesson)
        self._branch(numbers, lesson)

    def _branch(self, numbers: list[int], lesson: _Lesson | None = None) -> None:
        block = self._placeable(numbers)
        alternative = self._state.alternative(block)
        if alternative is None:
            raise Refused(f"buffer {numbers[0]} can begin nowhere else")
        if self._settled is None:
            self._settled = frozenset(self._state.placed)
        self._look_at((block,))
        self._branches.append(_Branch(self._state.twins(block), alternative, lesson))
        self._state.mark()
        self._state.place(block)

    def _turn(self, branch: _Branch) -> None:
        """What was placed is refuted; now it begins higher."""
        self._state.undo()
        if branch.lesson is not None:
            branch.lesson.depth = len(self._branches)
        for block in branch.twins:
            self._state.raise_to(block, branch.alternative)

    def _close(self, word: str, numbers: list[int]) -> None:
        state = self._state
        if word == "e":
            (buffer,) = self._exactly(numbers, 1)
            block = self._block(buffer)
            if block in state.placed or not state.is_empty(block):
                raise Refused(f"there is a place left for buffer {buffer}")
            self._look_at((block,))
            return
        if word == "u":
            self._use(*self._exactly(numbers, 1))
            return
        clique, first = self._exactly(numbers, 2)
        crowd, _, end = state.raised(self._clique(clique), first)
        if end is not None:
            raise Refused(f"there may be room for what is in clique {clique} from where buffer {first} can begin")
        self._look_at(member.block for _, member in crowd)

    def _use(self, number: int) -> None:
        """Here is what was refuted before, or more."""
        state = self._state
        if not 0 <= number < len(self._lessons):
            raise Refused(f"nothing is kept yet as number {number}")
        lesson = self._lessons[number]
        self._spend(len(lesson))
        free = next((c for c, low in lesson.items() if c in state.placed or state.low[c] < low), None)
        if free is not None:
            raise Refused(f"buffer {free} is freer here than in what was kept as number {number}")
        self._look_at(lesson)

    def _look_at(self, blocks: Iterable[int]) -> None:
        """Whatever is kept of the branches that are open, it speaks of these blocks."""
        if self._open:
            self._open[-1].looked_at.update(blocks)

    def _learn(self) -> None:
        """Keeps what the branches show whose second sides end here."""
        while self._open and self._open[-1].depth == len(self._branches):
            lesson = self._open.pop()
            if not lesson.held.isdisjoint(lesson.looked_at):
                raise Refused("what is to be kept rests on what is placed elsewhere")
            self._lessons.append({c: lesson.low[c] for c in lesson.looked_at if c in lesson.low})
            self._look_at(lesson.looked_at)

    def _placeable(self, numbers: list[int]) -> int:
        """The block of the one buffer that is named, which can be placed."""
        (buffer,) = self._exactly(numbers, 1)
        blocks = self._state.blocks
        if len(blocks.size) > MOST_TREE_BUFFERS:
            raise Refused(f"nothing is placed one by one where there are more than {MOST_TREE_BUFFERS} buffers")
        block = self._block(buffer)
        if block in self._state.placed or self._state.is_empty(block):
            raise Refused(f"buffer {buffer} is placed already, or can be nowhere")
        self._placements += 1
        self._spend(len(blocks.size))
        return block

    def _clique(self, number: int) -> Clique:
        if not 0 <= number < len(self._cliques):
            raise Refused(f"there is no clique {number} yet")
        return self._cliques[number]

    def _block(self, buffer: int) -> int:
        block = self._state.blocks.block_of[self._number(buffer)]
        self._state.know(block)
        return block

    def _number(self, buffer: int) -> int:
        if not 0 <= buffer < len(self._state.blocks.size):
            raise Refused(f"there is no buffer {buffer}")
        return buffer

    def _exactly(self, numbers: list[int], count: int) -> list[int]:
        if len(numbers) != count:
            raise Refused(f"the step takes {count} number{'' if count == 1 else 's'}")
        return numbers

    def _at_least(self, numbers: list[int], count: int) -> list[int]:
        if len(numbers) < count:
            raise Refused(f"the step takes {count} numbers or more")
        return numbers

    def _spend(self, looks: int) -> None:
        self._state.work += looks + 1
        if self._state.work > MOST_WORK:
            raise Refused(f"the proof asks for more than {MOST_WORK} looks at buffers")

    def _next(self) -> str:
        self._line += 1
        line = next(self._lines, None)
        if line is None:
            raise self._bad("the proof ends before everything is refuted")
        return line

    def _words(self, line: str) -> tuple[str, list[int]]:
        word, blank, rest = line.partition(" ")
        if not _NUMBERS.fullmatch(blank + rest):
            raise self._bad("the line is not a word and numbers, with a blank before each number")
        return word, [int(number) for number in rest.split()]

    def _bad(self, message: str) -> BadProof:
        return BadProof(self._line, message)
