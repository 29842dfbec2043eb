"""Memory of TFLite Micro's kernels besides their tensors: an estimate, from the requests of its reference kernels.

The table of known kernels was measured on x86-64 and read from their sources. Kernels tuned for a processor (CMSIS-NN, Xtensa, Arm Ethos-U)
request other amounts; nothing is known about operators that are not in the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from .model import Model, OperatorRow, SubgraphRow, TensorRow
from .schema import OPERATORS

Tensors: TypeAlias = Sequence[TensorRow | None]
"""The inputs or outputs of an operator; None: left out."""


def scratch_bytes(subgraph: SubgraphRow, operator: OperatorRow) -> tuple[int, ...]:
    """Return the requests of the operator's kernel while it runs: bytes of each piece."""
    rule = _SCRATCH.get(operator.custom or operator.code)
    return () if rule is None else rule(_of(subgraph, operator.inputs), _of(subgraph, operator.outputs))


def _of(subgraph: SubgraphRow, numbers: Sequence[int]) -> Tensors:
    return [subgraph.tensors[i] if i >= 0 else None for i in numbers]


def _type(tensors: Tensors, i: int) -> str:
    tensor = tensors[i] if i < len(tensors) else None
    return "" if tensor is None else tensor.type.name


def _extent(tensors: Tensors, i: int, d: int) -> int:
    tensor = tensors[i] if i < len(tensors) else None
    return tensor.shape[d] if tensor is not None and -len(tensor.shape) <= d < len(tensor.shape) else 0


def _elements(tensors: Tensors, i: int) -> int:
    tensor = tensors[i] if i < len(tensors) else None
    return 0 if tensor is None else tensor.elements


def _rank(tensors: Tensors, i: int) -> int:
    tensor = tensors[i] if i < len(tensors) else None
    return 0 if tensor is None else len(tensor.shape)


def _unpacked(inputs: Tensors, outputs: Tensors) -> tuple[int, ...]:
    """Weights of less than a byte are unpacked before use."""
    return (_elements(inputs, 1),) if _type(inputs, 1) == "int4" else ()


def _lstm(inputs: Tensors, outputs: Tensors) -> tuple[int, ...]:
    """Four gates, each as large as the state of a batch."""
    if len(inputs) < 20:
        return ()
    size = 4 if _type(inputs, 0) == "float32" else 2
    return (_elements(inputs, 19) * size,) * 4


def _svdf(inputs: Tensors, outputs: Tensors) -> tuple[int, ...]:
    found = _extent(inputs, 0, 0) * _extent(inputs, 1, 0) * 4
    return (found,) if _type(inputs, 0) == "float32" else (found, _elements(outputs, 0) * 4)


def _mean(inputs: Tensors, outputs: Tensors) -> tuple[int, ...]:
    """Indices and axes, and full sums of whole numbers."""
    sums = (_elements(outputs, 0) * 4,) if _type(inputs, 0) in ("int8", "uint8", "int16") else ()
    return (*_extreme(inputs, outputs), *sums)


def _extreme(inputs: Tensors, outputs: Tensors) -> tuple[int, ...]:
    return (4 * _rank(inputs, 0), 4 * _elements(inputs, 1))


def _mirror(inputs: Tensors, outputs: Tensors) -> tuple[int, ...]:
    return (4 * _rank(inputs, 0),) * 2


def _pointers(inputs: Tensors, outputs: Tensors) -> tuple[int, ...]:
    return (8 * len(inputs),)


def _transposed_convolution(inputs: Tensors, outputs: Tensors) -> tuple[int, ...]:
    each = {"int8": 4, "int16": 8}.get(_type(inputs, 2), 0)
    return (_elements(outputs, 0) * each,) if each else ()


def _fourier(inputs: Tensors, outputs: Tensors) -> tuple[int, ...]:
    """Return the bytes of the transformed elements: two fewer than a row of the result has."""
    tensor = outputs[0] if outputs else None
    return () if tensor is None else (max(_extent(outputs, 0, -1) - 2, 0) * (tensor.type.micro_bytes or 0),)


_SCRATCH: Mapping[str, Callable[[Tensors, Tensors], tuple[int, ...]]] = {
    "CONV_2D": _unpacked,
    "DEPTHWISE_CONV_2D": _unpacked,
    "FULLY_CONNECTED": _unpacked,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _lstm,
    "SVDF": _svdf,
    "MEAN": _mean,
    "SUM": _mean,
    "ADD_N": _pointers,
    "MIRROR_PAD": _mirror,
    "REDUCE_MAX": _extreme,
    "REDUCE_MIN": _extreme,
    "TRANSPOSE_CONV": _transposed_convolution,
    "SignalRfft": _fourier,
}
"""Kernels that request scratch memory; built-in ones that are not here request none."""


def unknown_kernels(model: Model) -> tuple[str, ...]:
    """Return the model's operators with unknown kernels, each once."""
    known = {*OPERATORS.values(), *_SCRATCH, *_SIGNAL}
    used = {operator.custom or operator.code: None for subgraph in model.subgraphs for operator in subgraph.operators}
    return tuple(name for name in used if name not in known)


_OF_SOUND = """SignalWindow SignalFftAutoScale SignalEnergy SignalFilterBank SignalFilterBankSquareRoot SignalPCAN SignalFilterBankLog
SignalFilterBankSpectralSubtraction SignalFramer SignalStacker SignalDelay SignalOverlapAdd"""
_SIGNAL = frozenset(_OF_SOUND.split())
"""Kernels of the audio front end that request none."""
