"""An ONNX file's contents as far as they concern memory: for each tensor only its shape, type and place in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from ....checks.report import Place
from ...binary.protobuf import Part

MAX_GRAPHS = 32
"""The most nested graphs."""
MAX_RANK = 64
MOST_NUMBERS = 1024
"""The most numbers of a tensor that may describe shapes."""

BITS = {
    1: 32, 2: 8, 3: 8, 4: 16, 5: 16, 6: 32, 7: 64, 8: 64, 9: 8, 10: 16, 11: 64, 12: 32, 13: 64, 14: 64, 15: 128,
    16: 16, 17: 8, 18: 8, 19: 8, 20: 8, 21: 4, 22: 4, 23: 4, 24: 8, 25: 2, 26: 2,
}  # fmt: skip
"""The bits of an element, by its type's number. A string counts as its pointer."""
FLOAT, UINT8, INT8, INT32, INT64, STRING, BOOL, FLOAT16, DOUBLE, BFLOAT16 = 1, 2, 3, 6, 7, 8, 9, 10, 11, 16


MAP = "a map"


@dataclass(frozen=True, slots=True)
class Declared:
    """A file's declaration of a value: type, and shape as far as known. A dimension is a number, a name, or unknown."""

    name: str
    element: int | None
    shape: tuple[int | str | None, ...] | None
    other: str | None = None
    """Its kind if it is no tensor. For a sequence of tensors, type and shape are theirs; for a map, the type is that of its values."""
    is_optional: bool = False
    """It may be left out."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A tensor whose contents are in the file, or beside it."""

    name: str
    element: int
    shape: tuple[int, ...]
    raw: Part | None = None
    numbers: tuple[int | float, ...] = ()
    """The contents, if written as a short list."""
    is_outside: bool = False


Attribute: TypeAlias = "int | float | str | tuple[int | float | str, ...] | Constant | Graph | Reference"


@dataclass(frozen=True, slots=True)
class Reference:
    """An attribute whose value is an attribute of the surrounding function."""

    name: str


@dataclass(frozen=True, slots=True)
class Node:
    """An operator as written in the file."""

    operator: str
    domain: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Attribute]
    place: Place
    overload: str = ""
    """Which of the model's own functions of that name it is."""


class Nodes(Protocol):
    """Nodes that are read on each iteration, so that few exist at once."""

    def __iter__(self) -> Iterator[Node]: ...
    def __len__(self) -> int: ...


class Known(Protocol):
    """The file's declarations of values by name, read on demand."""

    def get(self, name: str) -> Declared | None: ...


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes in the order in which they run."""

    name: str
    nodes: Nodes
    inputs: tuple[Declared, ...]
    outputs: tuple[Declared, ...]
    known: Known
    """The declarations of inner values."""
    constants: Mapping[str, Constant]
    place: Place


@dataclass(frozen=True, slots=True)
class Body:
    """A function of the model's own: an operator made of others."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: Nodes
    defaults: Mapping[str, Attribute]
    opsets: Mapping[str, int]
    known: Known
    """The declarations of inner values."""


class Called(NamedTuple):
    """What one of the model's own functions is called."""

    domain: str
    name: str
    overload: str

    def __str__(self) -> str:
        """Return the name with the overload, as ONNX writes it."""
        return f"{self.name}:{self.overload}" if self.overload else self.name


class Functions(Protocol):
    """The model's own functions, read on demand."""

    def get(self, key: Called) -> Body | None: ...
    def __iter__(self) -> Iterator[Body]: ...


@dataclass(frozen=True, slots=True)
class Model:
    size: int
    """The size of the file."""
    graph: Graph
    opsets: Mapping[str, int]
    functions: Functions
