"""memplan's algorithm for ExecuTorch, with stand-ins for tensors and graphs; test_exported_pte.py has the real ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from planner import BadInput, NoPlan, Options, Pool, verify
from planner.compilers import ExecuTorchAlgorithm
from planner.compilers.executorch import Placed

GREEDY = Options(solver="greedy")


@dataclass(eq=False)
class Spec:
    """The fields of a TensorSpec that planning reads."""

    bytes: int
    lifetime: list[int]
    mem_id: int | None = None
    storage_base: Spec | None = None
    storage_base_offset: int = 0
    device: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(name="CPU"))
    alignment: int = 16

    @property
    def allocated_memory(self) -> int:
        return -(-self.bytes // self.alignment) * self.alignment

    def realign(self, alignment: int) -> int:
        self.alignment = alignment
        return self.allocated_memory


@dataclass(eq=False)
class Node:
    """The fields of a torch.fx.Graph's node."""

    meta: dict[str, Any] = field(default_factory=dict)
    all_input_nodes: list[Node] = field(default_factory=list)
    op: str = "call_function"
    target: str = ""


class Module:
    """A graph module; inner modules are its attributes."""

    def __init__(self, nodes: list[Node], inner_sizes: list[int] | None = None, **inner: list[int]) -> None:
        self.graph = type("Graph", (), {"nodes": nodes})()
        self.input_mem_buffer_sizes = inner_sizes or []
        for name, sizes in inner.items():
            setattr(self, name, type("Inner", (), {"meta": {"non_const_buffer_sizes": sizes}})())


NONE = Module([])


def run(specs: list[Spec], module: Module = NONE, banks: dict[int, Pool] | None = None, padding: int = 0) -> Placed:
    algorithm = ExecuTorchAlgorithm(banks, None if banks else GREEDY)
    found = algorithm(16, specs, module, None, padding)
    ((problem, answer),) = algorithm.planned
    assert verify(problem, answer) == ()
    assert set(found.spec_dict) == set(specs)
    return found


def places(found: Placed, specs: list[Spec]) -> list[tuple[int, int]]:
    return [(found.spec_dict[spec].mem_id, found.spec_dict[spec].mem_offset) for spec in specs]


def test_tensors_share_memory_only_after_their_last_step() -> None:
    specs = [Spec(30, [0, 1]), Spec(10, [1, 2]), Spec(32, [2, 3])]
    found = run(specs)
    assert found.bufsizes == [0, 48]
    assert places(found, specs) == [(1, 0), (1, 32), (1, 0)]


def test_tensors_inside_another_are_placed_with_it() -> None:
    base = Spec(64, [0, 4])
    inside = Spec(16, [1, 2], storage_base=base, storage_base_offset=32)
    deeper = Spec(16, [2, 3], storage_base=inside)
    other = Spec(128, [0, 4])
    found = run([deeper, inside, other, base])
    at = found.spec_dict[base].mem_offset
    assert [found.spec_dict[each].mem_offset for each in (inside, deeper)] == [at + 32, at + 32]
    assert found.bufsizes == [0, 192]


def test_tensors_inside_an_unplaced_one_or_themselves_are_refused() -> None:
    absent = Spec(64, [0, 4])
    with pytest.raises(BadInput, match="no place"):
        run([Spec(16, [1, 2], storage_base=absent)])
    circle = Spec(16, [1, 2])
    circle.storage_base = circle
    with pytest.raises(BadInput, match="circle"):
        run([circle])


def test_what_lies_in_a_tensor_keeps_it_needed() -> None:
    base = Spec(64, [0, 2])
    inside = Spec(16, [4, 6], storage_base=base)
    deeper = Spec(16, [8, 9], storage_base=inside)
    other = Spec(64, [9, 9])
    assert run([base, deeper, inside, other]).bufsizes == [0, 128]


@pytest.mark.parametrize(("size", "begin"), [(16, 64), (32, 48), (16, -16), (8, 8)])
def test_tensors_that_stand_out_of_another_or_are_misaligned_in_it_are_refused(size: int, begin: int) -> None:
    base = Spec(64, [0, 4])
    with pytest.raises(BadInput, match=f"cannot lie at {begin} in one of 64"):
        run([base, Spec(size, [1, 2], storage_base=base, storage_base_offset=begin)])


@pytest.mark.parametrize("banks", [[Pool("sram")], {1: 1000}, {"sram": Pool("sram")}, {True: Pool("sram")}])
def test_banks_of_other_types_are_refused(banks: Any) -> None:
    with pytest.raises(BadInput, match="banks"):
        ExecuTorchAlgorithm(banks)


def test_banks_are_filled_by_how_often_tensors_are_used() -> None:
    often, seldom = Spec(64, [0, 3]), Spec(64, [0, 3])
    makes = [Node({"spec": spec}) for spec in (seldom, often)]
    uses = [Node(all_input_nodes=[makes[1]]), Node(all_input_nodes=[makes[0], makes[1]])]
    banks = {3: Pool("sram", 100), 2: Pool("dram")}
    found = run([seldom, often], Module([*makes, *uses]), banks, padding=16)
    assert places(found, [seldom, often]) == [(2, 0), (3, 0)]
    assert found.bufsizes == [0, 0, 80, 80]


def test_padding_counts_within_a_bank() -> None:
    with pytest.raises(NoPlan):
        run([Spec(96, [0, 1])], banks={1: Pool("sram", 100)}, padding=16)


def test_tensors_stay_in_the_memory_a_pass_gave_them() -> None:
    specs = [Spec(64, [0, 1], mem_id=2), Spec(64, [0, 1], mem_id=4), Spec(64, [0, 1])]
    assert places(run(specs), specs) == [(2, 0), (4, 0), (1, 0)]
    found = run(specs, banks={2: Pool("sram", 128, alignment=64)})
    assert found.bufsizes == [0, 0, 128, 0, 64]
    assert found.spec_dict[specs[2]].mem_id == 2


def test_unassigned_tensors_go_only_to_banks() -> None:
    with pytest.raises(NoPlan):
        run([Spec(64, [0, 1], mem_id=4), Spec(256, [0, 1])], banks={2: Pool("sram", 128)})


def test_memory_of_branches_is_kept_until_their_results_are_used() -> None:
    before, result, after = Spec(64, [0, 1]), Spec(16, [2, 3]), Spec(64, [4, 5])
    arm = Node(op="get_attr", target="true_graph_0")
    other = Node(op="get_attr", target="false_graph_0")
    branch = Node({"spec": (result,)}, [arm, other])
    module = Module([arm, other, branch, Node(), Node()], [0, 64], true_graph_0=[0, 64], false_graph_0=[0, 32, 16])
    found = run([before, result, after], module)
    assert places(found, [before, result, after]) == [(1, 0), (1, 64), (1, 0)]
    assert found.bufsizes == [0, 80, 16]


def test_banks_are_of_one_device() -> None:
    specs = [Spec(16, [0, 1]), Spec(16, [0, 1], device=SimpleNamespace(name="CUDA"))]
    for some in (specs, specs[1:]):
        with pytest.raises(BadInput, match="devices"):
            run(some, banks={1: Pool("sram", 100)})
    assert run(specs).bufsizes == [0, 32]


def test_memory_0_is_for_constants() -> None:
    with pytest.raises(BadInput, match="begin at 1"):
        ExecuTorchAlgorithm({0: Pool("sram", 64)})


def test_no_tensors_take_no_memory() -> None:
    assert run([]).bufsizes == [0, 0]
