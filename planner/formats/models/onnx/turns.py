"""Loops whose number of turns is known or given: written out as that many copies of their graph. Their carried values may grow, including
sequences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ....checks.report import Place, quoted
from ....graph.operators import Operator, OperatorKind, TensorKind
from .function import Scope, Several, Value, Written
from .model import BOOL, INT64, Graph, Node
from .rules.site import ShapeError, Type
from .symbols import Symbols, plain
from .values import as_values, is_settled

EARLY = "loops with a range of turns are planned with the most; a loop that ends earlier has to move what it carries to where its last turn would leave it"


class Lowering(Protocol):
    """What lowers graphs."""

    symbols: Symbols
    warnings: dict[str, None]

    def count(self, more: int, place: Place) -> None:
        """Count further nodes."""
        ...

    def nodes(self, nodes: Iterable[Node], scope: Scope, into: Written) -> None:
        """Lower the nodes in order."""
        ...

    def constants(self, graph: Graph, scope: Scope, into: Written) -> None:
        """Lower the constants of a graph."""
        ...


@dataclass(slots=True)
class Count:
    """How many turns a loop takes, as far as the given range, its first input and its conditions say."""

    node: Node
    given: tuple[int, int] | None
    trips: int | None
    """The most turns by its first input, if known."""
    may_end_early: bool = False
    """It may end before the last turn that is planned."""

    def goes_on(self, turn: int, test: Value | Several | None) -> bool:
        """True if turn number `turn` is planned. Raises ShapeError if this is not known, or contradicts what is given."""
        known = _truth(test)
        if known is False or (self.trips is not None and turn >= self.trips):
            if self.given is not None and turn < self.given[0]:
                raise ShapeError(f"it takes {turn} turns at most, and {self._said()} is given")
            return False
        if self.given is None:
            if self.trips is None or known is None:
                what = "how many turns it takes" if self.trips is None else "whether it takes another turn"
                raise _not_known(self.node, what)
            return True
        may_end = self.trips is None or known is None
        if turn >= self.given[1]:
            if not may_end and not self.may_end_early:
                raise ShapeError(f"it takes more than {turn} turns, and {self._said()} is given")
            return False
        self.may_end_early |= may_end and turn >= self.given[0]
        return True

    def _said(self) -> str:
        low, high = self.given or (0, 0)
        return f"{_count_name(self.node)}={low}" + (f"..{high}" if low < high else "")


def _truth(test: Value | Several | None) -> bool | None:
    """Return what the condition holds, True if it is left out; None if unknown."""
    if test is None:
        return True
    if isinstance(test, Value) and is_settled(test.content) and test.content.size == 1:
        return bool(test.content.ravel()[0])
    return None


def turns(trips: Value | Several | None) -> int | None:
    """Return the most turns of a loop by its first input; None if unknown."""
    if not isinstance(trips, Value) or not is_settled(trips.content) or trips.content.size != 1:
        return None
    found = trips.content.ravel()[0]
    return found if isinstance(found, int) else None


def unrolled(low: Lowering, node: Node, inputs: Sequence[Value | Several | None], scope: Scope, into: Written) -> None:
    """Lower the turns one after the other. Raises ShapeError if their number depends on computed data, and was not given."""
    body = node.attributes.get("body")
    if not isinstance(body, Graph):
        raise ShapeError("it has no graph body")
    count = Count(node, low.symbols.count(f"{called(node)}_turns"), turns(inputs[0] if inputs else None))
    test = inputs[1] if len(inputs) > 1 else None
    state = [_made(value, node.inputs[2 + j]) for j, value in enumerate(inputs[2:])]
    if len(body.inputs) != 2 + len(state) or len(body.outputs) <= len(state):
        raise ShapeError("its graph's inputs and outputs do not match what it carries")
    names = [each.name for each in body.inputs]
    parts: list[list[Value]] = [[] for _ in body.outputs[1 + len(state) :]]
    turn = 0
    while count.goes_on(turn, test):
        low.count(1, node.place)
        inner = Scope(scope, scope.opsets, body.known)
        low.constants(body, inner, into)
        number = into.constant(names[0], Type(INT64, ()), as_values([turn], ()))
        truth = into.constant(names[1], Type(BOOL, ()), as_values([True], ()))
        for name, value in zip(names, (number, truth, *state), strict=True):
            inner.hold(name, value)
        low.nodes(body.nodes, inner, into)
        test, *back = (_made(inner.sequence(each.name) or inner.find(each.name), each.name) for each in body.outputs)
        state, made = back[: len(state)], back[len(state) :]
        for found, value in zip(parts, made, strict=True):
            if isinstance(value, Several):
                raise ShapeError("the output that joins its turns is a sequence")
            found.append(value)
        turn += 1
    if count.may_end_early:
        low.warnings[EARLY] = None
    for name, value in zip(node.outputs, state, strict=False):
        if name:
            scope.hold(name, value)
    for name, each in zip(node.outputs[len(state) :], parts, strict=False):
        if name:
            scope.values[name] = _together(each, name, into)


def _made(value: Value | Several | None, name: str) -> Value | Several:
    if value is None:
        raise ShapeError(f"nothing makes {quoted(name)}")
    return value


def called(node: Node) -> str:
    """Return the node's name, by default its output's."""
    return node.name or next((name for name in node.outputs if name), node.operator)


def _not_known(node: Node, what: str) -> ShapeError:
    return ShapeError(
        f"it carries what may grow, and {what} depends on what is computed: give dim {_count_name(node)}=4"
    )


def _count_name(node: Node) -> str:
    """Return the name by which its number of turns is given."""
    return f"{plain(called(node))}_turns"


def _together(parts: list[Value], name: str, into: Written) -> Value:
    """Return the outputs of all turns as one tensor."""
    types = {part.type for part in parts}
    if len(types) != 1:
        raise ShapeError(f"its turns put together {quoted(name)}, whose parts are of {len(types) or 'no'} shapes")
    (each,) = types
    made = into.value(name, Type(each.element, (len(parts), *each.shape)), TensorKind.INTERMEDIATE)
    into.run(Operator(OperatorKind.COMPUTE, into.used(parts), into.used([made]), name=name))
    return made
