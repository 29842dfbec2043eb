"""A model as a program: lifetimes by use, state kept throughout, and results over their sources if requested."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from ....checks.report import bad_input, quoted
from ....graph.columns import OperatorColumns, TensorColumns, tensor_form
from ....graph.operators import Operator, OperatorKind, Tensor, TensorKind, in_place
from ....graph.program import Function, Program
from ....model.errors import BadInput, Code, Finding
from .model import Model, OperatorRow, SubgraphRow, unique_names
from .schema import ELEMENTWISE, VIEWS
from .variables import READ, Variables

ALIGNMENT = 16
"""The alignment of every tensor on which TFLite's and TFLite Micro's kernels rely."""


def program_of_model(model: Model, in_place: bool = False) -> Program:
    """Return the program, without what neither the first subgraph nor a signature reaches.

    `in_place`: elementwise operators may write over an input, and reshaped tensors stay in place.
    """
    names = unique_names((subgraph.name for subgraph in model.subgraphs), "subgraph")
    entries = dict.fromkeys((0, *model.signatures))
    reached = _reached(model, list(entries))
    variables = Variables(model)
    state = _state(model, variables)
    functions = tuple(_Lowering(model, s, names, in_place, variables, state).function() for s in reached)
    return Program(functions, tuple(names[s] for s in entries), tuple(state.values()))


def in_the_file(error: BadInput, model: Model, program: Program) -> BadInput:
    """Return an error about the program as one about its model."""
    names = unique_names((subgraph.name for subgraph in model.subgraphs), "subgraph")
    numbers = {name: number for number, name in enumerate(names)}
    places = {f: numbers[function.name] for f, function in enumerate(program.functions)}
    findings = []
    for finding in error.findings:
        parts = finding.pointer.split("/")
        if parts[1:2] == ["functions"]:
            parts[1:3] = ["subgraphs", *(str(places.get(int(part), part)) for part in parts[2:3])]
        findings.append(Finding(finding.code, "/".join(parts), finding.message))
    return BadInput(*findings, more=error.more)


def _state(model: Model, variables: Variables) -> dict[str, Tensor]:
    """Return every resource variable as a tensor visible to all functions."""
    taken = {tensor.name for subgraph in model.subgraphs for tensor in subgraph.tensors}
    made: dict[str, Tensor] = {}
    for name, bits in variables.bits.items():
        id_ = f"variable {name}"
        while id_ in taken:
            id_ += "'"
        taken.add(id_)
        made[name] = Tensor(id_, (bits,), 1, TensorKind.MUTABLE, alignment=ALIGNMENT)
    return made


def _reached(model: Model, start: list[int]) -> list[int]:
    """Return the subgraphs that a run may reach, in the order of the file."""
    found, todo = set(start), list(start)
    while todo:
        for operator in model.subgraphs[todo.pop()].operators:
            new = set(operator.subgraphs) - found
            found |= new
            todo += new
    return sorted(found)


class _Lowering:
    """One subgraph as a function."""

    def __init__(
        self,
        model: Model,
        number: int,
        names: list[str],
        in_place: bool,
        variables: Variables,
        state: dict[str, Tensor],
    ) -> None:
        self._row: SubgraphRow = model.subgraphs[number]
        self._number = number
        self._names = names
        self._in_place = in_place
        self._variables, self._state = variables, state
        self._ids = unique_names((tensor.name for tensor in self._row.tensors), "tensor")
        self._inputs = dict.fromkeys(i for i in self._row.inputs if i >= 0)
        self._written = self._marked(operator.outputs for operator in self._row.operators)

    def function(self) -> Function:
        """Return the function without untouched tensors."""
        row = self._row
        lists = ((operator.inputs, operator.outputs) for operator in row.operators)
        is_used = self._marked(chain((row.inputs, row.outputs), chain.from_iterable(lists)))
        used = [i for i in range(len(row.tensors)) if is_used[i]]
        operators = OperatorColumns()
        operators.extend(self._operator(i, operator) for i, operator in enumerate(row.operators))
        return Function(
            self._names[self._number],
            TensorColumns((self._ids[i] for i in used), map(self._tensor, used)),
            operators,
            tuple(self._ids[i] for i in self._inputs),
            self._named(row.outputs),
        )

    def _marked(self, lists: Iterable[tuple[int, ...]]) -> bytearray:
        """Return, for each tensor, whether it is in one of these lists."""
        found = bytearray(len(self._row.tensors))
        for i in chain.from_iterable(lists):
            if i >= 0:
                found[i] = True
        return found

    def _named(self, numbers: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(self._ids[i] for i in numbers if i >= 0)

    def _kind(self, i: int) -> TensorKind:
        tensor = self._row.tensors[i]
        if i in self._inputs:
            return TensorKind.MUTABLE if tensor.is_variable else TensorKind.INPUT
        if tensor.is_constant or (tensor.elements == 0 and not self._written[i]):
            return TensorKind.CONSTANT
        # what is read but never written is kept from run to run
        return TensorKind.INTERMEDIATE if self._written[i] and not tensor.is_variable else TensorKind.MUTABLE

    def _tensor(self, i: int) -> Tensor:
        """Return the tensor without its id."""
        tensor, kind = self._row.tensors[i], self._kind(i)
        bits = tensor.type.bits
        if bits is None:
            if kind is not TensorKind.CONSTANT:
                text = (
                    f"{quoted(tensor.name)} is of the type {tensor.type.name}, whose size is not known before it runs"
                )
                raise bad_input(Code.UNSUPPORTED, ("subgraphs", self._number, "tensors", i, "type"), text)
            bits = 8
        return tensor_form(tensor.shape, bits, kind, alignment=ALIGNMENT)

    def _operator(self, i: int, row: OperatorRow) -> Operator:
        inputs, outputs = self._named(row.inputs), self._named(row.outputs)
        name = f"{row.custom or row.code}.{i}"
        runs = tuple(self._names[s] for s in row.subgraphs)
        match row.code:
            case "CALL" | "CALL_ONCE" | "STABLEHLO_COMPOSITE":
                return Operator(OperatorKind.CALL, inputs, outputs, name=name, functions=runs)
            case "IF" | "STABLEHLO_CASE":
                return Operator(OperatorKind.BRANCH, inputs, outputs, name=name, functions=runs)
            case "WHILE" | "STABLEHLO_WHILE":
                condition, body = runs
                return Operator(
                    OperatorKind.LOOP,
                    inputs,
                    outputs,
                    name=name,
                    functions=(body,),
                    condition=condition,
                    carried=len(outputs),
                )
        variable = self._variables.of(self._number, row)
        if variable is not None:
            kept = (self._state[variable].id,)
            given = (*inputs, *kept) if row.code == READ else inputs
            return Operator(OperatorKind.COMPUTE, given, outputs if row.code == READ else kept, name=name)
        if self._in_place and len(outputs) == 1:
            return self._over_its_input(row, inputs, outputs, name)
        return Operator(OperatorKind.COMPUTE, inputs, outputs, name=name)

    def _over_its_input(
        self, row: OperatorRow, inputs: tuple[str, ...], outputs: tuple[str, ...], name: str
    ) -> Operator:
        kinds = {i: self._kind(i) for i in row.inputs if i >= 0}
        moving = [i for i, kind in kinds.items() if kind is not TensorKind.CONSTANT]
        if row.code in VIEWS and moving[:1] == [row.inputs[0]]:
            if len(moving) == 1 and self._bits(row.inputs[0]) == self._bits(row.outputs[0]):
                return Operator(OperatorKind.VIEW, inputs[:1], outputs, name=name)
            return Operator(OperatorKind.IN_PLACE, inputs, outputs, name=name)
        if row.code in ELEMENTWISE:
            like = self._form(row.outputs[0])
            alike = [self._ids[i] for i in moving if self._form(i) == like and kinds[i] is not TensorKind.MUTABLE]
            if alike:
                return in_place(alike, inputs, outputs, name)
        return Operator(OperatorKind.COMPUTE, inputs, outputs, name=name)

    def _bits(self, i: int) -> int:
        tensor = self._row.tensors[i]
        return tensor.elements * (tensor.type.bits or 0)

    def _form(self, i: int) -> tuple[int, int | None]:
        """Return what two tensors must have in common for one to be written over the other."""
        tensor = self._row.tensors[i]
        return tensor.elements, tensor.type.bits
