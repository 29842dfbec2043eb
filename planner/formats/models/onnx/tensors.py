"""From the messages of an ONNX file to its tensors, and to what it declares of values. Weights are not copied."""

from __future__ import annotations

from dataclasses import replace

from ....checks.report import Place, bad_input, quoted
from ....model.errors import Code
from ....planning.shapes.expression import LIMIT
from ...binary.protobuf import Field, Part
from .model import BITS, MAP, MAX_GRAPHS, MAX_RANK, MOST_NUMBERS, Constant, Declared

A_TENSOR, A_DECLARED, A_NUMBER = 350, 300, 32
"""The memory of an object made from a message, without names."""


def tensor_of(part: Part) -> Constant:
    part.keep(A_TENSOR)
    name, element = "", 0
    shape: list[int] = []
    numbers: list[int | float | str] = []
    raw: Part | None = None
    is_outside = False
    for each in part.fields():
        match each.number:
            case 1:
                for size in each.numbers():
                    if not 0 <= size < LIMIT or len(shape) >= MAX_RANK:
                        text = f"more than {MAX_RANK} dimensions" if 0 <= size < LIMIT else f"a dimension of {size}"
                        raise bad_input(Code.OUT_OF_RANGE, ("bytes", each.at), f"byte {each.at}: {text}")
                    shape.append(size)
            case 2:
                element = each.signed
            case 4:
                _some(part, numbers, each, floats=True)
            case 5 | 7 | 11:
                _some(part, numbers, each, floats=False)
            case 8:
                name = each.text()
            case 9:
                raw = each.part
            case 14:
                is_outside = each.signed == 1
    if element not in BITS:
        raise bad_input(
            Code.INVALID_VALUE,
            ("bytes", part.start),
            f"byte {part.start}: tensor {quoted(name)} is of the type {element}, which there is not",
        )
    return Constant(name, element, tuple(shape), raw, tuple(numbers), is_outside)  # type: ignore[arg-type]


def _some(part: Part, into: list[int | float | str], each: Field, *, floats: bool) -> None:
    for value in each.floats() if floats else each.numbers():
        if len(into) > MOST_NUMBERS:
            return
        part.keep(A_NUMBER)
        into.append(value)


def sparse_of(part: Part) -> Constant:
    """Return a sparse tensor's name and type of values, and dense shape."""
    values = None
    shape: list[int] = []
    for each in part.fields():
        if each.number == 1:
            values = tensor_of(each.part)
        elif each.number == 3:
            shape.extend(size for size in list(each.numbers())[:MAX_RANK])
    if values is None or not all(0 <= size < LIMIT for size in shape):
        raise bad_input(Code.MISSING_FIELD, ("bytes", part.start), f"byte {part.start}: a sparse tensor without values")
    return Constant(values.name, values.element, tuple(shape))


def declared_of(part: Part, place: Place) -> Declared:
    part.keep(A_DECLARED)
    name, kind = "", None
    for each in part.fields():
        if each.number == 1:
            name = each.text()
        elif each.number == 2:
            kind = each.part
    if not name:
        raise bad_input(Code.MISSING_FIELD, place, "it has no name")
    return Declared(name, None, None) if kind is None else _type(name, kind, place)


SEQUENCE, MAP_OF, OPTIONAL = 4, 5, 9
_OTHERS = {SEQUENCE: "a sequence", MAP_OF: MAP, 7: "opaque", 8: "a sparse tensor"}


def _type(name: str, part: Part, place: Place, depth: int = 0) -> Declared:
    for each in part.fields():
        if each.number == 1:
            return _tensor_type(name, each.part, place)
        if each.number in (SEQUENCE, OPTIONAL) and depth < MAX_GRAPHS:
            held = next((one.part for one in each.part.fields() if one.number == 1), None)
            item = Declared(name, None, None) if held is None else _type(name, held, place, depth + 1)
            if each.number == OPTIONAL:
                return replace(item, is_optional=True)
            if item.other is None:
                return replace(item, other=_OTHERS[SEQUENCE])
        if each.number == MAP_OF:
            held = next((one.part for one in each.part.fields() if one.number == 2), None)
            values = None if held is None else next((one.part for one in held.fields() if one.number == 1), None)
            element = None if values is None else _tensor_type(name, values, place).element
            return Declared(name, element, None, MAP)
        if each.number in _OTHERS:
            return Declared(name, None, None, _OTHERS[each.number])
    return Declared(name, None, None)


def _tensor_type(name: str, part: Part, place: Place) -> Declared:
    element, shape = None, None
    for each in part.fields():
        if each.number == 1:
            element = each.signed or None
            if element is not None and element not in BITS:
                text = f"{quoted(name)} is of the type {element}, which there is not"
                raise bad_input(Code.INVALID_VALUE, place, text)
        elif each.number == 2:
            shape = tuple(_dimension(one.part, place) for one in each.part.fields() if one.number == 1)
            if len(shape) > MAX_RANK:
                raise bad_input(Code.OUT_OF_RANGE, place, f"{quoted(name)} has more than {MAX_RANK} dimensions")
    return Declared(name, element, shape)


def _dimension(part: Part, place: Place) -> int | str | None:
    part.keep(A_NUMBER)
    found: int | str | None = None
    for each in part.fields():
        if each.number == 1:
            found = each.signed
            if found >= LIMIT:
                raise bad_input(Code.OUT_OF_RANGE, place, f"a dimension of {found}")
            if found < 0:
                found = None  # some exporters' mark for unknown
        elif each.number == 2:
            found = each.text() or None
    return found
