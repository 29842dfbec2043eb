"""How large TFLite Micro's arena has to be: what the plan puts into its head, and an estimate of its tail.

The tail holds what lives as long as the interpreter: its own records, what kernels prepare, and variable tensors. The figures are those of a 64-bit build
with reference kernels, measured model by model and kernel by kernel; on a 32-bit processor pointers, and most of the records, are half as large.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ....model.problem import Interval, Problem
from .kernels import scratch_bytes
from .micro import ALIGNMENT, SCRATCH
from .model import Model, OperatorRow, SubgraphRow
from .variables import Variables

_BASE = 584
"""The interpreter, its allocators and planners."""
_EVAL_TENSOR, _TENSOR, _NODE, _HANDLE, _QUANTISATION = 24, 64, 64, 8, 24
"""Records: of every tensor, of the model's inputs and outputs, of every operator, of every piece of scratch memory, of the scales of an input or output."""
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
"""Bytes that a kernel keeps, together with its parameters."""
_BY_CHANNEL = frozenset(("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"))
"""They keep a multiplier and a shift for each channel besides."""


@dataclass(frozen=True, slots=True)
class Tail:
    """What the tail holds, estimated."""

    parts: tuple[tuple[str, int], ...]
    unknown: tuple[str, ...]
    """Operators of whose kernels it is not known what they keep; nothing is counted for them."""

    @property
    def size(self) -> int:
        return sum(size for _, size in self.parts)


def estimated_tail(model: Model) -> Tail:
    """What TFLite Micro keeps for the model besides what is planned."""
    operators = [(each, operator) for each in model.subgraphs for operator in each.operators]
    main = model.subgraphs[0]
    ports = [main.tensors[i] for i in (*main.inputs, *main.outputs) if i >= 0]
    variables = [tensor for each in model.subgraphs for tensor in each.tensors if tensor.is_variable]
    pieces = sum(len(scratch_bytes(subgraph, operator)) for subgraph, operator in operators)
    names = [operator.custom or operator.code for _, operator in operators]
    parts = (
        ("interpreter", _BASE),
        ("tensors", _EVAL_TENSOR * model.first_tensors[-1]),
        ("inputs and outputs", sum(_TENSOR + (_port(port.channels) if port.channels else 0) for port in ports)),
        ("operators", _NODE * len(operators)),
        ("kernels", sum(_kept(subgraph, operator) for subgraph, operator in operators) + _HANDLE * pieces),
        ("variables", sum(_aligned(each.elements * (each.type.micro_bytes or 0)) for each in variables)),
        ("resource variables", sum(_aligned(-(-bits // 8)) for bits in Variables(model).bits.values())),
    )
    return Tail(parts, tuple(name for name in dict.fromkeys(names) if name not in _KEPT))


def most_scratch(problem: Problem) -> int:
    """The most that kernels need at one step, of a problem as TFLite Micro has it."""
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
    if name in _BY_CHANNEL and output is not None and output.shape:
        found += 2 * _aligned(4 * output.shape[-1])
    if name == "BATCH_MATMUL":
        found += _turned(subgraph, operator)
    return found


def _turned(subgraph: SubgraphRow, operator: OperatorRow) -> int:
    """Copies of factors: of the second one if it does not stand as columns, of the first if it does."""
    options = operator.options
    is_turned = (
        options is not None and options.byte(0, "adj_x") != 0,
        options is None or options.byte(1, "adj_y") == 0,
    )
    factors = [subgraph.tensors[i] for i in operator.inputs if i >= 0]
    sizes = (_aligned(each.elements * (each.type.micro_bytes or 0)) for each in factors)
    return sum(size for size, turned in zip(sizes, is_turned, strict=False) if turned)


def _port(channels: int) -> int:
    return _QUANTISATION + 4 + 4 * channels


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
