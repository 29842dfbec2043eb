"""What the model is given: of each input its type, how many tensors a sequence has, and what small inputs hold, as far as options say so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ....checks.report import Place, bad_input, quoted
from ....model.errors import Code
from ....planning.shapes.expression import LIMIT
from . import dims as d
from .model import BITS, BOOL, INT64, MAP, MOST_NUMBERS, Declared, Graph
from .rules.elements import WHOLE
from .rules.site import Type
from .sequences import MOST_ITEMS
from .values import as_values

if TYPE_CHECKING:
    from .symbols import Symbols

NUMBERS = {
    BOOL: (0, 1),
    **{element: (max(low, -LIMIT), min(high, LIMIT)) for element, (low, high) in WHOLE.items() if BITS[element] >= 8},
}
"""The types of inputs whose numbers can be given, and the least and the greatest number of each."""


@dataclass(frozen=True, slots=True)
class Input:
    """An input of the model."""

    declared: Declared
    place: Place
    type: Type
    """Of a sequence, that of its tensors."""
    length: int | None
    """The number of tensors, if it is a sequence."""
    content: Any
    """An array of numbers and expressions, if given."""

    @property
    def may_hold_sizes(self) -> bool:
        """True if its numbers can be given."""
        return not self.declared.is_optional and self.declared.other is None and _count(self.type) is not None


def inputs_of(graph: Graph, symbols: Symbols) -> list[Input]:
    """Return the graph's inputs without those that are constants. Raises BadInput for what is not known of them."""
    found = []
    for j, declared in enumerate(graph.inputs):
        if declared.name not in graph.constants:
            place = (*graph.place, "input", j)
            made = Input(declared, place, _typed(declared, symbols, place), _length(declared, symbols, place), None)
            content = _content(made, symbols) if made.may_hold_sizes else None
            found.append(Input(declared, place, made.type, made.length, content))
    symbols.require_all_known()
    return found


def _typed(declared: Declared, symbols: Symbols, place: Place) -> Type:
    if declared.other is not None and declared.element is None:
        text = f"the input {quoted(declared.name)} is {declared.other} whose contents the file does not describe, or memplan does not plan: give the model tensors"
        raise bad_input(Code.UNSUPPORTED, place, text)
    if declared.other == MAP and declared.element is not None:
        return Type(declared.element, symbols.shape(replace(declared, shape=(declared.name,)), place))
    if declared.element is None:
        raise bad_input(Code.MISSING_FIELD, place, f"the file does not say which type {quoted(declared.name)} has")
    return Type(declared.element, symbols.shape(declared, place))


def _length(declared: Declared, symbols: Symbols, place: Place) -> int | None:
    """Return the number of tensors in a sequence, given by a dimension of its name; None if it is a tensor."""
    if declared.other is None or declared.other == MAP:
        return None
    (found,) = symbols.shape(Declared(declared.name, INT64, (declared.name,)), place)
    if not isinstance(found, int) or found > MOST_ITEMS:
        text = f"how many tensors {quoted(declared.name)} has must be one number, of at most {MOST_ITEMS}"
        raise bad_input(Code.OUT_OF_RANGE, place, text)
    return found


def _count(type_: Type) -> int | None:
    """Return how many numbers it holds; None if it is no short list of whole numbers."""
    count = d.product(type_.shape)
    is_short = len(type_.shape) <= 1 and isinstance(count, int) and 0 < count <= MOST_NUMBERS
    return count if is_short and isinstance(count, int) and type_.element in NUMBERS else None


def _content(made: Input, symbols: Symbols) -> Any:
    count = _count(made.type) or 0
    numbers = symbols.numbers(made.declared.name, count, made.place, NUMBERS[made.type.element])
    return None if numbers is None else as_values(numbers, () if not made.type.shape else (count,))
