"""Sequences and optional values: names for tensors in place. Building a sequence or taking it apart copies nothing.

How many tensors a sequence has at most must be known: for an input it is given, and a loop that extends a sequence is written out turn by turn.
Arms of a branch may give out sequences of different lengths; then the last tensors may be missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ....checks.report import Place, bad_input, quoted
from ....graph.operators import Operator, OperatorKind, TensorKind
from ....model.errors import Code
from ....planning.shapes.expression import Expression
from . import dims as d
from .function import ABSENT, Scope, Several, Value, Written
from .model import BOOL, INT64, Graph, Node
from .rules.layout import concat
from .rules.site import NotKnown, ShapeError, Site, Type
from .values import as_values

if TYPE_CHECKING:
    from .symbols import Symbols

MOST_ITEMS = 4096
"""The most tensors in a sequence."""


DEPENDS = "which tensors a sequence has depends on data; the most that it can have are planned, and room for the largest where any may lie"


class Lowering(Protocol):
    """What lowers graphs."""

    symbols: Symbols
    warnings: dict[str, None]
    maybe: set[Value]

    def count(self, more: int, place: Place) -> None:
        """Count further nodes."""
        ...

    def nodes(self, nodes: Iterable[Node], scope: Scope, into: Written) -> None:
        """Lower the nodes in order."""
        ...

    def constants(self, graph: Graph, scope: Scope, into: Written) -> None:
        """Lower the constants of a graph."""
        ...


Rule: TypeAlias = Callable[[Lowering, Node, Scope, Written], "list[Value | Several]"]


def construct(low: Lowering, node: Node, scope: Scope, into: Written) -> list[Value | Several]:
    return [Several(tuple(_tensor(node, scope, j) for j in range(len(node.inputs))))]


def empty(low: Lowering, node: Node, scope: Scope, into: Written) -> list[Value | Several]:
    return [Several()]


def insert(low: Lowering, node: Node, scope: Scope, into: Written) -> list[Value | Several]:
    found, new = _sequence(node, scope), _tensor(node, scope, 1)
    items, most = found.items, len(found.items)
    if most == MOST_ITEMS:
        raise bad_input(Code.TOO_LARGE, node.place, f"a sequence of more than {MOST_ITEMS} tensors")
    first, last = _places(node, scope, 2, found, after=1)
    made = []
    for i in range(most + 1):
        stays = items[i : i + 1] if i < last else ()
        moves = items[i - 1 : i] if i > first else ()
        made.append(_one_of(low, node, (*stays, *((new,) if first <= i <= last else ()), *moves), into))
    return [_several(made, max(found.least, first) + 1)]


def erase(low: Lowering, node: Node, scope: Scope, into: Written) -> list[Value | Several]:
    found = _sequence(node, scope)
    first, last = _places(node, scope, 1, found)
    made = []
    for i in range(len(found.items) - 1):
        stays = found.items[i : i + 1] if i < last else ()
        moves = found.items[i + 1 : i + 2] if i >= first else ()
        made.append(_one_of(low, node, (*stays, *moves), into))
    return [_several(made, max(found.least, first + 1) - 1)]


def at(low: Lowering, node: Node, scope: Scope, into: Written) -> list[Value | Several]:
    found = _sequence(node, scope)
    first, last = _places(node, scope, 1, found)
    return [_one_of(low, node, found.items[first : last + 1], into)]


def length(low: Lowering, node: Node, scope: Scope, into: Written) -> list[Value | Several]:
    """Known unless the length depends on data."""
    found = _sequence(node, scope)
    if found.fewest is not None:
        count = into.value(_name(node), Type(INT64, ()), TensorKind.INTERMEDIATE)
        into.run(Operator(OperatorKind.COMPUTE, (), into.used([count]), name=_name(node)))
        return [count]
    return [into.constant(_name(node), Type(INT64, ()), as_values([len(found.items)], ()))]


def split(low: Lowering, node: Node, scope: Scope, into: Written) -> list[Value | Several]:
    """Split a tensor: into parts of given sizes, or one by one."""
    whole = _tensor(node, scope, 0)
    shape = whole.type.shape
    axis = _axis(node, len(shape))
    parts: list[d.Dim]
    if len(node.inputs) > 1 and node.inputs[1]:
        sizes = _tensor(node, scope, 1)
        if sizes.content is None:
            of = node.inputs[1]
            raise NotKnown(f"how many tensors it gives out depends on what is in {quoted(of)}", of=of)
        parts = list(sizes.content.ravel())
        if not all(isinstance(part, int | Expression) for part in parts) or (not sizes.type.shape and len(parts) != 1):
            raise ShapeError("the sizes of its parts must be whole numbers")
        if not sizes.type.shape:
            parts = _even(shape[axis], parts[0])
    else:
        parts = _even(shape[axis], 1)
    if len(parts) > MOST_ITEMS:
        raise bad_input(Code.TOO_LARGE, node.place, f"a sequence of more than {MOST_ITEMS} tensors")
    keeps = node.attributes.get("keepdims", 1) != 0 or (len(node.inputs) > 1 and node.inputs[1] != "")
    types = [
        Type(whole.type.element, (*shape[:axis], *((part,) if keeps else ()), *shape[axis + 1 :])) for part in parts
    ]
    items = tuple(into.value(f"{_name(node)}.{i}", type_, TensorKind.INTERMEDIATE) for i, type_ in enumerate(types))
    into.run(Operator(OperatorKind.COMPUTE, into.used([whole]), into.used(items), name=_name(node)))
    return [Several(items)]


def joined(low: Lowering, node: Node, scope: Scope, into: Written) -> list[Value | Several]:
    """Join a whole sequence to one tensor, along a dimension or a new one."""
    found = _sequence(node, scope)
    items = found.items
    if not items:
        raise ShapeError("its sequence is empty")
    if found.fewest is not None:
        low.warnings[DEPENDS] = None
    types = [item.type for item in items]
    if node.attributes.get("new_axis", 0):
        shape = list(types[0].shape)
        shape.insert(_axis(node, len(shape) + 1), len(items))
        made = Type(types[0].element, tuple(shape))
    else:
        try:
            (made,) = concat(Site(node, tuple(types), (None,) * len(types), 0, low.symbols.box))
        except IndexError:
            raise ShapeError("its tensors and its axis do not fit each other") from None
    result = into.value(_name(node), made, TensorKind.INTERMEDIATE)
    into.run(Operator(OperatorKind.COMPUTE, into.used(items), into.used([result]), name=_name(node)))
    return [result]


def mapped(low: Lowering, node: Node, scope: Scope, into: Written) -> list[Value | Several]:
    """Lower the node's graph once for each tensor of the sequence."""
    body = node.attributes.get("body")
    if not isinstance(body, Graph):
        raise ShapeError("it has no graph body")
    given = [scope.sequence(name) or _tensor(node, scope, j) for j, name in enumerate(node.inputs)]
    if len(body.inputs) != len(given):
        raise ShapeError(f"its graph takes {len(body.inputs)} values, and is given {len(given)}")
    found: list[list[Value]] = [[] for _ in body.outputs]
    sequences = [_sequence(node, scope), *(each for each in given if isinstance(each, Several))]
    most = min(len(each.items) for each in sequences)
    least = max(each.least for each in sequences)
    if least > most:
        raise ShapeError("its sequences are of different lengths")
    for i in range(most):
        inner = Scope(scope, scope.opsets, body.known)
        low.constants(body, inner, into)
        for declared, each in zip(body.inputs, given, strict=True):
            inner.hold(declared.name, each.items[i] if isinstance(each, Several) else each)
        low.nodes(body.nodes, inner, into)
        for declared, items in zip(body.outputs, found, strict=True):
            value = inner.find(declared.name)
            if value is None:
                raise ShapeError(f"its graph makes no tensor {quoted(declared.name)}")
            items.append(value)
    return [_several(items, least) for items in found]


def optional(low: Lowering, node: Node, scope: Scope, into: Written) -> list[Value | Several]:
    return [_anything(node, scope) if node.inputs and node.inputs[0] else ABSENT]


def has_element(low: Lowering, node: Node, scope: Scope, into: Written) -> list[Value | Several]:
    """Known except for inputs of the model."""
    found = _anything(node, scope) if node.inputs and node.inputs[0] else ABSENT
    is_maybe = found.is_maybe if isinstance(found, Several) else found in low.maybe
    if is_maybe:
        truth = into.value(_name(node), Type(BOOL, ()), TensorKind.INTERMEDIATE)
        into.run(Operator(OperatorKind.COMPUTE, (), into.used([truth]), name=_name(node)))
        return [truth]
    return [into.constant(_name(node), Type(BOOL, ()), as_values([found != ABSENT], ()))]


def element(low: Lowering, node: Node, scope: Scope, into: Written) -> list[Value | Several]:
    found = _anything(node, scope)
    if found == ABSENT:
        raise ShapeError("the optional value that it takes out is not there")
    if isinstance(found, Several):
        return [replace(found, is_maybe=False)]
    return [found.again() if found in low.maybe else found]


SEQUENCES: Mapping[str, Rule] = {
    "SequenceConstruct": construct,
    "SequenceEmpty": empty,
    "SequenceInsert": insert,
    "SequenceErase": erase,
    "SequenceAt": at,
    "SequenceLength": length,
    "SplitToSequence": split,
    "ConcatFromSequence": joined,
    "SequenceMap": mapped,
    "Optional": optional,
    "OptionalHasElement": has_element,
    "OptionalGetElement": element,
}


def hands_on(low: Lowering, node: Node, scope: Scope) -> Value | Several | None:
    """Return the sequence, or optional value, that an Identity renames."""
    if node.domain or node.operator != "Identity" or not node.inputs:
        return None
    found = scope.sequence(node.inputs[0]) or scope.find(node.inputs[0])
    return found if isinstance(found, Several) or found in low.maybe else None


def _sequence(node: Node, scope: Scope) -> Several:
    """The first input."""
    found = scope.sequence(node.inputs[0]) if node.inputs else None
    if found is None or found.is_absent:
        raise ShapeError("input 0 is no sequence that is known")
    return found


def _tensor(node: Node, scope: Scope, j: int) -> Value:
    found = scope.find(node.inputs[j]) if j < len(node.inputs) else None
    if found is None:
        raise ShapeError(f"input {j} is no tensor that anything has made")
    return found


def _anything(node: Node, scope: Scope) -> Value | Several:
    return (scope.sequence(node.inputs[0]) if node.inputs else None) or _tensor(node, scope, 0)


def _several(items: Sequence[Value], least: int) -> Several:
    """Return a sequence of at least so many of these tensors."""
    return Several(tuple(items), fewest=least if least < len(items) else None)


def _places(node: Node, scope: Scope, j: int, found: Several, after: int = 0) -> tuple[int, int]:
    """Return the first and the last place that input `j` may mean, by default the end. `after`: how many places there are behind the sequence."""
    least, most = found.least, len(found.items)
    end = most + after - 1
    place = _place(node, scope, j)
    if place is None:
        first, last = 0, end
    elif place >= 0:
        first = last = place
    else:  # from the back; without the input, what is last
        from_back = place if _is_given(node, j) else place + after
        first, last = max(least + from_back, 0), most + from_back
    if not 0 <= first <= last <= end:
        raise ShapeError(f"there is no place {-1 if place is None else place} in a sequence of {most}")
    return first, last


def _place(node: Node, scope: Scope, j: int) -> int | None:
    """Return the number in input `j`, by default -1; None if it depends on data."""
    if not _is_given(node, j):
        return -1
    content = _tensor(node, scope, j).content
    if content is None or any(isinstance(each, Expression) for each in content.ravel()):
        return None
    if content.size != 1 or not isinstance(content.ravel()[0], int):
        raise ShapeError(f"a place in a sequence is one whole number, and {quoted(node.inputs[j])} is none")
    return int(content.ravel()[0])


def _is_given(node: Node, j: int) -> bool:
    return j < len(node.inputs) and node.inputs[j] != ""


def _one_of(low: Lowering, node: Node, values: Sequence[Value], into: Written) -> Value:
    """Return the tensor that lies at a place; if that depends on data, a copy with room for the largest of those that may."""
    several = tuple(dict.fromkeys(values))
    if len(several) == 1:
        return several[0]
    low.count(1, node.place)
    low.warnings[DEPENDS] = None
    made = into.value(_name(node), _largest([value.type for value in several]), TensorKind.INTERMEDIATE)
    into.run(Operator(OperatorKind.COMPUTE, into.used(several), into.used([made]), name=_name(node)))
    return made


def _largest(types: Sequence[Type]) -> Type:
    """Return a type with room for each of these."""
    first = types[0]
    if any(len(each.shape) != len(first.shape) or each.element != first.element for each in types):
        raise ShapeError("which of its tensors is meant depends on data, and their shapes do not go together")
    return Type(
        first.element, tuple(reduce(d.most, dims) for dims in zip(*(each.shape for each in types), strict=True))
    )


def _axis(node: Node, rank: int) -> int:
    axis = node.attributes.get("axis", 0)
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise ShapeError(f"there is no dimension {axis!s:.40} of {rank}")
    return axis % rank


def _even(size: d.Dim, part: d.Dim) -> list[d.Dim]:
    """Return parts of one size; the last one may be smaller."""
    if not isinstance(size, int) or not isinstance(part, int) or part < 1:
        raise ShapeError("how many tensors it gives out is not known: the dimension must be a number (--dim NAME=SIZE)")
    count = min(-(-size // part), MOST_ITEMS + 1)
    return [min(part, size - i * part) for i in range(count)]


def _name(node: Node) -> str:
    return node.outputs[0] if node.outputs and node.outputs[0] else node.operator
