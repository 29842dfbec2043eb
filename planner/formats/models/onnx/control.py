"""If, Loop and Scan: operators that run graphs, which become functions of the program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ....checks.report import Place, quoted
from ....graph.operators import Operator, OperatorKind, TensorKind
from ....model.errors import BadInput
from . import dims as d
from .function import ABSENT, Scope, Several, Value, Written
from .model import BOOL, INT64, Attribute, Declared, Graph, Node
from .rules.site import NotKnown, ShapeError, Site, Type, axis_of
from .sequences import DEPENDS
from .turns import called, unrolled
from .values import is_settled

if TYPE_CHECKING:
    from ....graph.program import Function
    from .symbols import Symbols

Inputs: TypeAlias = list[Value | None]
NUMBER, TRUTH = Type(INT64, ()), Type(BOOL, ())


class Growing(ShapeError):
    """A value that a loop carries changes its shape."""


class Lowering(Protocol):
    """What lowers the graphs inside these operators."""

    symbols: Symbols
    warnings: dict[str, None]
    maybe: set[Value]
    functions: list[Function]

    def follow(self, value: Value, sources: Sequence[Value | None]) -> None:
        """Record from which inputs what is in a small tensor follows."""
        ...

    def count(self, more: int, place: Place) -> None:
        """Count further nodes."""
        ...

    def nodes(self, nodes: Iterable[Node], scope: Scope, into: Written) -> None:
        """Lower the nodes in order."""
        ...

    def constants(self, graph: Graph, scope: Scope, into: Written) -> None:
        """Lower the constants of a graph."""
        ...

    def inner(
        self, node: Node, graph: Graph, scope: Scope, into: Written, given: list[tuple[Type, bool]], what: str
    ) -> tuple[Written, list[Value]]:
        """Lower the graph as a function that `into` runs; return its outputs."""
        ...

    def asked(self, name: str, scope: Scope) -> str:
        """Return what can be given so that the contents of this value are known."""
        ...

    def keep(self, written: Written, outputs: list[str], more: list[Value], first: str | None = None) -> Function:
        """Finish the function."""
        ...


def branch(low: Lowering, node: Node, inputs: Inputs, scope: Scope, into: Written) -> None:
    """Lower If. If the running arm is known, the other one is left out."""
    test = _needed(inputs, 0)
    names = ["then_branch", "else_branch"]
    if is_settled(test.content) and test.content.size:
        names = [names[0] if test.content.ravel()[0] else names[1]]
    try:
        arms = [low.inner(node, _graph(node, name), scope, into, [], name) for name in names]
    except BadInput as error:
        hint = low.asked(node.inputs[0], scope) if len(names) > 1 else ""
        if not hint:
            raise
        first, *others = error.findings
        first = replace(first, message=f"{first.message}{hint}, if this arm does not run then")
        raise BadInput(first, *others, more=error.more) from None
    written = [each for each, _ in arms]
    if any(len(each.back) != len(node.outputs) for each in written):
        raise ShapeError("its graphs do not give out as many values as it does")
    forms = [_form(low, node, j, [each.back[j] for each in written]) for j in range(len(node.outputs))]
    given = [[value for j, form in enumerate(forms) for value in _filled(each, j, form)] for each in written]
    named = [name for name, form in zip(node.outputs, forms, strict=True) for name in _names(name, form)]
    types = [_either(low, name, [values[j].type for values in given]) for j, name in enumerate(named)]
    back = [
        [_of_type(each, value, type_) for value, type_ in zip(values, types, strict=True)]
        for each, values in zip(written, given, strict=True)
    ]
    taken = list(dict.fromkeys(value for each in written for value in each.taken))
    for each in written:
        for value in taken:
            each.use(value)
    functions = tuple(low.keep(each, ids, taken).name for each, ids in zip(written, back, strict=True))
    contents = [value.content for value in given[0]] if len(given) == 1 else []
    results = _results(node, tuple(named), types, scope, into, contents)
    for name, *values in zip(named, *given, strict=True):
        if name:
            low.follow(scope.values[name], values)
    handed = into.used(list(taken))
    if len(functions) == 1:
        into.run(Operator(OperatorKind.CALL, handed, results, name=called(node), functions=functions))
    else:
        condition = into.given_back(test)
        into.run(Operator(OperatorKind.BRANCH, (condition, *handed), results, name=called(node), functions=functions))
    for j, (name, form) in enumerate(zip(node.outputs, forms, strict=True)):
        is_maybe = _is_maybe(low, [each.back[j] for each in written])
        if name and isinstance(form, Several):
            items = tuple(scope.values.pop(each) for each in _names(name, form))
            scope.hold(name, replace(form, items=items, is_maybe=is_maybe))
        elif name and is_maybe:
            low.maybe.add(scope.values[name])


def _form(low: Lowering, node: Node, j: int, given: list[Value | Several]) -> Value | Several:
    """Return the form that has room for both arms' output: a tensor, or the longer of two sequences."""
    there = [each for each in given if each != ABSENT]
    if not there:
        return given[0]
    sequences = [each for each in there if isinstance(each, Several)]
    if not sequences:
        return there[0]
    if len(sequences) < len(there):
        text = f"one of its graphs gives out a tensor for {quoted(node.outputs[j])}, the other one a sequence: say which of them runs"
        raise NotKnown(text, of=node.inputs[0])
    longest = max(sequences, key=lambda each: len(each.items))
    least = min(each.least for each in sequences)
    if least == len(longest.items):
        return longest
    low.warnings[DEPENDS] = None
    return replace(longest, fewest=least)


def _is_maybe(low: Lowering, given: list[Value | Several]) -> bool:
    """True if it exists in only one arm, or in an unknown one."""
    if len({each == ABSENT for each in given}) > 1:
        return True
    return any(each.is_maybe if isinstance(each, Several) else each in low.maybe for each in given)


def _filled(written: Written, j: int, form: Value | Several) -> list[Value]:
    """Return the arm's tensors, and room for those that only the other arm has."""
    own = () if written.back[j] == ABSENT else _items(written.back[j])
    return [*own, *(written.constant(value.name, value.type, None) for value in _items(form)[len(own) :])]


def _items(value: Value | Several) -> tuple[Value, ...]:
    return value.items if isinstance(value, Several) else (value,)


def _names(name: str, form: Value | Several) -> list[str]:
    """Return the names of the tensors that represent it."""
    return [f"{name}[{i}]" for i in range(len(form.items))] if isinstance(form, Several) else [name]


def _either(low: Lowering, name: str, types: list[Type]) -> Type:
    """Return what represents either result: as large as the larger one."""
    first = types[0]
    if all(each == first for each in types):
        return first
    if any(len(each.shape) != len(first.shape) or each.element != first.element for each in types):
        raise ShapeError(f"its graphs give out shapes that do not go together for {quoted(name)}")
    low.warnings["where the arms of a branch give out different shapes, the larger one is planned"] = None
    shape = first.shape
    for each in types[1:]:
        shape = tuple(d.most(a, b) for a, b in zip(shape, each.shape, strict=True))
    return Type(first.element, shape)


def _of_type(written: Written, value: Value, type_: Type) -> str:
    """Return what represents the value among the outputs, with room for this type."""
    found = written.given_back(value)
    if value.type == type_:
        return found
    made = written.tensor(value.name, type_, TensorKind.INTERMEDIATE)
    written.run(Operator(OperatorKind.COMPUTE, (found,), (made,), name=value.name))
    return made


def loop(low: Lowering, node: Node, inputs: Inputs, scope: Scope, into: Written) -> None:
    """Lower Loop. The turn's number stays in one place; condition and carried values are passed on. If these grow, every turn is written out."""
    trips, test = [*inputs, None, None][:2]
    state = [_needed(inputs, 2 + j) for j in range(len(inputs) - 2)]
    carried = [TRUTH, *(value.type for value in state)]
    given = [(NUMBER, False), (TRUTH, False), *((value.type, value in low.maybe) for value in state)]
    kept = len(low.functions)
    written, outputs = low.inner(node, _graph(node, "body"), scope, into, given, "body")
    try:
        back = _turned(written, outputs, carried)
    except Growing:
        del low.functions[kept:]
        unrolled(low, node, inputs, scope, into)
        return
    count = trips.content.ravel()[0] if trips is not None and trips.content is not None and trips.content.size else None
    if isinstance(count, float):
        raise ShapeError("how many turns it takes is a whole number")
    made = [
        Type(value.type.element, (_turns(low, node, scope, len(state) + j, count), *value.type.shape))
        for j, value in enumerate(outputs[len(carried) :])
    ]
    turn = into.tensor(f"{called(node)}.turn", NUMBER, TensorKind.INTERMEDIATE)
    begin = into.tensor(f"{called(node)}.begin", TRUTH, TensorKind.INTERMEDIATE)
    into.run(Operator(OperatorKind.COMPUTE, into.used([trips, test]), (turn, begin), name=f"{called(node)}.begin"))
    number, *rest = written.inputs
    written.inputs = rest
    taken = list(written.taken)
    function = low.keep(written, back, taken, first=number)
    results = _results(node, ("", *node.outputs), [*carried, *made], scope, into)
    for j, (name, value) in enumerate(zip(node.outputs, state, strict=False), start=1):
        if name and {value, outputs[j]} & low.maybe:
            low.maybe.add(scope.values[name])
    entering = (begin, *map(into.given_back, state))
    same = (turn, *into.used(list(taken)))
    _run(node, into, entering, (), same, results, function.name)


def _turns(low: Lowering, node: Node, scope: Scope, j: int, count: Any) -> d.Dim:
    """Return the most turns of a loop: a number, or the file's name for the first dimension of its joined outputs."""
    if count is not None:
        return d.most(count, 0)
    name = f"{called(node)}_turns"
    declared = scope.known.get(node.outputs[j]) if j < len(node.outputs) else None
    dim = declared.shape[0] if declared is not None and declared.shape else None
    (found,) = low.symbols.shape(Declared(name, INT64, (name if dim is None else dim,)), node.place)
    low.symbols.require_all_known()
    return found


def scan(low: Lowering, node: Node, inputs: Inputs, scope: Scope, into: Written) -> None:
    """Lower Scan. Inputs scanned along another dimension than the first are transposed before, and outputs afterwards."""
    many = _scanned(node, inputs)
    if scope.opsets.get("", 9) < 9 and "scan_input_axes" not in node.attributes:
        inputs = inputs[1:]  # the length of each sequence
        node = _of_each_batch(node, many, len(inputs))
        many = len(inputs)
    state = [_needed(inputs, j) for j in range(len(inputs) - many)]
    parts = [_needed(inputs, len(state) + j) for j in range(many)]
    site = Site(node, (), (), 0, low.symbols.box)
    axes = _axes(site, parts)
    count = parts[0].type.shape[axes[0]]
    elements = [
        Type(v.type.element, (*v.type.shape[:a], *v.type.shape[a + 1 :])) for a, v in zip(axes, parts, strict=True)
    ]
    carried = [value.type for value in state]
    given = [(type_, False) for type_ in (*carried, *elements)]
    written, outputs = low.inner(node, _graph(node, "body"), scope, into, given, "body")
    back = _turned(written, outputs, carried)
    whole = [
        _part_by_part(node, value, axis, Type(type_.element, (count, *type_.shape)), into)
        for axis, value, type_ in zip(axes, parts, elements, strict=True)
    ]
    taken = list(written.taken)
    function = low.keep(written, back, taken)
    made = [Type(value.type.element, (count, *value.type.shape)) for value in outputs[len(state) :]]
    axes_given = site.numbers("scan_output_axes") or (0,) * len(made)
    if len(axes_given) != len(made):
        raise ShapeError("its scan_output_axes do not fit what is joined")
    joined = [_along(type_, axis) for axis, type_ in zip(axes_given, made, strict=True)]
    results = list(_results(node, node.outputs, [*carried, *joined], scope, into))
    turned: list[tuple[str, str]] = []
    for j, (name, ordered, type_) in enumerate(zip(node.outputs[len(state) :], made, joined, strict=False), len(state)):
        if name and ordered != type_:
            turned.append((into.tensor(f"{name}.parts", ordered, TensorKind.INTERMEDIATE), results[j]))
            results[j] = turned[-1][0]
    entering = tuple(map(into.given_back, state))
    _run(node, into, entering, tuple(whole), into.used(list(taken)), tuple(results), function.name)
    for each, result in turned:
        into.run(Operator(OperatorKind.COMPUTE, (each,), (result,), name=f"{called(node)}.parts"))


def _along(ordered: Type, axis: int) -> Type:
    """Return the type of parts, which are as many as the first dimension says, joined along this dimension."""
    count, *dims = ordered.shape
    dims.insert(axis_of(axis, len(ordered.shape)), count)
    return Type(ordered.element, tuple(dims))


def _axes(site: Site, parts: list[Value]) -> list[int]:
    """Return the dimension along which each input is scanned."""
    axes = site.numbers("scan_input_axes") or (0,) * len(parts)
    if len(axes) != len(parts) or not all(
        -len(value.type.shape) <= axis < len(value.type.shape) for axis, value in zip(axes, parts, strict=True)
    ):
        raise ShapeError("its scan_input_axes do not fit what is scanned")
    return [axis % len(value.type.shape) for axis, value in zip(axes, parts, strict=True)]


def _part_by_part(node: Node, value: Value, axis: int, ordered: Type, into: Written) -> str:
    """Return the tensor in which the parts that are scanned follow each other: the value, transposed unless they do so in it."""
    name = into.given_back(value)
    if not axis:
        return name
    parts = into.tensor(f"{value.name}.parts", ordered, TensorKind.INTERMEDIATE)
    into.run(Operator(OperatorKind.COMPUTE, (name,), (parts,), name=f"{called(node)}.parts"))
    return parts


def _scanned(node: Node, inputs: Inputs) -> int:
    """Return the number of scanned inputs; they are the last."""
    many = node.attributes.get("num_scan_inputs")
    if not isinstance(many, int) or not 1 <= many <= len(inputs):
        raise ShapeError("num_scan_inputs must say how many inputs are scanned")
    return many


def _of_each_batch(node: Node, many: int, count: int) -> Node:
    """Rewrite Scan of opset 8 in the later form: one goes through the batch, and runs another for each sequence. It takes `count` inputs."""
    names = [f"{called(node)}.{j}" for j in range(count)]
    results = [f"{called(node)}.out{j}" for j in range(len(node.outputs))]
    known: dict[str, Attribute] = {
        "body": _graph(node, "body"),
        "num_scan_inputs": many,
        "scan_input_axes": (0,) * many,
    }
    inner = replace(node, inputs=tuple(names), outputs=tuple(results), attributes=known)
    given = tuple(Declared(name, None, None) for name in names)
    back = tuple(Declared(name, None, None) for name in results)
    body = Graph("", (inner,), given, back, {}, {}, node.place)
    whole: dict[str, Attribute] = {"body": body, "num_scan_inputs": count, "scan_input_axes": (0,) * count}
    return replace(node, attributes=whole)


CONTROL: Mapping[str, Callable[[Lowering, Node, Inputs, Scope, Written], None]] = {
    "If": branch,
    "Loop": loop,
    "Scan": scan,
}


def _run(
    node: Node,
    into: Written,
    carried: tuple[str, ...],
    scanned: tuple[str, ...],
    same: tuple[str, ...],
    results: tuple[str, ...],
    function: str,
) -> None:
    made = Operator(OperatorKind.LOOP, (*carried, *scanned, *same), results, name=called(node), functions=(function,))
    into.run(replace(made, carried=len(carried), scanned=len(scanned)))


def _turned(written: Written, outputs: list[Value], carried: list[Type]) -> list[str]:
    """Return the outputs of a turn. Carried values keep their shapes."""
    if len(outputs) < len(carried):
        raise ShapeError(f"its graph gives out {len(outputs)} values, and needs {len(carried)} for the next turn")
    for value, type_ in zip(outputs, carried, strict=False):
        if value.type.shape != type_.shape:
            shown = " and ".join(str([str(dim) for dim in each.shape]) for each in (type_, value.type))
            raise Growing(f"{quoted(value.name)} changes its shape from turn to turn: {shown[:120]}")
    return [written.given_back(value) for value in outputs]


def _results(
    node: Node, names: tuple[str, ...], types: list[Type], scope: Scope, into: Written, contents: Sequence[Any] = ()
) -> tuple[str, ...]:
    """Return memory for its outputs, including unused ones; `contents` are what is known to be in the first."""
    made: list[str] = []
    for j, type_ in enumerate(types):
        name = names[j] if j < len(names) else ""
        content = contents[j] if j < len(contents) else None
        value = into.value(name or f"{called(node)}.out{j}", type_, TensorKind.INTERMEDIATE, content)
        if name:
            scope.values[name] = value
        made += into.used([value])
    return tuple(made)


def _graph(node: Node, name: str) -> Graph:
    found = node.attributes.get(name)
    if not isinstance(found, Graph):
        raise ShapeError(f"it has no graph {name}")
    return found


def _needed(inputs: Inputs, j: int) -> Value:
    value = inputs[j] if j < len(inputs) else None
    if value is None:
        raise ShapeError(f"input {j} is missing")
    return value
