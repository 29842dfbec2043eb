"""A problem whose sizes depend on symbols, and the problem for given values of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from ...checks import require_sound
from ...checks.arguments import explained
from ...checks.report import Place, Report, pointer
from ...checks.values import are_integers
from ...model.deadline import PREPARING, in_time
from ...model.errors import BadInput, Code, Finding, echo
from ...model.problem import Problem
from .expression import LIMIT, NAME, Expression, ExpressionError, Values, number, parse, require_formed
from .intervals import Box
from .ranges import Effort, size_range

MOST_SYMBOLS = 16


@dataclass(frozen=True, slots=True)
class ShapedProblem:
    """Buffers whose sizes may be expressions over bounded symbols."""

    largest: Problem
    """The problem with every buffer at its largest size."""
    symbols: Box
    sizes: tuple[Expression, ...]
    """Each buffer's size, in the problem's order. If only a range of sizes is known, the largest."""
    least: tuple[Expression | None, ...] = ()
    """The least size of buffers of which only a range is known; None for the others."""

    @explained
    def at(self, values: Values) -> Problem:
        """Return the problem for one shape. Raises BadInput for values that are missing, unknown or out of range."""
        each = zip(self.largest.buffers, self.sizes_at(values), strict=True)
        buffers = tuple(replace(buffer, size=size) for buffer, size in each)
        return replace(self.largest, buffers=buffers)

    @explained
    def sizes_at(self, values: Values) -> list[int]:
        """Return each buffer's size for one shape. Equal expressions are often one object, computed once.

        Raises BadInput for values that are missing, unknown or out of range.
        """
        require_shape(self, values)
        known: dict[int, int] = {}
        found = []
        for size in in_time(self.sizes, PREPARING):
            if id(size) not in known:
                known[id(size)] = size.at(values)
            found.append(known[id(size)])
        return found

    def require_sound(self) -> None:
        """Raise BadInput if the problem with the largest sizes is not sound, or does not go with the expressions."""
        require_sound(self.largest)
        self.require_sizes()

    def require_sizes(self) -> None:
        """Raise BadInput if sizes are missing or too many, or one has symbols without a range."""
        report, count = Report(), len(self.largest.buffers)
        for finding in check_symbols(self.symbols):
            report.include(finding)
        for name, sizes in (("sizes", self.sizes), ("least", self.least or (None,) * count)):
            if len(sizes) != count:
                report.add(
                    Code.CONTRADICTION, (name,), f"must have one for each of the {count} buffers, not {len(sizes)}"
                )
            different = {id(each): (i, each) for i, each in enumerate(sizes) if each is not None}
            check_formed(report, (name,), dict(different.values()), self.symbols)
        report.raise_if_any()


def check_formed(
    report: Report, place: Place, some: Mapping[str, Expression] | Mapping[int, Expression], known: Collection[str]
) -> None:
    """Check that expressions, which somebody may have put together by hand, could have been read."""
    for step, each in some.items():
        try:
            require_formed(each, known)
        except ExpressionError as error:
            report.add(Code.INVALID_EXPRESSION, (*place, step), str(error))


def shaped(problem: Problem, symbols: Mapping[str, tuple[int, int]], sizes: Mapping[int | str, str]) -> ShapedProblem:
    """Return the problem with these sizes, by buffer id, in place of its own. Raises BadInput with the place of the fault."""
    findings = list(check_symbols(symbols))
    if findings:
        raise BadInput(*findings)
    ids = {buffer.id for buffer in problem.buffers}
    unknown = [id_ for id_ in sizes if id_ not in ids]
    if unknown:
        raise BadInput(Finding(Code.UNKNOWN_BUFFER, "/buffers", f"there is no buffer {echo(unknown[0])}"))
    texts = [sizes.get(buffer.id, str(buffer.size)) for buffer in problem.buffers]
    made, most = [], []
    effort = Effort()
    known: dict[str, tuple[Expression, int]] = {}
    for i, text in enumerate(texts):
        try:
            if not isinstance(text, str):
                raise ExpressionError(f"it must be text, as in '4*n', not {echo(text)}")
            if text not in known:
                found = parse(text, symbols)
                known[text] = found, size_range(found, symbols, effort)[1].value
            made.append(known[text][0])
            most.append(known[text][1])
        except ExpressionError as error:
            findings.append(Finding(Code.INVALID_EXPRESSION, f"/buffers/{i}/size", str(error)))
    if findings:
        raise BadInput(*findings)
    buffers = tuple(replace(buffer, size=size) for buffer, size in zip(problem.buffers, most, strict=True))
    return ShapedProblem(replace(problem, buffers=buffers), dict(symbols), tuple(made), (None,) * len(buffers))


def as_shaped(problem: Problem | ShapedProblem) -> ShapedProblem:
    """Return the problem; one without symbols has one shape."""
    if isinstance(problem, ShapedProblem):
        return problem
    sizes = tuple(number(buffer.size) for buffer in problem.buffers)
    return ShapedProblem(problem, {}, sizes, (None,) * len(sizes))


def check_symbols(symbols: Mapping[str, Sequence[int]]) -> Iterator[Finding]:
    """Check the symbols and their ranges."""
    if len(symbols) > MOST_SYMBOLS:
        yield Finding(Code.TOO_LARGE, "/symbols", f"there are {len(symbols)} symbols, and {MOST_SYMBOLS} are the most")
    for name, span in symbols.items():
        place = pointer(("symbols", name))
        if not NAME.fullmatch(name) or name in ("max", "min", "ceildiv"):
            text = (
                f"{echo(name)} cannot name a symbol: a letter, then letters, digits and _, 64 in all, and no function"
            )
            yield Finding(Code.INVALID_VALUE, place, text)
        elif not are_integers(span) or len(span) != 2:
            text = f"the range of {echo(name)} must be two integers, as in (1, 2048)"
            yield Finding(Code.WRONG_TYPE, place, text)
        elif not -LIMIT < span[0] <= span[1] < LIMIT:
            yield Finding(Code.OUT_OF_RANGE, place, f"from {span[0]} to {span[1]} is not a range within 2^62")


def require_shape(problem: ShapedProblem, values: Values) -> None:
    """Raise BadInput unless every symbol, and nothing else, has a value in its range."""
    require_values(values, Code.INVALID_OPTION, "/options/at")
    for name in problem.symbols:
        if name not in values:
            raise BadInput(Finding(Code.INVALID_OPTION, "/options/at", f"the symbol {name} has no value"))
    for name, value in values.items():
        if name not in problem.symbols:
            raise BadInput(Finding(Code.INVALID_OPTION, "/options/at", f"there is no symbol {echo(name)}"))
        low, high = problem.symbols[name]
        if type(value) is not int or not low <= value <= high:
            raise BadInput(
                Finding(
                    Code.INVALID_OPTION, "/options/at", f"{name} is {echo(value)}, and must be from {low} to {high}"
                )
            )


def require_values(values: object, code: Code, place: str) -> None:
    """Raise BadInput unless these are values by name."""
    if not isinstance(values, Mapping):
        raise BadInput(
            Finding(code, place, f"a shape gives each symbol its value, as in {{'n': 128}}, and is not {echo(values)}")
        )


MOST_USUAL = 27


def usual_shapes(problem: ShapedProblem) -> list[dict[str, int]]:
    """Return the least and the greatest value of every symbol and some in between, in all combinations while these are few."""
    for count in (5, 3, 2):
        each = [_between(*span, count) for span in problem.symbols.values()]
        if prod(map(len, each)) <= MOST_USUAL:
            return [dict(zip(problem.symbols, values, strict=True)) for values in product(*each)]
    ends = [{name: span[end] for name, span in problem.symbols.items()} for end in (0, 1)]
    return ends if ends[0] != ends[1] else ends[:1]


def _between(low: int, high: int, count: int) -> list[int]:
    """Return up to `count` values from low to high; in a wide range they grow geometrically."""
    found = {low, high}
    for step in range(1, count - 1):
        share = step / (count - 1)
        found.add(min(max(low + round((high - low + 1) ** share) - 1, low), high))
    return sorted(found)
