"""From the messages of an ONNX file to a Model. Weights are not copied."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from ....checks.report import Place, bad_input, quoted
from ....model.errors import Code
from ...binary.protobuf import Field, Part, message
from .model import MAX_GRAPHS, Attribute, Body, Called, Constant, Declared, Graph, Model, Node, Reference
from .tensors import A_DECLARED, A_NUMBER, A_TENSOR, declared_of, sparse_of, tensor_of

A_FUNCTION, A_NODE, AN_ATTRIBUTE = 600, 300, 200
"""The memory of an object made from a message, without names."""
LAZY_TIMES = 2
"""The nodes of a graph or a function are read this many times on demand before they are kept."""
FIELDS = {1: "float", 2: "int", 3: "string", 4: "tensor", 5: "graph", 11: "tensor"}
"""An attribute's kind -> the field with its value."""
DEFAULTS: dict[str, Attribute] = {"float": 0.0, "int": 0, "string": ""}
"""What holds without that field."""
LISTS = {6: "floats", 7: "ints", 8: "strings"}
LONGEST_LIST = 1 << 16
"""The longest list of numbers that may describe shapes; longer ones are weights."""


def read_model(data: bytes) -> Model:
    """Return the model in the bytes. Raises BadInput with the place in the file, or in the graph."""
    graph, names_opsets = None, False
    opsets: dict[str, int] = {}
    functions: dict[Called, tuple[Part, Place]] = {}
    for each in message(data).fields():
        if each.number == 1:
            names_opsets = each.signed >= 3  # since that version of the format
        elif each.number == 7:
            graph = each.part
        elif each.number == 8:
            _opset(each.part, opsets)
        elif each.number == 25:
            place: Place = ("functions", len(functions))
            key, _ = each.part.passing(partial(_function, place=place))
            if key in functions:
                raise bad_input(Code.DUPLICATE_ID, place, f"there is another function {quoted(str(key))}")
            each.part.keep(A_FUNCTION)
            functions[key] = each.part, place
    if graph is None:
        raise bad_input(Code.MISSING_FIELD, ("graph",), "there is no graph in it")
    if names_opsets and not opsets:
        raise bad_input(Code.MISSING_FIELD, ("opset_import",), "it names no versions of operators: is it cut off?")
    return Model(len(data), _graph(graph, ("graph",), 0), opsets, _Functions(functions))


class _Functions:
    """The model's own functions. Those in use are kept, since they may be called very often."""

    __slots__ = ("_called", "_parts")

    def __init__(self, parts: dict[Called, tuple[Part, Place]]) -> None:
        self._parts = parts
        self._called: dict[Called, Body] = {}

    def get(self, key: Called) -> Body | None:
        if key in self._parts and key not in self._called:
            part, place = self._parts[key]
            self._called[key] = _function(part, place)[1]
        return self._called.get(key)

    def __iter__(self) -> Iterator[Body]:
        return (part.passing(partial(_function, place=place))[1] for part, place in self._parts.values())


def _domain(field: Field) -> str:
    """The standard's own domain has two names."""
    domain = field.text()
    return "" if domain == "ai.onnx" else domain


def _opset(part: Part, opsets: dict[str, int]) -> None:
    domain, version = "", 0
    for each in part.fields():
        if each.number == 1:
            domain = _domain(each)
        elif each.number == 2:
            version = each.signed
    opsets[domain] = version


def _function(part: Part, place: Place) -> tuple[Called, Body]:
    name = domain = overload = ""
    inputs: list[str] = []
    outputs: list[str] = []
    known: dict[str, Part] = {}
    defaults: dict[str, Attribute] = {}
    opsets: dict[str, int] = {}
    for each in part.fields():
        match each.number:
            case 1:
                name = each.text()
            case 4:
                inputs.append(each.text())
            case 5:
                outputs.append(each.text())
            case 9:
                _opset(each.part, opsets)
            case 10:
                domain = _domain(each)
            case 11:
                key, value = _attribute(each.part, place, 0)
                defaults[key] = value
            case 12:
                _know(known, each.part, place)
            case 13:
                overload = each.text()
    nodes, declared = _Nodes(part, 7, place, 0), _Known({}, known, place, in_numbers=True)
    return Called(domain, name, overload), Body(tuple(inputs), tuple(outputs), nodes, defaults, opsets, declared)


def _graph(part: Part, place: Place, depth: int) -> Graph:
    if depth > MAX_GRAPHS:
        raise bad_input(Code.TOO_DEEP, place, f"graphs nest deeper than {MAX_GRAPHS}")
    name = ""
    inputs: list[Declared] = []
    outputs: list[Declared] = []
    known: dict[str, Part] = {}
    constants: dict[str, Constant] = {}
    for each in part.fields():
        match each.number:
            case 2:
                name = each.text()
            case 5 | 15:
                made = (tensor_of if each.number == 5 else sparse_of)(each.part)
                if made.name in constants or not made.name:
                    text = f"there is another initializer {quoted(made.name)}" if made.name else "it has no name"
                    raise bad_input(Code.DUPLICATE_ID, (*place, "initializer", len(constants)), text)
                constants[made.name] = made
            case 11:
                inputs.append(declared_of(each.part, (*place, "input", len(inputs))))
            case 12:
                outputs.append(declared_of(each.part, (*place, "output", len(outputs))))
            case 13:
                _know(known, each.part, place)
    declared = _Known({each.name: each for each in outputs}, known, place)
    return Graph(name, _Nodes(part, 1, place, depth), tuple(inputs), tuple(outputs), declared, constants, place)


def _know(known: dict[str, Part], part: Part, place: Place) -> None:
    value = part.passing(partial(declared_of, place=(*place, "value_info", len(known))))
    part.keep(A_DECLARED)
    known[value.name] = part


class _Known:
    """The declarations of inner values and outputs of a graph; of a function those in numbers, as names in others need not mean what they do in the graph."""

    __slots__ = ("_back", "_in_numbers", "_parts", "_place")

    def __init__(
        self, back: dict[str, Declared], parts: dict[str, Part], place: Place, *, in_numbers: bool = False
    ) -> None:
        self._back, self._parts, self._place, self._in_numbers = back, parts, place, in_numbers

    def get(self, name: str) -> Declared | None:
        part = self._parts.get(name)
        if part is None:
            return self._back.get(name)
        found = part.passing(partial(declared_of, place=self._place))
        is_known = all(isinstance(dim, int) for dim in found.shape or ())
        return found if is_known or not self._in_numbers else None


class _Nodes:
    """The nodes of a graph or a function, the fields of that number. They are kept from the third reading on: a function may run any number of times."""

    __slots__ = ("_depth", "_kept", "_number", "_part", "_place", "_times")

    def __init__(self, part: Part, number: int, place: Place, depth: int) -> None:
        self._part, self._number, self._place, self._depth = part, number, place, depth
        self._times = 0
        self._kept: tuple[Node, ...] | None = None

    def __iter__(self) -> Iterator[Node]:
        self._times += 1
        if self._kept is None and self._times > LAZY_TIMES:
            self._kept = tuple(make(part) for part, make in self._made())
        return iter(self._kept) if self._kept is not None else (part.passing(make) for part, make in self._made())

    def __len__(self) -> int:
        return len(self._kept) if self._kept is not None else sum(1 for _ in self._parts())

    def _made(self) -> Iterator[tuple[Part, Callable[[Part], Node]]]:
        for i, part in enumerate(self._parts()):
            yield part, partial(_node, place=(*self._place, "node", i), depth=self._depth)

    def _parts(self) -> Iterator[Part]:
        fields = self._part.passing(Part.fields)
        return (each.part for each in fields if each.number == self._number)


def _node(part: Part, place: Place, depth: int) -> Node:
    part.keep(A_NODE)
    operator = domain = name = overload = ""
    inputs: list[str] = []
    outputs: list[str] = []
    attributes: dict[str, Attribute] = {}
    for each in part.fields():
        match each.number:
            case 1:
                inputs.append(each.text())
            case 2:
                outputs.append(each.text())
            case 3:
                name = each.text()
            case 4:
                operator = each.text()
            case 5:
                key, value = _attribute(each.part, place, depth)
                if key in attributes:
                    raise bad_input(Code.DUPLICATE_KEY, place, f"there is another attribute {quoted(key)}")
                attributes[key] = value
            case 7:
                domain = _domain(each)
            case 8:
                overload = each.text()
    if not operator:
        raise bad_input(Code.MISSING_FIELD, place, "a node must say which operator it is (op_type)")
    return Node(operator, domain, name, tuple(inputs), tuple(outputs), attributes, place, overload)


def _attribute(part: Part, place: Place, depth: int) -> tuple[str, Attribute]:
    """Return an attribute's name and value."""
    part.keep(AN_ATTRIBUTE)
    name, kind = "", 0
    found: dict[str, Attribute] = {}
    lists: dict[str, list[int | float | str]] = {"ints": [], "floats": [], "strings": []}
    for each in part.fields():
        match each.number:
            case 1:
                name = each.text()
            case 2:
                found["float"] = next(each.floats(), 0.0)
            case 3:
                found["int"] = each.signed
            case 4:
                found["string"] = each.part.bytes[:1024].decode("utf-8", "replace")
            case 5:
                found["tensor"] = tensor_of(each.part)
            case 6:
                found["graph"] = _graph(each.part, (*place, "attribute", name or "graph"), depth + 1)
            case 7:
                _extend(part, lists["floats"], each.floats())
            case 8:
                _extend(part, lists["ints"], each.numbers())
            case 9:
                part.keep(A_TENSOR)
                _extend(part, lists["strings"], [each.part.bytes[:64].decode("utf-8", "replace")])
            case 20:
                kind = each.signed
            case 21:
                found["reference"] = Reference(each.text())
            case 22:
                found["tensor"] = sparse_of(each.part)
    if "reference" in found:
        return name, found["reference"]
    if kind in LISTS:
        return name, tuple(lists[LISTS[kind]])
    if kind in FIELDS:
        field = FIELDS[kind]
        value = found.get(field, DEFAULTS.get(field))
        if value is None:
            raise bad_input(Code.MISSING_FIELD, place, f"the attribute {quoted(name)} has no {field}")
        return name, value
    if found:  # old files do not state the kind
        return name, next(iter(found.values()))
    return name, tuple(next((each for each in lists.values() if each), ()))


def _extend(part: Part, into: list[int | float | str], values: Iterable[int | float | str]) -> None:
    for value in values:
        if len(into) >= LONGEST_LIST:
            return
        part.keep(A_NUMBER)
        into.append(value)
