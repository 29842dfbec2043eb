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
from .model import MAX_RANK, Declared

Given = Mapping[str, tuple[int, int]]
"""The least and the greatest value of each dimension that was given any."""


SPAN = re.compile(r"(-?[0-9]{1,40})(?:\.\.(-?[0-9]{1,40}))?", re.ASCII)
MOST_SHOWN = 8
"""The most names that a message lists."""


def parse_dims(texts: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the values in `batch=4` or `batch=1..16`, one text per dimension. Raises BadInput."""
    found: dict[str, tuple[int, int]] = {}
    for text in texts:
        name, _, span = text.rpartition("=")
        match = SPAN.fullmatch(span.strip())
        name = name.strip()
        if not name or match is None:
            raise _bad(f"{quoted(text)} is not of the form batch=4, or batch=1..16")
        low, high = int(match[1]), int(match[2] or match[1])
        if high < low:
            raise _bad(f"{quoted(text)} ends before it begins")
        if not -LIMIT < low <= high < LIMIT:
            raise _bad(f"{quoted(text)}: numbers must stay below 2^62")
        if low < 0 and low < high:
            raise _bad(f"{quoted(text)}: a range cannot begin below 0; give one number, or a range from 0")
        if name in found:
            raise _bad(f"{quoted(name)} is given twice")
        found[name] = low, high
    return found


def _bad(text: str) -> BadInput:
    return bad_input(Code.INVALID_OPTION, ("options", "dim"), text)


def plain(name: str) -> str:
    """Return the name as it can be given in an option: with letters, digits and underscores alone."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)


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
        self._used: set[str] = set()
        """The given names that the model has."""
        self._asked: dict[str, None] = {}
        """What can be given, as it is written in an option."""
        self._of_symbols = Names(mark="_")
        self.missing = Report()

    @property
    def have_ranges(self) -> bool:
        """True if several values are given for anything."""
        return any(low < high for low, high in self._given.values())

    def shape(self, declared: Declared, place: Place) -> Shape:
        """Return the shape declared in the file; without one, as many dimensions as are given. Raises BadInput if there are none."""
        if declared.shape is not None:
            return tuple(self._dim(dim, f"{declared.name}_{i}", place) for i, dim in enumerate(declared.shape))
        names = [f"{declared.name}_{i}" for i in range(MAX_RANK)]
        rank = next((i for i, name in enumerate(names) if self._key(name, plain(name)) is None), MAX_RANK)
        if not rank:
            text = f"the file does not say which shape {quoted(declared.name)} has: give dim {plain(names[0])}=4, and so on for each of its dimensions"
            raise bad_input(Code.MISSING_FIELD, place, text)
        return tuple(self._named(name, place) for name in names[:rank])

    def numbers(self, name: str, many: int, place: Place, span: tuple[int, int]) -> list[Dim] | None:
        """Return what an input holds, of which each number is given as `name.0=4`, within what its type can hold; None if none is given."""
        names = [(f"{name}.{i}", f"{plain(name)}.{i}") for i in range(many)]
        self._asked.update(dict.fromkeys(asked for _, asked in names[: MOST_SHOWN + 1]))
        if all(self._key(*each) is None for each in names):
            return None
        for each in names:
            self._require_within(self._key(*each), span)
        return [self._named(own, place, number=asked) for own, asked in names]

    def _require_within(self, key: str | None, span: tuple[int, int]) -> None:
        low, high = (span[0], span[0]) if key is None else self._given[key]
        if not span[0] <= low <= high <= span[1]:
            raise _bad(f"{quoted(key)}: by its type, the input holds numbers from {span[0]} to {span[1]}")

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

    def _named(self, name: str, place: Place, number: str | None = None) -> Dim:
        """Return the dimension of that name, or the `number` of an input, called so where it is asked for."""
        if name not in self._names:
            symbol = plain(name)[:60]
            symbol = symbol if NAME.fullmatch(symbol) and symbol not in FUNCTIONS else f"d_{symbol}"
            symbol = self._names[name] = self._of_symbols.new(symbol)
            asked = number or symbol[:64]
            self._asked[asked] = None
            key = self._key(name, asked, *(() if number else (plain(name),)))
            if key is None:
                what = "dimension" if number is None else "number"
                text = f"the {what} {quoted(asked)} is not known: give dim {asked}=4, or a range, {asked}=1..16"
                self.missing.add(Code.MISSING_FIELD, place, text)
            self.box[symbol] = (1, 1) if key is None else self._span(key, may_be_negative=number is not None)
        return d.named(self._names[name], self.box)

    def _key(self, *names: str) -> str | None:
        """Return the first of these names for which something is given."""
        return next((each for each in names if each in self._given), None)

    def count(self, name: str) -> tuple[int, int] | None:
        """Return the given range of the number of repetitions of that name; None if there is none."""
        self._asked[plain(name)] = None
        key = self._key(name, plain(name))
        return None if key is None else self._span(key)

    def _span(self, key: str, *, may_be_negative: bool = False) -> tuple[int, int]:
        """Return what is given for it."""
        self._used.add(key)
        if self._given[key][0] < 0 and not may_be_negative:
            raise _bad(f"{quoted(key)} cannot be below 0")
        return self._given[key]

    def require_all_known(self) -> None:
        """Raise BadInput for dimensions without given values."""
        self.missing.raise_if_any()

    def require_all_used(self) -> None:
        """Raise BadInput for values of dimensions that the model lacks."""
        for name in self._given:
            if name not in self._used:
                raise _bad(f"the model has no dimension or number {quoted(name)}; {self._listed()}")

    def _listed(self) -> str:
        known = list(self._asked)
        more = f", and {len(known) - MOST_SHOWN} more" if len(known) > MOST_SHOWN else ""
        return f"it has {', '.join(known[:MOST_SHOWN])}{more}" if known else "it has none that could be given"
