"""Rules of the domain com.microsoft: what ONNX Runtime fuses and quantizes. A scale and a zero point follow each quantized input."""

from __future__ import annotations

from dataclasses import replace

from .. import dims as d
from ..dims import Dim, Shape
from ..model import FLOAT, INT8, INT32, UINT8
from .layers import gemm, global_pool, pool, product_shape
from .layout import concat
from .site import ShapeError, Site, Type, axis_of, broadcast


def _taken(at: Site, *inputs: int) -> Site:
    """Return the operator as one of these inputs alone."""
    return replace(at, inputs=tuple(at.inputs[i] for i in inputs), values=tuple(at.values[i] for i in inputs))


def fused_matmul(at: Site) -> list[Type]:
    """MatMul, which may transpose its inputs."""
    a, b = at.rank(0, 1), at.rank(1, 1)
    turned = [
        (*s[:-2], s[-1], s[-2]) if len(s) > 1 and at.number(n, 0) else s for s, n in ((a, "transA"), (b, "transB"))
    ]
    return [Type(at.element(), product_shape(*turned))]


def dequantized_matmul(at: Site) -> list[Type]:
    """Return a product in the type of the scale of one of the factors."""
    return [Type(at.element(2), product_shape(at.shape(0), at.shape(1)))]


def packed_matmul(at: Site) -> list[Type]:
    """Return a product with weights of N columns, which are packed in blocks of few bits."""
    columns = at.number("N", 0)
    if columns < 1:
        raise ShapeError("N says how many columns its weights have")
    return [Type(at.element(), (*at.rank(0, 1)[:-1], columns))]


def quantized_gemm(at: Site) -> list[Type]:
    shape = gemm(_taken(at, 0, 3))[0].shape
    return [Type(at.element(8) if at.has(8) else FLOAT, shape)]


def quantized_joined(at: Site) -> list[Type]:
    return [Type(at.element(), broadcast((at.shape(0), at.shape(3))))]


def quantized_concat(at: Site) -> list[Type]:
    return concat(_taken(at, *range(2, len(at.inputs), 3)))


def quantized_pool(at: Site) -> list[Type]:
    """Return a pool whose channels may come last."""
    rule = pool if at.node.operator == "QLinearAveragePool" else global_pool
    x = at.rank(0, 2)
    if not at.number("channels_last", 0):
        return rule(at)[:1]
    turned = Type(at.element(), (x[0], x[-1], *x[1:-1]))
    found = rule(replace(at, inputs=(turned,)))[0].shape
    return [Type(at.element(), (found[0], *found[2:], found[1]))]


def split_gelu(at: Site) -> list[Type]:
    x = at.rank(0, 1)
    return [Type(at.element(), (*x[:-1], d.down(x[-1], 2)))]


def skip_layer_norm(at: Site) -> list[Type]:
    x = at.shape(0)
    reduced = Type(FLOAT, (*x[:-1], 1))
    return [at.given(0), reduced, reduced, at.given(0)]


def embedded(at: Site) -> list[Type]:
    """Return a row for each word, the number of words of each text, and the rows before they are normalised."""
    words, table = at.rank(0, 2), at.rank(2, 2)
    rows = Type(at.element(2), (*words, table[1]))
    return [rows, Type(INT32, words[:1]), rows]


def self_attention(at: Site) -> list[Type]:
    """Return Attention and QAttention, whose weights make queries, keys and values of one input."""
    x, weights, heads = at.rank(0, 3), at.rank(1, 2), at.number("num_heads", 0)
    is_quantized = at.node.operator == "QAttention"
    sizes: Shape = at.numbers("qkv_hidden_sizes") or (d.down(weights[1], 3),) * 3
    if heads < 1 or len(sizes) != 3:
        raise ShapeError("num_heads, and three sizes if any, are needed")
    past = 8 if is_quantized else 4
    rows = d.add(x[1], at.rank(past, 5)[3]) if at.has(past) else x[1]
    element = at.element(2) if is_quantized else at.element()
    return [Type(element, (*x[:2], sizes[2])), Type(element, (2, x[0], heads, rows, d.down(sizes[1], heads)))]


def heads_attention(at: Site) -> list[Type]:
    """Return MultiHeadAttention, with keys and values for what follows. All three can be packed in the first input, or keys and values in the second."""
    q, heads = at.rank(0, 3), at.number("num_heads", 0)
    if heads < 1:
        raise ShapeError("num_heads is needed")
    if len(q) == 5:
        rows, width = q[1], d.mul(q[2], q[4])
    elif not at.has(1):
        raise ShapeError("without keys, the queries must hold them too, in 5 dimensions")
    else:
        k = at.rank(1, 3)
        rows = k[2] if len(k) == 4 else k[1]
        width = d.mul(k[2], k[4]) if len(k) == 5 else _width(at.rank(2, 3))
    if at.has(6):
        rows = d.add(rows, at.rank(6, 4)[2])
    k_size = d.down(_width(q) if len(q) == 3 else width, heads)
    element = at.element()
    kept = [Type(element, (q[0], heads, rows, size)) for size in (k_size, d.down(width, heads))]
    return [Type(element, (*q[:2], width)), *kept]


def _width(x: Shape) -> Dim:
    """Return the length of all heads together."""
    return x[2] if len(x) == 3 else d.mul(x[1], x[3])


def grouped_attention(at: Site) -> list[Type]:
    """Return GroupQueryAttention, with keys and values for what follows: as many as there were and are new, or as there is room for."""
    q, heads, kv_heads = at.rank(0, 3), at.number("num_heads", 0), at.number("kv_num_heads", 0)
    if heads < 1 or kv_heads < 1:
        raise ShapeError("num_heads and kv_num_heads are needed")
    size = d.down(q[2], heads if at.has(1) else heads + 2 * kv_heads)
    rows: Dim = q[1]
    if at.has(3):
        before = at.rank(3, 4)[2]
        total = at.dims(6)
        rows = d.most(before, total[0]) if total else d.add(before, rows)
    kept = Type(at.element(), (q[0], kv_heads, rows, size))
    return [Type(at.element(), (*q[:2], d.mul(size, heads))), kept, kept]


PACKED = (UINT8, INT8)
"""Types of bytes, each of which holds several numbers."""


def gathered_blocks(at: Site) -> list[Type]:
    """Return rows of a table that is packed in blocks of few bits."""
    table, indices = list(at.rank(0, 1)), at.shape(1)
    axis = axis_of(at.number("gather_axis", 0), len(table))
    bits = at.number("bits", 4)
    if bits not in (2, 4, 8):
        raise ShapeError("its numbers have 2, 4 or 8 bits")
    if at.element() in PACKED:
        table[-1] = d.mul(table[-1], 8 // bits)
    return [Type(at.element(2), (*table[:axis], *indices, *table[axis + 1 :]))]
