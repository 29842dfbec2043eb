"""Rules of network layers: matrix products, convolutions, pooling, norms, recurrent layers, attention."""

from __future__ import annotations

from itertools import chain

from .....checks.report import quoted
from .. import dims as d
from ..dims import Dim, Shape
from ..model import FLOAT, INT32, INT64, UINT8
from .site import ShapeError, Site, Type, broadcast


def product_shape(a: Shape, b: Shape) -> Shape:
    """Return the shape of numpy's matmul."""
    if not a or not b:
        raise ShapeError("a number has no product of matrices")
    left = (1, *a) if len(a) == 1 else a
    right = (*b, 1) if len(b) == 1 else b
    if left[-1] != right[-2] and isinstance(left[-1], int) and isinstance(right[-2], int):
        raise ShapeError(f"dimensions of {left[-1]} and {right[-2]} do not go together")
    rows = () if len(a) == 1 else (left[-2],)
    columns = () if len(b) == 1 else (right[-1],)
    return (*broadcast((left[:-2], right[:-2])), *rows, *columns)


def matmul(at: Site) -> list[Type]:
    return [Type(at.element(), product_shape(at.shape(0), at.shape(1)))]


def matmul_integer(at: Site) -> list[Type]:
    return [Type(INT32, product_shape(at.shape(0), at.shape(1)))]


def qlinear_matmul(at: Site) -> list[Type]:
    return [Type(at.element(7) if at.has(7) else at.element(), product_shape(at.shape(0), at.shape(3)))]


def gemm(at: Site) -> list[Type]:
    a, b = at.rank(0, 2), at.rank(1, 2)
    rows = a[1] if at.number("transA", 0) else a[0]
    columns = b[0] if at.number("transB", 0) else b[1]
    return [Type(at.element(), (rows, columns))]


def _window(at: Site, space: Shape, kernel: Shape, *, ceil: bool = False) -> Shape:
    """Return the output dimensions of a window that moves over space."""
    n = len(space)
    strides = at.numbers("strides") or (1,) * n
    dilations = at.numbers("dilations") or (1,) * n
    pads = at.numbers("pads") or (0,) * 2 * n
    auto = at.text("auto_pad", "NOTSET")
    if not len(strides) == len(dilations) == len(kernel) == n or len(pads) != 2 * n:
        raise ShapeError(f"strides, dilations, pads and kernel do not fit its {n} dimensions of space")
    if min(chain(strides, dilations), default=1) < 1:
        raise ShapeError("strides and dilations are 1 or more")
    found: list[Dim] = []
    for i, size in enumerate(space):
        if auto in ("SAME_UPPER", "SAME_LOWER"):
            found.append(d.up(size, strides[i]))
            continue
        padded = size if auto == "VALID" else d.add(size, pads[i] + pads[n + i])
        reach = d.add(d.mul(d.sub(kernel[i], 1), dilations[i]), 1)
        moves = d.sub(padded, reach)
        if isinstance(moves, int) and moves < 0:
            raise ShapeError(f"a window of {reach} does not fit into {padded}")
        many = d.add((d.up if ceil else d.down)(moves, strides[i]), 1)
        if ceil and isinstance(many, int) and isinstance(size, int) and (many - 1) * strides[i] >= size + pads[i]:
            many -= 1  # a window that begins in the padding at the end is left out
        found.append(many)
    return tuple(found)


def _convolved(at: Site, x: Shape, w: Shape) -> Shape:
    if len(w) != len(x) or len(x) < 2:
        raise ShapeError(f"data of {len(x)} dimensions and weights of {len(w)}")
    group, channels = _group(at), w[1]
    if isinstance(channels, int) and isinstance(x[1], int) and x[1] != group * channels:
        raise ShapeError(f"weights of {group} times {channels} channels, for data of {x[1]}")
    kernel: Shape = at.numbers("kernel_shape") or w[2:]
    return (x[0], w[0], *_window(at, x[2:], kernel))


def _group(at: Site) -> int:
    group = at.number("group", 1)
    if group < 1:
        raise ShapeError(f"{group} groups of channels")
    return group


def conv(at: Site) -> list[Type]:
    return [Type(at.element(), _convolved(at, at.shape(0), at.shape(1)))]


def conv_integer(at: Site) -> list[Type]:
    return [Type(INT32, _convolved(at, at.shape(0), at.shape(1)))]


def qlinear_conv(at: Site) -> list[Type]:
    return [Type(at.element(7) if at.has(7) else at.element(), _convolved(at, at.shape(0), at.shape(3)))]


def conv_transpose(at: Site) -> list[Type]:
    x, w = at.rank(0, 3), at.rank(1, 3)
    n = len(x) - 2
    kernel: Shape = at.numbers("kernel_shape") or w[2:]
    strides = at.numbers("strides") or (1,) * n
    dilations = at.numbers("dilations") or (1,) * n
    pads = at.numbers("pads") or (0,) * 2 * n
    more = at.numbers("output_padding") or (0,) * n
    channels = d.mul(w[1], _group(at))
    extents = at.numbers("output_shape")
    if extents:
        return [Type(at.element(), (x[0], channels, *extents[-n:]))]
    if not len(strides) == len(dilations) == len(kernel) == len(more) == n or len(pads) != 2 * n:
        raise ShapeError(f"strides, dilations, pads and kernel do not fit its {n} dimensions of space")
    auto = at.text("auto_pad", "NOTSET")
    space: list[Dim] = []
    for i in range(n):
        if auto in ("SAME_UPPER", "SAME_LOWER"):
            space.append(d.mul(x[2 + i], strides[i]))
            continue
        reach = d.add(d.mul(d.sub(kernel[i], 1), dilations[i]), 1)
        padding = 0 if auto == "VALID" else pads[i] + pads[n + i]
        grown = d.add(d.mul(d.sub(x[2 + i], 1), strides[i]), d.add(reach, more[i]))
        space.append(d.sub(grown, padding))
    return [Type(at.element(), (x[0], channels, *space))]


def pool(at: Site) -> list[Type]:
    x = at.rank(0, 2)
    kernel = at.numbers("kernel_shape")
    if kernel is None:
        raise ShapeError("a pool has a kernel_shape")
    shape = (*x[:2], *_window(at, x[2:], kernel, ceil=bool(at.number("ceil_mode", 0))))
    return [Type(at.element(), shape), Type(INT64, shape)]


def global_pool(at: Site) -> list[Type]:
    x = at.rank(0, 2)
    return [Type(at.element(), (*x[:2], *(1,) * (len(x) - 2)))]


def max_unpool(at: Site) -> list[Type]:
    shape = at.dims(2)
    if shape is not None:
        return [Type(at.element(), tuple(shape))]
    x, kernel = at.rank(0, 3), at.numbers("kernel_shape") or ()
    n = len(x) - 2
    strides, pads = at.numbers("strides") or (1,) * n, at.numbers("pads") or (0,) * 2 * n
    if not len(kernel) == len(strides) == n or len(pads) != 2 * n:
        raise ShapeError(f"strides, pads and kernel do not fit its {n} dimensions of space")
    space = [d.sub(d.add(d.mul(d.sub(x[2 + i], 1), strides[i]), kernel[i]), pads[i] + pads[n + i]) for i in range(n)]
    return [Type(at.element(), (*x[:2], *space))]


def max_roi_pool(at: Site) -> list[Type]:
    x, rois, pooled = at.rank(0, 4), at.rank(1, 1), at.numbers("pooled_shape") or ()
    return [Type(at.element(), (rois[0], x[1], *pooled))]


def roi_align(at: Site) -> list[Type]:
    x, rois = at.rank(0, 4), at.rank(1, 2)
    return [Type(at.element(), (rois[0], x[1], at.number("output_height", 1), at.number("output_width", 1)))]


def batch_norm(at: Site) -> list[Type]:
    statistics = Type(at.element(3) if at.has(3) else at.element(), at.shape(1))
    return [at.given(0), statistics, statistics, statistics, statistics]


def layer_norm(at: Site) -> list[Type]:
    x = at.shape(0)
    axis = at.axis(len(x), -1)
    reduced = Type(at.number("stash_type", FLOAT), (*x[:axis], *(1,) * (len(x) - axis)))
    return [at.given(0), reduced, reduced]


def recurrent(at: Site) -> list[Type]:
    """RNN, GRU and LSTM."""
    x, r = at.rank(0, 3), at.rank(2, 3)
    directions = 2 if at.text("direction", "forward") == "bidirectional" else 1
    hidden = at.number("hidden_size", 0) or r[2]
    element = at.element()
    if at.number("layout", 0):
        state = Type(element, (x[0], directions, hidden))
        return [Type(element, (x[0], x[1], directions, hidden)), state, state]
    state = Type(element, (directions, x[1], hidden))
    return [Type(element, (x[0], directions, x[1], hidden)), state, state]


def attention(at: Site) -> list[Type]:
    q, k, v = at.rank(0, 3), at.rank(1, 3), at.rank(2, 3)
    heads, kv_heads = at.number("q_num_heads", 0), at.number("kv_num_heads", 0)
    if len(q) == 3:
        if heads < 1 or kv_heads < 1:
            raise ShapeError("with inputs of 3 dimensions, q_num_heads and kv_num_heads are needed")
        width = d.mul(d.down(v[2], kv_heads), heads)
        result: Shape = (*q[:2], width)
        batch, rows, keys, key_heads = q[0], q[1], k[1], kv_heads
        k_size, v_size = d.down(k[2], kv_heads), d.down(v[2], kv_heads)
        scores_heads: Dim = heads
    else:
        if not len(q) == len(k) == len(v) == 4:
            raise ShapeError("queries, keys and values have 3 dimensions, or 4")
        result = (*q[:3], v[3])
        batch, rows, keys, key_heads = q[0], q[2], k[2], k[1]  # type: ignore[assignment]
        k_size, v_size, scores_heads = k[3], v[3], q[1]
    if at.has(4):
        keys = d.add(keys, at.rank(4, 4)[2])
    element = at.element()
    return [
        Type(element, result),
        Type(element, (batch, key_heads, keys, k_size)),
        Type(element, (batch, key_heads, keys, v_size)),
        Type(element, (batch, scores_heads, rows, keys)),
    ]


def grid_sample(at: Site) -> list[Type]:
    x, grid = at.rank(0, 3), at.rank(1, 3)
    return [Type(at.element(), (*x[:2], *grid[1:-1]))]


def affine_grid(at: Site) -> list[Type]:
    size = at.dims(1) or []
    return [Type(at.element(), (size[0], *size[2:], len(size) - 2))]


def dynamic_quantize(at: Site) -> list[Type]:
    return [Type(UINT8, at.shape(0)), Type(FLOAT, ()), Type(UINT8, ())]


def quantize(at: Site) -> list[Type]:
    element = at.element(2) if at.has(2) else at.number("output_dtype", 0) or UINT8
    return [Type(element, at.shape(0))]


def dequantize(at: Site) -> list[Type]:
    return [Type(at.number("output_dtype", 0) or at.element(1), at.shape(0))]


def loss(at: Site) -> list[Type]:
    """NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss."""
    shape = at.shape(1) if at.text("reduction", "mean") == "none" else ()
    return [Type(at.element(), shape), at.given(0)]


def einsum(at: Site) -> list[Type]:
    """Letters are dimensions, three dots the unnamed ones."""
    text = at.text("equation", "").replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(at.inputs):
        raise ShapeError(f"its equation has {len(terms)} terms, and there are {len(at.inputs)} inputs")
    known: dict[str, Dim] = {}
    dotted: list[Shape] = []
    for i, term in enumerate(terms):
        shape = at.shape(i)
        before, dots, after = term.partition("...")
        if len(before) + len(after) > len(shape) or (not dots and len(before) != len(shape)):
            raise ShapeError(f"its term {quoted(term)} does not fit the {len(shape)} dimensions of input {i}")
        dotted.append(shape[len(before) : len(shape) - len(after)])
        for letter, dim in chain(
            zip(before, shape, strict=False), zip(after, shape[len(shape) - len(after) :], strict=True)
        ):
            known[letter] = broadcast(((known.get(letter, 1),), (dim,)))[0]
    inner = broadcast(dotted)
    if not arrow:
        letters = left.replace(",", "").replace(".", "")
        right = "..." + "".join(sorted(each for each in set(letters) if letters.count(each) == 1))
    before, dots, after = right.partition("...")
    if not set(before + after) <= known.keys():
        raise ShapeError("its result has letters that no term has")
    middle = inner if dots else ()
    return [Type(at.element(), (*(known[c] for c in before), *middle, *(known[c] for c in after)))]


def dft(at: Site) -> list[Type]:
    shape = list(at.rank(0, 2))
    length = at.dims(1)
    axis = (
        at.axis(len(shape), 1) if "axis" in at.node.attributes or not at.has(2) else (at.axes(len(shape), 2) or (0,))[0]
    )
    if not at.has(2) and "axis" not in at.node.attributes and at.opset >= 20:
        axis = len(shape) - 2
    if length:
        shape[axis] = length[0]
    if at.number("onesided", 0):
        if at.number("inverse", 0):
            shape[axis] = length[0] if length else d.mul(d.sub(shape[axis], 1), 2)
        else:
            shape[axis] = d.add(d.down(shape[axis], 2), 1)
    shape[-1] = 1 if at.number("onesided", 0) and at.number("inverse", 0) else 2
    return [Type(at.element(), tuple(shape))]


def stft(at: Site) -> list[Type]:
    signal, step = at.rank(0, 2), at.dims(1) or [1]
    frame = at.dims(3)
    length = frame[0] if frame else at.rank(2, 1)[0]
    frames = d.add(d.down(d.sub(signal[1], length), step[0]), 1)
    bins = d.add(d.down(length, 2), 1) if at.number("onesided", 1) else length
    return [Type(at.element(), (signal[0], frames, bins, 2))]
