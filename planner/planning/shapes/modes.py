"""Plans for all shapes in three modes: room for the largest sizes, one set of offsets for a list of shapes, offsets as expressions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import zip_longest
from math import lcm
from typing import TypeAlias

from ...checks.report import bad_input
from ...facts.digest import digest
from ...facts.sweep import VERIFYING
from ...facts.variants import require_nothing_to_choose
from ...model.deadline import PREPARING, OutOfTime, in_time, look, time_limit
from ...model.errors import BadInput, CannotSolve, Code, Finding, echo
from ...model.plan import Placement, Plan, PlanStatus
from ...model.problem import Problem
from ...verifying.objective import term_value
from ..options.capacity import with_capacity
from ..options.options import Options, bad_option
from ..options.preference import with_preference
from ..options.stability import require_no_stability
from ..placing.lifting import unproven_plan
from ..placing.shared_limits import SharedLimits
from ..placing.watching import Cancelled
from .answer import Mode, Row, ShapesPlan
from .expression import LONGER, Expression, ExpressionError, Values, parse
from .missing import Found, failed_on_one, failures, notes_on, require_plan
from .order import Closed, conflicts, order_of, require_plain, used
from .ranges import require_safe
from .shaped import ShapedProblem, require_shape, usual_shapes
from .zero_sizes import for_all_at_once

MOST_SHAPES = 4096

TOGETHER = "offsets at which buffers that are never there together may share addresses"

OnShape: TypeAlias = Callable[[Values, Plan], None]
"""Receives each shape with the best plan for it alone, once that is made."""


def plan_shapes(
    problem: ShapedProblem,
    mode: Mode = Mode.EXPRESSIONS,
    shapes: Sequence[Mapping[str, int]] = (),
    options: Options | None = None,
    *,
    cancelled: Cancelled | None = None,
    begun: float | None = None,
    on_shape: OnShape | None = None,
    start: Iterable[Plan] = (),
) -> ShapesPlan:
    """Return a plan for every shape, or in the mode `buckets` for the listed ones.

    In the other modes `shapes` are compared with the best plan for each, and give the order of the expressions; by default some
    from the whole range. Where time does not suffice for a plan of each, the last ones have none. The time limit covers everything. `start` are known plans of single shapes, for example of an earlier run.
    Raises BadInput, CannotSolve for rules that the mode cannot keep, NoPlan if there is no plan or none was found, and OutOfTime.
    """
    begun = time.monotonic() if begun is None else begun
    mode, options = Mode(mode), options or Options()
    with time_limit(options.time_limit, begun):
        require_nothing_to_choose(problem.largest)
        require_no_stability(options)
        problem.require_sizes()
        problem = planned_shapes(problem, options)
        listed = _listed(problem, mode, shapes)
        share = SharedLimits(replace(options, capacity=None, prefer=None), len(listed) + 1, begun, cancelled, start)
        best: list[Found] = []
        for values in listed:
            if best and share.is_overrun():  # one plan is needed; the others are worth only the time that is left
                break
            best.append(_alone(problem.at(values), share))
            if on_shape is not None and isinstance(best[-1], Plan):
                on_shape(values, best[-1])
        if mode is Mode.EXPRESSIONS:
            found = _expressions(problem, listed, best, share)
        else:
            found = _fixed(problem, mode, listed, best, share)
        return replace(found, notes=(*notes_on(listed, best), *found.notes))


def _listed(problem: ShapedProblem, mode: Mode, shapes: Sequence[Values]) -> list[dict[str, int]]:
    """Return the shapes that are planned one by one. Raises BadInput, and CannotSolve for rules that the mode cannot keep."""
    if mode is Mode.BUCKETS and not shapes:
        raise bad_option("at", "say which shapes the offsets are for, as in n=128")
    if len(shapes) > MOST_SHAPES:
        raise bad_option("at", f"these are {len(shapes)} shapes, and {MOST_SHAPES} are the most")
    for each in shapes:
        require_shape(problem, each)
    if mode is Mode.EXPRESSIONS:
        require_plain(problem.largest)
    return [dict(each) for each in shapes] or usual_shapes(problem)


def _alone(problem: Problem, share: SharedLimits) -> Found:
    """Return the best plan for one shape, or why there is none although the others may have one."""
    try:
        return share.plan(problem)
    except (OutOfTime, CannotSolve) as error:
        if share.is_over() or not failed_on_one(error):
            raise
        return error


def planned_shapes(problem: ShapedProblem, options: Options) -> ShapedProblem:
    """Return the problem that is planned with these options. Raises BadInput."""
    largest = with_preference(with_capacity(problem.largest, options.capacity), options.prefer)
    return replace(problem, largest=largest)


def _row(problem: ShapedProblem, values: Values, taken: int, best: Found | None) -> Row:
    """Return the row of a shape; None is the plan of one for which there was no time."""
    if not isinstance(best, Plan) or _may_stand_out(problem, values):
        return Row(dict(values), taken, None, 0)
    return Row(dict(values), taken, None if best.peak is None else min(best.peak, taken), best.bound)


def _may_stand_out(problem: ShapedProblem, values: Values) -> bool:
    """True if a buffer that is empty in this shape may end highest: a plan's peak counts its end, the bytes that are used do not."""
    empty = [buffer for buffer, size in zip(problem.largest.buffers, problem.sizes_at(values), strict=True) if not size]
    ties = problem.largest.constraints.colocations
    tied = {each.buffer for each in ties} | {each.base for each in ties}
    pools = problem.largest.pools
    is_reserved = any(pool.reserved for pool in pools)
    return any(
        is_reserved
        or buffer.fixed is not None
        or buffer.id in tied
        or any((pool.base or 0) % lcm(pool.alignment, buffer.alignment) for pool in pools)
        for buffer in empty
    )


def _fixed(
    problem: ShapedProblem, mode: Mode, shapes: Sequence[Values], best: Sequence[Found], share: SharedLimits
) -> ShapesPlan:
    """Return fixed offsets."""
    target = problem.largest
    if mode is Mode.BUCKETS:
        target = _largest_of(problem, shapes)
    made = share.plan(target)
    exact = made.status is PlanStatus.OPTIMAL
    notes = () if made.status.has_plan else failures(made)
    if mode is Mode.BUCKETS and any(0 in problem.sizes_at(values) for values in shapes):
        together = for_all_at_once(target, [problem.at(values) for values in shapes], share.next())
        exact = together is not None and together.status is PlanStatus.OPTIMAL
        if together is not None:
            notes += tuple(f"{TOGETHER}: {text}" for text in failures(together))
            made = together if together.status.has_plan or not made.status.has_plan else made
    require_plan(made)
    rows = []
    for values, own in zip_longest(shapes, best):
        look(VERIFYING)
        peaks: dict[str, int] = {}
        for place, size in zip(made.placements, problem.sizes_at(values), strict=True):
            if size:
                peaks[place.pool] = max(peaks.get(place.pool, 0), place.offset + size)
        rows.append(_row(problem, values, sum(peaks.values()), own))
    return ShapesPlan(mode, problem.symbols, digest(problem.largest), made, (), (), tuple(rows), exact, notes)


def _largest_of(problem: ShapedProblem, shapes: Sequence[Values]) -> Problem:
    """Return the problem with every buffer at its largest size among these shapes."""
    sizes = problem.sizes_at(shapes[0])
    for values in shapes[1:]:
        sizes = [*map(max, sizes, problem.sizes_at(values))]
    buffers = tuple(replace(b, size=size) for b, size in zip(problem.largest.buffers, sizes, strict=True))
    return replace(problem.largest, buffers=buffers)


def _expressions(
    problem: ShapedProblem, shapes: Sequence[Values], best: Sequence[Found], share: SharedLimits
) -> ShapesPlan:
    """Use the order of the plan whose worst shape is closest to the best plan for it alone."""
    apart = conflicts(problem.largest)
    found: list[tuple[Fraction, Fraction, int]] = []
    orders = {}
    taken: dict[int, list[int]] = {}
    plans = {number: each for number, each in enumerate(best) if isinstance(each, Plan) and each.status.has_plan}
    least = [(each.peak or each.bound) if isinstance(each, Plan) else 0 for each in best]
    for number, own in plans.items():
        if found and share.is_over():  # one order is needed; finding the best one is worth only the time that is left
            break
        orders[number] = order_of(own, apart)
        taken[number] = [sum(used(problem, own, orders[number], values).values()) for values in shapes]
        ratios = [Fraction(peak, bytes_) for peak, bytes_ in zip(taken[number], least, strict=False) if bytes_]
        found.append((max(ratios, default=Fraction(1)), sum(ratios, Fraction(0)), number))
    if not found:
        for values, failed in zip(shapes, best, strict=False):
            require_plan(failed, values)
        raise AssertionError("a plan without placements was let through")
    refusal: CannotSolve | None = None
    for _, _, number in sorted(found):
        closed = Closed(problem, plans[number], orders[number], share.is_over)
        try:
            pools, behind = closed.pools(), closed.behind()
            _require_readable(problem, [*(each.offset for each in behind), *(each.peak for each in pools)])
        except CannotSolve as error:
            refusal = refusal or error
            continue
        rows = tuple(
            _row(problem, values, peak, alone) for values, peak, alone in zip_longest(shapes, taken[number], best)
        )
        exact = all(each.exact for each in behind) and all(each.exact for each in pools)
        return ShapesPlan(Mode.EXPRESSIONS, problem.symbols, digest(problem.largest), None, behind, pools, rows, exact)
    assert refusal is not None
    raise refusal


def _require_readable(problem: ShapedProblem, expressions: Sequence[Expression]) -> None:
    """Raise CannotSolve unless a reader will take what is written: neither too long nor with too large a number, be it in between."""
    for each in in_time(expressions, PREPARING):
        try:
            parse(str(each), problem.symbols, LONGER)
            require_safe(each, problem.symbols)
        except ExpressionError as error:
            text = f"an offset cannot be written as an expression: {error}; use the mode maximum or buckets"
            raise CannotSolve(Finding(Code.UNSUPPORTED, "/symbols", text)) from None


def parse_shape(text: str) -> dict[str, int]:
    """`n=128,m=4`. Raises BadInput."""
    found: dict[str, int] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        name, digits = name.strip(), value.strip()
        if not equals or not digits.removeprefix("-").isdecimal() or not digits.isascii() or len(digits) > 20:
            raise BadInput(Finding(Code.INVALID_OPTION, "/options/at", f"{echo(part)} is not of the form n=128"))
        if name in found:
            raise BadInput(Finding(Code.INVALID_OPTION, "/options/at", f"{echo(name)} is given twice"))
        found[name] = int(digits)
    return found


def shape_name(values: Values) -> str:
    """`n=128,m=4`."""
    return ",".join(f"{name}={value}" for name, value in values.items())


def plan_at(problem: ShapedProblem, found: ShapesPlan, row: Row) -> Plan:
    """Return the plan for the row's shape, with what is proven about every plan for it. Raises BadInput for a plan of another problem."""
    own = problem.at(row.values)
    offsets = found.offsets(row.values)
    pools = found.pool_of()
    known = {pool.name for pool in own.pools}
    if pools.keys() != {buffer.id for buffer in own.buffers} or not known.issuperset(pools.values()):
        raise bad_input(
            Code.CONTRADICTION, ("found",), "the plan was made for another problem: buffers or pools differ"
        )
    placements = tuple(Placement(b.id, pools[b.id], offsets[b.id], b.size) for b in own.buffers)
    peaks = {pool.name: 0 for pool in own.pools}
    for place in placements:
        if place.size:
            peaks[place.pool] = max(peaks[place.pool], place.offset + place.size)
    values = (term_value(own, placements, peaks, term) for term in own.terms)
    return unproven_plan(own, placements, peaks, values, bound=row.bound)
