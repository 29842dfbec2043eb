"""memplan-graph/1 and memplan-graph/2: tensor graphs and whole programs as JSON, read as strictly as problems are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from ....checks import sound_as_read
from ....checks.report import Place, Report, bad_input, quoted
from ....graph.checks.soundness import require_sound_graph, require_sound_program
from ....graph.columns import OperatorColumns, TensorColumns, form_of_operator, form_of_tensor
from ....graph.operators import Graph, Operator, OperatorKind, Tensor, TensorKind, Workspace
from ....graph.problem import DEFAULT_POOLS, GraphOptions, ProgramFile, arrangement
from ....graph.program import Function, Program, program_of
from ....model.errors import Code
from ....model.problem import BufferId
from ...documents import GRAPH_FORMAT, PROGRAM_FORMAT, require_format
from ...json.scan import Scanned
from ...json.strict import Part, Wire, once
from ...json.validate import validate
from ..read import read_pools
from ..wire import PoolWire
from . import graph_wire as w

if TYPE_CHECKING:
    from ....model.problem import Problem
    from ...documents import Source


@cache
def _flat_wire() -> Wire:
    return Wire(
        TypeAdapter(w.FlatGraphWire),
        once(
            lambda: {
                ("tensors",): Part(TypeAdapter(w.FlatTensorWire)),
                ("operators",): Part(TypeAdapter(w.FlatOperatorWire)),
            }
        ),
    )


@cache
def _wire() -> Wire:
    return Wire(
        TypeAdapter(w.ProgramWire),
        once(
            lambda: {
                ("pools",): Part(TypeAdapter(PoolWire)),
                ("tensors",): Part(TypeAdapter(w.TensorWire)),
                ("functions",): Part(
                    TypeAdapter(w.FunctionWire),
                    {
                        "tensors": Part(TypeAdapter(w.TensorWire)),
                        "operators": Part(TypeAdapter(w.OperatorWire)),
                    },
                ),
            }
        ),
    )


def read(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem of planning the graph or program in one arena; there are no warnings."""
    # The file's contents are freed before the problem is made, and what it is made of before it is checked.
    problem = arrangement(*read_file(source), is_sound=True).problem().problem
    return sound_as_read(problem), ()


def read_file(source: Source) -> ProgramFile:
    """Return the graph or program, checked. Raises BadInput."""
    if source.top.get("format") == GRAPH_FORMAT:
        return ProgramFile(program_of(_flat_graph(source.data, source.scanned)))
    require_format(source.scanned, PROGRAM_FORMAT, "a program")
    return _program_file(source.data, source.scanned)


def read_with_warnings(source: Source) -> tuple[ProgramFile, tuple[str, ...]]:
    """Return the same, and warnings, of which there are none."""
    return read_file(source), ()


def read_graph_json(data: bytes, scanned: Scanned) -> Graph:
    """Return the Graph in the bytes, checked. Raises BadInput."""
    require_format(scanned, GRAPH_FORMAT, "a graph")
    return _flat_graph(data, scanned)


def _flat_graph(data: bytes, scanned: Scanned) -> Graph:
    ids: dict[BufferId, BufferId] = {}
    document: w.FlatGraphWire = validate(_in_columns(_flat_wire(), ids), data, scanned)
    ids.clear()
    report = Report()
    tensors, operators = _tensors(document["tensors"], (), report), _operators(document["operators"])
    graph = Graph(tensors, operators, document.get("name"))
    require_sound_graph(graph)
    return graph


def _program_file(data: bytes, scanned: Scanned) -> ProgramFile:
    ids: dict[BufferId, BufferId] = {}
    document: w.ProgramWire = validate(_in_columns(_wire(), ids), data, scanned)
    ids.clear()
    report = Report()
    shared = tuple(_tensors(document.get("tensors", []), (), report))
    functions = tuple(_function(each, ("functions", f), report) for f, each in enumerate(document["functions"]))
    pools = read_pools(document["pools"], report) if "pools" in document else DEFAULT_POOLS
    devices: dict[str, tuple[str, ...]] = {}
    for i, device in enumerate(document.get("devices", ())):
        if device["name"] in devices:
            text = f"there is another device {quoted(device['name'])}"
            report.add(Code.DUPLICATE_ID, ("devices", i, "name"), text)
        devices[device["name"]] = tuple(device["pools"])
    report.raise_if_any()
    entries = document.get("entries")
    if entries is None:
        if not functions:
            raise bad_input(Code.INVALID_VALUE, ("functions",), "there must be at least one function")
        if len(functions) != 1:
            raise bad_input(
                Code.MISSING_FIELD,
                ("entries",),
                "name the functions that are run from outside, since there are several",
            )
        entries = [functions[0].name]
    program = Program(functions, tuple(entries), shared, devices, document.get("name"))
    require_sound_program(program)
    return ProgramFile(program, pools, GraphOptions(**document.get("options", {})))


def _function(wire: w.FunctionWire, at: tuple[str | int, ...], report: Report) -> Function:
    return Function(
        wire["name"],
        _tensors(wire["tensors"], at, report),
        _operators(wire["operators"]),
        tuple(wire.get("inputs", ())),
        tuple(wire.get("outputs", ())),
    )


class Tensors:
    """The tensors of a long document in columns, made of its items piece by piece."""

    def __init__(self, ids: dict[BufferId, BufferId], items: Iterable[w.TensorWire]) -> None:
        self.columns = TensorColumns()
        self._ids = ids
        self.odd: dict[int, w.TensorWire] = {}
        """Faulty ones, by their numbers: what is wrong is reported when all are there."""
        self.extend(items)

    def extend(self, items: Iterable[w.TensorWire]) -> None:
        for wire in items:
            report = Report()
            tensor = _tensor(wire, (), report)
            if report:
                self.odd[len(self.columns)] = wire
            self.columns.add(self._ids.setdefault(tensor.id, tensor.id), form_of_tensor(tensor))

    def clear(self) -> None:
        self.columns.clear()
        self.odd.clear()


class Operators:
    """The operators of a long document in columns, made of its items piece by piece."""

    def __init__(self, ids: dict[BufferId, BufferId], items: Iterable[w.OperatorWire]) -> None:
        self.columns = OperatorColumns()
        self._ids = ids
        self.extend(items)

    def extend(self, items: Iterable[w.OperatorWire]) -> None:
        one = self._ids.setdefault
        for wire in items:
            operator = _operator(wire)
            inputs, outputs = ([one(id_, id_) for id_ in ids] for ids in (operator.inputs, operator.outputs))
            self.columns.add(form_of_operator(operator), inputs, outputs, operator.name)

    def clear(self) -> None:
        self.columns.clear()


def _in_columns(wire: Wire, ids: dict[BufferId, BufferId]) -> Wire:
    """Return the type with tensors and operators of long documents in columns, each id as one object, which is kept in `ids`."""
    kept: dict[str, Callable[[list[Any]], Any]] = {
        "tensors": partial(Tensors, ids),
        "operators": partial(Operators, ids),
    }

    def put(path: tuple[str, ...], part: Part) -> Part:
        inner = {name: put((name,), each) for name, each in part.inner.items()}
        return part._replace(inner=inner, kept=kept.get(path[-1]))

    parts = {path: put(path, part) for path, part in wire.lists().items()}
    return wire._replace(lists=lambda: parts)


def _tensors(found: Tensors | list[Any], at: Place, report: Report) -> Sequence[Tensor]:
    if isinstance(found, Tensors):
        for i, wire in found.odd.items():
            _tensor(wire, (*at, "tensors", i), report)
        return found.columns
    return tuple(_tensor(each, (*at, "tensors", i), report) for i, each in enumerate(found))


def _operators(found: Operators | list[Any]) -> Sequence[Operator]:
    return found.columns if isinstance(found, Operators) else tuple(map(_operator, found))


def _tensor(wire: w.TensorWire, at: Place, report: Report) -> Tensor:
    pools = wire.get("pools")
    return Tensor(
        wire["id"],
        *_form(wire, at, report),
        TensorKind(wire.get("kind", "intermediate")),
        bool(wire.get("is_output")),
        alignment=wire.get("alignment", 1),
        pools=None if pools is None else tuple(pools),
        device=wire.get("device"),
        items=_items(wire, at, report),
    )


def _form(wire: w.TensorWire | w.ItemWire, at: tuple[str | int, ...], report: Report) -> tuple[tuple[int, ...], int]:
    if "items" in wire:
        for field in ("shape", "element_bits"):
            if field in wire:
                report.add(Code.CONTRADICTION, (*at, field), "a tuple has items and nothing of its own")
    elif "shape" not in wire:
        report.add(Code.MISSING_FIELD, (*at, "shape"), "the field 'shape' is missing; a tuple has 'items' instead")
    return tuple(wire.get("shape", ())), wire.get("element_bits", 8)


def _items(wire: w.TensorWire | w.ItemWire, at: tuple[str | int, ...], report: Report) -> tuple[Tensor, ...] | None:
    if "items" not in wire:
        return None
    return tuple(
        Tensor("", *_form(item, (*at, "items", i), report), items=_items(item, (*at, "items", i), report))
        for i, item in enumerate(wire["items"])
    )


def _operator(wire: w.OperatorWire) -> Operator:
    given: dict[str, Any] = dict(wire)
    for field in ("inputs", "outputs", "functions"):
        given[field] = tuple(given.get(field, ()))
    given["kind"] = OperatorKind(wire["kind"])
    given["workspaces"] = tuple(
        Workspace(each["size"], each.get("alignment", 1), tuple(each["pools"]) if "pools" in each else None)
        for each in wire.get("workspaces", ())
    )
    return Operator(**given)
