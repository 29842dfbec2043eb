"""How much memory a program may stand for: names that are put together, parts of tuples, and what is handed to functions.

A short program can describe very much of each: a tuple of a thousand parts that is read a thousand times, a branch that may run one function a
thousand times, a function with a long name and very many tensors. All are counted, and limited by what is written down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...checks.report import Report
from ...model.deadline import CHECKING, tick
from ...model.errors import Code
from ...model.problem import BufferId
from ..columns import ids_of, names_of, operand_count, operands_of, operator_forms, tensor_forms
from ..operators import CONTROL, Operator, OperatorKind, functions_of, part_count
from ..program import Function, Program

FEW_USES, TIMES = 1 << 16, 4
"""The tensors that operators of any program may use, with each part of a tuple, once for each function that they may run; and those for each that is
written down, if these are many.
"""
FEW_LETTERS, LETTERS = 1 << 22, 8
"""The letters that functions and operators may put before names, and those for each letter of a tensor's id, if these are many."""


def check_extent(program: Program, report: Report) -> None:
    """Raise BadInput if the program stands for more than what is written should."""
    _check_letters(program, report)
    used, most = 0, max(FEW_USES, TIMES * sum(operand_count(each.operators) for each in program.functions))
    for f, function in enumerate(program.functions):
        parts = _parts(function)
        forms = operator_forms(function.operators)
        for i, (form, operands) in enumerate(zip(forms, operands_of(function.operators), strict=True)):
            tick(CHECKING)
            used += _uses(form, operands, parts)
            if used > most:
                text = (
                    f"operators use more than {most} tensors, counting each part of a tuple, and what each function may be handed; "
                    "that is too much for what is written down"
                )
                report.add(Code.TOO_LARGE, ("functions", f, "operators", i), text)
                report.raise_if_any()


def _uses(
    form: Operator, operands: tuple[Sequence[BufferId], Sequence[BufferId]], parts: Mapping[BufferId, int]
) -> int:
    times = len(functions_of(form)) if form.kind in CONTROL else 1
    inputs, outputs = operands
    if not parts:
        return times * (len(inputs) + len(outputs))
    counted = outputs if form.kind is OperatorKind.ITEM else (*inputs, *outputs)
    return times * sum(parts.get(id_, 1) for id_ in counted)


def _parts(function: Function) -> dict[BufferId, int]:
    """Return how many tensors each tuple holds."""
    forms = tensor_forms(function.tensors)
    if all(form.items is None for form in forms):
        return {}
    named = zip(ids_of(function.tensors), forms, strict=True)
    return {id_: part_count(form) for id_, form in named if form.items is not None}


def _check_letters(program: Program, report: Report) -> None:
    """Count the letters of names that are put together: of functions and their tensors, of operators and their own memory."""
    if len(program.functions) == 1 and not any(
        form.workspaces for form in operator_forms(program.functions[0].operators)
    ):
        return
    made = written = 0
    for f, function in enumerate(program.functions):
        before = len(function.name) + 1
        made += before * len(function.tensors)
        for form, name in zip(operator_forms(function.operators), names_of(function.operators), strict=True):
            made += (before + len(name or "")) * (len(form.workspaces) + form.carried)
        if made > FEW_LETTERS:
            written += sum(len(str(id_)) for id_ in ids_of(function.tensors))
            if made > FEW_LETTERS + LETTERS * written:
                text = f"names before those of tensors have {made} letters in all; give functions and operators shorter ones"
                report.add(Code.TOO_LARGE, ("functions", f), text)
                report.raise_if_any()
