"""The symbols of a model: the names of its dimensions, and the values given for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from ....checks.report import Place, Report, bad_input, quoted
from ....facts.names import Names
from ....model.errors import BadInput, Code
from ....planning.shapes.expression import FUNCTIONS, LIMIT, NAME, Expression, ExpressionError, Kind, parse
from . import dims as d
from .dims import Dim, Shape
from .model import Declared

Given = Mapping[str, tuple[int, int]]
"""The least and the greatest value of each dimension that was given any."""


SPAN = re.compile(r"([0-9]{1,19})(?:\.\.([0-9]{1,19}))?", re.ASCII)


def parse_dims(said: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the values in `batch=4` or `batch=1..16`, one text per dimension. Raises BadInput."""
    found: dict[str, tuple[int, int]] = {}
    for text in said:
        name, _, span = text.rpartition("=")
        match = SPAN.fullmatch(span.strip())
        name = name.strip()
        if not name or match is None:
            raise _bad(f"{quoted(text)} is not of the form batch=4, or batch=1..16")
        low, high = int(match[1]), int(match[2] or match[1])
        if not low <= high < LIMIT:
            raise _bad(f"from {low} to {high} is not a range within 2^62")
        if name in found:
            raise _bad(f"{quoted(name)} is given twice")
        found[name] = low, high
    return found


def _bad(text: str) -> BadInput:
    return bad_input(Code.INVALID_OPTION, ("options", "dim"), text)


COMBINED: Mapping[Kind, Callable[[Dim, Dim], Dim]] = {
    Kind.SUM: d.add,
    Kind.PRODUCT: d.mul,
    Kind.MAX: d.most,
    Kind.MIN: d.fewest,
    Kind.CEILDIV: d.up,
}


class Symbols:
    """The named dimensions and their ranges. Those without a given range are asked for."""

    def __init__(self, given: Given) -> None:
        self._given = given
        self._names: dict[str, str] = {}
        """The symbols' names, by the file's names."""
        self.box: dict[str, tuple[int, int]] = {}
        self._counts: set[str] = set()
        """The given names that count repetitions."""
        self._of_symbols = Names(mark="_")
        self.missing = Report()

    def shape(self, said: Declared, place: Place) -> Shape:
        """Return the shape declared in the file."""
        assert said.shape is not None
        return tuple(self._dim(dim, f"{said.name}_{i}", place) for i, dim in enumerate(said.shape))

    def _dim(self, dim: int | str | None, otherwise: str, place: Place) -> Dim:
        if isinstance(dim, int):
            return dim
        if dim is not None and not NAME.fullmatch(dim):
            found = self._sum(dim, place)
            if found is not None:
                return found
        return self._named(otherwise if dim is None else dim, place)

    def _sum(self, text: str, place: Place) -> Dim | None:
        """Return `past + 1`: some exporters write this where a name is expected."""
        names = set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text)) - FUNCTIONS.keys()
        try:
            made = parse(text, names)
            return self._worked_out(made, place) if names else None
        except ExpressionError:
            return None

    def _worked_out(self, made: Expression, place: Place) -> Dim:
        match made.kind:
            case Kind.NUMBER:
                return made.value
            case Kind.SYMBOL:
                return self._named(made.name, place)
        parts = [self._worked_out(part, place) for part in made.parts]
        found = parts[0]
        combined = COMBINED[made.kind]
        for part in parts[1:]:
            found = combined(found, part)
        return found

    def _named(self, name: str, place: Place) -> Dim:
        if name not in self._names:
            plain = re.sub(r"\W", "_", name, flags=re.ASCII)[:60]
            plain = plain if NAME.fullmatch(plain) and plain not in FUNCTIONS else f"d_{plain}"
            plain = self._of_symbols.new(plain)
            self._names[name] = plain
            span = self._given.get(name, self._given.get(plain))
            if span is None:
                text = f"the dimension {quoted(plain)} is not known: give dim {plain[:64]}=4, or a range, {plain[:64]}=1..16"
                self.missing.add(Code.MISSING_FIELD, place, text)
                span = (1, 1)
            self.box[plain] = span
        return d.named(self._names[name], self.box)

    def count(self, name: str) -> int | None:
        """Return the given number of repetitions of that name; None if there is none. Raises BadInput unless it is one number."""
        for each in (name, re.sub(r"\W", "_", name, flags=re.ASCII)):
            if each in self._given:
                low, high = self._given[each]
                if low != high:
                    raise _bad(f"{quoted(each)} must be one number, since what is carried grows with every turn")
                self._counts.add(each)
                return low
        return None

    def require_all_known(self) -> None:
        """Raise BadInput for dimensions without given values."""
        self.missing.raise_if_any()

    def require_all_used(self) -> None:
        """Raise BadInput for values of dimensions that the model lacks."""
        for name in self._given:
            if name not in self._names and name not in self.box and name not in self._counts:
                known = ", ".join(list(self.box)[:8]) or "none that has a name"
                raise _bad(f"there is no dimension {quoted(name)}; there is {known}")
