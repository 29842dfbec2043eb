"""Programs of torch.export as programs of ours. Run by scripts/compilers."""

from __future__ import annotations

from typing import Any

import pytest

from planner import BadInput, Pool, plan
from planner.compilers import torch_program
from planner.graph import GraphProblem, TensorKind, program_problem

torch: Any = pytest.importorskip("torch", reason="ExecuTorch is not installed (./scripts/compilers)")


def made(function: Any, *inputs: Any, in_place: bool = False, **more: Any) -> GraphProblem:
    """The problem of the function, exported."""

    class Module(torch.nn.Module):  # type: ignore[misc]
        def forward(self, *given: Any) -> Any:
            return function(*given)

    program = torch.export.export(Module(), inputs, **more)
    return program_problem(torch_program(program, in_place=in_place), (Pool("arena"),))


def lives(problem: GraphProblem) -> dict[Any, Any]:
    return {buffer.id: (buffer.size, buffer.live) for buffer in problem.problem.buffers}


def test_tensors_live_from_where_they_are_made_to_where_they_are_read() -> None:
    found = made(lambda x: (x + 1).relu().sum(0), torch.ones(4, 8))
    assert sorted((size, live) for size, live in lives(found).values()) == [
        (32, ((2, 4),)),
        (128, ((0, 1),)),
        (128, ((0, 2),)),
        (128, ((1, 3),)),
    ]


def test_views_and_outer_slices_lie_in_what_they_are_of_and_others_are_copied() -> None:
    def function(x: Any) -> Any:
        y = x + 1
        return y.reshape(32) * 2, y[2:4] * 2, y[1] * 2, y[:, 2:4] * 2, y.permute(1, 0) * 2

    found = made(function, torch.ones(4, 8))
    offsets = {each.offset for each in found.problem.constraints.colocations}
    assert (len(found.applied), offsets) == (3, {0, 64, 32})
    assert [each.reason for each in found.refused] == ["not_outermost"]


def test_elementwise_operators_may_write_over_an_input() -> None:
    def function(x: Any) -> Any:
        return ((x + 1) * 2).relu()

    assert plan(made(function, torch.ones(64)).problem).peak == 512
    assert plan(made(function, torch.ones(64), in_place=True).problem).peak == 256


def test_state_lives_throughout_and_weights_are_not_planned() -> None:
    class Module(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("seen", torch.zeros(8))
            self.weight = torch.nn.Parameter(torch.ones(8))

        def forward(self, x: Any) -> Any:
            self.seen.add_(x)
            return self.seen * self.weight

    program = torch_program(torch.export.export(Module(), (torch.ones(8),)))
    (main,) = program.functions
    kinds = {tensor.id: tensor.kind for tensor in main.tensors}
    assert kinds["b_seen"] is TensorKind.MUTABLE
    assert kinds["p_weight"] is TensorKind.CONSTANT
    found = lives(program_problem(program, (Pool("arena"),)))
    assert "p_weight" not in found
    assert found["b_seen"] == (32, ((0, max(end for _, ((_, end), *_) in found.values())),))


def test_branches_and_loops_are_followed() -> None:
    def branch(x: Any) -> Any:
        return torch.cond(x.sum() > 0, lambda a: (a * 2).relu(), lambda a: a.clone(), (x,))

    found = made(branch, torch.ones(4))
    assert sum(size == 16 for size, _ in lives(found).values()) >= 3

    def loop(x: Any, n: Any) -> Any:
        return torch.ops.higher_order.while_loop(
            lambda a, i: i.sum() > 0, lambda a, i: ((a * 2).relu(), i - 1), (x, n), ()
        )

    assert plan(made(loop, torch.ones(64), torch.tensor([3])).problem).status == "optimal"


def test_sizes_that_depend_on_symbols_are_at_their_largest_and_those_without_one_are_refused() -> None:
    batch = torch.export.Dim("batch", max=8)
    found = made(lambda x: torch.cat((x, x)), torch.ones(2, 4), dynamic_shapes=(({0: batch},),))
    assert sorted(size for size, _ in lives(found).values()) == [128, 256]
    parts = made(lambda x: x.flip(0)[-1] + 1, torch.ones(2, 4), dynamic_shapes=(({0: batch},),))
    assert parts.applied == ()  # the last row begins elsewhere in a smaller batch
    with pytest.raises(BadInput, match="no largest size"):
        made(lambda x: x + 1, torch.ones(2, 4), dynamic_shapes=(({0: torch.export.Dim("batch")},),))


def test_what_runs_graphs_in_another_way_is_refused() -> None:
    from functorch.experimental.control_flow import map as each

    with pytest.raises(BadInput, match="runs graphs"):
        made(lambda x: each(lambda row: row + 1, x), torch.ones(2, 4))
