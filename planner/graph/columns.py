"""Tensors and operators of large programs in columns: what many have in common is stored once, and objects are made on demand.

The functions here answer the questions of those who read programs, in columns and in tuples alike, without making objects.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain

from ..model.columns.numbered import Numbered
from ..model.columns.rows import Columns
from ..model.problem import BufferId
from .operators import Operator, OperatorKind, Tensor, TensorKind

Ids = Sequence[BufferId]

ALIKE = 4096
"""The most different forms of tensors or operators that are remembered, so that those alike share one."""
NO_IDS: tuple[BufferId, ...] = ()


@lru_cache(maxsize=ALIKE)
def tensor_form(
    shape: tuple[int, ...],
    element_bits: int = 8,
    kind: TensorKind = TensorKind.INTERMEDIATE,
    is_output: bool = False,
    alignment: int = 1,
    pools: tuple[str, ...] | None = None,
    device: str | None = None,
    items: tuple[Tensor, ...] | None = None,
) -> Tensor:
    """Return a tensor without an id: the same object for all that are alike."""
    return Tensor("", shape, element_bits, kind, is_output, alignment, pools, device, items)


def _has_usual_types(tensor: Tensor) -> bool:
    """True if its numbers are integers and no others that equal these, such as 2.0 or True."""
    t = tensor
    are_whole = all(type(each) is int for each in (*t.shape, t.element_bits, t.alignment))
    return are_whole and type(t.is_output) is bool and all(map(_has_usual_types, t.items or ()))


def form_of_tensor(tensor: Tensor) -> Tensor:
    """Return the form of the tensor: all but its id."""
    t = tensor
    if not _has_usual_types(t):
        return named(t, "")
    return tensor_form(t.shape, t.element_bits, t.kind, t.is_output, t.alignment, t.pools, t.device, t.items)


class TensorColumns(Columns[Tensor]):
    """Tensors as ids and forms."""

    __slots__ = ("forms", "ids")

    def __init__(self, ids: Iterable[BufferId] = (), forms: Iterable[Tensor] = ()) -> None:
        self.ids = [*ids]
        self.forms = [*forms]

    def add(self, id_: BufferId, form: Tensor) -> None:
        self.ids.append(id_)
        self.forms.append(form)

    def extend(self, tensors: Iterable[Tensor]) -> None:
        for tensor in tensors:
            self.add(tensor.id, form_of_tensor(tensor))

    def clear(self) -> None:
        self.ids.clear()
        self.forms.clear()

    def __len__(self) -> int:
        return len(self.ids)

    def row(self, i: int) -> Tensor:
        return named(self.forms[i], self.ids[i])


def named(form: Tensor, id_: BufferId) -> Tensor:
    """Return the tensor of this form and id."""
    return Tensor(
        id_,
        form.shape,
        form.element_bits,
        form.kind,
        form.is_output,
        form.alignment,
        form.pools,
        form.device,
        form.items,
    )


@lru_cache(maxsize=ALIKE)
def _operator_form(form: Operator) -> Operator:
    return form


def form_of_operator(operator: Operator) -> Operator:
    """Return the form of the operator: all but its inputs, its outputs and its name."""
    o = operator
    plain = _PLAIN.get(o.kind)
    numbers: tuple[int, ...] = (o.dim, o.start, o.step, o.carried, o.scanned, o.over)
    numbers += tuple(number for each in o.workspaces for number in (each.size, each.alignment))
    is_usual = all(type(each) is int for each in numbers)
    if (
        plain is not None
        and is_usual
        and not (o.dim or o.start or o.workspaces or o.functions or o.carried or o.scanned)
        and o.step == o.over == 1
        and o.condition is None
    ):
        return plain
    form = replace(o, inputs=NO_IDS, outputs=NO_IDS, name=None)
    return _operator_form(form) if is_usual else form


_PLAIN = {kind: Operator(kind, NO_IDS, NO_IDS) for kind in OperatorKind}


NO_NAME = -1
"""In a column of names' numbers: there is none."""


class OperatorColumns(Columns[Operator]):
    """Operators as forms, numbers of names, and one list of all that they read and write."""

    __slots__ = ("_ends", "_named", "_operands", "forms", "names")

    def __init__(self) -> None:
        self.forms: list[Operator] = []
        self.names = Numbered()
        """The names that operators have."""
        self._named = array("i")
        """The number of each one's name."""
        self._operands: list[BufferId] = []
        self._ends = array("q", [0])
        """Where the inputs and then the outputs of each end."""

    def add(self, form: Operator, inputs: Iterable[BufferId], outputs: Iterable[BufferId], name: str | None) -> None:
        self.forms.append(form)
        self._named.append(NO_NAME if name is None else self.names.append(name))
        self._operands.extend(inputs)
        self._ends.append(len(self._operands))
        self._operands.extend(outputs)
        self._ends.append(len(self._operands))

    def extend(self, operators: Iterable[Operator]) -> None:
        for operator in operators:
            self.add(form_of_operator(operator), operator.inputs, operator.outputs, operator.name)

    def clear(self) -> None:
        self.forms.clear()
        self.names.clear()
        del self._named[:]
        self._operands.clear()
        del self._ends[1:]

    def __len__(self) -> int:
        return len(self.forms)

    @property
    def operand_count(self) -> int:
        """The inputs and outputs of all rows."""
        return len(self._operands)

    def name(self, i: int) -> str | None:
        """Return the name of row i."""
        number = self._named[i]
        return None if number == NO_NAME else self.names[number]

    def operands(self, i: int) -> tuple[Ids, Ids]:
        """Return the inputs and the outputs of row i."""
        begin, middle, end = self._ends[2 * i : 2 * i + 3]
        return self._operands[begin:middle], self._operands[middle:end]

    def row(self, i: int) -> Operator:
        inputs, outputs = self.operands(i)
        o = self.forms[i]
        return Operator(
            o.kind,
            tuple(inputs),
            tuple(outputs),
            o.dim,
            o.start,
            o.step,
            self.name(i),
            o.workspaces,
            o.functions,
            o.condition,
            o.carried,
            o.scanned,
            o.over,
        )


def tensor_forms(tensors: Sequence[Tensor]) -> Sequence[Tensor]:
    """Return, for each tensor, an object that has all but its id."""
    return tensors.forms if isinstance(tensors, TensorColumns) else tensors


def without_outputs(tensors: Sequence[Tensor]) -> Sequence[Tensor]:
    """Return the tensors without `is_output`."""
    plain = (replace(form, is_output=False) if form.is_output else form for form in tensor_forms(tensors))
    return TensorColumns(tensors.ids, plain) if isinstance(tensors, TensorColumns) else tuple(plain)


def operator_forms(operators: Sequence[Operator]) -> Sequence[Operator]:
    """Return, for each operator, an object that has all but its inputs, its outputs and its name."""
    return operators.forms if isinstance(operators, OperatorColumns) else operators


def ids_of(tensors: Sequence[Tensor]) -> Sequence[BufferId]:
    """Return the id of each tensor."""
    return tensors.ids if isinstance(tensors, TensorColumns) else [tensor.id for tensor in tensors]


def names_of(operators: Sequence[Operator]) -> Iterator[str | None]:
    """Yield the name of each operator."""
    if isinstance(operators, OperatorColumns):
        return map(operators.name, range(len(operators)))
    return (each.name for each in operators)


def name_of(operators: Sequence[Operator], i: int) -> str | None:
    """Return the name of operator i."""
    return operators.name(i) if isinstance(operators, OperatorColumns) else operators[i].name


def have_different_names(operators: Sequence[Operator]) -> bool:
    """True if it is known that no two operators have one name."""
    return isinstance(operators, OperatorColumns) and operators.names.are_different


def operands_of(operators: Sequence[Operator]) -> Iterator[tuple[Ids, Ids]]:
    """Yield the inputs and the outputs of each operator."""
    if isinstance(operators, OperatorColumns):
        return map(operators.operands, range(len(operators)))
    return ((each.inputs, each.outputs) for each in operators)


def operand_count(operators: Sequence[Operator]) -> int:
    """Return how many inputs and outputs the operators have."""
    if isinstance(operators, OperatorColumns):
        return operators.operand_count
    return sum(len(each.inputs) + len(each.outputs) for each in operators)


class Forms(Mapping[BufferId, Tensor]):
    """The forms of tensors by their ids: all but the id is right."""

    __slots__ = ("forms", "number")

    def __init__(self, number: dict[BufferId, int], forms: Sequence[Tensor]) -> None:
        self.number, self.forms = number, forms

    def __getitem__(self, id_: BufferId) -> Tensor:
        return self.forms[self.number[id_]]

    def __contains__(self, id_: object) -> bool:
        return id_ in self.number

    def __iter__(self) -> Iterator[BufferId]:
        return iter(self.number)

    def __len__(self) -> int:
        return len(self.number)


class Both(Mapping[BufferId, Tensor]):
    """The tensors of two mappings, which have no id in common, without a copy of either."""

    __slots__ = ("_first", "_second")

    def __init__(self, first: Mapping[BufferId, Tensor], second: Mapping[BufferId, Tensor]) -> None:
        self._first, self._second = first, second

    def __getitem__(self, id_: BufferId) -> Tensor:
        return self._first[id_] if id_ in self._first else self._second[id_]

    def __contains__(self, id_: object) -> bool:
        return id_ in self._first or id_ in self._second

    def __iter__(self) -> Iterator[BufferId]:
        return chain(self._first, self._second)

    def __len__(self) -> int:
        return len(self._first) + len(self._second)


class Memory(Forms):
    """All memory of a program, by its name, in order."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: list[Tensor] = []
        super().__init__({}, self._made)

    def __setitem__(self, home: BufferId, tensor: Tensor) -> None:
        at = self.number.setdefault(home, len(self._made))
        if at < len(self._made):
            self._made[at] = tensor
        else:
            self._made.append(tensor)


class Whole(Mapping[BufferId, Tensor]):
    """The tensors of these forms, each made when it is asked for."""

    __slots__ = ("_forms",)

    def __init__(self, forms: Mapping[BufferId, Tensor]) -> None:
        self._forms = forms

    def __getitem__(self, id_: BufferId) -> Tensor:
        return named(self._forms[id_], id_)

    def __iter__(self) -> Iterator[BufferId]:
        return iter(self._forms)

    def __len__(self) -> int:
        return len(self._forms)
