"""An operator with all that is known about its inputs: the argument of rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from .....checks.report import quoted
from .....planning.shapes.expression import Expression
from .. import dims as d
from ..dims import Dim, Shape
from ..model import Constant, Node

if TYPE_CHECKING:
    from .....planning.shapes.intervals import Box

    Values = Any
    """An array of objects: numbers and expressions."""


class ShapeError(ValueError):
    """The reason why an operator's shapes cannot be inferred."""


class NotKnown(ShapeError):
    """They depend on something unknown; the file's declaration is used."""

    def __init__(self, why: str, greatest: Sequence[Type] = (), of: str = "") -> None:
        super().__init__(why)
        self.of = of
        """The input whose contents would have to be known."""
        self.greatest = greatest
        """The upper limits of the dimensions, if known: used for planning if the file declares nothing."""


class Type(NamedTuple):
    """A tensor's type."""

    element: int
    shape: Shape


@dataclass(frozen=True, slots=True)
class Site:
    """An operator and its inputs."""

    node: Node
    inputs: tuple[Type | None, ...]
    """None: left out, or unknown."""
    values: tuple[Values | None, ...]
    """The contents of the inputs, if known."""
    opset: int
    box: Box
    notes: set[str] = field(default_factory=set)

    def depends_on_data(self) -> None:
        """Record that the size of the result is unknown; the rule returns the greatest possible one."""
        self.notes.add(
            "how large some results are depends on data; they are planned with the greatest size that they can have"
        )

    def given(self, i: int) -> Type:
        """Return input i. Raises ShapeError if it is absent."""
        if i >= len(self.inputs) or self.inputs[i] is None:
            raise ShapeError(f"input {i} is missing, or its shape is not known")
        found = self.inputs[i]
        assert found is not None
        return found

    def has(self, i: int) -> bool:
        return i < len(self.inputs) and self.inputs[i] is not None

    def shape(self, i: int = 0) -> Shape:
        return self.given(i).shape

    def element(self, i: int = 0) -> int:
        return self.given(i).element

    def rank(self, i: int, least: int) -> Shape:
        """Return the shape of input i, which has at least `least` dimensions."""
        shape = self.shape(i)
        if len(shape) < least:
            raise ShapeError(f"input {i} has {len(shape)} dimensions, and needs {least}")
        return shape

    def number(self, name: str, default: int) -> int:
        """Return an attribute that is a number."""
        value = self.node.attributes.get(name, default)
        if not isinstance(value, int):
            raise ShapeError(f"the attribute {name} is no number")
        return value

    def text(self, name: str, default: str) -> str:
        value = self.node.attributes.get(name, default)
        return value if isinstance(value, str) else default

    def numbers(self, name: str) -> tuple[int, ...] | None:
        """Return an attribute that is a list of numbers; None if it is absent."""
        value = self.node.attributes.get(name)
        if value is None:
            return None
        if not isinstance(value, tuple) or not all(isinstance(each, int) for each in value):
            raise ShapeError(f"the attribute {name} is no list of numbers")
        return value  # type: ignore[return-value]

    def floats(self, name: str) -> tuple[float, ...] | None:
        value = self.node.attributes.get(name)
        return tuple(map(float, value)) if isinstance(value, tuple) else None

    def tensor(self, name: str) -> Constant | None:
        value = self.node.attributes.get(name)
        return value if isinstance(value, Constant) else None

    def content(self, i: int) -> list[Any] | None:
        """Return the contents of input i; None if it is absent. Raises NotKnown if they are unknown."""
        if not self.has(i):
            return None
        values = self.values[i]
        if values is None:
            name = self.node.inputs[i]
            text = f"its result depends on what is in input {i} ({quoted(name)}), which is not known"
            raise NotKnown(text, of=name)
        return list(values.ravel())

    def dims(self, i: int) -> list[Dim] | None:
        """Return the contents as dimensions."""
        found = self.content(i)
        if found is not None and not all(isinstance(each, int | Expression) for each in found):
            raise ShapeError(f"input {i} must hold whole numbers")
        return found

    def whole(self, i: int) -> list[int] | None:
        """Return the contents as plain numbers."""
        found = self.dims(i)
        if found is None:
            return None
        if not all(isinstance(each, int) for each in found):
            raise NotKnown(f"its result depends on a dimension that has several values (input {i})")
        return found  # type: ignore[return-value]

    def axes(self, rank: int, i: int) -> tuple[int, ...] | None:
        """Return axes from an attribute, or from input i, counted from 0; None if not given."""
        numbers = self.numbers("axes")
        if numbers is None:
            found = self.whole(i)
            numbers = None if found is None else tuple(found)
        return None if numbers is None else tuple(axis_of(each, rank) for each in numbers)

    def axis(self, rank: int, default: int) -> int:
        return axis_of(self.number("axis", default), rank)


def axis_of(axis: int, rank: int) -> int:
    """Return the axis counted from 0. Raises ShapeError if there is none."""
    if not -rank <= axis < rank:
        raise ShapeError(f"there is no axis {axis}: there are {rank} dimensions")
    return axis % rank if rank else 0


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """Return the shape of tensors combined element by element."""
    rank = max(map(len, shapes), default=0)
    found: list[Dim] = [1] * rank
    for shape in shapes:
        for i, dim in enumerate(shape, rank - len(shape)):
            found[i] = _joined(found[i], dim)
    return tuple(found)


def _joined(a: Dim, b: Dim) -> Dim:
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if isinstance(a, int) and isinstance(b, int):
        raise ShapeError(f"dimensions of {a} and {b} do not go together")
    if isinstance(a, int) or isinstance(b, int):
        return a if isinstance(a, int) else b  # the other one is the same, or 1
    return d.most(a, b)
