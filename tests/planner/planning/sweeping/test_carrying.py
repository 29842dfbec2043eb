"""What one size proves holds for plans of another only as far as it says so."""

from __future__ import annotations

from dataclasses import replace

from planner import Buffer, Options, Plan, Pool, Problem, Term, plan, verify, with_capacity
from planner.facts.digest import digest
from planner.model.plan import PlanCertificate, PlanStatus
from planner.planning.sweeping.carrying import Fact, Facts
from solvers.model.errors import StopReason
from solvers.model.outcome import Proof

PROBLEM = Problem(
    (
        Buffer("a", 4, live=((0, 1),), accesses=1),
        Buffer("b", 4, live=((1, 2),), pools=("slow",), accesses=1),
    ),
    (Pool("fast", 4, rank=0), Pool("slow", rank=1)),
    terms=(Term.ACCESS_COST, Term.SUM_OF_PEAKS),
)


def plan_of(problem: Problem, bounds: tuple[int | None, int | None], *proofs: PlanCertificate) -> Plan:
    """Return the problem's plan with these bounds and proofs in place of its own."""
    made = plan(problem, Options(workers=1))
    terms = tuple(replace(term, bound=bound) for term, bound in zip(made.objective.terms, bounds, strict=True))
    plain = replace(
        made,
        status=PlanStatus.FEASIBLE,
        stop=StopReason.WORK_LIMIT,
        bound=0,
        objective=replace(made.objective, bound=bounds[0], terms=terms),
        pools=tuple(replace(use, bound=0) for use in made.pools),
        certificates=proofs,
    )
    assert verify(problem, plain) == ()
    return plain


def test_a_search_of_a_later_term_says_nothing_of_plans_whose_earlier_terms_are_higher() -> None:
    """With the fast memory, the least cost takes 8 bytes; without it, both buffers share 4 bytes of the slow one."""
    small = with_capacity(PROBLEM, {"fast": 0})
    search = PlanCertificate(Proof.SEARCH, 8, solver="pools_first", term=Term.SUM_OF_PEAKS)
    best, proof = plan_of(small, (None, None)), plan_of(PROBLEM, (0, 8), search)
    assert [term.value for term in best.objective.terms] == [2, 4]
    assert [term.value for term in proof.objective.terms] == [1, 8]
    facts = Facts(digest, lambda _: 0)
    facts.add(Fact({"fast": 0}, best))
    facts.add(Fact({"fast": 4}, proof))
    carried = facts.carried({"fast": 0}, small)
    assert carried is not None
    assert carried.certificates == ()
    assert carried.objective.terms[1].bound is None
    both = facts.carried({"fast": 4}, PROBLEM)
    assert both is not None
    assert both.certificates == (search,)
    assert both.objective.terms[1].bound == 8
