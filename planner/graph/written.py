"""Which state the functions of a program write, and which names in a function may stand for the same state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TypeAlias

from ..model.deadline import PREPARING, tick
from ..model.problem import BufferId
from .operators import CONTROL, Operator, OperatorKind, TensorKind
from .program import Function, Program

State: TypeAlias = tuple[str | None, BufferId]
"""A mutable tensor by the function that it belongs to; None: all see it."""


class Written:
    """The state of one program."""

    def __init__(self, program: Program, innermost_first: Sequence[str]) -> None:
        self._functions = {function.name: function for function in program.functions}
        self._stands_for: dict[str, dict[BufferId, set[State]]] = {}
        """For each function: the state that each mutable tensor which it sees may stand for."""
        shared = [tensor.id for tensor in program.tensors if tensor.kind is TensorKind.MUTABLE]
        for name in innermost_first:
            function = self._functions[name]
            own = [tensor.id for tensor in function.tensors if tensor.kind is TensorKind.MUTABLE]
            handed = () if name in program.entries else function.inputs
            self._stands_for[name] = {id_: {(None, id_)} for id_ in shared}
            self._stands_for[name] |= {id_: set() if id_ in handed else {(name, id_)} for id_ in own}
        for name in reversed(innermost_first):
            for operator in self._functions[name].operators:
                tick(PREPARING)
                for callee, given in _handed(operator, self._functions):
                    for id_, mine in given:
                        if id_ in self._stands_for[callee]:
                            self._stands_for[callee][id_] |= self._stands_for[name].get(mine, set())
        self._by: dict[str, set[State]] = {}
        """The state that each function writes, and those that it runs."""
        for name in innermost_first:
            states = self._stands_for[name]
            self._by[name] = set()
            for operator in self._functions[name].operators:
                tick(PREPARING)
                self._by[name].update(*(states.get(id_, ()) for id_ in operator.outputs), *self._inside(operator))

    def by(self, name: str, operator: Operator) -> tuple[BufferId, ...]:
        """Return the mutable tensors that an operator of the function writes under another name, or by running functions."""
        states = self._stands_for[name]
        changed: Set[State] = set().union(*self._inside(operator))
        if operator.kind not in CONTROL:
            changed = set().union(*(states.get(id_, ()) for id_ in operator.outputs))
        return tuple(id_ for id_, those in states.items() if those & changed and id_ not in operator.outputs)

    def _inside(self, operator: Operator) -> list[set[State]]:
        return [self._by[callee] for callee, _ in _handed(operator, self._functions)]


def _handed(
    operator: Operator, functions: Mapping[str, Function]
) -> Iterator[tuple[str, Sequence[tuple[BufferId, BufferId]]]]:
    """Yield the functions that an operator may run, with each input and what is handed to it."""
    if operator.kind not in CONTROL:
        return
    given = operator.inputs[1:] if operator.kind is OperatorKind.BRANCH else operator.inputs
    for callee in operator.functions:
        yield callee, [*zip(functions[callee].inputs, given, strict=True)]
    if operator.condition is not None:
        kept = (*given[: operator.carried], *given[operator.carried + operator.scanned :])
        yield operator.condition, [*zip(functions[operator.condition].inputs, kept, strict=True)]
