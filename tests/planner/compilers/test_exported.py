"""Programs of torch.export become programs of memplan. Run by scripts/compilers."""

from __future__ import annotations

from typing import Any

import pytest

from planner import BadInput, Pool, plan, plan_shapes, verify_shapes
from planner.compilers import torch_program, torch_shapes
from planner.graph import GraphProblem, TensorKind, program_problem
from planner.planning.shapes import Mode

torch: Any = pytest.importorskip("torch", reason="ExecuTorch is not installed (./scripts/compilers)")


def made(function: Any, *inputs: Any, in_place: bool = False, **more: Any) -> GraphProblem:
    """Return the problem of the exported function."""

    class Module(torch.nn.Module):  # type: ignore[misc]
        def forward(self, *given: Any) -> Any:
            return function(*given)

    program = torch.export.export(Module(), inputs, **more)
    return program_problem(torch_program(program, in_place=in_place), (Pool("arena"),))


def lives(problem: GraphProblem) -> dict[Any, Any]:
    return {buffer.id: (buffer.size, buffer.live) for buffer in problem.problem.buffers}


def test_tensors_live_from_their_creation_to_their_last_read() -> None:
    found = made(lambda x: (x + 1).relu().sum(0), torch.ones(4, 8))
    assert sorted((size, live) for size, live in lives(found).values()) == [
        (32, ((2, 4),)),
        (128, ((0, 1),)),
        (128, ((0, 2),)),
        (128, ((1, 3),)),
    ]


def test_views_and_outer_slices_lie_in_their_base_and_others_are_copied() -> None:
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


def test_symbolic_sizes_take_their_largest_value_or_are_refused() -> None:
    batch = torch.export.Dim("batch", max=8)
    found = made(lambda x: torch.cat((x, x)), torch.ones(2, 4), dynamic_shapes=(({0: batch},),))
    assert sorted(size for size, _ in lives(found).values()) == [128, 256]
    parts = made(lambda x: x.flip(0)[-1] + 1, torch.ones(2, 4), dynamic_shapes=(({0: batch},),))
    assert parts.applied == ()  # the last row begins elsewhere in a smaller batch
    with pytest.raises(BadInput, match="no largest size"):
        made(lambda x: x + 1, torch.ones(2, 4), dynamic_shapes=(({0: torch.export.Dim("batch")},),))


def test_sizes_are_expressions_that_are_right_for_every_shape() -> None:
    class Module(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any, y: Any) -> Any:
            branch = torch.cond(x.shape[0] > 3, lambda a: (a * 2).relu(), lambda a: a.clone(), (x,))
            pooled = torch.nn.functional.max_pool2d(y, 2)
            mixed = torch.nn.functional.conv2d(y, torch.ones(4, 3, 3, 3), stride=2)
            return torch.cat([branch, x], 0)[1:], x.reshape(-1) + 1, pooled, mixed

    batch, side = torch.export.Dim("batch", min=2, max=64), torch.export.Dim("side", min=8, max=128)
    given = (torch.ones(4, 8), torch.ones(2, 3, 16, 16))
    exported = torch.export.export(Module(), given, dynamic_shapes=({0: batch}, {2: side, 3: side}))
    found = torch_shapes(exported, (Pool("arena"),))
    assert sorted(found.symbols.values()) == [(2, 64), (8, 128)]
    names = {span: name for name, span in found.symbols.items()}
    for b, s in ((2, 8), (5, 17), (64, 128)):
        sizes = [buffer.size for buffer in found.at({names[2, 64]: b, names[8, 128]: s}).buffers]
        half, odd = s // 2, (s - 3) // 2 + 1
        for expected in (32 * b, 64 * b, 24 * s * s, 24 * half * half, 32 * odd * odd):
            assert expected in sizes
    planned = plan_shapes(found, Mode.MAXIMUM)  # a view shares memory
    assert verify_shapes(found, planned) == ()
    narrow = torch_shapes(exported, (Pool("arena"),), ranges={names[2, 64]: (2, 8)})
    assert dict(narrow.symbols)[names[2, 64]] == (2, 8)
    with pytest.raises(BadInput, match="there is no symbol 'batch'; there is s"):
        torch_shapes(exported, (Pool("arena"),), ranges={"batch": (1, 8)})


def test_symbols_without_a_largest_value_are_given_one() -> None:
    class Module(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return (x + 1).relu()

    exported = torch.export.export(Module(), (torch.ones(2, 4),), dynamic_shapes=({0: torch.export.Dim("batch")},))
    (name,) = map(str, exported.range_constraints)
    with pytest.raises(BadInput, match="no largest size"):
        torch_shapes(exported, (Pool("arena"),))
    found = torch_shapes(exported, (Pool("arena"),), ranges={name: (1, 16)}, in_place=True)
    assert [str(size) for size in found.sizes] == [f"4*{name}*4"] * 3
    apart = torch_shapes(exported, (Pool("arena"),), ranges={name: (1, 16)})
    assert verify_shapes(apart, plan_shapes(apart)) == ()
    program = torch_program(exported, ranges={name: (1, 16)}, in_place=True)
    assert plan(program_problem(program, (Pool("arena"),)).problem).peak == plan(found.largest).peak == 16 * 16
    with pytest.raises(BadInput, match="is not a range"):
        torch_program(exported, ranges={name: (9, 8)})


def test_unknown_operators_that_run_graphs_are_refused() -> None:
    from functorch.experimental.control_flow import map as each

    with pytest.raises(BadInput, match="runs graphs"):
        made(lambda x: each(lambda row: row + 1, x), torch.ones(2, 4))
