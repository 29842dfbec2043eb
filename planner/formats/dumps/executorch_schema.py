"""ExecuTorch's schema, as far as it is read: numbers of types and kinds, and what instructions and values are called."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from math import prod
from struct import unpack_from
from typing import TYPE_CHECKING

from ...checks.report import bad_input, cut, printable
from ...facts.names import Names
from ...model.columns.rows import FEW, StepColumns
from ...model.errors import Code
from ...model.problem import MAX_ADDRESS
from ..binary.flatbuffer import FlatBuffer, Table, damaged
from ..binary.verified import TEXT, Choice, Many, Schema, require_whole

if TYPE_CHECKING:
    from ..documents import Source

IDENTIFIER = b"ET12"
HEADER, HEADER_LENGTHS = b"eh00", (24, 32)
"""What follows the identifier in files with data behind the program, and how long that may be: with the size of that data or without."""
MAX_RANK = 64
BITS = {
    0: 8,
    1: 8,
    2: 16,
    3: 32,
    4: 64,
    5: 16,
    6: 32,
    7: 64,
    8: 32,
    9: 64,
    10: 128,
    11: 8,
    12: 8,
    13: 8,
    14: 32,
    15: 16,
}
BITS |= {16: 8, 17: 8, 22: 8, 23: 8, 24: 8, 25: 8, 26: 8, 27: 16, 28: 32, 29: 64}
"""The bits of an element, by PyTorch's number of its type."""
TENSOR, LISTS = 5, (10, 11)
"""Kinds of values: their positions in the union KernelTypes of ExecuTorch's schema/program.fbs, where 1 is Null."""
_NUMBERS = Schema({0: ("items", 4)})
_LONG = Schema({0: ("items", 8)})
_VALUE = Choice(
    {
        TENSOR: Schema(
            {
                2: ("sizes", 4),
                3: ("dim_order", 1),
                6: ("allocation_info", Schema({})),
                9: ("extra_tensor_info", Schema({1: ("fully_qualified_name", TEXT)})),
            }
        ),
        6: Schema({0: ("string_val", TEXT)}),
        7: _LONG,
        8: _LONG,
        9: Schema({0: ("items", 1)}),
        10: _NUMBERS,
        11: _NUMBERS,
    }
)
_ARGUMENTS = Schema({1: ("args", 4)})
_OFFSETS = Schema({1: ("offsets", 8)})
_FRAME = Schema({0: ("filename", TEXT), 2: ("name", TEXT), 3: ("context", TEXT)})
_CHAIN = Schema(
    {
        0: ("inputs", 4),
        1: ("outputs", 4),
        2: ("instructions", Many(Schema({1: ("instr_args", Choice({1: _ARGUMENTS, 2: _ARGUMENTS}))}))),
        3: ("stacktrace", Many(Schema({0: ("items", Many(_FRAME))}))),
    }
)
_SPEC = Schema({0: ("key", TEXT), 1: ("value", 1)})
_PLAN = Schema(
    {
        0: ("name", TEXT),
        1: ("container_meta_type", Schema({0: ("encoded_inp_str", TEXT), 1: ("encoded_out_str", TEXT)})),
        2: ("values", Many(Schema({1: ("val", _VALUE)}))),
        3: ("inputs", 4),
        4: ("outputs", 4),
        5: ("chains", Many(_CHAIN)),
        6: ("operators", Many(Schema({0: ("name", TEXT), 1: ("overload", TEXT)}))),
        7: (
            "delegates",
            Many(Schema({0: ("id", TEXT), 1: ("processed", Schema({})), 2: ("compile_specs", Many(_SPEC))})),
        ),
        8: ("non_const_buffer_sizes", 8),
    }
)
KERNEL, DELEGATE, MOVE, JUMP, FREE = range(1, 6)
PROGRAM = Schema(
    {
        1: ("execution_plan", Many(_PLAN)),
        2: ("constant_buffer", Many(Schema({0: ("storage", 1)}))),
        3: ("backend_delegate_data", Many(Schema({0: ("data", 1)}))),
        4: ("segments", Many(Schema({}))),
        5: ("constant_segment", _OFFSETS),
        6: ("mutable_data_segments", Many(_OFFSETS)),
        7: ("named_data", Many(Schema({0: ("key", TEXT)}))),
    }
)
"""The whole file, as far as its parts have no fixed size."""
INSTRUCTIONS = {KERNEL: "kernel", DELEGATE: "delegate", MOVE: "move", JUMP: "jump", FREE: "free"}
"""Kinds of instructions, and what people call them."""


def require_all(data: bytes) -> None:
    """Raise BadInput with the place if the file breaks off, wherever that is: in what is not read here, or in the data behind the program."""
    root = FlatBuffer(data, IDENTIFIER).root()
    require_whole(root, PROGRAM)
    if data[8:12] != HEADER:
        return
    (length,) = unpack_from("<I", data, 12) if len(data) >= 16 else (0,)
    if not HEADER_LENGTHS[0] <= length <= len(data) - 8:
        raise damaged((), 12, f"a header of {length} bytes")
    program, base = unpack_from("<QQ", data, 16)
    size = unpack_from("<Q", data, 32)[0] if length >= HEADER_LENGTHS[1] else 0
    for at, end, what in ((16, program, "the program"), (24, base + size if base else 0, "the data behind it")):
        if end > len(data):
            raise damaged((), at, f"{what} ends at byte {end}, and the file has {len(data)}")
    for segment in root.tables(4, "segments"):
        end = base + segment.long(0, "offset") + segment.long(1, "size")
        if end > len(data):
            raise damaged(segment.place, segment.at, f"ends at byte {end}, and the file has {len(data)}")


def bytes_of(tensor: Table) -> int:
    """Return the size of a tensor. Raises BadInput."""
    _, rank = tensor.span(2, "sizes", 4)
    if rank > MAX_RANK:
        raise bad_input(Code.TOO_LARGE, (*tensor.place, "sizes"), f"has {rank} dimensions, more than {MAX_RANK}")
    sizes, kind = tensor.signed_vector(2, "sizes"), tensor.byte(0, "scalar_type")
    if kind not in BITS:
        raise bad_input(Code.INVALID_VALUE, (*tensor.place, "scalar_type"), f"there is no type {kind}")
    found = -(-prod(sizes) * BITS[kind] // 8)
    if min(sizes, default=0) < 0 or found > MAX_ADDRESS:
        raise bad_input(Code.OUT_OF_RANGE, (*tensor.place, "sizes"), f"a tensor of {str(list(sizes))[:100]}")
    return found


def names_of(plan: Table) -> dict[int, str]:
    """Return the names of the method's values that have one; it is no number, since others are called by theirs."""
    found: dict[int, str] = {}
    names = Names()
    for number, value in enumerate(plan.tables(2, "values")):
        tensor = value.table(1, "val") if value.byte(0, "val_type") == TENSOR else None
        more = None if tensor is None else tensor.table(9, "extra_tensor_info")
        name = None if more is None else more.text(1, "fully_qualified_name")
        if name:
            short = printable(cut(name))
            found[number] = names.new(f"{short}'" if short.isdecimal() else short)
    return found


class Called:
    """What a method's instructions call, by name."""

    def __init__(self, plan: Table) -> None:
        self.kernels = [each.text(0, "name") or "" for each in plan.tables(6, "operators")]
        overloads = [each.text(1, "overload") for each in plan.tables(6, "operators")]
        kernels = [f"{name}.{more}" if more else name for name, more in zip(self.kernels, overloads, strict=True)]
        delegates = [f"delegate {each.text(0, 'id') or ''}".strip() for each in plan.tables(7, "delegates")]
        self._names = {
            kind: [printable(cut(name)) for name in names] for kind, names in ((KERNEL, kernels), (DELEGATE, delegates))
        }

    def name(self, kind: int, fields: Table) -> str:
        """Return the name of what an instruction calls; of another instruction what it is."""
        names = self._names.get(kind, [])
        index = fields.signed(0, "index") if names else -1
        return (names[index] if 0 <= index < len(names) else "") or INSTRUCTIONS[kind]


class Steps:
    """What runs when, for people."""

    def __init__(self) -> None:
        self._times, self._names = array("q"), list[str]()

    def add(self, time: int, name: str) -> None:
        self._times.append(time)
        self._names.append(name)

    def all(self) -> Sequence[tuple[int, str]]:
        """Return the names by step; in columns, if they are many."""
        steps = StepColumns(self._times, self._names)
        return tuple(steps) if len(steps) <= FEW else steps


def calls_and_constants(source: Source) -> tuple[Counter[str], dict[int, int]]:
    """Return how often each operator is called, and the bytes of each constant by its number in the file."""
    called, constants = Counter[str](), dict[int, int]()
    for plan in FlatBuffer(source.data, IDENTIFIER).root().tables(1, "execution_plan"):
        names = Called(plan)
        for chain in plan.tables(5, "chains"):
            for instruction in chain.tables(2, "instructions"):
                kind, fields = instruction.byte(0, "instr_args_type"), instruction.table(1, "instr_args")
                if kind in (KERNEL, DELEGATE) and fields is not None:
                    called[names.name(kind, fields)] += 1
        for value in plan.tables(2, "values"):
            tensor = value.table(1, "val") if value.byte(0, "val_type") == TENSOR else None
            number = 0 if tensor is None else tensor.unsigned(5, "data_buffer_idx")
            if tensor is not None and number and tensor.table(6, "allocation_info") is None:
                size = bytes_of(tensor) if tensor.byte(0, "scalar_type") in BITS else 0
                constants[number] = max(size, constants.get(number, 0))
    return called, constants
