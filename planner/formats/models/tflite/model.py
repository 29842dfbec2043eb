"""A .tflite file as it is: subgraphs of tensors and operators, read strictly and not interpreted yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod

from ....checks.report import Place, bad_input
from ....model.errors import Code
from ....model.problem import MAX_ADDRESS
from ...binary.flatbuffer import FlatBuffer, Table, damaged
from ...binary.verified import require_whole
from .schema import CONTROL, CUSTOM, HANDLE, MODEL, TYPES, Type, operator_name

IDENTIFIER = b"TFL3"
VERSION = 3
LEAST_TENSOR = 32
"""The file's bytes for each tensor or operator that it may have; real ones take at least half as many again, and mostly twice."""
MAX_RANK = 32
ETHOS_U = "ethos-u"
"""The custom operator of a part of a model that Vela compiled. Its inputs are commands, weights, memory, fast memory, and then what the part reads."""
_MEMORY, _FIRST_READ = 2, 4
MAX_NAME = 200
"""Longer names are cut, since nothing depends on them."""


@dataclass(frozen=True, slots=True)
class TensorRow:
    """A tensor of a subgraph."""

    name: str
    shape: tuple[int, ...]
    type: Type
    buffer: int
    is_variable: bool
    is_constant: bool
    """Its bytes are in the file."""
    channels: int
    """The number of scales in its quantisation."""

    @property
    def elements(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """An operator of a subgraph."""

    code: str
    inputs: tuple[int, ...]
    """Numbers of tensors; -1: left out."""
    outputs: tuple[int, ...]
    subgraphs: tuple[int, ...]
    """The subgraphs that it runs."""
    options: Table | None
    """The contents of builtin_options."""
    custom: str | None = None
    """The name of an operator that is not built in."""


@dataclass(frozen=True, slots=True)
class SubgraphRow:
    """One function of the model."""

    name: str
    tensors: tuple[TensorRow, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    operators: tuple[OperatorRow, ...]


@dataclass(frozen=True, slots=True)
class MetadataRow:
    """A named buffer of the file."""

    name: str
    buffer: int


@dataclass(frozen=True)
class Model:
    """The whole file."""

    data: bytes
    root: Table
    subgraphs: tuple[SubgraphRow, ...]
    buffers: tuple[tuple[int, int], ...]
    """The begin and the number of bytes of each; 0 bytes if it has none."""
    metadata: tuple[MetadataRow, ...]
    signatures: tuple[int, ...]
    """Subgraphs that are run from outside by name."""
    outside: tuple[int, ...] = ()
    """The places of references behind the FlatBuffer, eight bytes each, counted from the beginning of the file."""

    @cached_property
    def first_tensors(self) -> tuple[int, ...]:
        """Return the number of each subgraph's first tensor among all, and the number of all."""
        found = [0]
        for subgraph in self.subgraphs:
            found.append(found[-1] + len(subgraph.tensors))
        return tuple(found)

    @cached_property
    def handles(self) -> dict[tuple[int, int], OperatorRow]:
        """Return, by subgraph and tensor, the handles of resource variables, each with the operator that makes it."""
        return {
            (s, i): operator
            for s, subgraph in enumerate(self.subgraphs)
            for operator in subgraph.operators
            if operator.code == HANDLE
            for i in operator.outputs
        }

    @cached_property
    def addressed(self) -> dict[tuple[int, int], tuple[int, int]]:
        """Return, by subgraph and tensor, what commands address at a place within their operator's memory: that tensor, and the operator."""
        found: dict[tuple[int, int], tuple[int, int]] = {}
        for s, subgraph in enumerate(self.subgraphs):
            for o, operator in enumerate(subgraph.operators):
                memory = operator.inputs[_MEMORY] if len(operator.inputs) > _MEMORY else -1
                if operator.custom != ETHOS_U or memory < 0:
                    continue
                for i in (*operator.inputs[_FIRST_READ:], *operator.outputs):
                    if i >= 0 and not subgraph.tensors[i].is_constant and subgraph.tensors[i].elements:
                        found.setdefault((s, i), (memory, o))
        return found


def read_model(data: bytes) -> Model:
    """Return the model in the bytes. Raises BadInput with the faulty byte."""
    require_whole(FlatBuffer(data, IDENTIFIER).root(), MODEL)
    return _Reader(data).model()


class _Reader:
    """Reads one file."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._root = FlatBuffer(data, IDENTIFIER).root()
        self._rows = len(data) // LEAST_TENSOR
        self._subgraphs = 0
        self._outside: list[int] = []

    def model(self) -> Model:
        root = self._root
        version = root.unsigned(0, "version")
        if version != VERSION:
            raise bad_input(Code.UNKNOWN_FORMAT, ("version",), f"must be {VERSION}, not {version}")
        buffers = tuple(self._buffer(table) for table in root.tables(4, "buffers"))
        codes = [self._code(table) for table in root.tables(1, "operator_codes")]
        _, self._subgraphs = root.span(2, "subgraphs", 4)
        if not self._subgraphs:
            raise bad_input(Code.MISSING_FIELD, ("subgraphs",), "a model has at least one subgraph")
        subgraphs = tuple(self._subgraph(table, codes, buffers) for table in root.tables(2, "subgraphs"))
        metadata = tuple(
            MetadataRow(table.text(0, "name") or "", table.unsigned(1, "buffer"))
            for table in root.tables(6, "metadata")
        )
        for i, row in enumerate(metadata):
            if row.buffer >= len(buffers):
                raise _beyond(("metadata", i, "buffer"), row.buffer, len(buffers), "buffers")
        signatures = tuple(table.unsigned(4, "subgraph_index") for table in root.tables(7, "signature_defs"))
        for i, number in enumerate(signatures):
            if number >= len(subgraphs):
                raise _beyond(("signature_defs", i, "subgraph_index"), number, len(subgraphs), "subgraphs")
        return Model(self._data, root, subgraphs, buffers, metadata, signatures, tuple(self._outside))

    def _buffer(self, table: Table) -> tuple[int, int]:
        start, size = table.span(0, "data", 1)
        return self._behind(table, 1, "offset", "size") or (start, size)

    def _behind(self, table: Table, number: int, offset: str, size: str) -> tuple[int, int] | None:
        """Return what lies behind the FlatBuffer, in files longer than its references reach."""
        at, start, length = table.field(number, 8, offset), table.long(number, offset), table.long(number + 1, size)
        if at is None or start <= 1:
            return None
        if start + length > len(self._data):
            raise damaged((*table.place, offset), at, f"{length} bytes at byte {start} do not fit into the file")
        self._outside.append(at)
        return start, length

    def _code(self, table: Table) -> tuple[str, str | None]:
        code = max(table.byte(0, "deprecated_builtin_code"), table.signed(3, "builtin_code"))
        custom = (table.text(1, "custom_code") or "")[:MAX_NAME] if code == CUSTOM else None
        return operator_name(code), custom

    def _count(self, table: Table, number: int, name: str) -> None:
        _, count = table.span(number, name, 4)
        self._rows -= count
        if self._rows < 0:
            text = f"at byte {table.at}: has {count}; a file of this length cannot have so many tensors and operators"
            raise bad_input(Code.TOO_LARGE, (*table.place, name), text)

    def _subgraph(
        self, table: Table, codes: list[tuple[str, str | None]], buffers: tuple[tuple[int, int], ...]
    ) -> SubgraphRow:
        self._count(table, 0, "tensors")
        self._count(table, 3, "operators")
        tensors = tuple(self._tensor(each, buffers) for each in table.tables(0, "tensors"))
        return SubgraphRow(
            (table.text(4, "name") or "")[:MAX_NAME],
            tensors,
            _numbers(table, 1, "inputs", len(tensors)),
            _numbers(table, 2, "outputs", len(tensors)),
            tuple(self._operator(each, codes, len(tensors)) for each in table.tables(3, "operators")),
        )

    def _tensor(self, table: Table, buffers: tuple[tuple[int, int], ...]) -> TensorRow:
        shape = table.signed_vector(0, "shape")
        number = table.byte(1, "type")
        if number not in TYPES:
            raise bad_input(
                Code.INVALID_VALUE, (*table.place, "type"), f"at byte {table.at}: there is no type {number}"
            )
        if len(shape) > MAX_RANK:
            text = f"at byte {table.at}: has {len(shape)} dimensions, more than {MAX_RANK}"
            raise bad_input(Code.TOO_LARGE, (*table.place, "shape"), text)
        for d, extent in enumerate(shape):
            if extent < 0:
                text = f"at byte {table.at}: a dimension of {extent}"
                raise bad_input(Code.OUT_OF_RANGE, (*table.place, "shape", d), text)
        type_ = TYPES[number]
        if prod(shape) * (type_.bits or 8) > MAX_ADDRESS:
            text = f"at byte {table.at}: is larger than {MAX_ADDRESS} bits"
            raise bad_input(Code.TOO_LARGE, (*table.place, "shape"), text)
        buffer = table.unsigned(2, "buffer")
        if buffer >= max(len(buffers), 1):
            raise _beyond((*table.place, "buffer"), buffer, len(buffers), "buffers")
        quantisation = table.table(4, "quantization")
        return TensorRow(
            (table.text(3, "name") or "")[:MAX_NAME],
            _shared(shape),
            type_,
            buffer,
            bool(table.byte(5, "is_variable")),
            bool(buffers) and buffers[buffer][1] > 0,
            0 if quantisation is None else quantisation.span(2, "scale", 4)[1],
        )

    def _operator(self, table: Table, codes: list[tuple[str, str | None]], tensors: int) -> OperatorRow:
        index = table.unsigned(0, "opcode_index")
        if index >= len(codes):
            raise _beyond((*table.place, "opcode_index"), index, len(codes), "operator codes")
        code, custom = codes[index]
        table.buffer.charge(len(custom or ""), table.at, table.place)  # each has a name with it
        self._behind(table, 9, "large_custom_options_offset", "large_custom_options_size")
        return OperatorRow(
            code,
            _numbers(table, 1, "inputs", tensors),
            _numbers(table, 2, "outputs", tensors),
            self._runs(table, code),
            table.table(4, "builtin_options"),
            custom,
        )

    def _runs(self, table: Table, code: str) -> tuple[int, ...]:
        control = CONTROL.get(code)
        if control is None:
            return ()
        union = "builtin_options" if control.union == 3 else "builtin_options_2"
        place = (*table.place, union)
        options = table.table(control.union + 1, union)
        if options is None or table.byte(control.union, f"{union}_type") != control.kind:
            text = f"at byte {table.at}: {code} says by its options which subgraphs it runs, and has none of its kind"
            raise bad_input(Code.MISSING_FIELD, place, text)
        if control.is_list:
            [(field, name)] = control.fields.items()
            runs = [((*place, name, i), number) for i, number in enumerate(options.signed_vector(field, name))]
            if not runs:
                raise bad_input(Code.MISSING_FIELD, (*place, name), f"{code} must name at least one subgraph")
        else:
            runs = [((*place, name), options.signed(field, name)) for field, name in control.fields.items()]
        for at, number in runs:
            if not 0 <= number < self._subgraphs:
                raise _beyond(at, number, self._subgraphs, "subgraphs")
        return tuple(number for _, number in runs)


@lru_cache(maxsize=4096)
def _shared(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape, always as the same object: long models have many tensors and few shapes."""
    return shape


def _numbers(table: Table, number: int, name: str, tensors: int) -> tuple[int, ...]:
    """Return numbers of tensors; -1 if left out."""
    found = table.signed_vector(number, name)
    for j, each in enumerate(found):
        if not -1 <= each < tensors:
            raise _beyond((*table.place, name, j), each, tensors, "tensors")
    return found


def _beyond(place: Place, number: int, count: int, what: str) -> Exception:
    return bad_input(Code.OUT_OF_RANGE, place, f"is {number}, and there are {count} {what}")


def unique_names(names: Iterable[str], otherwise: str) -> list[str]:
    """Return each name, or `otherwise` if it is empty, with its number appended if another has the same."""
    found: list[str] = []
    taken: set[str] = set()
    for i, name in enumerate(names):
        name = name or f"{otherwise}{i}"
        while name in taken:
            name = f"{name}#{i}"
        taken.add(name)
        found.append(name)
    return found
