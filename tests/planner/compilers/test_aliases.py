"""Programs of torch.export that run in one arena, at the places of their plans, have the outputs of PyTorch. Run by scripts/compilers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from planner import Pool, plan
from planner.compilers import torch_program
from planner.graph import OperatorKind, program_problem

torch: Any = pytest.importorskip("torch", reason="ExecuTorch is not installed (./scripts/compilers)")

STILL = (OperatorKind.VIEW, OperatorKind.SLICE, OperatorKind.SELECT, OperatorKind.CONCATENATE)
"""Operators that need not run if they are applied."""


class Arena:
    """The memory of an exported program, and what lies outside."""

    def __init__(self, exported: Any, *, in_place: bool) -> None:
        program = torch_program(exported, in_place=in_place)
        (main,) = program.functions
        found = program_problem(program, (Pool("arena", alignment=16),))
        planned = plan(found.problem)
        self.peak = planned.peak or 0
        applied = [main.operators[each.operator] for each in found.applied]
        self.still = {each.outputs[0] for each in applied if each.kind in STILL}
        self._places = {str(each.id): (each.offset, each.offset + each.size) for each in planned.placements}
        self._bytes = torch.full((self.peak,), 0xAA, dtype=torch.uint8)
        self._outside: dict[str, Any] = {}

    def write(self, id_: str, value: Any) -> None:
        if id_ not in self._places:
            self._outside[id_] = value
        elif id_ not in self.still:
            start, end = self._places[id_]
            self._bytes[start:end] = value.clone().reshape(-1).view(torch.uint8)

    def read(self, id_: str, like: Any) -> Any:
        if id_ not in self._places:
            return self._outside[id_]
        start, end = self._places[id_]
        return self._bytes[start:end].clone().view(like.dtype).reshape(like.shape)


def run(exported: Any, arena: Arena, given: Any) -> list[Any]:
    """Run the operators one after the other, each on what is in the arena by then."""
    held: dict[str, Any] = {}
    weights = {each.arg.name: exported.state_dict.get(each.target) for each in exported.graph_signature.input_specs}

    def ids(node: Any) -> Any:
        many = isinstance(node.meta["val"], list | tuple)
        return [f"{node.name}.{i}" for i in range(len(node.meta["val"]))] if many else node.name

    def value(node: Any) -> Any:
        return arena.read(held[node.name], node.meta["val"])

    for node in exported.graph_module.graph.nodes:
        if node.op == "output":
            return [value(each) for each in node.args[0]]
        made: Any
        if node.op == "placeholder":
            made = given if weights[node.name] is None else weights[node.name].data
        elif node.target.__name__ == "getitem":
            held[node.name] = held[node.args[0].name][node.args[1]]
            continue
        else:
            args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), value)
            made = node.target(*args, **kwargs)
        if made is None:
            continue
        held[node.name] = ids(node)
        if isinstance(held[node.name], list):
            for id_, each in zip(held[node.name], made, strict=True):
                arena.write(id_, each)
        else:
            arena.write(held[node.name], made)
    raise AssertionError("the graph has no output")


def exported(function: Callable[..., Any], rows: int = 4) -> tuple[Any, Any]:
    """Return the program of a function of a weight and of a tensor of 32 bytes a row, and such a tensor."""

    class Module(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.arange(8.0 * rows).reshape(rows, 8))

        def forward(self, x: Any) -> Any:
            made = function(self.weight, x * 2 + 1)
            return tuple(made) if isinstance(made, list | tuple) else (made,)

    given = torch.arange(8.0 * rows).reshape(rows, 8) - 9
    return torch.export.export(Module(), (given,)), given


def check(program: Any, given: Any, *, in_place: bool) -> Arena:
    arena = Arena(program, in_place=in_place)
    expected = program.module()(given)
    for one, other in zip(run(program, arena, given), expected, strict=True):
        assert (one.dtype, one.tolist()) == (other.dtype, other.tolist())
    return arena


PARTS: dict[str, tuple[int, Callable[[Any, Any], Any]]] = {
    "narrow": (1, lambda w, y: (y.narrow(0, 1, 2) + 1, y.narrow(1, 2, 2) + 1)),
    "narrow from the end": (1, lambda w, y: y.narrow(-2, -1, 1) * 3),
    "slice": (3, lambda w, y: (y[1:3] + 1, y[-3:-1] + 2, y[2:99] + 3, y[::2] + 4)),
    "select": (2, lambda w, y: (y[2] + 1, y.select(-2, -1) + 2, y.select(1, 2) + 3)),
    "split": (2, lambda w, y: [each + 1 for each in y.split(3)]),
    "split by keyword": (2, lambda w, y: [each + 1 for each in torch.split(y, split_size_or_sections=2, dim=-2)]),
    "split of rows": (0, lambda w, y: [each + 1 for each in y.split(3, 1)]),
    "split in one": (1, lambda w, y: y.split(4)[0] + 1),
    "split with sizes": (3, lambda w, y: [each * 2 for each in y.split([1, 0, 3])]),
    "pieces that are not used": (3, lambda w, y: y.split([1, 2, 1])[1] + 1),
    "pieces of one row": (3, lambda w, y: [each + 1 for each in y[1:2].split(4, 1)]),
    "pieces at odd places": (3, lambda w, y: [each + 1 for each in y[1].split([1, 1, 6])][::2]),
    "chunk": (2, lambda w, y: [each + 1 for each in y.chunk(2)]),
    "tensor_split": (3, lambda w, y: [each + 1 for each in y.tensor_split(3)]),
    "tensor_split that overlaps": (0, lambda w, y: [each + 1 for each in y.tensor_split((3, 1))]),
    "vsplit": (2, lambda w, y: [each + 1 for each in y.vsplit(2)]),
    "unbind": (4, lambda w, y: [each + 1 for each in y.unbind(0)]),
    "unbind from the end": (0, lambda w, y: [each + 1 for each in y.unbind(-1)]),
    "shapes": (4, lambda w, y: (y.unflatten(0, (2, 2)) + 1, y.view_as(w) * 2, y.unsqueeze(0).squeeze() + 3)),
    "transposed": (0, lambda w, y: (y.t() + 1, y.permute(1, 0) * 2, y + 3)),
    "types": (1, lambda w, y: (y.to(torch.int32) * 2, y + 1, y.int() + 3, y.view(torch.int32) + 1)),
    "same type": (1, lambda w, y: (y.float() + 1, y * 2)),
    "complex": (0, lambda w, y: ((z := torch.complex(y, y)).conj().resolve_conj() * 2, z + 1)),
    "strided": (1, lambda w, y: (y[2:].as_strided((2, 8), (8, 1)) + 1, y * 2)),
    "slice of a slice": (2, lambda w, y: y[1:][1:3] + 1),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_lie_in_their_sources_and_outputs_are_the_same(name: str) -> None:
    inside, function = PARTS[name]
    program, given = exported(function)
    for decomposed in (program, program.run_decompositions()):
        for in_place in (False, True):
            arena = check(decomposed, given, in_place=in_place)
            if decomposed is program:
                assert len(arena.still) == inside


@pytest.mark.parametrize(
    ("function", "peak"),
    [
        (lambda w, y: w + y, 128),
        (lambda w, y: y + w, 128),
        (lambda w, y: w.reshape(-1) + y.reshape(-1), 128),
        (lambda w, y: 2**y, 128),
        (lambda w, y: torch.maximum(y, y - 1) - y, 256),
        (lambda w, y: torch.maximum(v := y.reshape(4, 8), y - 1) - v * y, 256),
        (lambda w, y: torch.where(w > 3, w, y), 128 + 32),
        (lambda w, y: w * w + y[1], 128 + 128),
    ],
)
def test_elementwise_operators_write_over_the_input_that_they_may_write_over(function: Any, peak: int) -> None:
    arena = check(*exported(function), in_place=True)
    assert arena.peak == peak
