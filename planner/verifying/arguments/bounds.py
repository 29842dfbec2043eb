"""Compares what a plan claims to be proven with what its certificates prove. planner.verifying.arguments.certificates checks these."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import takewhile

from solvers.model.errors import StopReason
from solvers.model.instance import LINEAR_TERMS, Term
from solvers.model.outcome import Proof

from ...facts.costs import MOVED
from ...facts.possible_places import Places
from ...facts.sweep import VERIFYING
from ...model.columns.pools import cost_one_byte, costs_of
from ...model.deadline import look
from ...model.errors import echo
from ...model.plan import ChoiceGoal, Plan, PlanCertificate, PlanStatus, gap_to
from ...model.problem import BufferId
from ..findings import FindingKind, VerifyFinding
from ..objective import can_be_priced, choice_cost, has_choice, price_of_peaks
from .certificates import proves_infeasible


def check_proofs(places: Places, plan: Plan) -> Iterator[VerifyFinding]:
    """Return findings about bounds and infeasibility that nothing in the plan proves."""
    if plan.status is PlanStatus.INFEASIBLE and not any(proves_infeasible(places, c) for c in plan.certificates):
        text = "the status is infeasible, but no certificate proves that nothing fits"
        yield VerifyFinding(FindingKind.UNPROVEN_INFEASIBILITY, text)
    if plan.status is not PlanStatus.INFEASIBLE:
        for certificate in plan.certificates:
            if certificate.pool is None and proves_infeasible(places, certificate):
                text = f"a certificate ({certificate.proof}) says that nothing fits, but the status is {plan.status}"
                yield VerifyFinding(FindingKind.WRONG_CERTIFICATE, text)
    proven = _Proven(places, plan)
    for use in plan.pools:
        if use.bound > 0 and use.bound > proven.peak(use.name):
            yield from _unproven(f"the bound of pool {echo(use.name)}", use.bound, proven.peak(use.name))
    yield from _unproven("the bound", plan.bound, proven.sum_of_peaks())
    for number, term in enumerate(plan.objective.terms):
        if term.bound:  # nothing is below zero
            yield from _unproven(f"the bound of {term.name}", term.bound, proven.term(term.name, is_first=not number))


def of_its_choice_alone(places: Places, plan: Plan) -> Plan:
    """Return the plan of a choice without proofs about all choices, which hold with its capacities and alternatives alone, and without what only they show."""
    if plan.choice is None or not plan.choice.certificates:
        return plan
    plan = replace(plan, choice=replace(plan.choice, certificates=()))
    kept, first = within_proofs(places, plan), plan.objective.terms[0]
    bound = kept.objective.bound
    is_optimal = plan.status is PlanStatus.OPTIMAL and bound == first.bound
    return replace(
        kept,
        status=plan.status if is_optimal or not plan.status.has_plan else PlanStatus.FEASIBLE,
        stop=StopReason.WORK_LIMIT if plan.stop is StopReason.PROVED and not is_optimal else plan.stop,
        gap=gap_to(bound, first.value),
    )


def within_proofs(places: Places, plan: Plan) -> Plan:
    """Return the plan with no bound above what its certificates prove."""
    proven = _Proven(places, plan)
    terms = tuple(
        each
        if each.bound is None
        else replace(each, bound=min(each.bound, proven.term(each.name, is_first=not number)))
        for number, each in enumerate(plan.objective.terms)
    )
    return replace(
        plan,
        bound=min(plan.bound, proven.sum_of_peaks()),
        objective=replace(plan.objective, bound=terms[0].bound, terms=terms),
        pools=tuple(replace(use, bound=min(use.bound, proven.peak(use.name))) for use in plan.pools),
    )


def rests_on_searches(places: Places, plan: Plan) -> bool:
    """True if only exhausted searches show that nothing fits."""
    proofs = [c.proof for c in plan.certificates if proves_infeasible(places, c)]
    return bool(proofs) and all(proof is Proof.SEARCH for proof in proofs)


def searched_claims(places: Places, plan: Plan) -> list[PlanCertificate]:
    """Return the certificates of exhausted searches that claim more than all others prove."""
    searches = [each for each in plan.certificates if each.proof is Proof.SEARCH]
    if not searches:
        return []
    proven = _Proven(
        places, replace(plan, certificates=tuple(c for c in plan.certificates if c.proof is not Proof.SEARCH))
    )
    first = places.problem.terms[0]

    of_terms = {
        each: proven.term(each, is_first=each is first)
        for each in {search.term for search in searches if search.term is not None}
    }

    def is_more(each: PlanCertificate) -> bool:
        if each.pool is not None:
            return each.value > proven.peak(each.pool)
        return each.term is not None and each.value > of_terms[each.term]

    return [each for each in searches if is_more(each)]


def notes(plan: Plan, confirmed: Callable[[PlanCertificate], bool] = lambda _: False) -> tuple[str, ...]:
    """Return notes on what could not be checked: searches that no proof confirms, and the choices open to the plan."""
    found = []
    if plan.choice is not None and plan.choice.goal is ChoiceGoal.SIZE:
        most = plan.choice.most_cost
        cost = "whatever they cost" if most is None else f"that cost {most} at most"
        found.append(f"its bound covers all choices {cost}; only the plan says which were allowed")
    for certificate in plan.certificates:
        if certificate.proof is not Proof.SEARCH or confirmed(certificate):
            continue
        what = (
            f"the bound of {certificate.term}"
            if certificate.pool is None
            else f"the bound of pool {echo(certificate.pool)}"
        )
        if plan.status is PlanStatus.INFEASIBLE:
            what = "the proof that nothing fits"
        who = echo(certificate.solver or "a solver without a name")
        found.append(f"{what} rests on an exhausted search by {who} and was not checked again")
    return tuple(dict.fromkeys(found))


class _Proven:
    """The greatest bounds that a plan's certificates prove."""

    def __init__(self, places: Places, plan: Plan) -> None:
        self.places = places
        self.first = places.problem.terms[0]
        self._peaks: dict[str, int] = {}
        self._searched: dict[Term, int] = {}
        """The bounds of terms from exhausted searches."""
        self._all_pools = 0
        """The bound of the sum of peaks, each times its pool's cost."""
        self._priced: dict[Term, int] = {}
        """The bounds of terms from prices of room, with the earlier ones no higher than in the plan."""
        self._of_choices = 0 if plan.choice is None else plan.choice.least_memory()
        """The bound of the first term from prices of room, for all choices of alternatives."""
        self._by_sets: dict[Term, int] = {}
        """The bounds from what must be shared or moved. Certificates of different buffers add up, since none counts another's."""
        named: dict[Term, set[BufferId]] = {}
        for certificate in plan.certificates:
            term = certificate.term
            if certificate.sets and term is not None:
                mine, others = {id_ for ids, _, _ in certificate.sets for id_ in ids}, named.setdefault(term, set())
                before = self._by_sets.get(term, 0)
                self._by_sets[term] = max(before, certificate.value + (0 if others & mine else before))
                others |= mine
            elif certificate.proof is Proof.PRICED_ROOM:
                of_term = certificate.term or self.first
                if _are_held(plan, of_term, certificate):
                    self._priced[of_term] = max(self._priced.get(of_term, 0), certificate.value)
            elif certificate.proof is Proof.POOL_SHARING:
                self._all_pools = max(self._all_pools, certificate.value)
            elif certificate.pool is not None:
                self._peaks[certificate.pool] = max(self.peak(certificate.pool), certificate.value)
            elif certificate.term is not None:
                self._searched[certificate.term] = max(self._searched.get(certificate.term, 0), certificate.value)

    def peak(self, pool: str) -> int:
        """Return the bound of one pool's peak."""
        known = self._peaks.get(pool, 0)
        return known if len(self.places.pools) > 1 else max(known, self._bytes_of_choices())

    def _bytes_of_choices(self) -> int:
        """Return the bound of all peaks together for all choices."""
        pools = self.places.problem.pools
        dearest = 1 if self.first is Term.LARGEST_PEAK else max(costs_of(pools))
        return -(-self._of_choices // dearest) if dearest else 0

    def sum_of_peaks(self) -> int:
        """Return the bound of the sum of peaks, whatever their bytes cost."""
        by_pool = max(sum(self._peaks.values()), self._bytes_of_choices())
        if not cost_one_byte(self.places.problem.pools):
            return by_pool
        searched = self._searched.get(self.first, 0) if self.first is Term.SUM_OF_PEAKS else 0
        return max(by_pool, self._all_pools, searched)

    def term(self, term: Term, *, is_first: bool) -> int:
        """Return the bound of a term in plans whose earlier terms are no higher than in this one."""
        searched = max(self._searched.get(term, 0), self._of_choices if is_first else 0)
        if term is Term.LARGEST_PEAK:
            return max([searched, self._priced.get(term, 0), *self._peaks.values()])
        if term not in LINEAR_TERMS:
            return max(searched, self._by_sets.get(term, 0))
        problem, pools = self.places.problem, self.places.pools
        by_pool = sum(pools[name].cost * peak for name, peak in self._peaks.items() if name in pools)
        by_terms = self._least_choice(term) + price_of_peaks(problem, term) * max(by_pool, self._all_pools)
        proven = max(searched, by_terms + self._moved(term))
        return proven if is_first and not can_be_priced(term) else max(proven, self._priced.get(term, 0))

    def _moved(self, term: Term) -> int:
        """Return the term's part from what must move."""
        counts = MOVED.get(term)
        return max(
            (value for other, value in self._by_sets.items() if MOVED.get(other) is counts is not None), default=0
        )

    def _least_choice(self, term: Term) -> int:
        """Return the sum over units of the cost in their best possible pool; a unit without one makes any claim true."""
        total = 0
        problem, pools = self.places.problem, self.places.pools
        for number in range(len(problem.buffers) if has_choice(term) else 0):
            look(VERIFYING)
            tied = self.places.tied(number)
            if number != tied[0]:
                continue
            homes, buffers = self.places.possible_pools(number), [problem.buffers[other] for other in tied]
            costs = [sum(choice_cost(buffer, pools[pool], term) for buffer in buffers) for pool in homes or pools]
            total += min(costs) if homes else max(costs, default=0)
        return total


def _are_held(plan: Plan, term: Term, certificate: PlanCertificate) -> bool:
    """True if the certificate holds nothing, or allows the plan's terms before this one: then it allows all that are no higher."""
    most = {held: limit for held, limit, _, _ in certificate.held}
    earlier = takewhile(lambda each: each.name is not term, plan.objective.terms)
    return not most or all(each.value is not None and each.value <= most.get(each.name, each.value) for each in earlier)


def _unproven(what: str, claimed: int, proven: int) -> Iterator[VerifyFinding]:
    if claimed > proven:
        text = f"{what} is {claimed}, but the certificates prove {proven}"
        yield VerifyFinding(FindingKind.UNPROVEN_BOUND, text)
