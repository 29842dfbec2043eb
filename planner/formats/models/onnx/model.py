"""What stands in an ONNX file, of all that concerns memory: of each tensor only its shape, type and place in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from ....checks.report import Place
from ...binary.protobuf import Part

MAX_GRAPHS = 32
"""Graphs inside each other."""
MAX_RANK = 64
MOST_NUMBERS = 1024
"""Of a tensor's content, if it is to say something of shapes."""

BITS = {
    1: 32, 2: 8, 3: 8, 4: 16, 5: 16, 6: 32, 7: 64, 8: 64, 9: 8, 10: 16, 11: 64, 12: 32, 13: 64, 14: 64, 15: 128,
    16: 16, 17: 8, 18: 8, 19: 8, 20: 8, 21: 4, 22: 4, 23: 4, 24: 8, 25: 2, 26: 2,
}  # fmt: skip
"""Of an element, by the number of its type. Of a string, the pointer to it."""
FLOAT, UINT8, INT8, INT32, INT64, STRING, BOOL = 1, 2, 3, 6, 7, 8, 9


@dataclass(frozen=True, slots=True)
class Declared:
    """What a file says of a value: its type, and its shape as far as it is known. A dimension is a number, a name, or not known."""

    name: str
    element: int | None
    shape: tuple[int | str | None, ...] | None
    other: str | None = None
    """What it is if it is no tensor. Of a sequence of tensors, type and shape are theirs."""
    is_optional: bool = False
    """It may be left out."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A tensor whose content stands in the file, or beside it."""

    name: str
    element: int
    shape: tuple[int, ...]
    raw: Part | None = None
    numbers: tuple[int | float, ...] = ()
    """Where the content is written as a short list."""
    is_outside: bool = False


Attribute: TypeAlias = "int | float | str | tuple[int | float | str, ...] | Constant | Graph | Reference"


@dataclass(frozen=True, slots=True)
class Reference:
    """An attribute that takes the value of one of the function's own."""

    name: str


@dataclass(frozen=True, slots=True)
class Node:
    """An operator as it stands in the file."""

    operator: str
    domain: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Attribute]
    place: Place


class Nodes(Protocol):
    """Nodes that are read when it is their turn, each time, so that few are ever there at once."""

    def __iter__(self) -> Iterator[Node]: ...
    def __len__(self) -> int: ...


class Known(Protocol):
    """What the file says of values by their names, read when somebody asks."""

    def get(self, name: str) -> Declared | None: ...


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes in the order in which they run."""

    name: str
    nodes: Nodes
    inputs: tuple[Declared, ...]
    outputs: tuple[Declared, ...]
    known: Known
    """What the file says of values in between."""
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


class Functions(Protocol):
    """The model's own, by domain and name, read when somebody asks."""

    def get(self, key: tuple[str, str]) -> Body | None: ...
    def __iter__(self) -> Iterator[Body]: ...


@dataclass(frozen=True, slots=True)
class Model:
    size: int
    """Bytes of the file."""
    graph: Graph
    opsets: Mapping[str, int]
    functions: Functions
