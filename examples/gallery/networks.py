"""Graphs of well-known networks as ONNX models whose weights are all zero: shapes and operators, as their papers give them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import onnx
from onnx import TensorProto, helper
from onnx.shape_inference import infer_shapes

Shape = Sequence[int | str]


class Net:
    """A graph that grows operator by operator. Weights are sparse tensors without values, all zero: so the file is small, and whole."""

    def __init__(self, name: str, element: int = TensorProto.FLOAT) -> None:
        self.name, self.element = name, element
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.zeros: list[onnx.SparseTensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []

    def input(self, name: str, shape: Shape, element: int | None = None) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, self.element if element is None else element, shape))
        return name

    def output(self, name: str, shape: Shape) -> None:
        self.outputs.append(helper.make_tensor_value_info(name, self.element, shape))

    def weight(self, *shape: int) -> str:
        name = self._constant_name()
        values, indices = (helper.make_tensor(name, kind, [0], []) for kind in (self.element, TensorProto.INT64))
        self.zeros.append(helper.make_sparse_tensor(values, indices, shape))
        return name

    def numbers(self, *values: int) -> str:
        name = self._constant_name()
        self.constants.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
        return name

    def _constant_name(self) -> str:
        return f"weight{len(self.zeros) + len(self.constants)}"

    def op(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> str:
        """The name of its first output; the others are named after it."""
        name = f"{kind.lower()}{len(self.nodes)}"
        names = [name, *(f"{name}.{i}" for i in range(1, outputs))]
        self.nodes.append(helper.make_node(kind, inputs, names, name=name, **attributes))
        return name

    def model(self) -> onnx.ModelProto:
        """The graph with the shapes of all tensors, since shape inference does not look into sparse ones."""
        weights = [
            helper.make_tensor_value_info(each.values.name, each.values.data_type, each.dims) for each in self.zeros
        ]
        dense = self._model([*self.inputs, *weights])
        inferred = infer_shapes(dense, check_type=True, strict_mode=True).graph.value_info
        return self._model(self.inputs, value_info=inferred, sparse_initializer=self.zeros)

    def _model(self, inputs: Sequence[onnx.ValueInfoProto], **more: Any) -> onnx.ModelProto:
        graph = helper.make_graph(self.nodes, self.name, inputs, self.outputs, self.constants, **more)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])

    # Layers, as most networks have them.

    def conv(
        self, x: str, cin: int, cout: int, k: int = 3, stride: int = 1, groups: int = 1, act: str | None = "Relu"
    ) -> str:
        pad = k // 2
        weights = self.weight(cout, cin // groups, k, k)
        y = self.op(
            "Conv",
            x,
            weights,
            self.weight(cout),
            kernel_shape=[k, k],
            strides=[stride] * 2,
            pads=[pad] * 4,
            group=groups,
        )
        return y if act is None else self.op(act, y)

    def linear(self, x: str, cin: int, cout: int) -> str:
        return self.op("Add", self.op("MatMul", x, self.weight(cin, cout)), self.weight(cout))

    def norm(self, x: str, width: int) -> str:
        return self.op("LayerNormalization", x, self.weight(width), self.weight(width), axis=-1)

    def heads(self, x: str, length: int, count: int, width: int) -> str:
        """[1, length, count * width] as [1, count, length, width]."""
        return self.op("Transpose", self.op("Reshape", x, self.numbers(1, length, count, width)), perm=[0, 2, 1, 3])

    def attend(self, query: str, key: str, value: str, length: int, width: int) -> str:
        """Heads of queries over those of keys and values, [1, length, width]."""
        scores = self.op("Mul", self.op("MatMul", query, self.op("Transpose", key, perm=[0, 1, 3, 2])), self.weight(1))
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), value)
        return self.op("Reshape", self.op("Transpose", mixed, perm=[0, 2, 1, 3]), self.numbers(1, length, width))

    def attention(self, x: str, over: str, length: int, over_length: int, width: int, count: int) -> str:
        query = self.heads(self.linear(x, width, width), length, count, width // count)
        key = self.heads(self.linear(over, width, width), over_length, count, width // count)
        value = self.heads(self.linear(over, width, width), over_length, count, width // count)
        return self.linear(self.attend(query, key, value, length, width), width, width)

    def gelu(self, x: str) -> str:
        return self.op("Mul", x, self.op("Add", self.op("Erf", self.op("Mul", x, self.weight(1))), self.weight(1)))

    def feed(self, x: str, width: int, inner: int) -> str:
        return self.linear(self.gelu(self.linear(x, width, inner)), inner, width)


def mobilenet_v2() -> onnx.ModelProto:
    """MobileNetV2, 224 x 224."""
    net = Net("MobileNetV2")
    x = net.conv(net.input("image", (1, 3, 224, 224)), 3, 32, stride=2)
    width = 32
    for expand, out, count, stride in (
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
    ):  # fmt: skip
        for i in range(count):
            inner, step = width * expand, stride if i == 0 else 1
            y = net.conv(x, width, inner, 1) if expand > 1 else x
            y = net.conv(y, inner, inner, 3, step, groups=inner)
            y = net.conv(y, inner, out, 1, act=None)
            x = net.op("Add", x, y) if step == 1 and width == out else y
            width = out
    x = net.op("GlobalAveragePool", net.conv(x, 320, 1280, 1))
    net.output(net.linear(net.op("Flatten", x), 1280, 1000), (1, 1000))
    return net.model()


def resnet50() -> onnx.ModelProto:
    """ResNet-50, 224 x 224."""
    net = Net("ResNet-50")
    x = net.conv(net.input("image", (1, 3, 224, 224)), 3, 64, 7, 2)
    x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    width = 64
    for inner, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(count):
            step = stride if i == 0 else 1
            y = net.conv(net.conv(net.conv(x, width, inner, 1), inner, inner, 3, step), inner, 4 * inner, 1, act=None)
            same = x if i else net.conv(x, width, 4 * inner, 1, step, act=None)
            x = net.op("Relu", net.op("Add", y, same))
            width = 4 * inner
    net.output(net.linear(net.op("Flatten", net.op("GlobalAveragePool", x)), 2048, 1000), (1, 1000))
    return net.model()


def unet() -> onnx.ModelProto:
    """U-Net, 256 x 256, four levels: its skips are held while everything below them runs."""
    net = Net("U-Net")
    x, width, skips = net.input("image", (1, 1, 256, 256)), 1, []
    for level in range(4):
        out = 64 << level
        x = net.conv(net.conv(x, width, out), out, out)
        skips.append((x, out))
        x, width = net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), out
    x, width = net.conv(net.conv(x, width, 1024), 1024, 1024), 1024
    for skip, out in reversed(skips):
        x = net.op("ConvTranspose", x, net.weight(width, out, 2, 2), kernel_shape=[2, 2], strides=[2, 2])
        x = net.conv(net.conv(net.op("Concat", skip, x, axis=1), 2 * out, out), out, out)
        width = out
    net.output(net.conv(x, width, 2, 1, act=None), (1, 2, 256, 256))
    return net.model()


def densenet121() -> onnx.ModelProto:
    """DenseNet-121, 224 x 224: every layer reads all before it."""
    net = Net("DenseNet-121")
    x = net.op(
        "MaxPool",
        net.conv(net.input("image", (1, 3, 224, 224)), 3, 64, 7, 2),
        kernel_shape=[3, 3],
        strides=[2, 2],
        pads=[1] * 4,
    )
    width = 64
    for block, count in enumerate((6, 12, 24, 16)):
        for _ in range(count):
            y = net.conv(net.conv(net.op("Relu", x), width, 128, 1), 128, 32, 3, act=None)
            x, width = net.op("Concat", x, y, axis=1), width + 32
        if block < 3:
            x = net.conv(net.op("Relu", x), width, width // 2, 1, act=None)
            x, width = net.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2]), width // 2
    net.output(net.linear(net.op("Flatten", net.op("GlobalAveragePool", x)), width, 1000), (1, 1000))
    return net.model()


def bert_base() -> onnx.ModelProto:
    """BERT, base, 128 tokens."""
    net, width, length = Net("BERT base"), 768, 128
    ids = net.input("ids", (1, length), TensorProto.INT64)
    x = net.norm(net.op("Add", net.op("Gather", net.weight(30522, width), ids), net.weight(1, length, width)), width)
    for _ in range(12):
        x = net.norm(net.op("Add", x, net.attention(x, x, length, length, width, 12)), width)
        x = net.norm(net.op("Add", x, net.feed(x, width, 3072)), width)
    net.output(x, (1, length, width))
    return net.model()


def whisper_like() -> onnx.ModelProto:
    """An encoder of sounds and a decoder of 64 words that looks at it, like Whisper tiny."""
    net, width, count, sounds, words = Net("Whisper-like"), 384, 6, 1500, 64
    x = net.input("mel", (1, 80, 2 * sounds))
    for cin, stride in ((80, 1), (width, 2)):
        weights = (net.weight(width, cin, 3), net.weight(width))
        x = net.gelu(net.op("Conv", x, *weights, kernel_shape=[3], strides=[stride], pads=[1, 1]))
    x = net.op("Add", net.op("Transpose", x, perm=[0, 2, 1]), net.weight(1, sounds, width))
    for _ in range(4):
        y = net.norm(x, width)
        x = net.op("Add", x, net.attention(y, y, sounds, sounds, width, count))
        x = net.op("Add", x, net.feed(net.norm(x, width), width, 4 * width))
    heard = net.norm(x, width)
    ids = net.input("ids", (1, words), TensorProto.INT64)
    x = net.op("Add", net.op("Gather", net.weight(51865, width), ids), net.weight(1, words, width))
    for _ in range(4):
        y = net.norm(x, width)
        x = net.op("Add", x, net.attention(y, y, words, words, width, count))
        x = net.op("Add", x, net.attention(net.norm(x, width), heard, words, sounds, width, count))
        x = net.op("Add", x, net.feed(net.norm(x, width), width, 4 * width))
    net.output(net.op("MatMul", net.norm(x, width), net.weight(width, 51865)), (1, words, 51865))
    return net.model()


def llm_decode() -> onnx.ModelProto:
    """One step of a language model of 16 layers that has read 511 words: caches come in and go out one word longer."""
    net, width, count, past = Net("LLM decode step"), 2048, 32, 511
    head = width // count
    x = net.op("Gather", net.weight(32000, width), net.input("id", (1, 1), TensorProto.INT64))
    for layer in range(16):
        y = net.norm(x, width)
        query = net.heads(net.op("MatMul", y, net.weight(width, width)), 1, count, head)
        caches: dict[str, str] = {}
        for name in ("key", "value"):
            new = net.heads(net.op("MatMul", y, net.weight(width, width)), 1, count, head)
            held = net.input(f"{name}{layer}", (1, count, past, head))
            caches[name] = net.op("Concat", held, new, axis=2)
            net.output(caches[name], (1, count, past + 1, head))
        mixed = net.op("MatMul", net.attend(query, caches["key"], caches["value"], 1, width), net.weight(width, width))
        x = net.op("Add", x, mixed)
        y = net.norm(x, width)
        gate = net.op("MatMul", y, net.weight(width, 5632))
        inner = net.op(
            "Mul", net.op("Mul", gate, net.op("Sigmoid", gate)), net.op("MatMul", y, net.weight(width, 5632))
        )
        x = net.op("Add", x, net.op("MatMul", inner, net.weight(5632, width)))
    net.output(net.op("MatMul", net.norm(x, width), net.weight(width, 32000)), (1, 1, 32000))
    return net.model()


def nas_like() -> onnx.ModelProto:
    """Cells wired at random, as searches for architectures find them: each node reads two or three of those before it."""
    chance = random.Random(11)
    net, width = Net("NAS-like"), 48
    x = net.conv(net.input("image", (1, 3, 224, 224)), 3, width, stride=2)
    for cell in range(6):
        if cell in (1, 3, 5):
            x, width = net.conv(x, width, 2 * width, 3, 2), 2 * width
        nodes = [x]
        for _ in range(12):
            read = chance.sample(nodes, min(len(nodes), chance.choice((1, 2, 2, 3))))
            total = read[0] if len(read) == 1 else net.op("Sum", *read)
            kind = chance.choice(("separable", "separable", "plain", "pool"))
            if kind == "pool":
                nodes.append(net.op("MaxPool", total, kernel_shape=[3, 3], strides=[1, 1], pads=[1] * 4))
            elif kind == "plain":
                nodes.append(net.conv(total, width, width, 3))
            else:
                deep = net.conv(total, width, width, chance.choice((3, 5)), groups=width, act=None)
                nodes.append(net.conv(deep, width, width, 1))
        used = {name for node in net.nodes for name in node.input}
        ends = [node for node in nodes if node not in used]
        x = net.conv(net.op("Concat", *ends, axis=1), width * len(ends), width, 1)
    net.output(net.linear(net.op("Flatten", net.op("GlobalAveragePool", x)), width, 1000), (1, 1000))
    return net.model()


NETWORKS: dict[str, Callable[[], onnx.ModelProto]] = {
    "mobilenet_v2": mobilenet_v2,
    "resnet50": resnet50,
    "densenet121": densenet121,
    "unet": unet,
    "bert_base": bert_base,
    "whisper_like": whisper_like,
    "llm_decode": llm_decode,
    "nas_like": nas_like,
}
