"""Checks of calls between functions: none runs itself, and everything handed over is what is expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...checks.report import Place, Report, quoted
from ...model.deadline import CHECKING, tick
from ...model.errors import Code
from ...model.problem import BufferId
from ..columns import Whole, operator_forms
from ..operators import CONTROL, Operator, OperatorKind, Tensor, TensorKind, functions_of
from ..program import Function, Program

MAX_NESTING = 64
"""The most functions nested in calls."""

_HANDING_OVER = CONTROL | {OperatorKind.TUPLE, OperatorKind.ITEM}


def check_calls(program: Program, tensors: Sequence[Mapping[BufferId, Tensor]], report: Report) -> None:
    """Raise BadInput if a call is wrong; `tensors` are those visible to each function."""
    number = {function.name: f for f, function in enumerate(program.functions)}
    for f, function in enumerate(program.functions):
        for i, form in enumerate(operator_forms(function.operators)):
            tick(CHECKING)
            _check_targets(form, number, ("functions", f, "operators", i), report)
    report.raise_if_any()
    _check_nesting(program, number, report)
    report.raise_if_any()
    _check_entries(program, report)
    report.raise_if_any()
    whole = [Whole(each) for each in tensors]
    for f, function in enumerate(program.functions):
        for i, form in enumerate(operator_forms(function.operators)):
            tick(CHECKING)
            if form.kind in _HANDING_OVER:
                place: Place = ("functions", f, "operators", i)
                _Handover(program.functions, number, whole, f, place, report).check(function.operators[i])
    report.raise_if_any()


def _check_targets(operator: Operator, number: Mapping[str, int], at: Place, report: Report) -> None:
    wanted = {OperatorKind.CALL: "exactly one", OperatorKind.LOOP: "exactly one", OperatorKind.BRANCH: "at least one"}
    count = len(operator.functions)
    if operator.kind not in CONTROL:
        for field, is_there in (
            ("functions", count),
            ("condition", operator.condition is not None),
            ("carried", operator.carried),
            ("scanned", operator.scanned),
        ):
            if is_there:
                report.add(Code.INVALID_VALUE, (*at, field), f"{operator.kind.value} runs no functions")
        return
    if not count or (count > 1 and operator.kind is not OperatorKind.BRANCH):
        text = f"{operator.kind.value} names {wanted[operator.kind]}, not {count}"
        report.add(Code.INVALID_VALUE, (*at, "functions"), text)
    for field in ("condition", "carried", "scanned"):
        if operator.kind is not OperatorKind.LOOP and getattr(operator, field):
            report.add(Code.INVALID_VALUE, (*at, field), f"belongs to loops, not to {operator.kind.value}")
    if operator.workspaces:
        report.add(Code.INVALID_VALUE, (*at, "workspaces"), "belongs to the operators of the functions that are run")
    for name in functions_of(operator):
        if name not in number:
            report.add(Code.INVALID_VALUE, (*at, _field(operator, name)), f"there is no function {quoted(name)}")


def _field(operator: Operator, target: str) -> str:
    """Return where the operator names the function that it runs."""
    return "condition" if target == operator.condition else "functions"


def _check_entries(program: Program, report: Report) -> None:
    """Check that no entry is run by a function. (That none runs itself is checked before.)"""
    entries = {*program.entries}
    for f, function in enumerate(program.functions):
        for i, name in _targets(function):
            if name in entries:
                place: Place = ("functions", f, "operators", i, _field(function.operators[i], name))
                text = f"{quoted(name)} is run from outside; what both do belongs into a function of its own"
                report.add(Code.CONTRADICTION, place, text)


def _check_nesting(program: Program, number: Mapping[str, int], report: Report) -> None:
    """Check that no function runs itself, directly or indirectly, and that none nests deeper than MAX_NESTING."""
    depth: dict[str, int] = {}
    for start in program.functions:
        path: list[tuple[str, list[tuple[int, str]]]] = [(start.name, _targets(start))]
        running = {start.name}
        while path:
            tick(CHECKING)
            name, todo = path[-1]
            if not todo:
                below = [depth[target] for _, target in _targets(program.functions[number[name]])]
                depth[name] = 1 + max(below, default=0)
                path.pop()
                running.discard(name)
                continue
            i, target = todo.pop()
            if target in depth:
                continue
            if target in running:
                names = [other for other, _ in path]
                circle = " runs ".join(map(quoted, [*names[names.index(target) :], target]))
                field = _field(program.functions[number[name]].operators[i], target)
                at: Place = ("functions", number[name], "operators", i, field)
                report.add(Code.CONTRADICTION, at, f"a function cannot run itself: {circle}")
                return
            path.append((target, _targets(program.functions[number[target]])))
            running.add(target)
    for f, function in enumerate(program.functions):
        if depth[function.name] > MAX_NESTING:
            text = f"functions run functions {depth[function.name]} deep, more than {MAX_NESTING}"
            report.add(Code.TOO_DEEP, ("functions", f), text)
            return


def _targets(function: Function) -> list[tuple[int, str]]:
    return [(i, name) for i, form in enumerate(operator_forms(function.operators)) for name in functions_of(form)]


class _Handover:
    """What one operator passes to functions and receives, compared with what they expect."""

    def __init__(
        self,
        functions: Sequence[Function],
        number: Mapping[str, int],
        tensors: Sequence[Mapping[BufferId, Tensor]],
        here: int,
        place: Place,
        report: Report,
    ) -> None:
        self._functions = functions
        self._number = number
        self._tensors = tensors
        self._own = tensors[here]
        self._place = place
        self._report = report

    def check(self, operator: Operator) -> None:
        """Check the operator by the interface of its kind."""
        if operator.kind is OperatorKind.TUPLE:
            self._check_tuple(operator)
        elif operator.kind is OperatorKind.ITEM:
            self._check_item(operator)
        elif operator.kind in CONTROL:
            for j, id_ in enumerate(operator.outputs):
                if self._own[id_].kind is not TensorKind.INTERMEDIATE:
                    text = (
                        f"what a function gives out is a new tensor, and {quoted(id_)} is {self._own[id_].kind.value}"
                    )
                    self._say(("outputs", j), text)
            if operator.kind is OperatorKind.LOOP:
                self._check_loop(operator)
            elif operator.kind is OperatorKind.CALL:
                self._check_run(operator, operator.functions[0], operator.inputs, operator.outputs)
            elif not operator.inputs:
                self._say(("inputs",), "the first input says which function runs")
            else:
                for name in operator.functions:
                    self._check_run(operator, name, operator.inputs[1:], operator.outputs)

    def _say(self, where: Place, text: str, code: Code = Code.CONTRADICTION) -> None:
        self._report.add(code, (*self._place, *where), text)

    def _check_tuple(self, operator: Operator) -> None:
        whole = self._own[operator.outputs[0]]
        if whole.items is None or list(map(_type, whole.items)) != [_type(self._own[id_]) for id_ in operator.inputs]:
            self._say(("outputs", 0), f"{quoted(whole.id)} is no tuple of the inputs' shapes")

    def _check_item(self, operator: Operator) -> None:
        whole, part = self._own[operator.inputs[0]], self._own[operator.outputs[0]]
        if whole.items is None:
            self._say(("inputs", 0), f"{quoted(whole.id)} is no tuple", Code.WRONG_TYPE)
        elif not 0 <= operator.start < len(whole.items):
            text = f"the tuple has {len(whole.items)} items; item {operator.start} does not exist"
            self._say(("start",), text, Code.OUT_OF_RANGE)
        elif _type(whole.items[operator.start]) != _type(part):
            self._say(("outputs", 0), f"{quoted(part.id)} has another shape than item {operator.start}")

    def _check_run(
        self, operator: Operator, name: str, inputs: Sequence[BufferId], outputs: Sequence[BufferId]
    ) -> None:
        function, theirs = self._function(name)
        skipped = len(operator.inputs) - len(inputs)
        for field, ours, expected in (("inputs", inputs, function.inputs), ("outputs", outputs, function.outputs)):
            if len(ours) != len(expected):
                self._say((field,), f"{quoted(name)} has {len(expected)} {field}, not {len(ours)}")
                continue
            for j, (mine, other) in enumerate(zip(ours, expected, strict=True)):
                at = (field, j + (skipped if field == "inputs" else 0))
                self._compare(at, self._own[mine], theirs[other], name)

    def _compare(self, at: Place, mine: Tensor, theirs: Tensor, name: str) -> None:
        if _type(mine) != _type(theirs):
            text = f"{quoted(mine.id)} is {_shown(mine)}, and {quoted(theirs.id)} of {quoted(name)} {_shown(theirs)}"
            self._say(at, text)
        if at[0] == "inputs" and theirs.kind is TensorKind.MUTABLE and mine.kind is not TensorKind.MUTABLE:
            text = f"{quoted(name)} writes {quoted(theirs.id)}, and {quoted(mine.id)} is not mutable"
            self._say(at, text)

    def _function(self, name: str) -> tuple[Function, Mapping[BufferId, Tensor]]:
        at = self._number[name]
        return self._functions[at], self._tensors[at]

    def _check_loop(self, operator: Operator) -> None:
        function, theirs = self._function(operator.functions[0])
        carried, scanned = operator.carried, operator.scanned
        if min(carried, scanned) < 0 or carried + scanned > len(operator.inputs):
            text = f"{carried} carried and {scanned} scanned are more than the {len(operator.inputs)} inputs"
            self._say(("carried",), text, Code.OUT_OF_RANGE)
            return
        if carried > len(operator.outputs):
            text = f"there are {carried} carried tensors, so at least as many outputs, not {len(operator.outputs)}"
            self._say(("outputs",), text)
            return
        for field, ours, expected in (
            ("inputs", operator.inputs, function.inputs),
            ("outputs", operator.outputs, function.outputs),
        ):
            if len(ours) != len(expected):
                self._say((field,), f"{quoted(function.name)} has {len(expected)} {field}, not {len(ours)}")
                return
        for j in range(carried):
            first, result = self._own[operator.inputs[j]], self._own[operator.outputs[j]]
            taken, given = theirs[function.inputs[j]], theirs[function.outputs[j]]
            self._compare(("inputs", j), first, taken, function.name)
            if taken.kind is TensorKind.MUTABLE:
                self._say(
                    ("inputs", j), f"{quoted(taken.id)} of {quoted(function.name)} is carried, so it is not mutable"
                )
            if _type(given) != _type(taken):
                text = f"turn after turn it stays of one size: {quoted(taken.id)} is {_shown(taken)}, and {quoted(given.id)} {_shown(given)}"
                self._say(("functions",), text)
            self._compare(("outputs", j), result, given, function.name)
        for j in range(carried + scanned, len(operator.inputs)):
            self._compare(("inputs", j), self._own[operator.inputs[j]], theirs[function.inputs[j]], function.name)
        self._check_parts(operator, function, theirs)
        if operator.condition is not None:
            self._check_condition(operator, operator.condition)

    def _check_parts(self, operator: Operator, function: Function, theirs: Mapping[BufferId, Tensor]) -> None:
        """Check inputs passed in parts, and outputs assembled from parts."""
        lengths: set[int] = set()
        for field, ours, expected in (
            ("inputs", operator.inputs[: operator.carried + operator.scanned], function.inputs),
            ("outputs", operator.outputs, function.outputs),
        ):
            for j in range(operator.carried, len(ours)):
                whole, part = self._own[ours[j]], theirs[expected[j]]
                if whole.items is not None or part.items is not None:
                    self._say((field, j), "a tuple has no first dimension", Code.WRONG_TYPE)
                elif (whole.shape[1:], whole.element_bits) != (part.shape, part.element_bits) or not whole.shape:
                    text = f"{quoted(whole.id)} is {_shown(whole)}, which is not made of parts like {quoted(part.id)}, {_shown(part)}"
                    self._say((field, j), text)
                elif part.bits % 8:
                    text = f"{quoted(part.id)} is no whole number of bytes"
                    self._say((field, j), text)
                elif part.bytes % part.alignment:
                    text = f"one {quoted(part.id)} follows the other, so its alignment {part.alignment} must divide its {part.bytes} bytes"
                    self._say((field, j), text)
                else:
                    lengths.add(whole.shape[0])
        if len(lengths) > 1:
            text = f"what is handed over in parts has one number of them, not {sorted(lengths)}"
            self._say(("inputs",), text)

    def _check_condition(self, operator: Operator, name: str) -> None:
        function, theirs = self._function(name)
        kept = [*range(operator.carried), *range(operator.carried + operator.scanned, len(operator.inputs))]
        if len(function.inputs) != len(kept) or len(function.outputs) != 1:
            text = f"{quoted(name)} is asked with {len(kept)} inputs for one output, it has {len(function.inputs)} and {len(function.outputs)}"
            self._say(("condition",), text)
            return
        for j, expected in zip(kept, function.inputs, strict=True):
            if theirs[expected].kind is TensorKind.MUTABLE and j < operator.carried:
                self._say(("condition",), f"{quoted(expected)} of {quoted(name)} is carried, so it is not mutable")
            self._compare(("inputs", j), self._own[operator.inputs[j]], theirs[expected], name)
        if theirs[function.outputs[0]].items is not None:
            self._say(("condition",), f"{quoted(name)} gives out a tuple", Code.WRONG_TYPE)


def _type(tensor: Tensor) -> Any:
    if tensor.items is not None:
        return [_type(item) for item in tensor.items]
    return tensor.shape, tensor.element_bits


def _shown(tensor: Tensor) -> str:
    if tensor.items is not None:
        return f"a tuple of {len(tensor.items)}"
    return f"{list(tensor.shape)} of {tensor.element_bits} bits"
