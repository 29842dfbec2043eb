"""A function under construction: its tensors and operators, what it uses from outside, and the names valid in it."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from ....facts.names import Names
from ....graph.columns import ALIKE, OperatorColumns, TensorColumns, form_of_operator, tensor_form
from ....graph.operators import Operator, OperatorKind, Tensor, TensorKind
from ....graph.program import Function
from . import dims as d
from .counts import Counts
from .dims import Dim
from .model import BITS, Constant, Reference
from .rules.site import Type
from .values import content_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ....planning.shapes.expression import Values as Point
    from .model import Attribute, Known, Node


class Value:
    """The meaning of a name in the file."""

    __slots__ = ("_content", "home", "is_constant", "name", "owner", "type")

    def __init__(
        self, name: str, type_: Type, owner: Written, content: Any = None, *, is_constant: bool = False
    ) -> None:
        self.name, self.type, self.owner = name, type_, owner
        self.home: str | None = None
        """Its tensor's name where it is made. Stored here so that functions do not refer to their values: such cycles would delay their release."""
        self.is_constant = is_constant
        """A part of the model: it needs no memory that could be planned."""
        self._content = content

    @property
    def content(self) -> Any:
        """Return its contents, if known. For weights they are read on first use."""
        if isinstance(self._content, Constant):
            self._content = content_of(self._content)
        return self._content

    def again(self) -> Value:
        """Return another value in the same place."""
        made = Value(self.name, self.type, self.owner, self._content, is_constant=self.is_constant)
        made.home = self.home
        return made


class Plain(Value):
    """A tensor about which no more is known: made when it is asked for, and the same as any other with its place."""

    __slots__ = ()

    def __init__(self, name: str, type_: Type, owner: Written, home: str) -> None:
        super().__init__(name, type_, owner)
        self.home = home

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plain) and self.owner is other.owner and self.home == other.home

    def __hash__(self) -> int:
        return hash((id(self.owner), self.home))


@dataclass(frozen=True, slots=True)
class Several:
    """The meaning of a name that is a sequence (its tensors, in place), or an optional value that is absent."""

    items: tuple[Value, ...] = ()
    is_absent: bool = False
    is_maybe: bool = False
    """It exists in only one arm of a branch."""
    fewest: int | None = None
    """Only so many of the tensors are there for certain; the others may be missing, the last one first. None: all are there."""

    @property
    def least(self) -> int:
        """Return the least length that it may have."""
        return len(self.items) if self.fewest is None else self.fewest


ABSENT = Several(is_absent=True)


@dataclass(eq=False, slots=True)
class Written:
    """A function under construction."""

    name: str
    at: Point
    """The greatest value of each symbol: programs have numbers for shapes."""
    counts: Counts
    around: Written | None = None
    """The function that runs it."""
    keeps_sizes: bool = True
    tensors: dict[str, Tensor] = field(default_factory=dict)
    """Their forms, by their names."""
    operators: OperatorColumns = field(default_factory=OperatorColumns)
    inputs: list[str] = field(default_factory=list)
    sizes: dict[str, Dim] = field(default_factory=dict)
    """In bytes, as expressions, if any symbol has several values."""
    taken: dict[Value, str] = field(default_factory=dict)
    """What it uses from outside, with the names here."""
    back: tuple[Value | Several, ...] = ()
    """The outputs of its graph."""
    _of_tensors: Names = field(default_factory=Names)
    _of_operators: Names = field(default_factory=lambda: Names(mark="_", first=2))

    def tensor(self, name: str, type_: Type, kind: TensorKind) -> str:
        """Add a tensor of this name, or a similar one."""
        name = self._of_tensors.free(name, self.tensors)
        self.counts.name(name)
        d.require_limit(type_.shape)
        bits = BITS[type_.element]
        self.tensors[name] = tensor_form(tuple(self.number(dim) for dim in type_.shape), bits, kind)
        if self.keeps_sizes:
            count = d.product(type_.shape)
            self.sizes[name] = d.mul(count, bits // 8) if bits % 8 == 0 else d.up(d.mul(count, bits), 8)
        return name

    def number(self, dim: Dim) -> int:
        """Return a dimension at the greatest values of the symbols."""
        return dim if isinstance(dim, int) else max(0, dim.at(self.at))

    def value(self, name: str, type_: Type, kind: TensorKind, content: Any = None) -> Value:
        """Add a tensor; return the value that represents it."""
        made = Value(name, type_, self, content)
        made.home = self.tensor(name, type_, kind)
        return made

    def constant(self, name: str, type_: Type, content: Any) -> Value:
        """Return a value that is part of the model, or computed only from such values."""
        return Value(name, type_, self, content, is_constant=True)

    def use(self, value: Value) -> str | None:
        """Return the value's name here, importing it from outside if needed; None for constants, which have no place."""
        if value.is_constant:
            return None
        if value.owner is self:
            return value.home
        if value not in self.taken:
            self.taken[value] = self.tensor(value.name, value.type, TensorKind.INPUT)
        return self.taken[value]

    def used(self, values: Sequence[Value | None]) -> tuple[str, ...]:
        """Return their names here."""
        names = (self.use(value) for value in values if value is not None)
        return tuple(name for name in names if name is not None)

    def run(self, operator: Operator) -> None:
        """Add a step, with a name unique in this function."""
        name = self._of_operators.free((operator.name or operator.kind.value)[:1000], self.operators.names)
        self.counts.name(name)
        self.counts.use(len(operator.inputs) + len(operator.outputs))
        self.operators.add(form_of_operator(operator), operator.inputs, operator.outputs, name)

    def given_back(self, value: Value) -> str:
        """Return what represents the value among the outputs."""
        found = self.use(value)
        if found is not None:
            return found
        made = self.tensor(value.name, value.type, TensorKind.INTERMEDIATE)
        self.run(Operator(OperatorKind.COMPUTE, (), (made,), name=value.name))
        return made

    def finished(self, outputs: list[str], more: list[Value], first: str | None) -> Function:
        """Return the function, with what it uses from outside among its inputs."""
        around = [] if first is None else [first]
        around += [self.taken[value] for value in more]
        given, back = (*self.inputs, *around), tuple(outputs)
        tensors = TensorColumns([*self.tensors], [*self.tensors.values()])
        return Function(self.name, tensors, self.operators, given, back)


LATEST = 1 << 12
"""The most names that are kept to be found again."""


class Values(MutableMapping[str, Value]):
    """The values of a scope, by name. Of a plain one that is called like its tensor only the type is kept: a large model consists of such."""

    __slots__ = ("_latest", "_others", "_types", "_writer")

    def __init__(self) -> None:
        self._latest: dict[str, str] = {}
        """The names put last, each by itself. What reads them soon, as most operators do, gets the same object, since each name in a file is read as a new one."""
        self._others: dict[str, Value] = {}
        self._types: dict[str, Type] = {}
        self._writer: Written | None = None
        """The function whose tensors these are."""

    def put(self, name: str, type_: Type, into: Written) -> Plain:
        """Add a new tensor that the function writes, about which no more is known."""
        made = Plain(name, type_, into, into.tensor(name, type_, TensorKind.INTERMEDIATE))
        self._writer = self._writer or into
        if self._writer is into and made.home == name:
            if len(self._latest) >= LATEST:
                self._latest.clear()
            self._latest[name] = name
            self._types[name] = _one(type_) if all(type(dim) is int for dim in type_.shape) else type_
        else:
            self._others[name] = made
        return made

    def __getitem__(self, name: str) -> Value:
        type_ = self._types.get(name)
        name = self._latest.get(name, name)
        return self._others[name] if type_ is None or self._writer is None else Plain(name, type_, self._writer, name)

    def __contains__(self, name: object) -> bool:
        return name in self._types or name in self._others

    def __setitem__(self, name: str, value: Value) -> None:
        self._others[name] = value

    def __delitem__(self, name: str) -> None:
        del self._others[name]

    def __iter__(self) -> Iterator[str]:
        return chain(self._others, self._types)

    def __len__(self) -> int:
        return len(self._others) + len(self._types)


@lru_cache(maxsize=ALIKE)
def _one(type_: Type) -> Type:
    """Return the same object for all types that are alike."""
    return type_


class Arguments(NamedTuple):
    """What a function of the model's own is given besides values. It counts for its graphs, too."""

    attributes: Mapping[str, Attribute]
    absent: frozenset[str]
    """The inputs that are left out."""

    def put_into(self, node: Node) -> Node:
        """Return the node with the attributes that it refers to, and without the inputs that are left out."""
        attributes = {
            name: self.attributes[given.name] if isinstance(given, Reference) else given
            for name, given in node.attributes.items()
            if not isinstance(given, Reference) or given.name in self.attributes
        }
        present = tuple("" if name in self.absent else name for name in node.inputs)
        return replace(node, attributes=attributes, inputs=present)


class Scope:
    """The names valid in a graph, or in a function of the model's own."""

    def __init__(
        self, around: Scope | None, opsets: Mapping[str, int], known: Known, arguments: Arguments | None = None
    ) -> None:
        self.values = Values()
        self.arguments: Arguments | None = arguments if around is None else around.arguments
        self.sequences: dict[str, Several] = {}
        self.around = around
        self.opsets = opsets
        self.known = known

    def find(self, name: str) -> Value | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            if name in scope.sequences:
                return None
            scope = scope.around
        return None

    def sequence(self, name: str) -> Several | None:
        """Return the sequence of that name; None if it is not one."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.values:
                return None
            if name in scope.sequences:
                return scope.sequences[name]
            scope = scope.around
        return None

    def hold(self, name: str, found: Value | Several) -> None:
        """Give the name this meaning."""
        if isinstance(found, Several):
            self.sequences[name] = found
        else:
            self.values[name] = found
