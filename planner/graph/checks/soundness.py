"""Checks of programs: names, order of writing and reading, shapes, each kind of operator, and calls between functions."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import islice
from math import prod

from ...checks.report import Place, Report, quoted
from ...checks.values import are_integers, check_text, is_whole
from ...model.deadline import CHECKING, tick
from ...model.errors import Code
from ...model.problem import MAX_ADDRESS, MAX_TEXT, BufferId
from ..columns import (
    Both,
    Forms,
    Ids,
    have_different_names,
    ids_of,
    named,
    names_of,
    operands_of,
    operator_forms,
    tensor_forms,
)
from ..operators import CONTROL, OF_PROGRAMS, Graph, Operator, OperatorKind, Tensor, TensorKind
from ..program import Function, Program
from ..running.tuples import leaves
from .calls import check_calls
from .extent import check_extent

_ARITIES = {
    OperatorKind.VIEW: (1, 1),
    OperatorKind.SLICE: (1, 1),
    OperatorKind.SELECT: (1, 1),
    OperatorKind.CONCATENATE: (None, 1),
    OperatorKind.IN_PLACE: (None, 1),
    OperatorKind.IDMA_LOAD: (1, 1),
    OperatorKind.IDMA_STORE: (1, 1),
    OperatorKind.IDMA_WAIT: (1, 1),
    OperatorKind.COPY: (1, 1),
    OperatorKind.TUPLE: (None, 1),
    OperatorKind.ITEM: (1, 1),
}
"""The number of inputs and outputs; None: at least one."""
_INDEXING = frozenset((OperatorKind.SLICE, OperatorKind.SELECT, OperatorKind.CONCATENATE))
_FREE = frozenset(OperatorKind) - frozenset(_ARITIES)
"""Kinds that may have any number of inputs and outputs, tuples too."""
_TAKE_TUPLES = frozenset(OperatorKind) - frozenset(_ARITIES) | {OperatorKind.TUPLE, OperatorKind.ITEM}

MAX_BITS = 4096
"""The most bits of an element: wider than any vector type."""
MAX_ITEMS = 1000
"""The most items of a tuple, at all depths."""


LONGEST_ENDING = len(".turn.workspace0000")
"""What follows an operator's name in the names of its memory."""


def require_sound_graph(graph: Graph) -> None:
    """Raise BadInput if the graph is not sound."""
    report = Report()
    for i, form in enumerate(operator_forms(graph.operators)):
        if form.kind in OF_PROGRAMS:
            text = f"a graph has no operator {form.kind.value}; a program has"
            report.add(Code.INVALID_VALUE, ("operators", i, "kind"), text)
    report.raise_if_any()
    tensors = _tensors(graph.tensors, (), report)
    _check_operators(graph.operators, tensors, tensors, (), report)


def require_sound_program(program: Program) -> None:
    """Raise BadInput if the program is not sound."""
    report = Report()
    shared = _tensors(program.tensors, (), report)
    for i, tensor in enumerate(program.tensors):
        if tensor.kind not in (TensorKind.CONSTANT, TensorKind.MUTABLE) or tensor.items is not None:
            text = "tensors that every function sees must be constant or mutable, and no tuples"
            report.add(Code.INVALID_VALUE, ("tensors", i, "kind"), text)
    _check_names(program, report)
    report.raise_if_any()
    seen: list[Mapping[BufferId, Tensor]] = []
    own: list[Forms] = []
    for f, function in enumerate(program.functions):
        prefix = "" if len(program.functions) == 1 else f"{function.name}/"
        own.append(_tensors(function.tensors, ("functions", f), report, shared, prefix))
        _check_lengths(function.operators, prefix, ("functions", f), report)
        seen.append(Both(own[f], shared) if shared else own[f])
        _check_interface(function, own[f], ("functions", f), report)
    report.raise_if_any()
    check_extent(program, report)
    for f, function in enumerate(program.functions):
        _check_operators(function.operators, seen[f], own[f], ("functions", f), report)
        unwritten = {id_ for id_ in function.outputs if seen[f][id_].kind is TensorKind.INTERMEDIATE}
        unwritten.difference_update(function.inputs)
        for _, outputs in operands_of(function.operators) if unwritten else ():
            unwritten.difference_update(outputs)
        for j, id_ in enumerate(function.outputs):
            if id_ in unwritten:
                text = f"nothing writes tensor {quoted(id_)}"
                report.add(Code.CONTRADICTION, ("functions", f, "outputs", j), text)
        report.raise_if_any()
    check_calls(program, seen, report)


def _check_names(program: Program, report: Report) -> None:
    names: set[str] = set()
    for f, function in enumerate(program.functions):
        if not function.name or function.name in names:
            text = f"there is another function {quoted(function.name)}" if function.name else "a function has a name"
            report.add(Code.DUPLICATE_ID, ("functions", f, "name"), text)
        else:
            check_text(report, ("functions", f, "name"), function.name)
        names.add(function.name)
        known: set[str] = set()
        for i, name in enumerate(() if have_different_names(function.operators) else names_of(function.operators)):
            if name is not None and name in known:
                text = f"there is another operator {quoted(name)} in this function"
                report.add(Code.DUPLICATE_ID, ("functions", f, "operators", i, "name"), text)
            elif name is not None:
                known.add(name)
                check_text(report, ("functions", f, "operators", i, "name"), name)
    entries: set[str] = set()
    for i, entry in enumerate(program.entries):
        if entry not in names:
            report.add(Code.INVALID_VALUE, ("entries", i), f"there is no function {quoted(entry)}")
        elif entry in entries:
            report.add(Code.DUPLICATE_ID, ("entries", i), f"{quoted(entry)} is named twice")
        entries.add(entry)
    if not program.entries:
        report.add(Code.INVALID_VALUE, ("entries",), "must name at least one function")


def _check_lengths(operators: Sequence[Operator], prefix: str, at: Place, report: Report) -> None:
    """Check that names of memory that operators need are not too long: they begin with the operators' names."""
    for i, (form, name) in enumerate(zip(operator_forms(operators), names_of(operators), strict=True)):
        if name is not None and (form.workspaces or form.kind in CONTROL):
            _check_length(len(prefix) + len(name) + LONGEST_ENDING, (*at, "operators", i, "name"), report)


def _check_length(length: int, place: Place, report: Report) -> None:
    if length > MAX_TEXT:
        text = f"in a plan this name has {length} characters, and {MAX_TEXT} are the most"
        report.add(Code.TOO_LARGE, place, text)


def _check_interface(function: Function, own: Mapping[BufferId, Tensor], at: Place, report: Report) -> None:
    for field, ids in (("inputs", function.inputs), ("outputs", function.outputs)):
        named: set[BufferId] = set()
        for j, id_ in enumerate(ids):
            if id_ not in own:
                text = f"there is no tensor {quoted(id_)} in this function"
                report.add(Code.UNKNOWN_BUFFER, (*at, field, j), text)
            elif field == "inputs" and own[id_].kind not in (TensorKind.INPUT, TensorKind.MUTABLE):
                text = f"an input is of the kind input or mutable, {quoted(id_)} is {own[id_].kind.value}"
                report.add(Code.CONTRADICTION, (*at, field, j), text)
            elif field == "inputs" and id_ in named:
                report.add(Code.DUPLICATE_ID, (*at, field, j), f"{quoted(id_)} is named twice")
            named.add(id_)
    given = set(function.inputs)
    for i, (id_, form) in enumerate(zip(ids_of(function.tensors), tensor_forms(function.tensors), strict=True)):
        if form.kind is TensorKind.INPUT and id_ not in given:
            text = f"{quoted(id_)} is of the kind input, and not among the function's inputs"
            report.add(Code.CONTRADICTION, (*at, "tensors", i, "kind"), text)


def _check_operators(
    operators: Sequence[Operator], tensors: Mapping[BufferId, Tensor], own: Forms, at: Place, report: Report
) -> None:
    """Check in steps; raise BadInput before a step that earlier faults would confuse. The operators see `tensors`; some are the function's own."""
    forms = operator_forms(operators)
    for i, (form, (inputs, outputs)) in enumerate(zip(forms, operands_of(operators), strict=True)):
        tick(CHECKING)
        _names(form, inputs, outputs, (*at, "operators", i), tensors, report)
    report.raise_if_any()
    _order(operators, tensors, own, at, report)
    special = [i for i, form in enumerate(forms) if form.kind not in _FREE]
    for i in special:
        tick(CHECKING)
        _arity(operators[i], (*at, "operators", i), tensors, report)
    report.raise_if_any()
    for i in special:
        if forms[i].kind in _INDEXING:
            _parameters(operators[i], (*at, "operators", i), tensors, report)
    report.raise_if_any()


def _tensors(
    tensors: Sequence[Tensor],
    at: Place,
    report: Report,
    taken: Mapping[BufferId, Tensor] | None = None,
    prefix: str = "",
) -> Forms:
    """Check each tensor by itself; return their forms by their ids. Names in a plan begin with the prefix."""
    number: dict[BufferId, int] = {}
    parts: set[BufferId] = set()
    known: Mapping[BufferId, Tensor] = taken or {}
    forms = tensor_forms(tensors)
    for i, (id_, tensor) in enumerate(zip(ids_of(tensors), forms, strict=True)):
        tick(CHECKING)
        place: Place = (*at, "tensors", i)
        if (type(id_) is not int and type(id_) is not str) or id_ == "":
            report.add(Code.WRONG_TYPE, (*place, "id"), "an id must be an integer or a string that is not empty")
        elif id_ in number or id_ in parts or id_ in known:
            report.add(Code.DUPLICATE_ID, (*place, "id"), f"there is another tensor {quoted(id_)}")
        elif type(id_) is str and not is_whole(id_):
            check_text(report, (*place, "id"), id_[:MAX_TEXT])
        elif type(id_) is str and tensor.kind is not TensorKind.CONSTANT:
            _check_length(len(prefix) + len(id_), (*place, "id"), report)
        is_short = type(id_) is not str or len(id_) <= MAX_TEXT
        number[id_] = i
        if not isinstance(tensor.kind, TensorKind):
            report.add(Code.WRONG_TYPE, (*place, "kind"), f"must be a TensorKind, not {quoted(tensor.kind)}")
        elif tensor.items is None:
            _size(tensor, id_, place, report)
        elif is_short:
            _items(named(tensor, id_), place, (number, known), parts, report)
        if not are_integers((tensor.alignment,)) or not 1 <= tensor.alignment <= MAX_ADDRESS:
            text = f"must be from 1 to 2^62, not {quoted(tensor.alignment)}"
            report.add(Code.OUT_OF_RANGE, (*place, "alignment"), text)
    return Forms(number, forms)


def _size(tensor: Tensor, id_: BufferId, place: Place, report: Report) -> None:
    if not are_integers(tensor.shape) or not are_integers((tensor.element_bits,)):
        report.add(Code.WRONG_TYPE, (*place, "shape"), "dimensions and bits must be integers")
        return
    if min(tensor.shape, default=0) < 0:
        report.add(Code.OUT_OF_RANGE, (*place, "shape"), "no dimension may be below 0")
    elif prod(tensor.shape) * max(tensor.element_bits, 1) > MAX_ADDRESS:
        report.add(Code.TOO_LARGE, (*place, "shape"), f"the tensor {quoted(id_)} has more than 2^62 bits")
    if not 1 <= tensor.element_bits <= MAX_BITS:
        text = f"must be from 1 to {MAX_BITS}, not {quoted(tensor.element_bits)}"
        report.add(Code.OUT_OF_RANGE, (*place, "element_bits"), text)


def _items(
    tensor: Tensor, place: Place, known: Sequence[Container[BufferId]], parts: set[BufferId], report: Report
) -> None:
    if tensor.kind not in (TensorKind.INTERMEDIATE, TensorKind.INPUT):
        report.add(Code.INVALID_VALUE, (*place, "kind"), f"a tuple cannot be {tensor.kind.value}")
    found = [*islice(leaves(tensor), MAX_ITEMS + 1)]
    for part in found:
        if part.id in parts or any(part.id in each for each in known):
            text = (
                f"{quoted(part.id)} stands for a part of the tuple; call the other tensor of that name something else"
            )
            report.add(Code.DUPLICATE_ID, (*place, "id"), text)
        parts.add(part.id)
        _size(part, part.id, (*place, "items"), report)
    if not 1 <= len(found) <= MAX_ITEMS:
        what = f"more than {MAX_ITEMS}" if found else "none"
        report.add(Code.OUT_OF_RANGE, (*place, "items"), f"a tuple holds 1 to {MAX_ITEMS} tensors, not {what}")


def _names(
    form: Operator, inputs: Ids, outputs: Ids, place: Place, tensors: Mapping[BufferId, Tensor], report: Report
) -> None:
    if not isinstance(form.kind, OperatorKind):
        report.add(Code.WRONG_TYPE, (*place, "kind"), f"must be an OperatorKind, not {quoted(form.kind)}")
    for field, names in (("inputs", inputs), ("outputs", outputs)):
        for j, name in enumerate(names):
            if name not in tensors:
                report.add(Code.UNKNOWN_BUFFER, (*place, field, j), f"there is no tensor {quoted(name)}")
    for j, workspace in enumerate(form.workspaces):
        if not 0 <= workspace.size <= MAX_ADDRESS:
            report.add(Code.OUT_OF_RANGE, (*place, "workspaces", j, "size"), "must be from 0 to 2^62")
        if not 1 <= workspace.alignment <= MAX_ADDRESS:
            report.add(Code.OUT_OF_RANGE, (*place, "workspaces", j, "alignment"), "must be from 1 to 2^62")


def _order(
    operators: Sequence[Operator], tensors: Mapping[BufferId, Tensor], own: Forms, at: Place, report: Report
) -> None:
    """Check that everything is written once, before it is read, except mutable tensors, which exist from the beginning. So do all that others see, too."""
    number = own.number
    written = bytearray(tensor.kind is not TensorKind.INTERMEDIATE for tensor in own.values())
    for i, (inputs, outputs) in enumerate(operands_of(operators)):
        tick(CHECKING)
        for j, name in enumerate(inputs):
            at_own = number.get(name)
            if at_own is not None and not written[at_own]:
                text = f"tensor {quoted(name)} is read before anything writes it"
                report.add(Code.CONTRADICTION, (*at, "operators", i, "inputs", j), text)
        for j, name in enumerate(outputs):
            kind, at_own = tensors[name].kind, number.get(name)
            if (at_own is None or written[at_own]) and kind is not TensorKind.MUTABLE:
                what = "written twice" if kind is TensorKind.INTERMEDIATE else f"{kind.value}, and must not be written"
                text = f"tensor {quoted(name)} is {what}"
                report.add(Code.CONTRADICTION, (*at, "operators", i, "outputs", j), text)
            if at_own is not None:
                written[at_own] = True
    for i, id_ in enumerate(own):
        if not written[i]:
            report.add(Code.CONTRADICTION, (*at, "tensors", i), f"nothing writes tensor {quoted(id_)}")


def _arity(operator: Operator, place: Place, tensors: Mapping[BufferId, Tensor], report: Report) -> None:
    if operator.kind in _ARITIES:
        wanted = _ARITIES[operator.kind]
        for field, names, count in zip(("inputs", "outputs"), (operator.inputs, operator.outputs), wanted, strict=True):
            if len(names) != count if count is not None else not names:
                text = f"{operator.kind.value} takes {'at least one' if count is None else 'exactly one'}, not {len(names)}"
                report.add(Code.INVALID_VALUE, (*place, field), text)
    if operator.kind is OperatorKind.IN_PLACE and not 1 <= operator.over <= max(len(operator.inputs), 1):
        text = f"must be from 1 to the number of inputs, not {operator.over}"
        report.add(Code.OUT_OF_RANGE, (*place, "over"), text)
    if operator.kind not in _TAKE_TUPLES:
        for field, names in (("inputs", operator.inputs), ("outputs", operator.outputs)):
            for j, name in enumerate(names):
                if tensors[name].items is not None:
                    text = f"{operator.kind.value} takes no tuples, and {quoted(name)} is one"
                    report.add(Code.WRONG_TYPE, (*place, field, j), text)


def _parameters(operator: Operator, place: Place, tensors: Mapping[BufferId, Tensor], report: Report) -> None:
    shape = tensors[operator.inputs[0]].shape
    if not -len(shape) <= operator.dim < len(shape):
        text = f"there is no dimension {operator.dim}: the first input has {len(shape)}"
        report.add(Code.OUT_OF_RANGE, (*place, "dim"), text)
        return
    if operator.kind is OperatorKind.CONCATENATE:
        for j, name in enumerate(operator.inputs):
            if len(tensors[name].shape) != len(shape):
                text = f"has {len(tensors[name].shape)} dimensions, the first input {len(shape)}"
                report.add(Code.INVALID_VALUE, (*place, "inputs", j), text)
        return
    # an empty slice may begin at the very end
    extent = shape[operator.dim]
    if not -extent <= operator.start <= extent - (operator.kind is OperatorKind.SELECT):
        text = f"dimension {operator.dim} has {extent} indices; index {operator.start} does not exist"
        report.add(Code.OUT_OF_RANGE, (*place, "start"), text)
    elif operator.step < 1:
        report.add(Code.OUT_OF_RANGE, (*place, "step"), f"must be 1 or more, not {operator.step}")
    elif tensors[operator.outputs[0]].bits > _bits_from_start(operator, tensors[operator.inputs[0]]):
        part, whole = (quoted(names[0]) for names in (operator.outputs, operator.inputs))
        text = f"{part} goes past the end of {whole}: it has more than there is from index {operator.start} of dimension {operator.dim} on"
        report.add(Code.OUT_OF_RANGE, (*place, "outputs", 0), text)


def _bits_from_start(operator: Operator, whole: Tensor) -> int:
    """Return the size of the largest slice that begins and steps like this one, or of a selected index."""
    dim = operator.dim % len(whole.shape)
    extent, others = whole.shape[dim], prod(whole.shape[:dim] + whole.shape[dim + 1 :])
    left = extent - operator.start if operator.start >= 0 else -operator.start
    count = 1 if operator.kind is OperatorKind.SELECT else -(-left // operator.step)
    return count * others * whole.element_bits
