"""Proven facts about a whole instance, in its units and in the original's bytes."""

from __future__ import annotations

from dataclasses import replace

from ...bounds.first_bounds import FirstBounds, least_of_term, peaks_at_least
from ...bounds.must_share import shared_value
from ...bounds.prices.priced_room import priced_value
from ...bounds.short_weights import readable, shortened
from ...bounds.weighted_sections import Weights, sharing_shortage
from ...model.instance import Instance, Term
from ...model.linear_terms import is_counted_in_bytes
from ...model.outcome import Certificate, Outcome, Proof, Value
from ..board import Board


class Proven:
    """The best bounds so far with their certificates; each better bound is passed to the board."""

    def __init__(self, original: Instance, unit: int, first: FirstBounds, board: Board) -> None:
        self._original, self._unit, self._board = original, unit, board
        self.infeasible = bool(first.shortage)
        self._certificates = list(first.shortage or first.pools)
        self._of_several = None if self.infeasible else first.of_several
        """The best proof about the peaks of all pools together."""
        self._priced = None if self.infeasible else first.priced
        """The best proof of what a lack of room costs in the first term."""
        self._priced_later: dict[Term, Certificate] = {}
        """The best such proof of each later term, with earlier terms held."""
        self._searched_later: dict[Term, Certificate] = {}
        """What searches prove of each later term, with earlier terms held."""
        self.bound: Value = self.in_units(first.value)

    def tell(self) -> None:
        """Pass the bound to the board."""
        self._board.prove(self.in_bytes(self.bound))

    def pool_bounds(self) -> tuple[int, ...]:
        return peaks_at_least(self._original, self._certificates)

    def floors(self, value: Value | None = None) -> Value:
        """The bound of each term by itself; of later ones, with the earlier ones no higher than in this value, in bytes."""
        later = {proof.term: proof.value for proof in self._later_at(value)}
        found = [
            max(least_of_term(self._original, term, self._certificates, self._of_several), later.get(term, 0))
            for term in self._original.terms
        ]
        return tuple(found if value is None else map(min, found, value))

    def _later_at(self, value: Value | None) -> list[Certificate]:
        """The proofs about later terms that hold where the earlier ones are no higher than in this value, the best of each last."""
        if value is None:
            return []
        reached = dict(zip(self._original.terms, value, strict=True))
        both = (*self._priced_later.values(), *self._searched_later.values())
        held = (proof for proof in both if all(reached[term] <= most for term, most, *_ in proof.held))
        return sorted(held, key=lambda proof: proof.value)

    def bounds_in_units(self) -> tuple[int, ...]:
        return tuple(bound // self._unit for bound in self.pool_bounds())

    def take_search(self, outcome: Outcome, name: str) -> None:
        """Take a search that excluded everything below its bound, or everything."""
        if outcome.bound > self.bound:
            self.bound = outcome.bound
            self.tell()
        value = 0 if outcome.infeasible else self.in_bytes(self.bound)[0]
        searched = Certificate(Proof.SEARCH, value, solver=name)
        self._certificates = [c for c in self._certificates if c.proof is not Proof.SEARCH] + [searched]

    def take_bounds(self, outcome: Outcome) -> None:
        """Take bounds with weights and sets, at what they prove about the original: its capacities are not rounded down to units."""
        for found in outcome.certificates:
            if found.proof is Proof.MUST_SHARE:
                self._take_floor(replace(found, value=shared_value(self._original, found.sets)))
                continue
            if found.proof is Proof.MUST_MOVE:
                self._take_floor(found)
                continue
            if found.term is not None:
                self.take_prices(found)
                continue
            if outcome.infeasible:
                value, weights = shortened(self._original, found.weights, sharing_shortage, self._board.stopped)
                if value > 0:
                    self._of_several = replace(found, value=value, weights=weights)
                else:
                    self.take_search(outcome, found.solver or "pool_sharing")
                return
            in_bytes = self._weights_in_bytes(found.weights)
            value, weights = shortened(self._original, in_bytes, priced_value, self._board.stopped)
            proof = replace(found, value=value, weights=weights)
            if found.proof is Proof.PRICED_ROOM:
                self._priced = _better(proof, self._priced)
            else:
                self._of_several = _better(proof, self._of_several)
            self.bound = max(self.bound, self.in_units((proof.value,)))
            self.tell()

    def take_prices(self, found: Certificate) -> None:
        """Take a certificate of prices with crowds, whose members pay the same whatever a unit is.

        Of a later term it raises no bound here: whoever found it knows whether the earlier terms are at their least.
        """
        original = self._original
        term = found.term or original.terms[0]
        times = self._unit_of(term)
        in_bytes = self._weights_in_bytes(found.weights, term)
        weights = tuple((pool, at, *readable(over, under)) for pool, at, over, under in in_bytes)
        crowds = tuple(
            (pool, at, parts, votes, *readable(over * times, under))
            for pool, at, parts, votes, over, under in found.crowds
        )
        held = tuple(
            (earlier, most * self._unit_of(earlier), *readable(over * times, under * self._unit_of(earlier)))
            for earlier, most, over, under in found.held
        )
        value = priced_value(original, weights, crowds, term, held)
        proof = replace(found, value=value, weights=weights, crowds=crowds, held=held)
        if found.term is not None:
            known = self._priced_later.get(term)
            still_holds = known is not None and _holds_where(known, proof)
            self._priced_later[term] = _better(proof, known if still_holds else None)
            return
        self._priced = _better(proof, self._priced)
        self.bound = max(self.bound, self.in_units((value,)))
        self.tell()

    def take_search_of_later(self, found: Certificate) -> None:
        """Take what a search proves of a later term where the earlier ones are no higher than it says."""
        assert found.term is not None
        held = tuple((term, most * self._unit_of(term), 0, 1) for term, most, *_ in found.held)
        proof = replace(found, value=found.value * self._unit_of(found.term), held=held)
        known = self._searched_later.get(found.term)
        is_alike = known is not None and known.held == held
        self._searched_later[found.term] = _better(proof, known if is_alike else None)

    def _take_floor(self, proof: Certificate) -> None:
        """Take a lower bound of one term alone, whatever the others are."""
        self._certificates.append(proof)
        self.bound = max(self.bound, self.in_units(self.floors()[:1]))
        self.tell()

    def raised(self, value: Value | None) -> Value:
        """The bound raised by what is proven of each term alone, as far as the terms before it are at their least."""
        is_nothing_left = value is not None and not any(value[1:])
        if not (is_nothing_left or self._of_several or self._priced_later or self._searched_later) and not any(
            proof.sets for proof in self._certificates
        ):
            return self.bound  # nothing is proven about later terms
        raised = self.bound
        in_bytes = None if value is None else self.in_bytes(value)
        for index, floor in enumerate(self.in_units(self.floors(in_bytes))):
            if value is None or raised[:index] != value[:index]:
                break
            raised = max(raised, (*raised[:index], floor))
        return raised

    def _unit_of(self, term: Term) -> int:
        """How much of the term one unit is."""
        return self._unit if is_counted_in_bytes(term) else 1

    def _weights_in_bytes(self, weights: Weights, term: Term | None = None) -> tuple[tuple[int, int, int, int], ...]:
        """Turn prices of a unit into prices of a byte; for a term (the first) counted in bytes they are shares and stay as they are."""
        unit = self._unit // self._unit_of(term or self._original.terms[0])
        return tuple(
            (pool, section, numerator, denominator * unit) for pool, section, numerator, denominator in weights
        )

    def in_bytes(self, value: Value) -> Value:
        return tuple(
            v * self._unit if is_counted_in_bytes(t) else v for v, t in zip(value, self._original.terms, strict=False)
        )

    def in_units(self, value: Value) -> Value:
        return tuple(
            v // self._unit if is_counted_in_bytes(t) else v for v, t in zip(value, self._original.terms, strict=False)
        )

    def certificates(self, value: Value | None = None) -> tuple[Certificate, ...]:
        """All certificates, without searches that prove no more than prices do, which anybody can add up. Of later terms, those that hold at this value."""
        priced = self._later_at(value)
        by_prices = {proof.term: proof.value for proof in priced if proof.proof is Proof.PRICED_ROOM}
        searched = [
            proof
            for proof in priced
            if proof.proof is Proof.SEARCH and proof.value > by_prices.get(proof.term, 0) and proof.term is not None
        ]
        together = [
            proof
            for proof in (self._of_several, self._priced, *self._priced_later.values())
            if proof is not None and proof.value
        ]
        is_covered = self._priced is not None and (self._priced.value,) >= self.in_bytes(self.bound)
        if self.infeasible:
            return (*self._certificates, *together)
        if not is_covered:
            return (*self._certificates, *together, *searched)
        plain = [c for c in self._certificates if c.proof is not Proof.SEARCH or c.pool is not None]
        return (*plain, *together, *searched)


def _better(one: Certificate, other: Certificate | None) -> Certificate:
    return one if other is None or one.value > other.value else other


def _holds_where(one: Certificate, other: Certificate) -> bool:
    """Does this proof of a later term hold wherever the other one does: are the terms it holds held no lower there?"""
    most = {term: most for term, most, *_ in other.held}
    return all(term in most and most[term] <= held for term, held, *_ in one.held)
