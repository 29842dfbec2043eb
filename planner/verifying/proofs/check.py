"""Checks a proof from its first line to its last: its head, its cases, and what it says about one memory at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader

from ...facts.constants import spell_out_constants
from ...facts.digest import digest
from ...facts.variants import most_buffers
from ...model.errors import echo
from ...model.problem import Problem
from .blocks import Blocks
from .cases import Case, Claim, TooLoose, can_be_claimed, has_cases
from .reading import MOST_MEMBERS, BadProof, Reader, Refused, exactly
from .replay import Replay, a_buffer, live_clique, named_clique

FORMAT = "memplan-proof/1"
MOST_RESERVED = 500
MOST_PAIRS = 1_000_000


@dataclass(frozen=True, slots=True)
class Proven:
    """What a proof shows."""

    height: int
    """No plan ends at or below this address; with several memories, none has a value this low in the objective's first term."""
    lines: int
    """The number of lines replayed."""
    placements: int
    """The number of placements that were refuted."""
    within: int | None = None
    """The proof covers choices of alternatives that cost at most this; None: all choices."""


def check_proof(problem: Problem, proof: bytes | BufferedReader) -> Proven:
    """Replay a proof, possibly compressed by gzip, against a sound problem. Raises BadProof unless it shows what it says."""
    reader = Reader(proof)
    if reader.next() != FORMAT:
        raise reader.bad(f"the first line is not {FORMAT}")
    if reader.next() != f"problem {digest(problem)}":
        raise reader.bad("the proof is about another problem: the digests differ")
    claim = _claim(reader, problem)
    why = unsupported(problem)
    if why is not None:
        raise reader.bad(why)
    placements = 0
    if claim.value >= 0:
        if has_cases(problem):
            placements = _Cases(reader).refute(problem, claim)
        else:
            placements = _replayed(reader, spell_out_constants(problem), claim.value)
    reader.end()
    return Proven(claim.value, reader.line, placements, claim.within)


def unsupported(problem: Problem) -> str | None:
    """Return why there are no proofs about this problem; None if there are."""
    if not can_be_claimed(problem):
        return f"proofs about several memories are about peaks, and what memories cost, not about {problem.terms[0]}"
    if len(problem.pools) > 1 and len(problem.pools) * most_buffers(problem) > MOST_PAIRS:
        return f"proofs about several memories are about {MOST_PAIRS} pairs of a buffer and a memory at most"
    if any(len(pool.reserved) > MOST_RESERVED for pool in problem.pools):
        return f"proofs are about memories with at most {MOST_RESERVED} reserved ranges"
    return None


def _claim(reader: Reader, problem: Problem) -> Claim:
    word, numbers = reader.words()
    if word != "refutes" or len(numbers) not in ((1, 2) if problem.variants is not None else (1,)):
        raise reader.bad("the third line does not say which height is refuted")
    return Claim(*numbers)


def _replayed(reader: Reader, problem: Problem, height: int) -> int:
    """Replay that the buffers of one memory cannot all end at or below a height; return the number of placements."""
    replay = Replay(reader, Blocks(problem, height))
    replay.refute()
    return replay.placements


class _Cases:
    """The cases of a problem in turn; each is closed, or divided into further ones."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._placements = 0
        self._clique: Sequence[int] = ()

    def refute(self, problem: Problem, claim: Claim) -> int:
        """Refute all cases. Raises BadProof."""
        try:
            root = Case(problem, claim)
            todo = [iter(() if root.is_out else (root,))]
            """Of each case that is divided, those that are left."""
            while todo:
                case = next(todo[-1], None)
                if case is None:
                    todo.pop()
                    continue
                self._reader.spend(case.extent)
                if len(todo) * case.extent > MOST_MEMBERS:
                    raise Refused("cases of so many buffers are divided too often")
                todo.append(self._work_on(case))
        except (Refused, TooLoose) as why:
            raise self._reader.bad(str(why)) from None
        return self._placements

    def _work_on(self, case: Case) -> Iterator[Case]:
        """Read until the case is closed or divided; return the cases that it is divided into."""
        self._clique = ()
        while True:
            word, numbers = self._reader.words()
            self._reader.spend(case.extent)
            if word == "a":
                return self._chosen(case, numbers)
            if word == "m":
                return self._put(case, numbers)
            if word == "t":
                self._clique = live_clique(case.blocks, numbers, self._reader.spend)
            elif word == "c":
                self._clique = named_clique(case.blocks, numbers, self._reader.spend)
            elif word == "w":
                self._weigh(case, numbers)
                return iter(())
            elif word == "p":
                self._reach(case, numbers)
                if case.is_closed():
                    return iter(())
            else:
                raise Refused(f"{echo(word)} is no step of a case")

    def _chosen(self, case: Case, numbers: list[int]) -> Iterator[Case]:
        (group,) = exactly(numbers, 1)
        if case.is_divided or not 0 <= group < len(case.choice) or case.choice[group] is not None:
            raise Refused(f"there is nothing to choose in group {group} any more, or no such group")
        return case.alternatives(group)

    def _put(self, case: Case, numbers: list[int]) -> Iterator[Case]:
        (buffer,) = exactly(numbers, 1)
        unit = case.unit_of[a_buffer(case.blocks, buffer)]
        if len(case.homes[unit]) < 2:
            raise Refused(f"there is one memory alone for buffer {buffer}")
        return case.memories(unit)

    def _weigh(self, case: Case, numbers: list[int]) -> None:
        value, *rooms = exactly(numbers, 1 + len(case.pools))
        if min(numbers) < 0 or not case.is_outweighed(self._clique, value, rooms):
            raise Refused("with these weights there is room for all of the clique")

    def _reach(self, case: Case, numbers: list[int]) -> None:
        pool, height = exactly(numbers, 2)
        if not 0 <= pool < len(case.pools) or height < 0:
            raise Refused(f"there is no memory {pool}, or no height {height}")
        related = case.known.constraints
        self._reader.spend(len(related.conflicts) + len(related.exclusions) + len(related.colocations))
        self._placements += _replayed(self._reader, case.within(pool), height)
        case.heights[pool] = max(case.heights[pool], height)


__all__ = ["FORMAT", "BadProof", "Proven", "check_proof", "unsupported"]
