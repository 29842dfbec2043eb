"""The shapes that operators of com.microsoft give out are those that ONNX Runtime 1.32 gave out, run on the same inputs."""

from __future__ import annotations

from math import prod
from typing import Any

import pytest

from planner import BadInput, read_problem
from planner.formats.models.onnx.model import BITS, FLOAT, INT8, INT32, INT64, UINT8
from tests.planner.formats.models.onnx.models import graph, model, node, tensor, value

Given = tuple[tuple[int, ...], int]
NOTHING: Given = ((), 0)
SCALE, ZERO = ((), FLOAT), ((), UINT8)
TOTAL: Given = ((), INT64)


def f(*shape: int) -> Given:
    return shape, FLOAT


def u(*shape: int) -> Given:
    return shape, UINT8


def i(*shape: int) -> Given:
    return shape, INT8


def n(*shape: int) -> Given:
    return shape, INT64


QUANTIZED = [SCALE, ZERO]
HEADS = {"num_heads": 2}
GROUPS = {"num_heads": 4, "kv_num_heads": 2}
NO = [NOTHING]


@pytest.mark.parametrize(
    ("operator", "more", "inputs", "results"),
    [
        ("DynamicQuantizeMatMul", {}, [f(2, 3, 8), i(8, 5), SCALE], [f(2, 3, 5)]),
        ("MatMulIntegerToFloat", {}, [u(2, 3, 8), i(8, 5), SCALE, SCALE], [f(2, 3, 5)]),
        ("MatMulNBits", {"K": 64, "N": 10, "bits": 4, "block_size": 32}, [f(2, 3, 64), u(10, 2, 16), f(10, 2)], [f(2, 3, 10)]),
        ("QGemm", {"transB": 1}, [u(4, 8), *QUANTIZED, i(5, 8), *QUANTIZED, *NO, *QUANTIZED], [u(4, 5)]),
        ("QGemm", {"transB": 1}, [u(4, 8), *QUANTIZED, i(5, 8), *QUANTIZED], [f(4, 5)]),
        ("QLinearAdd", {}, [u(2, 3, 4), *QUANTIZED, u(3, 1), *QUANTIZED, *QUANTIZED], [u(2, 3, 4)]),
        ("QLinearMul", {}, [u(3, 1), *QUANTIZED, u(2, 3, 4), *QUANTIZED, *QUANTIZED], [u(2, 3, 4)]),
        ("QLinearAveragePool", {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}, [u(1, 3, 17, 20), *QUANTIZED], [u(1, 3, 9, 10)]),
        ("QLinearAveragePool", {"kernel_shape": [3, 3], "strides": [2, 2], "channels_last": 1}, [u(1, 17, 20, 3), *QUANTIZED], [u(1, 8, 9, 3)]),
        ("QLinearGlobalAveragePool", {}, [u(2, 3, 7, 9), *QUANTIZED], [u(2, 3, 1, 1)]),
        ("QLinearGlobalAveragePool", {"channels_last": 1}, [u(2, 7, 9, 3), *QUANTIZED], [u(2, 1, 1, 3)]),
        ("QLinearConcat", {"axis": 1}, [*QUANTIZED, u(2, 3, 4), *QUANTIZED, u(2, 5, 4), *QUANTIZED], [u(2, 8, 4)]),
        (
            "DynamicQuantizeLSTM", {"hidden_size": 6, "direction": "bidirectional"},
            [f(7, 2, 5), i(2, 5, 24), i(2, 6, 24)], [f(7, 2, 2, 6), f(2, 2, 6), f(2, 2, 6)],
        ),
        ("Attention", HEADS, [f(2, 5, 8), f(8, 24), f(24), *NO, f(2, 2, 2, 3, 4)], [f(2, 5, 8), f(2, 2, 2, 8, 4)]),
        ("Attention", HEADS | {"qkv_hidden_sizes": [8, 8, 12]}, [f(2, 5, 8), f(8, 28), f(28)], [f(2, 5, 12)]),
        ("QAttention", HEADS, [u(2, 5, 8), i(8, 24), f(24), SCALE, SCALE], [f(2, 5, 8)]),
        ("EmbedLayerNormalization", {}, [n(2, 5), *NO, f(9, 8), f(6, 8)], [f(2, 5, 8), ((2,), INT32), f(2, 5, 8)]),
        ("MultiHeadAttention", HEADS, [f(2, 5, 8), f(2, 7, 8), f(2, 7, 12)], [f(2, 5, 12)]),
        ("MultiHeadAttention", HEADS, [f(2, 5, 8), f(2, 2, 7, 4), f(2, 2, 7, 4)], [f(2, 5, 8)]),
        ("MultiHeadAttention", HEADS, [f(2, 5, 8), f(2, 7, 8), f(2, 7, 8)], [f(2, 5, 8), f(2, 2, 7, 4), f(2, 2, 7, 4)]),
        (
            "MultiHeadAttention", HEADS,
            [f(2, 5, 8), f(2, 5, 8), f(2, 5, 8), *NO, *NO, *NO, f(2, 2, 3, 4), f(2, 2, 3, 4)],
            [f(2, 5, 8), f(2, 2, 8, 4), f(2, 2, 8, 4)],
        ),
        (
            "GroupQueryAttention", GROUPS, [f(2, 5, 32), f(2, 5, 16), f(2, 5, 16), *NO, *NO, n(2)],
            [f(2, 5, 32), f(2, 2, 5, 8), f(2, 2, 5, 8)],
        ),
        (
            "GroupQueryAttention", GROUPS, [f(2, 1, 64), *NO, *NO, f(2, 2, 6, 8), f(2, 2, 6, 8), n(2), TOTAL],
            [f(2, 1, 32), f(2, 2, 7, 8), f(2, 2, 7, 8)],
        ),
        (
            "GroupQueryAttention", GROUPS, [f(2, 1, 64), *NO, *NO, f(2, 2, 16, 8), f(2, 2, 16, 8), n(2), TOTAL],
            [f(2, 1, 32), f(2, 2, 16, 8), f(2, 2, 16, 8)],
        ),
        ("GatherBlockQuantized", {"quantize_axis": 1, "block_size": 16}, [u(9, 16), n(2, 3), f(9, 2)], [f(2, 3, 32)]),
        ("SkipLayerNormalization", {}, [f(2, 3, 8), f(2, 3, 8), f(8)], [f(2, 3, 8), f(2, 3, 1), f(2, 3, 1), f(2, 3, 8)]),
    ],
)  # fmt: skip
def test_results_are_as_large_as_onnx_runtime_s(
    operator: str, more: dict[str, Any], inputs: list[Given], results: list[Given]
) -> None:
    names = [f"x{at}" for at in range(len(inputs))]
    outputs = [f"y{at}" for at in range(len(results))]
    said = ["-" if given is NOTHING else name for name, given in zip(names, inputs, strict=True)]
    constants = [tensor(name, [7], []) for name, given in zip(names, inputs, strict=True) if given is TOTAL]
    made = graph(
        [node(operator, " ".join(said), " ".join(outputs), domain="com.microsoft", **more)],
        [value(name, *given) for name, given in zip(names, inputs, strict=True) if given not in (NOTHING, TOTAL)],
        [value(name, None) for name in outputs],
        constants,
    )
    problem, _ = read_problem(model(made), format="onnx")
    sizes = {buffer.id: buffer.size for buffer in problem.buffers}
    assert [sizes[name] for name in outputs] == [prod(shape) * BITS[element] // 8 for shape, element in results]


@pytest.mark.parametrize(
    ("operator", "more", "inputs"),
    [
        ("GatherBlockQuantized", {"bits": 0}, [u(9, 16), n(2, 3), f(9, 2)]),
        ("GatherBlockQuantized", {"bits": 16}, [u(9, 16), n(2, 3), f(9, 2)]),
        ("MatMulNBits", {}, [f(2, 64), u(10, 2, 16), f(10, 2)]),
        ("MatMulNBits", {"N": -1}, [f(2, 64), u(10, 2, 16), f(10, 2)]),
        ("QGemm", {}, [u(4, 8), SCALE]),
        ("Attention", {"num_heads": 0}, [f(2, 5, 8), f(8, 24)]),
        ("MultiHeadAttention", HEADS, [f(2, 5, 8)]),
        ("GroupQueryAttention", {"num_heads": 4}, [f(2, 5, 32), f(2, 5, 16)]),
    ],
)
def test_wrong_attributes_and_missing_inputs_are_refused(
    operator: str, more: dict[str, Any], inputs: list[Given]
) -> None:
    names = [f"x{at}" for at in range(len(inputs))]
    made = graph(
        [node(operator, " ".join(names), "y", domain="com.microsoft", **more)],
        [value(name, *given) for name, given in zip(names, inputs, strict=True)],
        [value("y", None)],
    )
    with pytest.raises(BadInput) as caught:
        read_problem(model(made), format="onnx")
    assert caught.value.findings[0].pointer == "/graph/node/0"
