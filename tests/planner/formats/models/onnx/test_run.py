"""Models of the `onnx` package are planned, then run node by node in an arena of the plan's size: the outputs are the same bits as without one."""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from planner.model.errors import BadInput
from tests.small.strategies import NIGHTLY

onnx = pytest.importorskip("onnx")
from onnx import SequenceProto, TensorProto, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from tests.planner.formats.models.onnx.in_memory import Arena, outcomes, same  # noqa: E402

DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
DRAWN = ("bernoulli", "dropout", "random", "multinomial", "training")
"""Parts of the names of cases whose outputs are drawn at random."""
MODULES = ("if", "loop", "scan")
"""The cases of the standard that run by day, by their modules."""


class Case(NamedTuple):
    name: str
    model: Any
    given: dict[str, Any]


def case_of(name: str, model: Any, given: list[Any]) -> Case:
    return Case(name, model, dict(zip((each.name for each in model.graph.input), given, strict=False)))


def files(kinds: tuple[str, ...]) -> Iterator[Case]:
    """Yield the models that lie in files, with the inputs beside them."""
    for path in sorted(path for kind in kinds for path in (DATA / kind).glob("*/model.onnx")):
        model, given = onnx.load(path), []
        for j, declared in enumerate(model.graph.input):
            at = path.parent / "test_data_set_0" / f"input_{j}.pb"
            if not at.exists():
                break
            is_sequence = declared.type.HasField("sequence_type")
            read = (SequenceProto if is_sequence else TensorProto).FromString(at.read_bytes())
            given.append(numpy_helper.to_list(read) if is_sequence else numpy_helper.to_array(read))
        yield case_of(path.parent.name, model, given)


def standard() -> Iterator[Case]:
    """Yield the cases of the standard's own tests; by day only those that run graphs."""
    from onnx.backend.test.case import node

    with warnings.catch_warnings(action="ignore"):  # numpy's, of the cases' own numbers
        if NIGHTLY:
            node.collect_testcases()
        for module in pkgutil.iter_modules(node.__path__):
            if module.name.rstrip("_") in MODULES:
                importlib.import_module(f"{node.__name__}.{module.name}")
    for case in node._NodeTestCases:
        if case.model is not None and case.data_sets and not any(part in case.name for part in DRAWN):
            yield case_of(case.name, case.model, case.data_sets[0][0])


def ran(case: Case, *, in_place: bool) -> bool:
    """Run the case; False if the package cannot evaluate it, or the reader asks for dimensions."""
    with warnings.catch_warnings(action="ignore"):
        try:
            ReferenceEvaluator(case.model).run(None, case.given)
        except Exception:  # noqa: BLE001 - the package's own: operators that it has not implemented, or not for these types
            return False
        try:
            arena = Arena(case.model.SerializeToString(), in_place=in_place)
        except BadInput:
            return False
        bare, found = outcomes(case.model, case.given, arena)
    assert same(bare, found), f"{case.name}: what was needed has been overwritten"
    return True


@pytest.mark.parametrize("in_place", [False, True], ids=["apart", "in_place"])
def test_models_in_files_compute_the_same_in_planned_memory(in_place: bool) -> None:
    kinds = ("simple", "pytorch-operator", *(("pytorch-converted",) if NIGHTLY else ()))
    assert sum(ran(case, in_place=in_place) for case in files(kinds)) >= (137 if NIGHTLY else 55)


@pytest.mark.parametrize("in_place", [False, True], ids=["apart", "in_place"])
def test_the_standard_s_cases_compute_the_same_in_planned_memory(in_place: bool) -> None:
    assert sum(ran(case, in_place=in_place) for case in standard()) >= (1540 if NIGHTLY else 5)


APART = """<ir_version: 8, opset_import: ["": 17]> main (float[4] x) => (float[4] z) {
    a = Neg(x)
    b = Exp(x)
    z = Sub(a, b)
}"""
SUMS = """<ir_version: 8, opset_import: ["": 17]> main (float[2] first, float[4, 2] x) => (float[2] last, float[4, 2] sums) {
    last, sums = Scan <num_scan_inputs: int = 1, body: graph = each (float[2] sum, float[2] part) => (float[2] next, float[2] out) {
        next = Add (sum, part)
        out = Mul (next, part)
    }> (first, x)
}"""


LATER = """<ir_version: 8, opset_import: ["": 17]> main (float[4] x) => (float[4] z) {
    a = Neg(x)
    b = Exp(x)
    c = Sub(a, b)
    is = Less(c, a)
    e = Cos(x)
    d = Where(is, a, e)
    f = MatMul(a, d)
    z = Mul(d, f)
}"""


def test_results_over_later_inputs_compute_the_same() -> None:
    model = onnx.parser.parse_model(LATER)
    arena = Arena(model.SerializeToString(), in_place=True)
    assert [arena.places[one].offset == arena.places[other].offset for one, other in ("cb", "de", "ca", "da")] == [
        True,
        True,
        False,
        False,
    ]
    assert same(*outcomes(model, {"x": np.arange(1, 5, dtype=np.float32)}, arena))


@pytest.mark.parametrize(
    ("text", "shapes", "one", "other"),
    [
        (APART, {"x": (4,)}, "b", "a"),
        (SUMS, {"first": (2,), "x": (4, 2)}, "main/last.next0", "main/x"),
        (SUMS, {"first": (2,), "x": (4, 2)}, "main/last", "main/sums"),
    ],
    ids=["operators", "carried", "joined"],
)
def test_a_tensor_that_lies_on_another_is_found(text: str, shapes: dict[str, Any], one: str, other: str) -> None:
    """The comparison itself: with two places made one, the outputs differ."""
    model = onnx.parser.parse_model(text)
    given = {name: np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape) for name, shape in shapes.items()}
    arena = Arena(model.SerializeToString())
    assert same(*outcomes(model, given, arena))
    arena.places[one] = arena.places[other]
    assert not same(*outcomes(model, given, arena))
