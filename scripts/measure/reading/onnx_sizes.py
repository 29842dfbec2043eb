"""Compares the size of each tensor of an ONNX model with what ONNX Runtime makes of it. Needs `pip install onnxruntime`.

python -m scripts.measure.reading.onnx_sizes model.onnx [--dim NAME=SIZE]... [--fill INPUT=NUMBER]...

The model is run as it is, nothing fused, on random numbers; whole numbers are 1, or what --fill says. Tensors within branches and loops are not seen.
Exit code 1 if a tensor is larger than planned.
"""

from __future__ import annotations

import sys
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime

from planner.formats.documents import Source
from planner.formats.models.onnx.read import read_program
from planner.graph.operators import Tensor
from scripts.measure.arguments import Arguments


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=SIZE")
    parser.add_argument("--fill", action="append", default=[], metavar="INPUT=NUMBER")
    options = parser.parse_args()
    data = options.model.read_bytes()
    program = read_program(Source(data), options.dim, in_place=False).program
    planned = {str(tensor.id): tensor for function in program.functions for tensor in function.tensors}
    filled = dict(each.split("=") for each in options.fill)
    smaller = larger = compared = 0
    for name, made in run(data, planned, filled):
        wanted = planned.get(name)
        if wanted is None or not isinstance(made, np.ndarray):
            continue
        compared += 1
        size = prod(wanted.shape) * wanted.element_bits // 8
        smaller, larger = smaller + (made.nbytes < size), larger + (made.nbytes > size)
        if made.nbytes != size:
            print(f"{name}: {made.nbytes} bytes of shape {made.shape}, planned with {size} of {wanted.shape}")
    print(f"{options.model.name}: {compared} tensors, {smaller} smaller than planned, {larger} larger")
    sys.exit(1 if larger else 0)


def run(data: bytes, planned: dict[str, Tensor], filled: dict[str, str]) -> list[tuple[str, Any]]:
    """Return every tensor of the model's own graph, by name."""
    model = onnx.load_from_string(data)
    known = {output.name for output in model.graph.output}
    for name in (name for node in model.graph.node for name in node.output if name and name not in known):
        model.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
    settings = onnxruntime.SessionOptions()
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
    kinds = {given.name: given.type.tensor_type.elem_type for given in model.graph.input}
    chance = np.random.default_rng(1)
    given = {}
    for each in session.get_inputs():
        shape = planned[each.name].shape if each.name in planned else each.shape
        kind = onnx.helper.tensor_dtype_to_np_dtype(kinds[each.name])
        is_whole = kind.kind not in "fc"
        given[each.name] = (np.full(shape, filled.get(each.name, 1)) if is_whole else chance.random(shape)).astype(kind)
    names = [output.name for output in session.get_outputs()]
    return list(zip(names, session.run(names, given), strict=True))


if __name__ == "__main__":
    main()
