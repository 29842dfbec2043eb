"""The size of TFLite Micro's arena: the plan's share in its head, and an estimate of its tail.

The tail holds what lives as long as the interpreter: its own records, what kernels prepare, and variable tensors. The figures of a 64-bit
build with reference kernels were measured model by model and kernel by kernel. For a 32-bit processor, records have the size of their fields
there, and kernels, which mostly keep 32-bit numbers, are assumed to keep as much as on 64 bits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ....model.problem import Interval, Problem
from .kernels import scratch_bytes
from .micro import SCRATCH, is_placed
from .model import Model, OperatorRow, SubgraphRow, TensorRow
from .program import ALIGNMENT
from .variables import Variables


class Records(NamedTuple):
    """Bytes of the interpreter's records."""

    base: int
    """The interpreter, its allocators and planners."""
    eval_tensor: int
    """For every tensor."""
    tensor: int
    """For each of the model's inputs and outputs."""
    node: int
    """For every operator."""
    handle: int
    """For every piece of scratch memory."""
    quantisation: int
    """For the scales of an input or output."""


RECORDS: Mapping[int, Records] = {
    64: Records(584, 24, 64, 64, 8, 24),
    32: Records(300, 12, 40, 32, 4, 12),
}
"""By the bits of a pointer. The base is for an interpreter that counts its allocations; without counting it is less than half."""
_KEPT: Mapping[str, int] = {
    name: size
    for size, names in {
        0: "NEG SIN COS LOG SQRT SQUARE EXP FLOOR CEIL ROUND ZEROS_LIKE CAST MAXIMUM MINIMUM TRANSPOSE LOGICAL_NOT SHAPE SLICE EXPAND_DIMS ARG_MAX ARG_MIN READ_VARIABLE ASSIGN_VARIABLE",
        8: "RESIZE_NEAREST_NEIGHBOR RESIZE_BILINEAR SPLIT SPLIT_V BATCH_TO_SPACE_ND BROADCAST_TO",
        16: "RELU6 LOGISTIC TANH PACK UNPACK SELECT_V2 SPACE_TO_BATCH_ND GATHER_ND ADD_N",
        24: "IF WHILE CALL_ONCE",
        32: "RELU ABS RSQRT HARD_SWISH LEAKY_RELU QUANTIZE DEQUANTIZE PRELU EQUAL NOT_EQUAL LESS LESS_EQUAL GREATER GREATER_EQUAL RESHAPE L2_NORMALIZATION GATHER SQUEEZE",
        48: "MUL DIV SPACE_TO_DEPTH DEPTH_TO_SPACE MIRROR_PAD CUMSUM LOG_SOFTMAX",
        64: "ADD PAD PADV2",
        80: "VAR_HANDLE SUB AVERAGE_POOL_2D MAX_POOL_2D CONCATENATION SOFTMAX MEAN SUM REDUCE_MAX REDUCE_MIN SVDF",
        104: "CONV_2D DEPTHWISE_CONV_2D",
        112: "FULLY_CONNECTED SQUARED_DIFFERENCE",
        128: "TRANSPOSE_CONV STRIDED_SLICE BATCH_MATMUL",
        256: "ELU",
        664: "UNIDIRECTIONAL_SEQUENCE_LSTM",
    }.items()
    for name in names.split()
}
"""Bytes that a kernel keeps, including its parameters."""
_OF_SOUND: Mapping[str, Callable[[TensorRow], int]] = {
    "SignalWindow": lambda out: 16,
    "SignalFftAutoScale": lambda out: 0,
    "SignalRfft": lambda out: 48 + _transform(_last(out) - 2, out),
    "SignalIrfft": lambda out: (48 if out.type.name == "float32" else 32) + _transform(_last(out), out),
    "SignalEnergy": lambda out: 16,
    "SignalFilterBank": lambda out: 64 + _aligned(8 * (out.elements + 1)),
    "SignalFilterBankSquareRoot": lambda out: 0,
    "SignalFilterBankSpectralSubtraction": lambda out: 64 + _aligned(4 * out.elements),
    "SignalPCAN": lambda out: 16,
    "SignalFilterBankLog": lambda out: 16,
}
"""The same of kernels of the audio front end, by their first result: parameters, and channels or twiddle factors."""
_BY_CHANNEL = frozenset(("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"))
"""These also keep a multiplier and a shift for each channel."""


@dataclass(frozen=True, slots=True)
class Tail:
    """The estimated contents of the tail."""

    parts: tuple[tuple[str, int], ...]
    unknown: tuple[str, ...]
    """Operators whose kernels are unknown; nothing is counted for them."""

    @property
    def size(self) -> int:
        return sum(size for _, size in self.parts)


def estimated_tail(model: Model, bits: int = 64) -> Tail:
    """Return what TFLite Micro keeps for the model besides what is planned, with pointers of `bits` bits."""
    record = RECORDS[bits]
    operators = [(each, operator) for each in model.subgraphs for operator in each.operators]
    main = model.subgraphs[0]
    ports = [main.tensors[i] for i in (*main.inputs, *main.outputs) if i >= 0]
    variables = [
        tensor
        for s, each in enumerate(model.subgraphs)
        for i, tensor in enumerate(each.tensors)
        if tensor.is_variable and not is_placed(model, s, i)
    ]
    pieces = sum(len(scratch_bytes(subgraph, operator)) for subgraph, operator in operators)
    names = [operator.custom or operator.code for _, operator in operators]
    parts = (
        ("interpreter", record.base),
        ("tensors", record.eval_tensor * model.first_tensors[-1]),
        ("inputs and outputs", sum(record.tensor + _scales(port.channels, record) for port in ports)),
        ("operators", record.node * len(operators)),
        ("kernels", sum(_kept(subgraph, operator) for subgraph, operator in operators) + record.handle * pieces),
        ("variables", sum(_aligned(each.elements * (each.type.micro_bytes or 0)) for each in variables)),
        ("resource variables", sum(_aligned(-(-bits // 8)) for bits in Variables(model).bits.values())),
    )
    return Tail(parts, tuple(name for name in dict.fromkeys(names) if name not in _KEPT and name not in _OF_SOUND))


def most_scratch(problem: Problem) -> int:
    """Return the most scratch memory at one step, in a problem by TFLite Micro's rules."""
    needed: Counter[Interval] = Counter()
    for buffer in problem.buffers:
        if buffer.kind == SCRATCH:
            for interval in buffer.live or ():
                needed[interval] += buffer.size
    return max(needed.values(), default=0)


def _kept(subgraph: SubgraphRow, operator: OperatorRow) -> int:
    name = operator.custom or operator.code
    found = _KEPT.get(name, 0)
    output = subgraph.tensors[operator.outputs[0]] if operator.outputs and operator.outputs[0] >= 0 else None
    if name in _OF_SOUND and output is not None:
        found += _OF_SOUND[name](output)
    if name in _BY_CHANNEL and output is not None and output.shape:
        found += 2 * _aligned(4 * output.shape[-1])
    if name == "BATCH_MATMUL":
        found += _turned(subgraph, operator)
    return found


def _transform(length: int, out: TensorRow) -> int:
    """Return the bytes of kiss_fft's state for a real transform of this length: its factors and twiddle factors, and room for one half."""
    complex_, half = 2 * (out.type.micro_bytes or 0), max(length, 2) // 2
    inner = 264 + complex_ * half
    return _aligned(24 + inner + complex_ * (half * 3 // 2))


def _last(tensor: TensorRow) -> int:
    return tensor.shape[-1] if tensor.shape else 0


def _turned(subgraph: SubgraphRow, operator: OperatorRow) -> int:
    """Return the bytes of the transposed copies of factors: of the second one if it is not stored by columns, of the first if it is."""
    options = operator.options
    is_turned = (
        options is not None and options.byte(0, "adj_x") != 0,
        options is None or options.byte(1, "adj_y") == 0,
    )
    factors = [subgraph.tensors[i] for i in operator.inputs if i >= 0]
    sizes = (_aligned(each.elements * (each.type.micro_bytes or 0)) for each in factors)
    return sum(size for size, turned in zip(sizes, is_turned, strict=False) if turned)


def _scales(channels: int, record: Records) -> int:
    return record.quantisation + 4 + 4 * channels if channels else 0


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
