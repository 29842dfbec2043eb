"""A proof of what a plan claims: by its certificates where these are enough, otherwise by search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from ..errors import CannotSolve, Code, Finding
from ..facts.constants import spell_out_constants
from ..facts.digest import digest
from ..plan import Plan
from ..problem import Problem
from ..verifying.proofs.blocks import Blocks
from ..verifying.proofs.claims import height_to_refute
from ..verifying.proofs.replay import FORMAT, MOST_TREE_BLOCKS, unsupported
from ..verifying.proofs.state import State
from .cliques import Named, busy_times, cliques, listed
from .search import Ending, Search


class NoProof(StrEnum):
    """Why there is none."""

    TIME = "the time was over before the proof was found"
    TOO_LARGE = "no single moment proves it, and the problem is too large for a proof by search"
    CONTRADICTED = "what the plan claims could not be confirmed; please report this problem"


class Proof(NamedTuple):
    """A proof, or why there is none."""

    height: int
    """What it shows: no plan ends at or below this address."""
    text: bytes | None
    placements: int = 0
    why_not: NoProof | None = None


def require_provable(problem: Problem) -> None:
    """Raises CannotSolve for a problem about which there are no proofs."""
    why = unsupported(problem)
    if why is not None:
        raise CannotSolve(Finding(Code.UNSUPPORTED, "/options/proof", why))


def prove(problem: Problem, plan: Plan, stopped: Callable[[], bool] = lambda: False) -> Proof:
    """A proof of the plan's bound, or that nothing fits. `problem` is the one that was planned, capacities and all.

    Raises CannotSolve for a problem about which there are no proofs.
    """
    require_provable(problem)
    problem = spell_out_constants(problem)
    height = height_to_refute(problem, plan)
    blocks = Blocks(problem, height)
    head = [FORMAT, f"problem {digest(problem)}", f"refutes {height}"]
    if height < 0:
        return Proof(height, _text(head))
    short = _short(blocks, plan, stopped)
    if short is not None:
        return Proof(height, _text([*head, *short]))
    if len(blocks.size) > MOST_TREE_BLOCKS:
        return Proof(height, None, 0, NoProof.TIME if stopped() else NoProof.TOO_LARGE)
    named = cliques(blocks)
    if named is None:
        return Proof(height, None, 0, NoProof.TOO_LARGE)
    search = Search(blocks, named, stopped)
    ending, lines = search.run()
    if ending is Ending.REFUTED:
        return Proof(height, _text([*head, *lines]), search.placements)
    why = NoProof.TIME if ending is Ending.STOPPED else NoProof.CONTRADICTED
    return Proof(height, None, search.placements, why)


def _text(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("ascii")


def _short(blocks: Blocks, plan: Plan, stopped: Callable[[], bool]) -> Sequence[str] | None:
    """A proof of one step, if there is one: a buffer that fits nowhere, or what is live at a busy time."""
    state = State(blocks)
    for block in dict.fromkeys(blocks.block_of):
        state.know(block)
        if state.is_empty(block):
            return [f"e {block}"]
    for named in _suspects(blocks, plan):
        if stopped():
            return None
        clique = state.clique(named.buffers)
        lowest = sorted(clique.movers, key=lambda m: state.low[m.block] + m.low)
        for member in lowest[:1]:
            if state.raised(clique, member.buffer)[2] is None:
                return [named.line, f"s 0 {member.buffer}"]
    return None


def _suspects(blocks: Blocks, plan: Plan) -> Iterator[Named]:
    """Cliques that may be enough: those that certificates name, and in large problems whatever is live at the busiest times."""
    number = {buffer.id: n for n, buffer in enumerate(blocks.problem.buffers)}
    for certificate in plan.certificates:
        buffers = [number[id_] for id_ in certificate.buffers]
        if buffers:
            live = [] if certificate.time is None else [
                b
                for b, spans in enumerate(blocks.live)
                if blocks.size[b] and any(s <= certificate.time < e for s, e in spans)
            ]
            if live and blocks.sharing_among(live) is None:
                yield Named(tuple(live), f"t {certificate.time}")
            if len(buffers) <= MOST_TREE_BLOCKS:
                yield listed(buffers)
    times = ((sum(blocks.size[b] for b in live), time, live) for time, live in busy_times(blocks))
    for _, time, live in sorted(times, key=lambda each: -each[0])[:1]:
        if blocks.sharing_among(live) is None:
            yield Named(live, f"t {time}")
