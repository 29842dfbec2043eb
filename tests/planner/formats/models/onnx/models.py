"""ONNX files written by hand, byte by byte, so that the tests of the reader need no library."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

FLOAT, UINT8, INT64, BOOL = 1, 2, 7, 9


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    found = b""
    while value > 127:
        found += bytes([value & 127 | 128])
        value >>= 7
    return found + bytes([value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def inside(field: int, content: bytes | str) -> bytes:
    data = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(data)) + data


def value(name: str, shape: Sequence[int | str | None] | None, element: int = FLOAT) -> bytes:
    """Return a ValueInfoProto."""
    if shape is None:
        return inside(1, name)
    dims = b"".join(
        inside(1, b"" if dim is None else number(1, dim) if isinstance(dim, int) else inside(2, dim)) for dim in shape
    )
    return inside(1, name) + inside(2, inside(1, number(1, element) + inside(2, dims)))


def tensor(name: str, numbers: Sequence[int], shape: Sequence[int] | None = None, element: int = INT64) -> bytes:
    """Return a TensorProto of integers."""
    shape = [len(numbers)] if shape is None else shape
    data = b"".join(struct.pack("<q" if element == INT64 else "<B", each) for each in numbers)
    return b"".join(number(1, dim) for dim in shape) + number(2, element) + inside(8, name) + inside(9, data)


def attribute(name: str, given: Any) -> bytes:
    """Return an AttributeProto: a number, a text, a list of either, a graph or a tensor (both as kind and bytes)."""
    head = inside(1, name)
    if isinstance(given, int):
        return head + number(3, given) + number(20, 2)
    if isinstance(given, str):
        return head + inside(4, given) + number(20, 3)
    if isinstance(given, list) and given and isinstance(given[0], str):
        return head + b"".join(inside(9, each) for each in given) + number(20, 8)
    if isinstance(given, list):
        return head + b"".join(number(8, each) for each in given) + number(20, 7)
    kind, content = given
    return head + inside({"graph": 6, "tensor": 5}[kind], content) + number(20, {"graph": 5, "tensor": 4}[kind])


def node(operator: str, inputs: str, outputs: str, *, name: str = "", domain: str = "", **attributes: Any) -> bytes:
    """Return a NodeProto; inputs and outputs are words, of which `-` stands for one that is left out."""
    found = b"".join(inside(1, each.replace("-", "")) for each in inputs.split())
    found += b"".join(inside(2, each.replace("-", "")) for each in outputs.split())
    found += (
        inside(3, name) + inside(4, operator) + b"".join(inside(5, attribute(*each)) for each in attributes.items())
    )
    return found + (inside(7, domain) if domain else b"")


def graph(
    nodes: Sequence[bytes],
    inputs: Sequence[bytes] = (),
    outputs: Sequence[bytes] = (),
    constants: Sequence[bytes] = (),
    known: Sequence[bytes] = (),
) -> bytes:
    """Return a GraphProto."""
    parts = ((1, nodes), (5, constants), (11, inputs), (12, outputs), (13, known))
    return b"".join(inside(field, each) for field, list_ in parts for each in list_)


def model(made: bytes, opset: int = 18, functions: Sequence[bytes] = ()) -> bytes:
    """Return a ModelProto."""
    return (
        number(1, 8) + inside(7, made) + inside(8, number(2, opset)) + b"".join(inside(25, each) for each in functions)
    )
