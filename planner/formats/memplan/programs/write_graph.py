"""memplan-graph/2: from a program to bytes. Defaults are left out; reading the bytes gives the same program.

Which fields there are is read from the wire types, with which the reader validates them, and their defaults from the program's classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from ....graph.operators import Operator, Tensor, Workspace
from ....graph.problem import DEFAULT_POOLS, GraphOptions
from ....graph.program import Function, Program
from ....model.problem import Pool
from ...documents import PROGRAM_FORMAT
from ...json.lines import Written, compact, document
from ..write import write_pool
from . import graph_wire as w

USUAL = GraphOptions()
_DEFAULTS: dict[type, dict[str, Any]] = {
    kind: {field.name: field.default for field in fields(kind)}
    for kind in (Tensor, Workspace, Operator, Function, GraphOptions)
}
_NOT_OF_TUPLES = frozenset(("shape", "element_bits"))
"""What no tuple has of its own."""


def write(program: Program, pools: Sequence[Pool] = DEFAULT_POOLS, options: GraphOptions = USUAL) -> bytes:
    """Return the program, its memories and options as a document."""
    said: dict[str, Any] = {"format": PROGRAM_FORMAT}
    if program.name is not None:
        said["name"] = program.name
    if tuple(pools) != DEFAULT_POOLS:
        said["pools"] = [write_pool(i, pool) for i, pool in enumerate(pools)]
    if program.devices:
        said["devices"] = [{"name": name, "pools": reached} for name, reached in program.devices.items()]
    if options != USUAL:
        said["options"] = _fields(w.OptionsWire, options)
    if program.tensors:
        said["tensors"] = Written(map(_tensor, program.tensors))
    said["functions"] = Written(map(_function, program.functions))
    said["entries"] = program.entries
    return document(said, listed=("pools", "devices", "tensors", "functions"))


def _function(function: Function) -> str:
    """Return it with a line for each tensor and operator."""
    long = {"tensors": _lines(map(_tensor, function.tensors)), "operators": _lines(map(_operator, function.operators))}
    said = {name: compact(value) for name, value in _fields(w.FunctionWire, function, apart=long.keys()).items()}
    short, lines = ([f"{compact(name)}: {text}" for name, text in each.items()] for each in (said, long))
    return "{" + ",\n   ".join((", ".join(short), *lines)) + "}"


def _lines(items: Iterable[str]) -> str:
    text = ",\n    ".join(items)
    return f"[\n    {text}\n   ]" if text else "[]"


def _tensor(tensor: Tensor) -> str:
    return compact(_plain(tensor, w.TensorWire))


def _operator(operator: Operator) -> str:
    return compact(_fields(w.OperatorWire, operator))


def _plain(value: Any, tensor: type = w.ItemWire) -> Any:
    """Return the value as it is written; a tensor by its wire type."""
    match value:
        case Tensor():
            return _fields(tensor, value, apart=() if value.items is None else _NOT_OF_TUPLES)
        case Workspace():
            return _fields(w.WorkspaceWire, value)
        case tuple() | list():
            return [_plain(each) for each in value]
    return value


def _fields(wire: type, given: Any, apart: Iterable[str] = ()) -> dict[str, Any]:
    """Return the object's values of the wire's fields that differ from their defaults, without those that are written apart."""
    defaults = _DEFAULTS[type(given)]
    values = ((name, getattr(given, name)) for name in wire.__annotations__ if name not in apart)
    return {name: _plain(value) for name, value in values if value != defaults[name]}
