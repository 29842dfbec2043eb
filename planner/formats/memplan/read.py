"""memplan/1: from bytes to a Problem. BadInput tells what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter

from solvers.model.instance import Term

from ...checks import sound_as_read
from ...checks.buffers import are_in_range
from ...checks.pools import are_plain_pools
from ...checks.report import Place, Report, quoted
from ...model.columns.buffers import BufferColumns
from ...model.columns.ranges import GatheredRanges
from ...model.columns.relations import GatheredPairs
from ...model.deadline import in_time, look
from ...model.errors import BadInput, Code
from ...model.problem import (
    DEFAULT_TERMS,
    MAX_TIME,
    NO_CONSTRAINTS,
    Alternative,
    Buffer,
    BufferId,
    Colocation,
    Constraints,
    CostTerm,
    Lifetimes,
    MoreLife,
    Pair,
    Pick,
    Pool,
    Problem,
    ReusePenalty,
    VariantGroup,
    Variants,
    Was,
    has_one_peak,
)
from ..documents import PROBLEM_FORMAT, Source, require_format
from ..json.strict import STRICT_VALUES, BufferIdField, Part, Wire
from ..json.validate import validate
from ..memories import SPEED_FIELDS, read_speed
from . import wire as w
from .read_buffers import Written, read_buffers, read_lifetimes, reserved_ranges, say_lifetimes_missing

if TYPE_CHECKING:
    from ...planning.shapes import ShapedProblem
    from ..json.groups import TakenGroups
    from ..json.records import Taken
    from ..json.scan import Scanned
    from .variants_wire import AlternativeWire, ChoosingProblemWire, VariantsWire

Row = TypeVar("Row")

SYMBOL_MARKS = (b'"symbols"', b'"size_range"')
"""Every document whose sizes depend on symbols contains one of these."""

_SPEED = frozenset(SPEED_FIELDS)


@cache
def _wire() -> Wire:
    return Wire(TypeAdapter(w.ProblemWire), _lists)


@cache
def _choosing_wire() -> Wire:
    from . import variants_wire as v

    pairs = Part(TypeAdapter(v.Choosables, config=STRICT_VALUES))
    groups = Part(TypeAdapter(v.VariantGroupWire), {"alternatives": Part(TypeAdapter(v.AlternativeWire))})
    more: dict[tuple[str, ...], Part] = {
        ("variants", "groups"): groups,
        ("variants", "requires"): pairs,
        ("variants", "forbids"): pairs,
    }
    return Wire(TypeAdapter(v.ChoosingProblemWire), lambda: {**_lists(), **more}, free=frozenset({"costs"}))


@cache
def _lists() -> dict[tuple[str, ...], Part]:
    id_: TypeAdapter[int | str] = TypeAdapter(BufferIdField, config=STRICT_VALUES)
    group = Part(TypeAdapter(list[BufferIdField], config=STRICT_VALUES), member=id_)
    pair = Part(TypeAdapter(w.Pair, config=STRICT_VALUES))
    name, span, reserved = (Part(TypeAdapter(each, config=STRICT_VALUES)) for each in (w.Name, w.Interval, w.Range))
    return {
        ("pools",): Part(TypeAdapter(w.PoolWire), {"reserved": reserved._replace(kept=GatheredRanges)}),
        ("buffers",): Part(TypeAdapter(w.BufferWire), {"live": span, "pools": name}, kept=Written),
        ("steps",): Part(TypeAdapter(w.StepWire)),
        ("constraints", "conflicts"): pair._replace(kept=GatheredPairs),
        ("constraints", "exclusions"): pair._replace(kept=GatheredPairs),
        ("constraints", "colocations"): Part(TypeAdapter(w.ColocationWire), kept=partial(_Related, Colocation)),
        ("constraints", "same_pool"): group,
        ("constraints", "different_pool"): group,
        ("constraints", "reuse_penalties"): Part(TypeAdapter(w.ReusePenaltyWire), kept=partial(_Related, ReusePenalty)),
        ("objective", "was"): Part(TypeAdapter(w.WasWire)),
    }


def read(source: Source) -> tuple[Problem | ShapedProblem, tuple[str, ...]]:
    """Return the document's problem, checked; a ShapedProblem if sizes depend on symbols."""
    require_format(source.scanned, PROBLEM_FORMAT, "a problem")
    if any(mark in source.data for mark in SYMBOL_MARKS):
        from .shapes import read_shaped_document, shaped_document  # imported here: most problems do not need it

        document = shaped_document(source)
        if document is not None:
            return read_shaped_document(document, source.name, _read_plain)
    return _read_plain(source)


def _read_plain(source: Source) -> tuple[Problem, tuple[str, ...]]:
    if source.taken is not None:
        problem = _in_columns(source.taken, source.scanned)
        if problem is not None:
            return problem, ()
        source = Source(source.data, source.name)
        source.taken = None
    wire = _choosing_wire() if "variants" in source.top else _wire()
    return sound_as_read(_problem(validate(wire, source.data, source.scanned))), ()


def _in_columns(taken: Taken, scanned: Scanned) -> Problem | None:
    """Return the problem whose long lists were read in columns; None if anything about it is wrong or unusual."""
    try:
        wire = _choosing_wire() if "variants" in (scanned.top or {}) else _wire()
        empty = _problem(validate(wire, taken.rest, scanned))
        if taken.pools is not None:
            if not are_plain_pools(taken.pools):
                return None
            empty = replace(empty, pools=taken.pools)
        if taken.groups is not None:
            variants = _variants_in_columns(taken.groups, empty)
            if variants is None:
                return None
            empty = replace(empty, variants=variants)
        if taken.buffers is None:
            return sound_as_read(empty)
        buffers = _buffers_in_columns(taken, taken.buffers, empty)
        return None if buffers is None else sound_as_read(replace(empty, buffers=buffers))
    except BadInput:
        return None


def _buffers_in_columns(taken: Taken, columns: BufferColumns, empty: Problem) -> Sequence[Buffer] | None:
    """Return the buffers, as objects if they have more fields than columns; None if anything about them is wrong or unusual."""
    half_open = _half_open(columns, empty.lifetimes)
    if half_open is None:
        return None
    if taken.more is not None:
        return taken.more.rows(half_open) if taken.more.is_in_range() else None
    return half_open if has_one_peak(empty) else half_open.kept()


def _half_open(columns: BufferColumns, lifetimes: Lifetimes | None) -> BufferColumns | None:
    """Return the buffers with half-open lifetimes; None if a number is out of range."""
    if lifetimes is Lifetimes.INCLUSIVE:
        if columns.end.max() >= MAX_TIME or (columns.end < columns.start).any():
            return None
        columns = replace(columns, end=columns.end + 1)
    return columns if lifetimes is not None and are_in_range(columns) else None


def _variants_in_columns(taken: TakenGroups, empty: Problem) -> Variants | None:
    """Return the problem's variants with groups that were read in columns; None if anything about these is wrong or unusual."""
    assert empty.variants is not None
    groups = taken.columns([term.name for term in empty.variants.costs])
    if groups is None or not len(groups.buffers):
        return None
    buffers = _half_open(groups.buffers, empty.lifetimes)
    return None if buffers is None else replace(empty.variants, groups=replace(groups, buffers=buffers))


def _problem(document: ChoosingProblemWire) -> Problem:
    """Return the problem as written; it is not checked yet."""
    report = Report()
    spelling = document.get("lifetimes")
    lifetimes = None if spelling is None else Lifetimes(spelling)
    problem = Problem(
        buffers=read_buffers(document["buffers"], lifetimes, ("buffers",), report),
        pools=read_pools(document["pools"], report) if "pools" in document else (Pool("default"),),
        constraints=_constraints(document["constraints"]) if "constraints" in document else Constraints(),
        terms=_terms(document["objective"]) if "objective" in document else DEFAULT_TERMS,
        name=document.get("name"),
        lifetimes=lifetimes,
        steps=tuple((step["time"], step["name"]) for step in document.get("steps", ())),
        peak_price=document.get("objective", {}).get("peak_price", 1),
        was=tuple(
            Was(was["buffer"], was["pool"], was["offset"]) for was in document.get("objective", {}).get("was", ())
        ),
        variants=None if (variants := document.get("variants")) is None else _variants(variants, lifetimes, report),
    )
    report.raise_if_any()
    look("reading")
    buffers = problem.buffers
    return replace(problem, buffers=buffers.kept()) if isinstance(buffers, BufferColumns) else problem


def _related(kind: type[Row], items: list[Any]) -> tuple[Row, ...]:
    return tuple(items) if isinstance(items, _Related) else tuple(kind(**item) for item in items)


def _terms(objective: w.ObjectiveWire) -> tuple[Term, ...]:
    return tuple(Term(name) for name in objective["terms"]) if "terms" in objective else DEFAULT_TERMS


def read_pools(pools: list[w.PoolWire], report: Report) -> tuple[Pool, ...]:
    """Return the memories in a list called `pools` of any document."""
    return tuple(
        Pool(
            pool["name"],
            pool.get("size"),
            pool.get("alignment", 1),
            pool.get("base"),
            reserved_ranges(pool.get("reserved", ()), ("pools", i, "reserved"), report),
            pool.get("cost", 1),
            pool.get("rank", i),
            None if _SPEED.isdisjoint(pool) else read_speed(pool, ("pools", i), report),
            pool.get("read_only", False),
        )
        for i, pool in enumerate(in_time(pools, "reading", "pool"))
    )


def _pairs(pairs: list[list[int | str]] | GatheredPairs) -> Sequence[Pair]:
    return pairs.all() if isinstance(pairs, GatheredPairs) else tuple((a, b) for a, b in pairs)


class _Related(list[Any]):
    """Colocations or costs of reuse of a long document, made of items of the same fields; each id is one object, however often it is named."""

    def __init__(self, kind: type[Colocation | ReusePenalty], wires: Iterable[Mapping[str, Any]]) -> None:
        self._kind = kind
        self._ids: dict[BufferId, BufferId] = {}
        self.extend(wires)

    def extend(self, wires: Iterable[Mapping[str, Any]]) -> None:
        once = self._ids.setdefault
        each = map(itemgetter(*self._kind.__match_args__), wires)
        super().extend([self._kind(once(one, one), once(other, other), number) for one, other, number in each])


def _constraints(constraints: w.ConstraintsWire) -> Constraints:
    return Constraints(
        conflicts=_pairs(constraints.get("conflicts", [])),
        exclusions=_pairs(constraints.get("exclusions", [])),
        colocations=_related(Colocation, constraints.get("colocations", [])),
        same_pool=tuple(tuple(group) for group in constraints.get("same_pool", [])),
        different_pool=tuple(tuple(group) for group in constraints.get("different_pool", [])),
        reuse_penalties=_related(ReusePenalty, constraints.get("reuse_penalties", [])),
    )


def _variants(variants: VariantsWire, lifetimes: Lifetimes | None, report: Report) -> Variants:
    from ...checks.variants import check_cost_terms  # which most problems do not need

    check_cost_terms(len(variants.get("costs", [])), report)
    report.raise_if_any()
    costs = tuple(CostTerm(term["name"], term.get("weight", 1)) for term in variants.get("costs", []))
    groups = []
    for g, group in enumerate(variants["groups"]):
        place: Place = ("variants", "groups", g, "alternatives")
        alternatives = (
            _alternative(each, costs, lifetimes, (*place, a), report) for a, each in enumerate(group["alternatives"])
        )
        groups.append(VariantGroup(group["name"], tuple(alternatives)))
    return Variants(tuple(groups), costs, _picks(variants.get("requires", [])), _picks(variants.get("forbids", [])))


def _alternative(
    alternative: AlternativeWire,
    costs: tuple[CostTerm, ...],
    lifetimes: Lifetimes | None,
    place: Place,
    report: Report,
) -> Alternative:
    look("reading")
    priced = alternative.get("costs", {})
    for name in sorted(priced.keys() - {term.name for term in costs}):
        report.add(Code.UNKNOWN_FIELD, (*place, "costs", name), f"there is no cost term {quoted(name)}")
    more = []
    for k, each in enumerate(alternative.get("live", [])):
        if lifetimes is None:
            say_lifetimes_missing(report)
        more.append(
            MoreLife(each["buffer"], read_lifetimes(each["live"], lifetimes, (*place, "live", k, "live"), report))
        )
    return Alternative(
        alternative["name"],
        tuple(priced.get(term.name, 0) for term in costs),
        (*read_buffers(alternative.get("buffers", []), lifetimes, (*place, "buffers"), report),),
        _constraints(alternative["constraints"]) if "constraints" in alternative else NO_CONSTRAINTS,
        tuple(more),
    )


def _picks(pairs: list[list[list[str]]]) -> tuple[tuple[Pick, Pick], ...]:
    return tuple(((a[0], a[1]), (b[0], b[1])) for a, b in pairs)
