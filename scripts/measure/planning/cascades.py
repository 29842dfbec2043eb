"""Cascades: the memory that MobileNet v1 and VGG16 need whole and in stripes, and the cost of stripes. From shapes alone, with elements of one byte.

    python -m scripts.measure.planning.cascades [FOLDER]

With a folder, writes the networks as memplan-cascade/1, and the frontiers as pictures.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from planner import Options, pareto, plan, read_cascade
from planner.drawing import Sheet, Theme, frontier_curve
from planner.graph.cascades import CascadeOptions, Cutting, Mode, cascade_problem
from scripts.measure.arguments import Arguments

MODES = {"whole": (), "recompute": (Mode.RECOMPUTE,), "rolling": (Mode.ROLLING,), "both": tuple(Mode)}


class Network:
    """A chain of operators under construction."""

    def __init__(self, name: str, *shape: int) -> None:
        self._name = name
        self._tensors: list[dict[str, Any]] = [{"id": "image", "shape": list(shape)}]
        self._operators: list[dict[str, Any]] = []

    def add(
        self, kind: str, name: str, kernel: int, stride: int = 1, channels: int | None = None, *, same: bool = True
    ) -> None:
        """Adds an operator that reads the output of the last one."""
        last = self._tensors[-1]
        height, width, depth = last["shape"]
        spatial = [-(-n // stride) if same else (n - kernel) // stride + 1 for n in (height, width)]
        self._tensors.append({"id": f"{name} out", "shape": [*spatial, channels or depth]})
        operator: dict[str, Any] = {"kind": kind, "name": name, "inputs": [last["id"]], "output": f"{name} out"}
        operator |= {"kernel": [kernel] * 2, "stride": [stride] * 2, "padding": "same" if same else "valid"}
        self._operators.append(operator)

    def document(self) -> bytes:
        """The network as memplan-cascade/1, one item a line."""
        lists = [
            f' "{name}": [\n  ' + ",\n  ".join(map(json.dumps, items)) + "\n ]"
            for name, items in (("tensors", self._tensors), ("operators", self._operators))
        ]
        head = f'{{\n "format": "memplan-cascade/1",\n "name": {json.dumps(self._name)},\n'
        return (head + ",\n".join(lists) + "\n}\n").encode()


def mobilenet() -> bytes:
    """MobileNet v1, 224 x 224, all channels."""
    network = Network("MobileNet v1", 224, 224, 3)
    network.add("convolution", "conv", 3, 2, 32)
    blocks = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]
    for k, (channels, stride) in enumerate(blocks, 1):
        network.add("depthwise", f"depthwise {k}", 3, stride)
        network.add("convolution", f"pointwise {k}", 1, 1, channels)
    network.add("pooling", "pool", 7, same=False)
    network.add("convolution", "classes", 1, 1, 1000)
    return network.document()


def vgg16() -> bytes:
    """VGG16, 224 x 224; the fully connected layers as convolutions."""
    network = Network("VGG16", 224, 224, 3)
    for k, (count, channels) in enumerate([(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)], 1):
        for j in range(1, count + 1):
            network.add("convolution", f"conv {k}.{j}", 3, 1, channels)
        network.add("pooling", f"pool {k}", 2, 2, same=False)
    network.add("convolution", "full 1", 7, 1, 4096, same=False)
    network.add("convolution", "full 2", 1, 1, 4096)
    network.add("convolution", "classes", 1, 1, 1000)
    return network.document()


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER")
    folder: Path | None = parser.parse_args().folder
    for name, document in (("mobilenet", mobilenet()), ("vgg16", vgg16())):
        if folder is not None:
            (folder / f"{name}.json").write_bytes(document)
        file = read_cascade(document)
        whole = (0, 0)
        for mode, modes in MODES.items():
            begun = time.process_time()
            made = cascade_problem(file.network, file.pools, CascadeOptions(cutting=Cutting(modes)))
            seconds = time.process_time() - begun
            found = plan(made.problem, Options(time_limit=60))
            assert found.peak is not None
            assert found.choice is not None
            if not modes:
                whole = found.peak, found.choice.cost
            print(
                f"{name:10} {mode:10} {found.peak:>10,} bytes {found.peak / whole[0]:7.1%}   {found.choice.cost:>12,} cycles "
                f"{found.choice.cost / whole[1]:7.1%}   {found.status:8} looked at in {seconds:.1f} s"
            )
        frontier = pareto(made.problem, Options(time_limit=60))
        fastest = frontier.points[0].choice
        assert fastest is not None
        print(
            f"{name:10} frontier   {len(frontier.points)} points, {'proven' if frontier.is_complete else 'not proven'}"
        )
        for part in (1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 8, 1 / 10):
            fitting = [point for point in frontier.points if (point.peak or 0) <= whole[0] * part]
            if fitting and fitting[0].choice is not None:
                price = fitting[0].choice.cost / whole[1] - 1
                print(f"{name:10} in {part:5.1%}    {fitting[0].peak:>10,} bytes   {price:+.1%} cycles")
        if folder is not None:
            picture = frontier_curve(made.problem, frontier, Sheet(900, Theme.SYSTEM))
            (folder / f"cascades-{name}.svg").write_bytes(picture)


if __name__ == "__main__":
    main()
