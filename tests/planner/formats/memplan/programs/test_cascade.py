"""memplan-cascade/1: errors in a network are reported with their places, and reading is fast."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from api.cli.app import app
from planner import BadInput, Options, PlanStatus, Preference, plan, read_cascade, read_problem, verify
from planner.graph.cascades import CascadeOptions, TileOptions, cascade_problem, tile_problem
from tests.running.command import CliRunner

Document = dict[str, Any]
GOOD: Document = {
    "format": "memplan-cascade/1",
    "tensors": [
        {"id": "x", "shape": [16, 16, 4]},
        {"id": "a", "shape": [16, 16, 8]},
        {"id": "b", "shape": [7, 7, 8]},
        {"id": "y", "shape": [7, 7, 8]},
    ],
    "operators": [
        {"kind": "convolution", "inputs": ["x"], "output": "a", "kernel": [3, 3], "padding": [[1, 1], [1, 1]]},
        {"kind": "depthwise", "inputs": ["a"], "output": "b", "kernel": [3, 3], "stride": [2, 2]},
        {"kind": "elementwise", "inputs": ["b"], "output": "y"},
    ],
}


def changed(change: Callable[[Document], object]) -> bytes:
    document = copy.deepcopy(GOOD)
    change(document)
    return json.dumps(document).encode()


def operator(number: int, **fields: object) -> Callable[[Document], object]:
    return lambda document: document["operators"][number].update(fields)


def tensor(number: int, **fields: object) -> Callable[[Document], object]:
    return lambda document: document["tensors"][number].update(fields)


def stripes(**fields: object) -> Callable[[Document], object]:
    return lambda document: document.update(stripes=fields)


def tiles(**fields: object) -> Callable[[Document], object]:
    """Return a change of a document: two memories and sound tiles, with some fields replaced."""
    good = {"home": "L2", "levels": [{"pool": "L1", "bytes_per_cycle": 8}], "blocks": [8, 2, 4]}
    return lambda document: document.update(
        pools=[{"name": "L2"}, {"name": "L1", "size": 3000}], tiles=good | fields, cycles={"operations_per_cycle": 4}
    )


def second_input(document: Document) -> None:
    document["operators"][2]["inputs"].append("a")


BAD: dict[str, tuple[Callable[[Document], object], str, str]] = {
    "unknown kind": (operator(0, kind="conv"), "invalid_value", "/operators/0/kind"),
    "unknown field": (operator(0, groups=2), "unknown_field", "/operators/0/groups"),
    "unknown tensor": (operator(0, inputs=["z"]), "unknown_buffer", "/operators/0/inputs/0"),
    "unknown output": (operator(0, output="z"), "unknown_buffer", "/operators/0/output"),
    "use before definition": (operator(0, inputs=["b"]), "contradiction", "/operators/0/inputs/0"),
    "made twice": (operator(2, output="b"), "contradiction", "/operators/2/output"),
    "a name twice": (
        lambda document: [each.update(name="n") for each in document["operators"]],
        "duplicate_id",
        "/operators/1/name",
    ),
    "an id twice": (tensor(1, id="x"), "duplicate_id", "/tensors/1/id"),
    "too many inputs": (operator(2, inputs=["b"] * 257), "too_large", "/operators/2/inputs"),
    "no inputs": (operator(0, inputs=[]), "invalid_value", "/operators/0/inputs"),
    "two inputs of a convolution": (operator(0, inputs=["x", "x"]), "invalid_value", "/operators/0/inputs"),
    "no kernel": (operator(0, kernel=[]), "invalid_value", "/operators/0/kernel"),
    "kernel over channels": (operator(0, kernel=[3, 3, 3]), "invalid_value", "/operators/0/kernel"),
    "a kernel of nothing": (operator(0, kernel=[0, 3]), "out_of_range", "/operators/0/kernel"),
    "a stride of nothing": (operator(1, stride=[0, 2]), "out_of_range", "/operators/1/stride"),
    "a stride too few": (operator(1, stride=[2]), "invalid_value", "/operators/1/stride"),
    "an absurd stride": (operator(1, stride=[2**40, 2]), "out_of_range", "/operators/1/stride"),
    "a large stride": (operator(1, stride=[2**30, 2]), "contradiction", "/operators/1/output"),
    "a negative stride": (operator(1, stride=[-2, 2]), "out_of_range", "/operators/1/stride/0"),
    "an absurd dilation": (operator(1, dilation=[2**36, 1]), "contradiction", "/operators/1/kernel/0"),
    "an absurd padding": (
        operator(0, padding=[[2**40, 1], [1, 1]]),
        "out_of_range",
        "/operators/0/padding",
    ),
    "a padding of one axis": (operator(0, padding=[[1, 1]]), "invalid_value", "/operators/0/padding"),
    "a padding of one number": (operator(0, padding=1), "wrong_type", "/operators/0/padding"),
    "an empty output": (operator(1, kernel=[17, 3]), "contradiction", "/operators/1/kernel/0"),
    "another shape": (tensor(2, shape=[8, 7, 8]), "contradiction", "/operators/1/output"),
    "other channels": (tensor(2, shape=[7, 7, 9]), "contradiction", "/operators/1/output"),
    "elements that do not fit": (second_input, "contradiction", "/operators/2/inputs/1"),
    "a kernel without use": (operator(2, kernel=[1, 1]), "unknown_field", "/operators/2/kernel"),
    "a padding without use": (operator(2, padding="same"), "unknown_field", "/operators/2/padding"),
    "an empty tensor": (tensor(1, shape=[16, 0, 8]), "out_of_range", "/tensors/1/shape"),
    "no shape": (tensor(1, shape=[]), "invalid_value", "/tensors/1/shape"),
    "too many axes": (tensor(1, shape=[1] * 9), "invalid_value", "/tensors/1/shape"),
    "too many elements": (tensor(1, shape=[2**20, 2**20, 8]), "too_large", "/tensors/1/shape"),
    "too many bits": (tensor(1, element_bits=2**40), "too_large", "/tensors/1/shape"),
    "other axes": (tensor(1, shape=[16, 128]), "contradiction", "/operators/0/inputs/0"),
    "no operators": (lambda document: document.update(operators=[]), "invalid_value", "/operators"),
    "constants beyond all": (operator(0, constants=2**62), "out_of_range", "/operators/0/constants"),
    "unknown mode": (stripes(modes=["both"]), "invalid_value", "/stripes/modes/0"),
    "an axis that no tensor has": (stripes(axes=[0, 3]), "out_of_range", "/stripes/axes/1"),
    "less than no padding": (operator(0, padding=[[-1, 0], [0, 0]]), "out_of_range", "/operators/0/padding"),
    "a number for each axis": (operator(0, padding=[1, 1]), "wrong_type", "/operators/0/padding"),
    "no axes at once": (stripes(most_axes=0), "out_of_range", "/stripes/most_axes"),
    "a block of nothing": (stripes(blocks=[0, 2]), "out_of_range", "/stripes/blocks"),
    "a block of too much": (stripes(blocks=[4096, 2]), "out_of_range", "/stripes/blocks"),
    "groups of nothing": (stripes(longest=0), "out_of_range", "/stripes/longest"),
    "no bytes in a cycle": (
        lambda document: document.update(cycles={"bytes_per_cycle": 0}),
        "out_of_range",
        "/cycles/bytes_per_cycle",
    ),
    "too many cycles": (
        lambda document: document.update(cycles={"cycles_per_run": 2**62}),
        "too_large",
        "/operators",
    ),
    "no such home": (tiles(home="L3"), "unknown_pool", "/tiles/home"),
    "no such level": (tiles(levels=[{"pool": "L0"}]), "unknown_pool", "/tiles/levels/0/pool"),
    "no levels": (tiles(levels=[]), "invalid_value", "/tiles/levels"),
    "too many levels": (tiles(levels=[{"pool": "L1"}] * 3), "duplicate_id", "/tiles/levels/1/pool"),
    "a level that is home": (tiles(levels=[{"pool": "L2"}]), "duplicate_id", "/tiles/levels/0/pool"),
    "blocks of tiles": (tiles(blocks=[0]), "out_of_range", "/tiles/blocks"),
    "tiles and stripes": (
        lambda document: (tiles()(document), stripes()(document)),
        "contradiction",
        "/tiles",
    ),
    "a name too long": (operator(0, name="n" * 201), "out_of_range", "/operators/0/name"),
    "an id too long": (tensor(3, id="n" * 201), "out_of_range", "/tensors/3/id"),
    "no channels": (lambda document: document.update(channels_multiple=0), "out_of_range", "/channels_multiple"),
}


@pytest.mark.parametrize(("change", "code", "place"), BAD.values(), ids=BAD.keys())
def test_wrong_networks_are_refused_with_the_place(change: Callable[[Document], object], code: str, place: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_problem(changed(change))
    finding = caught.value.findings[0]
    assert (finding.code, finding.pointer) == (code, place)


def test_a_sound_network_is_read_and_cut() -> None:
    problem, warnings = read_problem(changed(lambda document: None))
    assert warnings == ()
    assert problem.variants is not None
    assert sum(len(group.alternatives) for group in problem.variants.groups) > 3
    assert (plan(problem).peak or 0) < 16 * 16 * (4 + 8)


def test_the_file_and_the_library_make_the_same_problem() -> None:
    data = changed(
        lambda document: document.update(
            stripes={"modes": ["rolling"], "axes": [0], "most_axes": 1, "blocks": [2, 1, 1], "longest": 2},
            cycles={"operations_per_cycle": 8, "bytes_per_cycle": 4, "cycles_per_run": 10},
            plan_inputs=False,
            plan_outputs=False,
            channels_multiple=16,
            pools=[{"name": "sram", "size": 9000}],
        )
    )
    file = read_cascade(data)
    assert isinstance(file.options, CascadeOptions)
    assert cascade_problem(file.network, file.pools, file.options).problem == read_problem(data)[0]
    assert [pool.name for pool in file.pools] == ["sram"]
    assert (file.options.cutting.longest, file.options.cycles.cycles_per_run) == (2, 10)  # type: ignore[attr-defined]


def test_tiles_of_a_file_fit_into_the_small_memory() -> None:
    data = changed(tiles())
    file = read_cascade(data)
    problem, _ = read_problem(data)
    assert isinstance(file.options, TileOptions)
    assert tile_problem(file.network, file.pools, file.options).problem == problem
    found = plan(problem, Options(prefer=Preference.SPEED))
    peaks = {pool.name: pool.peak or 0 for pool in found.pools}
    assert found.status is PlanStatus.OPTIMAL
    assert 0 < peaks["L1"] <= 3000
    assert peaks["L2"] == 16 * 16 * 4 + 15 * 15 * 8
    assert verify(problem, found) == ()
    tighter = plan(problem, Options(prefer=Preference.SPEED, capacity={"L1": peaks["L1"] - 1}))
    assert tighter.choice is not None
    assert found.choice is not None
    assert tighter.choice.cost > found.choice.cost


@pytest.mark.parametrize("cost", [1.5, "3"])
def test_a_cost_model_of_ones_own_counts_whole_cycles(cost: Any) -> None:
    for change in (lambda _: None, tiles()):
        file = read_cascade(changed(change))
        options = replace(file.options, cycles=lambda _: cost)
        make: Callable[..., object] = tile_problem if isinstance(options, TileOptions) else cascade_problem
        with pytest.raises(BadInput, match="must be an integer, not"):
            make(file.network, file.pools, options)


def chain(length: int, extents: int) -> bytes:
    """Return a chain of convolutions, in which every second tensor has many channels."""
    shapes = [[extents, extents, 4 + i % 2 * 28] for i in range(length + 1)]
    return json.dumps(
        {
            "format": "memplan-cascade/1",
            "tensors": [{"id": i, "shape": shape} for i, shape in enumerate(shapes)],
            "operators": [
                {"kind": "convolution", "inputs": [i], "output": i + 1, "kernel": [3, 3], "padding": "same"}
                for i in range(length)
            ],
        }
    ).encode()


def test_a_long_network_is_examined_as_far_as_time_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner.graph.cascades.stripes.ways.MOST_EFFORT", 4000)
    problem, warnings = read_problem(chain(40, 100))
    assert len(warnings) == 2
    assert "not all stripes were looked at" in warnings[0]
    assert re.match("groups of more than [2-9] operators were not looked at", warnings[1])
    assert problem.variants is not None
    assert any("rolling" in each.name for group in problem.variants.groups for each in group.alternatives)


@pytest.mark.parametrize("how", ["stripes", "tiles"])
def test_many_axes_take_no_more_work(how: str) -> None:
    shape = [16] * 7 + [4]
    document: Document = {
        "format": "memplan-cascade/1",
        "pools": [{"name": "L2"}, {"name": "L1"}],
        "plan_inputs": False,
        "plan_outputs": False,
        "tensors": [{"id": i, "shape": shape} for i in range(4)],
        "operators": [{"kind": "elementwise", "inputs": [i], "output": i + 1} for i in range(3)],
        how: {"stripes": {"most_axes": 8}, "tiles": {"home": "L2", "levels": [{"pool": "L1"}]}}[how],
    }
    problem, _ = read_problem(json.dumps(document).encode())
    assert problem.variants is not None
    assert sum(len(group.alternatives) for group in problem.variants.groups) < 2000


def test_a_kernel_that_reaches_far_does_not_make_rows_one_by_one() -> None:
    reach = 2**29
    document: Document = {
        "format": "memplan-cascade/1",
        "tensors": [{"id": i, "shape": [n, 1]} for i, n in enumerate((reach + 1, reach + 1, 2))],
        "operators": [
            {"kind": "convolution", "inputs": [0], "output": 1, "kernel": [1]},
            {"kind": "convolution", "inputs": [1], "output": 2, "kernel": [reach]},
        ],
    }
    problem, warnings = read_problem(json.dumps(document).encode())
    assert (problem.variants is not None, warnings) == (True, ())


def test_too_many_operators_are_refused() -> None:
    with pytest.raises(BadInput, match="4000 operators"):
        read_problem(chain(4_001, 1))


@pytest.mark.parametrize("arguments", [["plan"], ["plan", "--prefer", "speed"], ["pareto"]], ids=" ".join)
def test_the_command_takes_a_network(arguments: list[str], tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    path.write_bytes(changed(lambda document: None))
    command, *rest = arguments
    result = CliRunner().invoke(app, [command, str(path), *rest, "--capacity", "default=2500", "--json"])
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    peaks = [answer["peak"]] if command == "plan" else [point["memory"] for point in answer["points"]]
    assert peaks
    assert max(peaks) <= 2500
