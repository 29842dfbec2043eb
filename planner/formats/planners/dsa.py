"""From the JSON of dsa-solver (schema version 1) to a Problem.

Differences: capacities are always binding here, so the term capacity_overflow is implied. The term bank_cost is 0 for every plan there,
whatever the banks (their cost model is left to a later version), so it decides nothing. Pins that are exclusive for all time become buffers
that live for all time. Colocations may form cycles there, and penalties of colocated pairs cost nothing there; both are dropped. Alias
classes and pipeline groups are provenance: the separations already contain their demands. Where buffers may share addresses only from a
common beginning (`whole_slot_reuse`, `no_partial_overlaps`), which of them do so is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from pydantic import TypeAdapter

from solvers.model.instance import Term

from ...checks import sound_as_read
from ...checks.pool_choice import Classes
from ...checks.report import Report, bad_input, quoted
from ...facts.intervals import merged
from ...model.columns.gathered import Gathered
from ...model.errors import Code
from ...model.problem import (
    MAX_ADDRESS,
    Buffer,
    BufferId,
    Colocation,
    Constraints,
    Fixed,
    Lifetimes,
    Pair,
    Pool,
    Problem,
    ReusePenalty,
)
from ..documents import Source
from ..json.strict import Part, Wire
from ..json.validate import validate
from . import dsa_wire as w
from .dsa_buffers import Buffers
from .dsa_slots import with_slots

TERMS = {"total_peak": Term.SUM_OF_PEAKS, "max_peak": Term.LARGEST_PEAK, "reuse_cost": Term.REUSE_COST}

BANKS = "banks are ignored: in this version of dsa-solver's files they cost nothing, and the term bank_cost is 0 for every plan"
FIRST_TERM = "where buffers lie in one place or apart, the first term of the objective decides, and no other one"
RESERVED_PEAK = (
    "peaks do not count reserved ranges here; in dsa-solver a pool's peak is at least the end of its last one"
)


@cache
def _wire() -> Wire:
    free = frozenset({"metadata", "pypto_structure"})
    return Wire(TypeAdapter(w.DocumentWire), _lists, free, unread=frozenset({"metadata"}))


@cache
def _lists() -> dict[tuple[str, ...], Part]:
    return {
        ("problem", "buffers"): Part(TypeAdapter(w.BufferWire), kept=Buffers),
        ("problem", "constraints", "colocations"): Part(TypeAdapter(w.PairWire)),
        ("problem", "constraints", "separations"): Part(TypeAdapter(w.SeparationWire)),
        ("problem", "constraints", "no_partial_overlaps"): Part(TypeAdapter(w.PairWire)),
        ("problem", "constraints", "temporal_exclusions"): Part(TypeAdapter(w.PairWire)),
        ("problem", "constraints", "pinned_allocations"): Part(TypeAdapter(w.PinWire)),
        ("problem", "cost_model", "reuse_penalties"): Part(TypeAdapter(w.PenaltyWire)),
    }


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem of a dsa-solver document, checked, and warnings."""
    document: w.DocumentWire = validate(_wire(), source.data, source.scanned)
    return _Translation(document).result()


class _Translation:
    """The translation of one document; numbers of buffers and pools become names."""

    def __init__(self, document: w.DocumentWire) -> None:
        self.name = document["instance"]
        self.problem = document["problem"]
        self.report = Report()
        self.pool_names: dict[int, str] = {}
        self.ids: dict[int, BufferId] = {}
        self.together = Classes()
        """Buffers tied by colocations, by number."""

    def result(self) -> tuple[Problem, tuple[str, ...]]:
        pools = self._pools()
        exclusive = self._names_of_buffers()
        terms, warnings = self._terms()
        constraints = self._constraints(exclusive)
        buffers = self._buffers(exclusive, pools)
        self.report.raise_if_any()
        problem = Problem(buffers, pools, constraints, terms, self.name, Lifetimes.HALF_OPEN)
        sound_as_read(problem)
        made = self._with_slots(problem)
        if made.terms != terms:
            warnings = (*warnings, FIRST_TERM)
        return (problem if made is problem else sound_as_read(made)), warnings

    def _with_slots(self, problem: Problem) -> Problem:
        """Apply the rule of some versions that buffers share addresses only if they begin at one."""
        place = ("problem", "pypto_structure", "whole_slot_reuse")
        whole = self.problem.get("pypto_structure", {}).get("whole_slot_reuse", False)
        if not isinstance(whole, bool):
            raise bad_input(Code.WRONG_TYPE, place, f"must be a boolean, not {quoted(whole)}")
        positions = {number: i for i, number in enumerate(self.ids)}
        pairs: list[tuple[int, int]] = []
        for i, p in enumerate(self.problem["constraints"].get("no_partial_overlaps", ())):
            self._pair(p["first"], p["second"], "no_partial_overlaps", i)
            self.report.raise_if_any()
            pairs.append((positions[p["first"]], positions[p["second"]]))
        if not whole and not pairs:
            return problem
        at = place if whole else ("problem", "constraints", "no_partial_overlaps")
        problem = replace(problem, buffers=tuple(problem.buffers))  # they are looked at one by one
        return with_slots(problem, pairs, whole=whole, place=at)

    def _pools(self) -> tuple[Pool, ...]:
        pools: list[Pool] = []
        names: set[str] = set()
        for i, pool in enumerate(self.problem["pools"]):
            place = ("problem", "pools", i)
            name = pool["name"] or str(pool["id"])
            if pool["id"] in self.pool_names:
                self.report.add(Code.DUPLICATE_ID, (*place, "id"), f"there is another pool {pool['id']}")
            if name in names:
                self.report.add(Code.DUPLICATE_ID, (*place, "name"), f"there is another pool named {quoted(name)}")
            names.add(name)
            self.pool_names[pool["id"]] = name
            for j, reserved in enumerate(pool["reserved_ranges"]):
                if reserved["end"] < reserved["begin"] or reserved["end"] > MAX_ADDRESS:
                    text = "a reserved range must not end before it begins, nor beyond 2^62"
                    self.report.add(Code.OUT_OF_RANGE, (*place, "reserved_ranges", j), text)
            capacity = pool["capacity"]
            pools.append(
                Pool(
                    name,
                    None if capacity is None or capacity > MAX_ADDRESS else capacity,
                    reserved=merged((r["begin"], r["end"]) for r in pool["reserved_ranges"]),
                    rank=i,
                )
            )
        return tuple(pools)

    def _names_of_buffers(self) -> frozenset[int]:
        """Use buffers' names as ids if they have one; return those that are pinned exclusively."""
        names: set[BufferId] = set()
        for i, buffer in enumerate(self.problem["buffers"]):
            name: BufferId = buffer["name"] or buffer["id"]
            if buffer["id"] in self.ids or name in names:
                place = ("problem", "buffers", i, "id" if buffer["id"] in self.ids else "name")
                self.report.add(Code.DUPLICATE_ID, place, f"there is another buffer {buffer['id']} or {quoted(name)}")
            names.add(name)
            self.ids[buffer["id"]] = name
        pins = self.problem["constraints"]["pinned_allocations"]
        return frozenset(pin["buffer"] for pin in pins if pin["exclusive_for_all_time"])

    def _terms(self) -> tuple[tuple[Term, ...], tuple[str, ...]]:
        wanted = self.problem["objective"]["terms"]
        warnings: list[str] = []
        named: set[str] = set()
        for i, term in enumerate(wanted):
            if term in named:
                text = f"the term {quoted(term)} is named twice"
                self.report.add(Code.INVALID_VALUE, ("problem", "objective", "terms", i), text)
            named.add(term)
        if any("bank_geometry" in pool for pool in self.problem["pools"]):
            warnings.append(BANKS)
        if any(pool["reserved_ranges"] for pool in self.problem["pools"]):
            warnings.append(RESERVED_PEAK)
        terms = tuple(dict.fromkeys(TERMS[term] for term in wanted if term in TERMS))
        return terms or (Term.SUM_OF_PEAKS,), tuple(warnings)

    def _id(self, number: int, *place: str | int) -> BufferId:
        if number not in self.ids:
            self.report.add(Code.UNKNOWN_BUFFER, ("problem", *place), f"there is no buffer {number}")
        return self.ids.get(number, number)

    def _pool(self, number: int, *place: str | int) -> str:
        if number not in self.pool_names:
            self.report.add(Code.UNKNOWN_POOL, ("problem", *place), f"there is no pool {number}")
        return self.pool_names.get(number, str(number))

    def _constraints(self, exclusive: frozenset[int]) -> Constraints:
        given = self.problem["constraints"]
        colocations = self._colocations()
        conflicts = tuple(
            self._pair(p["first"], p["second"], "separations", i) for i, p in enumerate(given["separations"])
        )
        apart = {frozenset((p["first"], p["second"])) for p in given["separations"]}
        exclusions: list[Pair] = []
        for i, p in enumerate(given["temporal_exclusions"]):
            pair = self._pair(p["first"], p["second"], "temporal_exclusions", i)
            # there, a separation or an exclusive pin outweighs an exclusion
            if frozenset((p["first"], p["second"])) not in apart and exclusive.isdisjoint((p["first"], p["second"])):
                exclusions.append(pair)
        return Constraints(conflicts, tuple(exclusions), colocations, reuse_penalties=self._penalties())

    def _pair(self, first: int, second: int, kind: str, i: int) -> Pair:
        return (
            self._id(first, "constraints", kind, i, "first"),
            self._id(second, "constraints", kind, i, "second"),
        )

    def _colocations(self) -> tuple[Colocation, ...]:
        """Return a spanning forest of them: cycles add nothing, since every offset is 0."""
        kept: list[Colocation] = []
        for i, p in enumerate(self.problem["constraints"]["colocations"]):
            first, second = self._pair(p["first"], p["second"], "colocations", i)
            if self.together.of(p["first"]) != self.together.of(p["second"]):
                self.together.join(p["first"], p["second"])
                kept.append(Colocation(second, first, 0))
        return tuple(kept)

    def _penalties(self) -> tuple[ReusePenalty, ...]:
        """Return penalties without those of colocated buffers, which cost nothing there."""
        penalties: list[ReusePenalty] = []
        for i, p in enumerate(self.problem.get("cost_model", {"reuse_penalties": []})["reuse_penalties"]):
            first = self._id(p["first"], "cost_model", "reuse_penalties", i, "first")
            second = self._id(p["second"], "cost_model", "reuse_penalties", i, "second")
            if self.together.of(p["first"]) != self.together.of(p["second"]) or first == second:
                penalties.append(ReusePenalty(first, second, p["cost"]))
        return tuple(penalties)

    def _buffers(self, exclusive: frozenset[int], homes: Sequence[Pool]) -> Sequence[Buffer]:
        fixed = self._fixed()
        allowed: dict[tuple[int, ...], tuple[str, ...]] = {}
        given = self.problem["buffers"]
        lowest = min((s["lower"] for b in given for s in b["live_intervals"]), default=0) if exclusive else 0
        highest = max((s["upper"] for b in given for s in b["live_intervals"]), default=0) if exclusive else 0
        gathered = Gathered()
        for i, buffer in enumerate(given):
            spans = [(s["lower"], s["upper"]) for s in buffer["live_intervals"]]
            for j, (start, end) in enumerate(spans):
                if end < start:
                    text = f"the end {end} comes before the start {start}"
                    self.report.add(Code.INTERVAL_REVERSED, ("problem", "buffers", i, "live_intervals", j), text)
            if buffer["id"] in exclusive:
                spans = [(lowest, highest)]
            numbers = tuple(buffer["allowed_pools"])
            pools = tuple(self._pool(p, "buffers", i, "allowed_pools", j) for j, p in enumerate(numbers))
            gathered.add(
                Buffer(
                    self.ids[buffer["id"]],
                    buffer["size"],
                    buffer["alignment"],
                    merged(spans),
                    allowed.setdefault(numbers, pools),
                    fixed.get(buffer["id"]),
                )
            )
        given.clear()  # its buffers are all gathered
        return gathered.all(homes)

    def _fixed(self) -> dict[int, Fixed]:
        fixed: dict[int, Fixed] = {}
        for i, pin in enumerate(self.problem["constraints"]["pinned_allocations"]):
            place = ("constraints", "pinned_allocations", i)
            self._id(pin["buffer"], *place, "buffer")
            if pin["buffer"] in fixed:
                text = f"buffer {pin['buffer']} is pinned twice"
                self.report.add(Code.CONTRADICTION, ("problem", *place), text)
            fixed[pin["buffer"]] = Fixed(self._pool(pin["pool"], *place, "pool"), pin["offset"])
        return fixed
