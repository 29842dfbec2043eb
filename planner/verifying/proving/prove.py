"""Finds a proof of what a plan claims: of one step if possible, otherwise by search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice
from typing import NamedTuple

from ...facts.constants import spell_out_constants
from ...facts.costs import MOVED
from ...facts.digest import digest
from ...model.errors import CannotSolve, Code, Finding
from ...model.plan import Plan, PlanStatus
from ...model.problem import Problem
from ..proofs.blocks import Blocks
from ..proofs.cases import Claim, has_cases
from ..proofs.check import FORMAT, unsupported
from ..proofs.claims import cost_to_refute, height_to_refute
from .cases import refuted_case_by_case
from .cliques import Named, clique_at, clique_of
from .one_memory import refuted
from .search import Ending

MOST_LISTED = 400
"""Certificates of more buffers are named by their time."""
LINES_IN_A_PIECE = 4_000


class NoProof(StrEnum):
    """Says why there is no proof."""

    TIME = "it was not found in time"
    MOVES = "the objective counts what moves, and a proof does not"
    TOO_LARGE = "no single moment shows it, and the problem is too large for a search"
    CONTRADICTED = "what the plan claims could not be confirmed; please report this problem"


class PlanProof(NamedTuple):
    """A proof of what a plan claims, or why there is none."""

    height: int
    """What it shows: no plan ends at or below this address; with several memories, none has a value this low."""
    lines: Iterable[str] | None
    """May be iterated more than once."""
    why_not: NoProof | None = None

    def pieces(self) -> Iterator[bytes]:
        """Yield the proof, a few lines at a time."""
        left = iter(self.lines or ())
        while lines := list(islice(left, LINES_IN_A_PIECE)):
            yield "".join(f"{line}\n" for line in lines).encode("ascii")

    @property
    def text(self) -> bytes | None:
        """Return the whole proof."""
        return None if self.lines is None else b"".join(self.pieces())


def require_provable(problem: Problem) -> None:
    """Raise CannotSolve for a problem about which there are no proofs."""
    why = unsupported(problem)
    if why is not None:
        raise CannotSolve(Finding(Code.UNSUPPORTED, "/options/proof", why))


def prove(problem: Problem, plan: Plan, stopped: Callable[[], bool] = lambda: False) -> PlanProof:
    """Return a proof of the plan's bound, or that nothing fits. `problem` is the one that was planned, with the given capacities.

    The search continues until `stopped` returns True. Raises CannotSolve for a problem about which there are no proofs.
    """
    require_provable(problem)
    claim = Claim(height_to_refute(problem, plan), cost_to_refute(plan))
    within = () if claim.within is None else (claim.within,)
    head = [FORMAT, f"problem {digest(problem)}", " ".join(map(str, ("refutes", claim.value, *within)))]
    found: Iterable[str] | Ending = ()
    if claim.value >= 0 and has_cases(problem):
        found = refuted_case_by_case(problem, claim, stopped)
    elif claim.value >= 0:
        blocks = Blocks(spell_out_constants(problem), claim.value)
        found = refuted(blocks, stopped, _of_certificates(blocks, plan))
    if isinstance(found, Ending):
        why = _WHY_NOT[found]
        is_feasible = plan.status is not PlanStatus.INFEASIBLE
        if found is Ending.FOUND and is_feasible and len(problem.pools) > 1 and problem.terms[0] in MOVED:
            why = NoProof.MOVES
        return PlanProof(claim.value, None, why)
    return PlanProof(claim.value, Lines(head, found))


_WHY_NOT = {
    Ending.STOPPED: NoProof.TIME,
    Ending.TOO_LARGE: NoProof.TOO_LARGE,
    Ending.FOUND: NoProof.CONTRADICTED,
}


@dataclass(frozen=True, slots=True)
class Lines:
    """The head and the lines that follow."""

    head: list[str]
    rest: Iterable[str]

    def __iter__(self) -> Iterator[str]:
        return chain(self.head, self.rest)


def _of_certificates(blocks: Blocks, plan: Plan) -> Iterator[Named]:
    """Yield the cliques that the plan's certificates name."""
    number = {buffer.id: n for n, buffer in enumerate(blocks.problem.buffers)}
    for certificate in plan.certificates:
        if certificate.time is not None:
            live = clique_at(blocks, certificate.time)
            if live is not None:
                yield live
        if 0 < len(certificate.buffers) <= MOST_LISTED and number.keys() >= {*certificate.buffers}:
            some = clique_of(blocks, [number[id_] for id_ in certificate.buffers])
            if some is not None:
                yield some
