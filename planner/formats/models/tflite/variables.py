"""Resource variables of a model: the one that each handle names, and its assigned size. TFLite Micro keeps them in the arena's tail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from .model import Model, OperatorRow

READ, ASSIGN = "READ_VARIABLE", "ASSIGN_VARIABLE"
MOST_ROUNDS = 64
"""The most rounds of passing handles between subgraphs: as deep as these nest."""


class Variables:
    """The variables of one model."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @cached_property
    def named(self) -> Mapping[tuple[int, int], str]:
        """Return, by subgraph and tensor, the variable of the handle, as far as the callers of the subgraph determine it."""
        found = {place: _name(operator) for place, operator in self._model.handles.items()}
        if not found:
            return found
        for _ in range(MOST_ROUNDS):
            before = len(found)
            for given, taken in self._handed():
                if given in found:
                    found.setdefault(taken, found[given])
            if len(found) == before:
                break
        return found

    @cached_property
    def bits(self) -> Mapping[str, int]:
        """Return the largest size assigned to each variable; an unknown size counts as 0."""
        found = dict.fromkeys(self.named.values(), 0)
        for s, subgraph in enumerate(self._model.subgraphs):
            for operator in subgraph.operators:
                name = self.of(s, operator)
                if (
                    operator.code == ASSIGN
                    and name is not None
                    and len(operator.inputs) > 1
                    and operator.inputs[1] >= 0
                ):
                    tensor = subgraph.tensors[operator.inputs[1]]
                    found[name] = max(found[name], tensor.elements * (tensor.type.bits or 0))
        return found

    def of(self, s: int, operator: OperatorRow) -> str | None:
        """Return the variable that the operator reads or assigns to."""
        if operator.code not in (READ, ASSIGN) or not operator.inputs:
            return None
        return self.named.get((s, operator.inputs[0]))

    def _handed(self) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        """Yield the tensors that operators pass to subgraphs and back."""
        for s, subgraph in enumerate(self._model.subgraphs):
            for operator in subgraph.operators:
                given = operator.inputs[1:] if operator.code == "IF" else operator.inputs
                for each in operator.subgraphs:
                    row = self._model.subgraphs[each]
                    for i, j in zip(given, row.inputs, strict=False):
                        yield (s, i), (each, j)
                    for i, j in zip(row.outputs, operator.outputs, strict=False):
                        yield (each, i), (s, j)


def _name(operator: OperatorRow) -> str:
    options = operator.options
    if options is None:
        return ""
    return f"{options.text(0, 'container') or ''}/{options.text(1, 'shared_name') or ''}"
