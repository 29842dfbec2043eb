"""What is proven of an instance: of two proofs of a later term the better one stays, as long as it still holds."""

from __future__ import annotations

from solvers.bounds.first_bounds import first_bounds
from solvers.bounds.prices.held_prices import bounded_second
from solvers.model.instance import PoolSpec, Term
from solvers.model.outcome import Certificate, Proof
from solvers.model.solver import Silent, Task
from solvers.portfolio.board import Board
from solvers.portfolio.joint.proven import Proven
from tests.small.instances import make_instance, plain


def test_a_better_proof_of_a_later_term_stays_though_another_holds_the_earlier_one_lower() -> None:
    """Of three blocks that live together two have room in the first pool; its peak costs twice as much."""
    blocks = [plain(0, 2, 4, access=cost) for cost in ((0, 5), (0, 9), (0, 7))]
    terms = (Term.ACCESS_COST, Term.SUM_OF_PEAKS)
    instance = make_instance(blocks, pools=[PoolSpec(8, cost=2), PoolSpec(None)], terms=terms)
    proven = Proven(instance, 1, first_bounds(instance), Board(instance, Silent()))
    better, _ = bounded_second(instance, 12, Task(), Silent(), 5_000)
    assert better is not None
    assert better.value == 16
    proven.take_prices(better)
    weights, held = ((1, 1, 1, 4),), ((Term.ACCESS_COST, 5, 1, 64),)
    proven.take_prices(Certificate(Proof.PRICED_ROOM, 0, weights=weights, term=Term.SUM_OF_PEAKS, held=held))
    assert proven.floors((5, 20))[1] == 16
    assert proven.floors((21, 16))[1] == 12
