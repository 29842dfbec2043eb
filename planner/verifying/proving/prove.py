"""A proof of what a plan claims: of one step where that is enough, otherwise by search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from ...facts.constants import spell_out_constants
from ...facts.digest import digest
from ...model.errors import CannotSolve, Code, Finding
from ...model.plan import Plan
from ...model.problem import Problem
from ..proofs.blocks import Blocks
from ..proofs.claims import height_to_refute
from ..proofs.replay import FORMAT, MOST_TREE_BUFFERS, unsupported
from ..proofs.state import State
from .cliques import Named, Stopped, busiest_time, clique_at, clique_of, cliques
from .search import Ending, Search

MOST_LISTED = 400
"""Certificates of more buffers are left to the time that they name."""
MOST_FLOORS = 100
"""Up to so many least addresses of a clique are tried."""


class NoProof(StrEnum):
    """Why there is none."""

    TIME = "it was not found in time"
    TOO_LARGE = "no single moment shows it, and the problem is too large for a search"
    CONTRADICTED = "what the plan claims could not be confirmed; please report this problem"


class PlanProof(NamedTuple):
    """A proof of what a plan claims, or why there is none."""

    height: int
    """What it is to show: that no plan ends at or below this address."""
    text: bytes | None
    why_not: NoProof | None = None


def require_provable(problem: Problem) -> None:
    """Raises CannotSolve for a problem about which there are no proofs."""
    why = unsupported(problem)
    if why is not None:
        raise CannotSolve(Finding(Code.UNSUPPORTED, "/options/proof", why))


def prove(problem: Problem, plan: Plan, stopped: Callable[[], bool] = lambda: False) -> PlanProof:
    """A proof of the plan's bound, or that nothing fits. `problem` is the one that was planned, with the capacities that were given.

    It is searched for until `stopped` says so. Raises CannotSolve for a problem about which there are no proofs.
    """
    require_provable(problem)
    problem = spell_out_constants(problem)
    height = height_to_refute(problem, plan)
    head = [FORMAT, f"problem {digest(problem)}", f"refutes {height}"]
    found = _refutation(problem, plan, height, stopped) if height >= 0 else ()
    if isinstance(found, NoProof):
        return PlanProof(height, None, found)
    return PlanProof(height, "".join(f"{line}\n" for line in (*head, *found)).encode("ascii"))


def _refutation(problem: Problem, plan: Plan, height: int, stopped: Callable[[], bool]) -> Iterable[str] | NoProof:
    """The lines after the head."""
    blocks = Blocks(problem, height)
    state = State(blocks)
    for named in _of_certificates(blocks, plan):
        short = _crowded(state, named)
        if short is not None:
            return short
    if stopped():
        return NoProof.TIME
    for block in dict.fromkeys(blocks.block_of):
        state.know(block)
        if state.is_empty(block):
            return [f"e {block}"]
    busy = busiest_time(blocks)
    short = None if busy is None else _crowded(state, busy)
    if short is not None:
        return short
    if len(blocks.size) > MOST_TREE_BUFFERS:
        return NoProof.TOO_LARGE
    try:
        named_cliques = cliques(blocks, stopped)
    except Stopped:
        return NoProof.TIME
    if named_cliques is None:
        return NoProof.TOO_LARGE
    ending, lines = Search(blocks, named_cliques, stopped).run()
    if ending is Ending.REFUTED:
        return lines
    return NoProof.TIME if ending is Ending.STOPPED else NoProof.CONTRADICTED


def _crowded(state: State, named: Named) -> list[str] | None:
    """The proof of one step, if the clique has no room."""
    clique = state.clique(named.buffers)
    floors = {state.low[m.block] + m.low: m.buffer for m in clique.movers}
    for floor in sorted(floors)[:MOST_FLOORS]:
        if state.raised(clique, floors[floor])[2] is None:
            return [named.line, f"s 0 {floors[floor]}"]
    return None


def _of_certificates(blocks: Blocks, plan: Plan) -> Iterator[Named]:
    """The cliques that the plan's certificates name."""
    number = {buffer.id: n for n, buffer in enumerate(blocks.problem.buffers)}
    for certificate in plan.certificates:
        if certificate.time is not None:
            live = clique_at(blocks, certificate.time)
            if live is not None:
                yield live
        if 0 < len(certificate.buffers) <= MOST_LISTED:
            some = clique_of(blocks, [number[id_] for id_ in certificate.buffers])
            if some is not None:
                yield some
