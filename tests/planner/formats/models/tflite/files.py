"""Small .tflite files for tests, written by hand: a FlatBuffer of tables, with the few fields that matter here."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

FLOAT32, INT32, UINT8, STRING, BOOL, INT8, RESOURCE, INT4 = 0, 2, 3, 5, 6, 9, 13, 17
CODES = {
    "ADD": 0, "CONV_2D": 3, "FULLY_CONNECTED": 9, "LOGISTIC": 14, "RELU": 19, "RESHAPE": 22, "SVDF": 27, "CUSTOM": 32, "MEAN": 40, "NEG": 59, "ADD_N": 106,
    "SUB": 41, "LESS": 58, "IF": 118, "WHILE": 119, "CALL_ONCE": 129, "VAR_HANDLE": 142, "READ_VARIABLE": 143, "ASSIGN_VARIABLE": 144,
    "STABLEHLO_COMPOSITE": 206, "STABLEHLO_CASE": 209,
}  # fmt: skip
OPTIONS = {
    "IF": (3, 92),
    "WHILE": (3, 93),
    "CALL_ONCE": (3, 103),
    "STABLEHLO_COMPOSITE": (11, 21),
    "STABLEHLO_CASE": (11, 23),
}
Fields = Mapping[int, Any]


class Scalar:
    """A number with its format for `struct`."""

    def __init__(self, form: str, value: int) -> None:
        self.form, self.value = form, value


def u8(value: int) -> Scalar:
    return Scalar("B", value)


def u32(value: int) -> Scalar:
    return Scalar("I", value)


class Writer:
    """Writes tables in order, each before the tables that it refers to."""

    def __init__(self) -> None:
        self.out = bytearray(8)

    def file(self, root: Fields, identifier: bytes = b"TFL3") -> bytes:
        at = self.table(root)
        self.out[:8] = struct.pack("<I", at) + identifier
        return bytes(self.out)

    def table(self, fields: Fields) -> int:
        """Write a table and return its place.

        A dict is written as a table, text as a string, bytes as their vector, a list as a vector, a number as int32.
        """
        count = max(fields, default=-1) + 1
        sizes = {i: struct.calcsize(value.form) if isinstance(value, Scalar) else 4 for i, value in fields.items()}
        offsets, size = {}, 4
        for i in sorted(fields, key=lambda i: -sizes[i]):
            size += -size % sizes[i]
            offsets[i] = size
            size += sizes[i]
        self.pad(8, (-(4 + 2 * count)) % 8)
        vtable = len(self.out)
        self.out += struct.pack(f"<{2 + count}H", 4 + 2 * count, size, *(offsets.get(i, 0) for i in range(count)))
        self.pad(8)
        at = len(self.out)
        self.out += struct.pack("<i", at - vtable) + bytes(size - 4)
        for i, value in fields.items():
            place = at + offsets[i]
            if isinstance(value, Scalar):
                struct.pack_into(f"<{value.form}", self.out, place, value.value)
            elif isinstance(value, int):
                struct.pack_into("<i", self.out, place, value)
            else:
                struct.pack_into("<I", self.out, place, self.thing(value) - place)
        return at

    def thing(self, value: Any) -> int:
        if isinstance(value, Mapping):
            return self.table(value)
        if isinstance(value, str | bytes):
            data = value.encode() if isinstance(value, str) else value
            self.pad(16, 12)
            at = len(self.out)
            self.out += struct.pack("<I", len(data)) + data + b"\0"
            return at
        self.pad(4)
        at = len(self.out)
        self.out += struct.pack("<I", len(value)) + bytes(4 * len(value))
        for i, each in enumerate(value):
            place = at + 4 + 4 * i
            if isinstance(each, int):
                struct.pack_into("<i", self.out, place, each)
            else:
                struct.pack_into("<I", self.out, place, self.thing(each) - place)
        return at

    def pad(self, alignment: int, rest: int = 0) -> None:
        self.out += bytes((rest - len(self.out)) % alignment)


def tensor(name: str, shape: Sequence[int], type_: int = INT8, *, data: int = 0, variable: bool = False) -> Fields:
    quantised = {4: {2: [0x3F800000]}} if type_ == INT8 else {}
    state = {5: u8(1)} if variable else {}
    return {0: list(shape), 1: u8(type_), 2: u32(data), 3: name, **state, **quantised}


def operator(code: str, inputs: Sequence[int], outputs: Sequence[int], *runs: int) -> tuple[str, Fields]:
    fields: dict[int, Any] = {1: list(inputs), 2: list(outputs)}
    if runs:
        union, kind = OPTIONS[code]
        options = {"STABLEHLO_COMPOSITE": {1: runs[0]}, "STABLEHLO_CASE": {0: list(runs)}}.get(
            code, dict(enumerate(runs))
        )
        fields |= {union: u8(kind), union + 1: options}
    return code, fields


def handle(output: int, name: str) -> tuple[str, Fields]:
    """Return the operator that gives out a resource variable's handle."""
    return "VAR_HANDLE", {1: [], 2: [output], 3: u8(111), 4: {0: "state", 1: name}}


def subgraph(
    tensors: Sequence[Fields],
    inputs: Sequence[int],
    outputs: Sequence[int],
    operators: Sequence[tuple[str, Fields]],
    name: str = "main",
) -> Fields:
    return {0: list(tensors), 1: list(inputs), 2: list(outputs), 3: list(operators), 4: name}


def model(
    *subgraphs: Fields, buffers: Sequence[bytes] = (b"",), metadata: Mapping[str, int] | None = None, **root: Any
) -> bytes:
    """Return the file; the operators' codes are collected from the subgraphs."""
    used = list(dict.fromkeys(code for each in subgraphs for code, _ in each[3]))
    codes = [code_of(name) for name in used]
    lowered = [{**each, 3: [{0: u32(used.index(code)), **fields} for code, fields in each[3]]} for each in subgraphs]
    fields: dict[int, Any] = {0: u32(3), 1: codes, 2: lowered, 4: [{0: data} if data else {} for data in buffers]}
    if metadata:
        fields[6] = [{0: name, 1: u32(buffer)} for name, buffer in metadata.items()]
    return Writer().file(fields | {int(number.removeprefix("field")): value for number, value in root.items()})


def code_of(name: str) -> Fields:
    """Return the code of a built-in operator, or of a custom one of that name."""
    number = CODES.get(name, CODES["CUSTOM"])
    return {0: u8(min(number, 127)), 3: number, **({} if name in CODES else {1: name})}


def two() -> bytes:
    """Return a model with an input of 64 bytes and a result of 32."""
    return model(subgraph([tensor("a", [64], UINT8), tensor("b", [32], UINT8)], [0], [1], [operator("NEG", [0], [1])]))
