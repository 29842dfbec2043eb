"""Programs that ExecuTorch exports with memplan as planner have the same outputs as with its own planner.

Run by scripts/compilers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from planner import NoPlan, Pool, plan, read_problem, verify
from planner.compilers import ExecuTorchAlgorithm, executorch_pass, torch_program
from planner.graph import program_problem
from planner.reporting.own_places import own_peaks

pytest.importorskip("executorch", reason="ExecuTorch is not installed (./scripts/compilers)")
torch: Any = pytest.importorskip("torch", reason="ExecuTorch is not installed (./scripts/compilers)")

from tests.planner.compilers.networks import NETWORKS  # noqa: E402 - needs torch

EVERY = pytest.mark.parametrize("name", NETWORKS)


def exported(name: str, planning: Any) -> Any:
    """Return the ExecuTorch program of a network, exported with this memory planning."""
    from executorch.exir import ExecutorchBackendConfig, to_edge

    module, inputs = NETWORKS[name]()
    edge = to_edge(torch.export.export(module, inputs))
    return edge.to_executorch(ExecutorchBackendConfig(memory_planning_pass=planning))


def outputs(program: Any, name: str) -> list[Any]:
    """Return the outputs of two runs; the second finds the memory as the first left it."""
    from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

    loaded = _load_for_executorch_from_buffer(program.buffer)
    _, inputs = NETWORKS[name]()
    return [each.clone() for _ in range(2) for each in loaded.forward(inputs)]


def sizes(program: Any) -> list[int]:
    found: list[int] = program.executorch_program.execution_plan[0].non_const_buffer_sizes
    return found


def greedy() -> Any:
    from executorch.exir.passes import MemoryPlanningPass

    return MemoryPlanningPass()


def algorithm_of(planning: Any) -> ExecuTorchAlgorithm:
    (found,) = planning.memory_planning_algo.algo_list
    assert isinstance(found, ExecuTorchAlgorithm)
    return found


@EVERY
def test_outputs_are_the_same_in_no_more_memory(name: str) -> None:
    planning = executorch_pass()
    theirs, ours = exported(name, greedy()), exported(name, planning)
    for first, second in zip(outputs(theirs, name), outputs(ours, name), strict=True):
        assert torch.equal(first, second)
    assert sum(sizes(ours)) <= sum(sizes(theirs))
    assert all(answer.status == "optimal" for _, answer in algorithm_of(planning).planned)


@EVERY
def test_the_file_has_the_plan_s_places(name: str) -> None:
    planning = executorch_pass()
    program = exported(name, planning)
    problem, _ = read_problem(program.buffer, name="model.pte")
    planned = {place.offset for _, answer in algorithm_of(planning).planned for place in answer.placements}
    assert {buffer.hint for buffer in problem.buffers} <= planned
    assert len(problem.buffers) > 3
    ends = [(buffer.hint or 0) + buffer.size for buffer in problem.buffers]
    assert max(ends) <= sizes(program)[1] == max(answer.peak or 0 for _, answer in algorithm_of(planning).planned)
    assert own_peaks(problem) == {"memory 1": max(ends)}
    answer = plan(problem)
    assert verify(problem, answer) == ()
    assert (answer.peak or 0) <= max(ends)


def test_a_transformer_block_takes_less() -> None:
    theirs, ours = exported("block", greedy()), exported("block", executorch_pass())
    assert (sizes(theirs), sizes(ours)) == ([0, 139264], [0, 114688])
    program = torch.export.export(*NETWORKS["block"]()).run_decompositions()
    made = program_problem(torch_program(program), (Pool("arena", alignment=16),))
    assert plan(made.problem).peak == 114688


def test_banks_hold_programs_that_executorch_s_own_planner_cannot_place() -> None:
    from executorch.exir.banked_memory_planning import (
        Bank,
        BankPlacementError,
        TargetMemoryMap,
        banked_memory_planning_pass,
    )

    with pytest.raises(BankPlacementError):
        exported("block", banked_memory_planning_pass(TargetMemoryMap([Bank("sram", 114688, 1)])))
    assert sizes(exported("block", executorch_pass({1: Pool("sram", 114688)}))) == [0, 114688]
    with pytest.raises(NoPlan):
        exported("block", executorch_pass({1: Pool("sram", 114687)}))


def test_delegates_get_their_padding_and_callers_may_bring_inputs_and_outputs() -> None:
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
    from executorch.exir.passes import MemoryPlanningPass

    def lowered(planning: Any) -> Any:
        program = torch.export.export(*NETWORKS["block"]())
        edge = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
        return edge.to_executorch(ExecutorchBackendConfig(memory_planning_pass=planning))

    outside: dict[str, Any] = {"alloc_graph_input": False, "alloc_graph_output": False}
    for theirs, ours in (
        (lowered(greedy()), lowered(executorch_pass())),
        (exported("block", MemoryPlanningPass(**outside)), exported("block", executorch_pass(**outside))),
    ):
        assert sizes(ours)[1] < sizes(theirs)[1]
        for first, second in zip(outputs(theirs, "block"), outputs(ours, "block"), strict=True):
            assert torch.equal(first, second)


def test_memory_of_branches_is_free_before_and_after_them() -> None:
    assert sizes(exported("branch", executorch_pass()))[1] < sizes(exported("branch", greedy()))[1]


def test_tensors_are_in_their_banks() -> None:
    banks: Mapping[int, Pool] = {2: Pool("sram", 65536, alignment=64), 1: Pool("dram", 1 << 20)}
    program = exported("block", executorch_pass(banks))
    assert sizes(program)[2] <= 65536
    problem, _ = read_problem(program.buffer, name="model.pte")
    assert {pool.name for pool in problem.pools} == {"memory 1", "memory 2"}
    assert all((buffer.hint or 0) % 64 == 0 for buffer in problem.buffers if buffer.pools == ("memory 2",))
    for first, second in zip(outputs(exported("block", greedy()), "block"), outputs(program, "block"), strict=True):
        assert torch.equal(first, second)


def test_the_smaller_plan_of_a_suite_counts() -> None:
    from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite
    from executorch.exir.memory_planning import greedy as first_fit
    from executorch.exir.passes import MemoryPlanningPass

    suite = MemoryPlanningAlgorithmSuite(algo_list=[first_fit, ExecuTorchAlgorithm()])
    assert sizes(exported("block", MemoryPlanningPass(memory_planning_algo=suite))) == [0, 114688]
