"""The graphs of the `onnx` package are planned, agree with its own inference of shapes, and may be broken anyhow."""

from __future__ import annotations

import importlib
import pkgutil
import random
import tracemalloc
import warnings
from math import prod
from pathlib import Path
from typing import Any

import pytest

from planner import Options, plan, read_problem, verify
from planner.formats.models.onnx.model import BITS
from planner.model.errors import BadInput
from scripts.measure.reading import onnx_cases
from tests.planner.formats.models.onnx.models import graph, inside, model, node, number, value
from tests.small.strategies import NIGHTLY

onnx = pytest.importorskip("onnx")
DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
LIGHT = sorted((DATA / "light").glob("*.onnx"))
SPLIT = "onnx:dim=n=8,dim=Splits.0=2,dim=Splits.1=3,dim=Splits.2=3"
SMALL = sorted([*(DATA / "simple").glob("*/model.onnx"), *(DATA / "pytorch-operator").glob("*/model.onnx")])


@pytest.mark.parametrize("path", LIGHT, ids=lambda path: path.stem)
def test_shapes_agree_with_the_package_and_plans_are_valid(path: Path) -> None:
    problem, warnings = read_problem(path.read_bytes(), name=path.name)
    inferred = onnx.shape_inference.infer_shapes(onnx.load(path))
    known = {each.name: each.type.tensor_type for each in [*inferred.graph.value_info, *inferred.graph.output]}
    compared = 0
    for buffer in problem.buffers:
        if buffer.id in known:
            size = onnx.helper.tensor_dtype_to_np_dtype(known[buffer.id].elem_type).itemsize
            for dim in known[buffer.id].shape.dim:
                size *= dim.dim_value
            assert (buffer.id, buffer.size) == (buffer.id, size)
            compared += 1
    assert compared > 0.9 * len(problem.buffers) - 3
    assert warnings == ()
    found = plan(problem, Options(time_limit=None, work_limit=300_000))
    assert found.status.has_plan
    assert verify(problem, found) == ()
    in_place, _ = read_problem(path.read_bytes(), format="onnx:in_place")
    less = plan(in_place, Options(time_limit=None, work_limit=300_000))
    assert verify(in_place, less) == ()
    assert (less.peak or 0) <= (found.peak or 0)


def test_small_models_are_read_or_refused_for_a_reason() -> None:
    read, refused = 0, []
    for path in SMALL:
        try:
            read_problem(path.read_bytes(), name=path.name)
            read += 1
        except BadInput as error:
            refused.append(str(error))
    assert read > 40
    assert all("'n' is not known" in text for text in refused)
    split = next(path for path in SMALL if "sequence_model8" in str(path)).read_bytes()
    assert [buffer.size for buffer in read_problem(split, format=SPLIT)[0].buffers] == [32, 24, 8, 12, 12, 8]


def test_sizes_agree_with_the_standard_s_own_tests(nightly: bool) -> None:
    """All of some 1 900 cases are read with `--nightly`, otherwise those of sequences, optional values and texts."""
    from onnx.backend.test.case import node as cases

    read = compared = 0
    with warnings.catch_warnings(action="ignore"):  # numpy warns of numbers in the cases
        if nightly:
            cases.collect_testcases()
        for module in pkgutil.iter_modules(cases.__path__):
            if any(kind in module.name for kind in ("sequence", "optional", "string")):
                importlib.import_module(f"{cases.__name__}.{module.name}")
        found = [case for case in cases._NodeTestCases if case.model is not None]
    for case in found:
        name, made = case.name, case.model
        is_asked = isinstance(onnx_cases.outcome(case, with_dims=False), BadInput)
        outcome = onnx_cases.outcome(case, with_dims=True)
        assert not isinstance(outcome, BadInput), (name, str(outcome))
        problem, notes = outcome
        read += 1
        sizes = {str(buffer.id).removeprefix("main/").rstrip("'"): buffer.size for buffer in problem.buffers}
        for output in made.graph.output:
            type_ = output.type.tensor_type
            dims = [dim.dim_value if dim.HasField("dim_value") else None for dim in type_.shape.dim]
            if (
                output.type.HasField("tensor_type")
                and type_.HasField("shape")
                and None not in dims
                and output.name in sizes
            ):
                size = -(-prod(each or 0 for each in dims) * BITS[type_.elem_type] // 8)
                assert sizes[output.name] == size or ((notes or is_asked) and sizes[output.name] > size), (
                    name,
                    output.name,
                )
                compared += 1
    assert read > (1800 if nightly else 25)
    assert compared > (2200 if nightly else 25)


EXTREMES = [0, 1, -1, 2, 3, -2, 1 << 31, (1 << 62) - 1, 1 << 62, -(1 << 63), (1 << 63) - 1]


def changed(made: Any, chance: random.Random) -> bytes:
    """Return the model with one senseless, but well-formed change."""
    copy = onnx.ModelProto()
    copy.CopyFrom(made)
    graph, one = copy.graph, chance.choice(copy.graph.node)
    names = [name for each in graph.node for name in each.output] + [each.name for each in graph.input]
    match chance.randrange(7):
        case 0:
            one.op_type = chance.choice(graph.node).op_type
        case 1:
            for attribute in one.attribute:
                attribute.i = chance.choice(EXTREMES)
                for j in range(len(attribute.ints)):
                    attribute.ints[j] = chance.choice(EXTREMES)
        case 2:
            one.input[chance.randrange(len(one.input))] = chance.choice(names)
        case 3:
            one.output[0] = chance.choice(names)
        case 4:
            for dim in graph.input[0].type.tensor_type.shape.dim:
                dim.dim_value = chance.choice(EXTREMES)
        case 5:
            graph.input[0].type.tensor_type.elem_type = chance.randrange(30)
        case _:
            del graph.node[chance.randrange(len(graph.node))]
    data: bytes = copy.SerializeToString()
    return data


@pytest.mark.parametrize("path", [DATA / "light" / f"light_{name}.onnx" for name in ("squeezenet", "shufflenet")])
def test_damaged_models_are_read_or_refused(path: Path) -> None:
    made, refused = onnx.load(path), list[BadInput]()
    data = path.read_bytes()
    for seed in range(60 if NIGHTLY else 30):
        chance = random.Random(seed)
        broken = bytearray(changed(made, chance))
        if seed % 3 == 0:
            broken = bytearray(data[: chance.randrange(len(data))])
        elif seed % 3 == 1:
            broken = bytearray(data)
            broken[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        try:
            read_problem(bytes(broken), format="onnx")
        except BadInput as error:
            refused.append(error)
    assert len(refused) > 5
    assert all(error.findings[0].pointer for error in refused)


def test_weights_take_no_memory() -> None:
    weights = inside(8, "w") + number(2, 1) + number(1, 1 << 20) + inside(9, bytes(1 << 22))
    data = model(graph([node("Add", "x w", "y")], [value("x", [1 << 20])], [value("y", None)], [weights]))
    tracemalloc.start()
    try:
        read_problem(data, format="onnx")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < len(data) // 4
