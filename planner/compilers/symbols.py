"""The symbols in the sizes of PyTorch's programs: their ranges, and sizes as our expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..checks.report import Place, bad_input, quoted
from ..model.errors import Code
from ..model.problem import MAX_ADDRESS
from ..planning.shapes.expression import Expression, Kind, ceildiv, number, symbol, times, total

Ranges = Mapping[str, tuple[int, int]]
"""The least and the greatest value of symbols, by name."""
MOST_POWER = 8
EITHER = {"Max": Kind.MAX, "Min": Kind.MIN}
QUOTIENTS = ("FloorDiv", "CleanDiv")


class Symbols:
    """The symbols of one program. Raises BadInput for ranges of symbols that it lacks."""

    def __init__(self, exported: Any, ranges: Ranges) -> None:
        from torch.utils._sympy.value_ranges import ValueRanges

        self._ranges = dict(exported.range_constraints)
        known = {str(each): each for each in self._ranges}
        for name, (least, most) in ranges.items():
            if name not in known:
                there = f"there is {', '.join(known)}" if known else "no size depends on any"
                raise bad_input(
                    Code.INVALID_OPTION, ("options", "ranges"), f"there is no symbol {quoted(name)}; {there}"
                )
            if not 0 <= least <= most <= MAX_ADDRESS:
                text = f"from {least} to {most} is not a range of {name} within 2^62"
                raise bad_input(Code.INVALID_OPTION, ("options", "ranges"), text)
            self._ranges[known[name]] = ValueRanges(least, most)
        self.box: dict[str, tuple[int, int]] = {}
        """The ranges of the symbols seen so far."""

    def most(self, size: Any, place: Place) -> int:
        """Return the largest value of a dimension. Raises BadInput if there is none."""
        if isinstance(size, int):
            return size
        from torch.utils._sympy.value_ranges import bound_sympy

        upper = str(bound_sympy(size.node.expr, self._ranges).upper)
        if not upper.isdecimal() or int(upper) > MAX_ADDRESS:
            text = f"a dimension of {quoted(str(size))} has no largest size; say one (`torch.export.Dim(..., max=)`, or `ranges`)"
            raise bad_input(Code.OUT_OF_RANGE, place, text)
        return int(upper)

    def bytes(self, shape: Sequence[Any], element_size: int) -> Expression | None:
        """Return a tensor's bytes; None if our expressions cannot express them."""
        factors = [number(size) if isinstance(size, int) else self._expression(size.node.expr) for size in shape]
        known = [each for each in factors if each is not None]
        return times([number(element_size), *known]) if len(known) == len(factors) else None

    def _expression(self, found: Any) -> Expression | None:
        """Return an expression of sympy's as one of ours."""
        if found.is_Integer:
            return number(int(found))
        if found.is_Symbol:
            return self._symbol(found)
        if type(found).__name__ == "Pow":
            base, power = self._expression(found.base), found.exp
            return times([base] * int(power)) if base and power.is_Integer and 0 < power <= MOST_POWER else None
        parts = [self._expression(each) for each in found.args]
        known = [each for each in parts if each is not None]
        if len(known) < len(parts):
            return None
        match type(found).__name__:
            case "Add":
                return total(known)
            case "Mul":
                return times(known)
            case "Max" | "Min" as kind:
                return Expression(EITHER[kind], tuple(known))
            case kind if kind in QUOTIENTS:  # of whole numbers, rounded down
                return ceildiv(total([known[0], times([number(-1), known[1]]), number(1)]), known[1])
        return None

    def _symbol(self, found: Any) -> Expression | None:
        span = self._ranges.get(found)
        least, most = (str(span.lower), str(span.upper)) if span is not None else ("", "")
        if not (least.isdecimal() and most.isdecimal() and int(most) <= MAX_ADDRESS):
            return None
        self.box[str(found)] = int(least), int(most)
        return symbol(str(found))
