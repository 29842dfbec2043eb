"""From a model to a program: every node with its output shapes, and every inner graph as a function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from ....checks.report import Place, bad_input, cut, printable, quoted
from ....facts.names import Names
from ....graph.operators import TensorKind
from ....graph.program import Function
from ....model.deadline import PREPARING, tick
from ....model.errors import Code
from ....planning.shapes.expression import ExpressionError
from . import dims as d
from .control import CONTROL
from .counts import Counts, count_of, graphs_of
from .function import Arguments, Scope, Several, Value, Written
from .given import inputs_of
from .in_place import operators_of
from .model import BITS, BOOL, MAP, Body, Called, Graph, Model, Node, Nodes
from .rules.elementwise import AT_RANDOM
from .rules.others import OF_MAPS
from .rules.site import NotKnown, ShapeError, Site, Type
from .rules.table import RULES
from .sequences import SEQUENCES, hands_on
from .symbols import Symbols, plain
from .turns import unrolled
from .values import FOLLOWED, are_computed, is_settled, values_of

MOST_HELD = 1 << 20
"""The most tensors in sequences; one counts in each."""
MOST_NAMED = 4
"""The most inputs that are remembered of a value."""
MOST_FUNCTIONS = 32
"""The most nested functions of the model's own."""


class Lowering:
    """One model."""

    def __init__(self, model: Model, symbols: Symbols, *, in_place: bool) -> None:
        self._model = model
        self.symbols = symbols
        self._in_place = in_place
        self._counts = Counts(model)
        self._depth = self._items = 0
        self._of_functions = Names(mark="_", first=2)
        self.functions: list[Function] = []
        """Those that others run come first."""
        self.sizes: dict[str, dict[str, d.Dim]] = {}
        """The sizes of each function's tensors, in bytes."""
        self.warnings: dict[str, None] = {}
        self.maybe: set[Value] = set()
        """Optional values that may be absent."""
        self._from: dict[Value, tuple[str, ...]] = {}
        """The small inputs of the model, a few at most, from which what is in a value follows."""
        self._told: set[str] = set()
        """Those whose numbers are given."""

    def lower(self) -> None:
        """Lower the whole model."""
        graph = self._model.graph
        scope = Scope(None, self._model.opsets, graph.known)
        given = inputs_of(graph, self.symbols)
        main = Written(self.function_name("main"), self.greatest(), self._counts, keeps_sizes=self.symbols.have_ranges)
        self.constants(graph, scope, main)
        for each in given:
            declared, length = each.declared, each.length
            self.define(scope, declared.name, each.place)
            self.count(length or 0, each.place)
            self.warnings |= {OF_MAPS: None} if declared.other == MAP else {}
            names = [declared.name] if length is None else [f"{declared.name}[{i}]" for i in range(length)]
            made = [main.value(name, each.type, TensorKind.INPUT, each.content) for name in names]
            main.inputs += main.used(made)
            if length is not None:
                scope.sequences[declared.name] = Several(tuple(made), is_maybe=declared.is_optional)
            else:
                scope.values[declared.name] = made[0]
                self.maybe |= {made[0]} if declared.is_optional else set()
            if each.may_hold_sizes:
                self._from[made[0]] = (declared.name,)
                self._told |= set() if each.content is None else {declared.name}
        self.nodes(_whole(graph.nodes), scope, main)
        back = _flat(self._back(graph, scope))
        self.count(len(back), graph.place)
        outputs = [main.given_back(value) for value in back]
        self.symbols.require_all_known()
        self.keep(main, outputs, [])

    def greatest(self) -> Mapping[str, int]:
        return _Greatest(self.symbols.box)

    def function_name(self, name: str) -> str:
        """Return a unique function name."""
        return self._of_functions.new(name[:500])

    def keep(self, written: Written, outputs: list[str], more: list[Value], first: str | None = None) -> Function:
        """Store the function, with what it uses from outside and, for counted loops, one more input."""
        made = written.finished(outputs, more, first)
        self.functions.append(made)
        self.sizes[made.name] = written.sizes
        return made

    # Graphs

    def count(self, more: int, place: Place) -> None:
        """Count nodes, or outputs that may each need a step. Raises BadInput if there are too many."""
        self._counts.run(more, place)

    def define(self, scope: Scope, name: str, place: Place) -> None:
        if name in scope.values or name in scope.sequences:
            raise bad_input(Code.DUPLICATE_ID, place, f"there is another value {quoted(name)}")

    def constants(self, graph: Graph, scope: Scope, into: Written) -> None:
        self._counts.use(len(graph.constants))
        for name, constant in graph.constants.items():
            type_ = Type(constant.element, constant.shape)
            scope.values[name] = into.constant(name, type_, constant)

    def _back(self, graph: Graph, scope: Scope) -> tuple[Value | Several, ...]:
        """Return the graph's outputs."""
        found = []
        for j, declared in enumerate(graph.outputs):
            value = scope.sequence(declared.name) or scope.find(declared.name)
            if value is None:
                text = f"nothing makes the output {quoted(declared.name)}"
                raise bad_input(Code.UNKNOWN_BUFFER, (*graph.place, "output", j), text)
            found.append(value)
        return tuple(found)

    def nodes(self, nodes: Iterable[Node], scope: Scope, into: Written) -> None:
        for node in nodes:
            tick(PREPARING)
            self.count(1, node.place)
            self._counts.use(len(node.inputs) + len(node.outputs) + len(node.attributes))
            if scope.arguments is not None:
                self._counts.use(len(node.inputs) + len(node.attributes))
                node = scope.arguments.put_into(node)
            try:
                self._node(node, scope, into)
            except (ShapeError, ExpressionError) as error:
                text = f"{_called(node)}: {error}{self.asked(error.of, scope) if isinstance(error, NotKnown) else ''}"
                raise bad_input(Code.INVALID_VALUE, node.place, text) from None

    def follow(self, value: Value, sources: Sequence[Value | None]) -> None:
        """Record from which inputs what is in a small tensor follows."""
        names = dict.fromkeys(name for each in sources if each is not None for name in self._from.get(each, ()))
        if names:
            self._from[value] = tuple(islice(names, MOST_NAMED))

    def asked(self, name: str, scope: Scope) -> str:
        """Return what can be given so that this value's contents are known."""
        value = scope.find(name)
        names = self._from.get(value, ()) if value is not None else ()
        first = next((each for each in names if each not in self._told), None)
        if first is None:
            return ""
        is_truth = any(each.name == first and each.element == BOOL for each in self._model.graph.inputs)
        return f". Say what the input {quoted(first)} holds: give dim {plain(first)}.0={1 if is_truth else 4}"

    def _given(self, node: Node, scope: Scope) -> list[Value | Several | None]:
        found: list[Value | Several | None] = []
        for j, name in enumerate(node.inputs):
            value = (scope.sequence(name) or scope.find(name)) if name else None
            if value is None and name:
                text = f"{_called(node)} reads {quoted(name)}, which nothing has made"
                raise bad_input(Code.UNKNOWN_BUFFER, (*node.place, "input", j), text)
            found.append(value)
        return found

    def _inputs(self, node: Node, scope: Scope) -> list[Value | None]:
        found: list[Value | None] = []
        for j, value in enumerate(self._given(node, scope)):
            if isinstance(value, Several):
                what = "an optional value that is not there" if value.is_absent else "a sequence"
                text = f"{_called(node)} reads {quoted(node.inputs[j])}, which is {what}; only the operators of sequences do"
                raise bad_input(Code.WRONG_TYPE, (*node.place, "input", j), text)
            found.append(value)
        return found

    def _node(self, node: Node, scope: Scope, into: Written) -> None:
        for j, name in enumerate(node.outputs):
            if name:
                self.define(scope, name, (*node.place, "output", j))
        body = self._model.functions.get(Called(node.domain, node.operator, node.overload))
        same = hands_on(self, node, scope)
        if body is not None:
            self._inlined(node, body, self._given(node, scope), scope, into)
        elif same is not None:
            for name in filter(None, node.outputs[:1]):
                scope.hold(name, same)
        elif not node.domain and node.operator in SEQUENCES:
            self._given(node, scope)
            for name, made in zip(node.outputs, SEQUENCES[node.operator](self, node, scope, into), strict=False):
                self._items += len(made.items) if isinstance(made, Several) else 0
                if self._items > MOST_HELD:
                    raise bad_input(Code.TOO_LARGE, node.place, f"sequences hold more than {MOST_HELD} tensors in all")
                if name:
                    scope.hold(name, made)
        elif (
            not node.domain
            and node.operator == "Loop"
            and any(isinstance(v, Several) for v in self._given(node, scope))
        ):
            unrolled(self, node, self._given(node, scope), scope, into)
        elif not node.domain and node.operator in CONTROL:
            inputs = self._inputs(node, scope)
            if node.operator == "Scan" and not self.maybe.isdisjoint(inputs):
                text = f"{_called(node)} takes tensors, and not optional values: take it out with OptionalGetElement"
                raise bad_input(Code.WRONG_TYPE, node.place, text)
            CONTROL[node.operator](self, node, inputs, scope, into)
        else:
            self._computed(node, self._inputs(node, scope), scope, into)

    def _computed(self, node: Node, inputs: list[Value | None], scope: Scope, into: Written) -> None:
        site = Site(
            node,
            tuple(None if value is None else value.type for value in inputs),
            tuple(None if value is None else value.content for value in inputs),
            scope.opsets.get(node.domain, 0),
            self.symbols.box,
        )
        types = self._types(site, scope)
        if are_computed(site):
            self._counts.compute(sum(value.size for value in site.values if value is not None))
        found = values_of(site, types)
        self._counts.compute(sum(value.size for value in found if value is not None))
        self.warnings.update(dict.fromkeys(site.notes))
        present = [value for value in inputs if value is not None]
        folded = node.operator not in AT_RANDOM and all(value.is_constant for value in present)
        follows = bool(self._from) and node.operator in FOLLOWED and any(value in self._from for value in present)
        settled = folded or (not follows and all(map(is_settled, found)))
        outputs: list[Value] = []
        for name, type_, known in zip(node.outputs, types, found, strict=False):
            if name and settled:
                scope.values[name] = into.constant(name, type_, known)
            elif name and known is None and not follows:
                outputs.append(scope.values.put(name, type_, into))
            elif name:
                value = scope.values[name] = into.value(name, type_, TensorKind.INTERMEDIATE, known)
                outputs.append(value)
                if follows:
                    self.follow(value, present)
        if outputs:
            for operator in operators_of(site, inputs, outputs, into, share=self._in_place):
                into.run(operator)

    def _types(self, site: Site, scope: Scope) -> list[Type]:
        """Return the types of its outputs: by the operator's rule, otherwise as stated in the file."""
        node = site.node
        rule = RULES.get((node.domain, node.operator))
        found: list[Type] = []
        greatest: Sequence[Type] = ()
        missing: NotKnown | None = None
        why = f"memplan knows no operator {printable(cut(node.domain or 'ai.onnx'))}.{_operator(node)}"
        if rule is not None:
            try:
                found = rule(site)
            except (NotKnown, ExpressionError) as error:
                why = str(error)
                if isinstance(error, NotKnown):
                    missing, greatest = error, error.greatest
            except (IndexError, OverflowError):
                raise ShapeError("its inputs and attributes do not fit each other") from None
        for j, name in enumerate(node.outputs):
            if j < len(found):
                if found[j].element not in BITS:
                    raise ShapeError(f"there is no type {found[j].element}")
            elif name:
                declared = scope.known.get(name)
                if declared is None or declared.shape is None or declared.element is None:
                    if j < len(greatest):
                        site.depends_on_data()
                        found.append(greatest[j])
                        continue
                    text = f"{why}, and the file does not say which shape {quoted(name)} has"
                    raise NotKnown(text, of=missing.of) if missing else ShapeError(text)
                found.append(Type(declared.element, self.symbols.shape(declared, node.place)))
                self.symbols.require_all_known()
            else:
                found.append(Type(BOOL, ()))
        return found

    # operators that run graphs

    def _inlined(
        self, node: Node, body: Body, inputs: list[Value | Several | None], scope: Scope, into: Written
    ) -> None:
        """Lower a function of the model's own as if its nodes were here."""
        self._depth += 1
        if self._depth > MOST_FUNCTIONS:
            raise bad_input(Code.TOO_DEEP, node.place, f"functions run each other deeper than {MOST_FUNCTIONS}")
        self._counts.use(len(scope.opsets) + len(body.opsets) + len(body.inputs) + len(body.defaults))
        absent = frozenset(name for j, name in enumerate(body.inputs) if j >= len(inputs) or inputs[j] is None)
        given = Arguments({**body.defaults, **node.attributes}, absent)
        inner = Scope(None, {**scope.opsets, **body.opsets}, body.known, given)
        for name, value in zip(body.inputs, inputs, strict=False):
            if value is not None:
                inner.hold(name, value)
        self.nodes((replace(each, place=node.place) for each in body.nodes), inner, into)
        for name, theirs in zip(node.outputs, body.outputs, strict=False):
            found = inner.sequence(theirs) or inner.find(theirs)
            if name and found is None:
                raise ShapeError(f"its function makes no {quoted(theirs)}")
            if name and found is not None:
                scope.hold(name, found)
        self._depth -= 1

    def inner(
        self, node: Node, graph: Graph, scope: Scope, into: Written, given: list[tuple[Type, bool]], what: str
    ) -> tuple[Written, list[Value]]:
        """Lower the graph as a function that `into` runs, given values of these types, and whether they may be absent; return its outputs."""
        name = self.function_name(f"{node.name or node.operator}.{what}")
        written = Written(name, self.greatest(), self._counts, into, keeps_sizes=self.symbols.have_ranges)
        inner = Scope(scope, scope.opsets, graph.known)
        self.constants(graph, inner, written)
        if len(graph.inputs) != len(given):
            raise ShapeError(f"its graph takes {len(graph.inputs)} values, and is given {len(given)}")
        for j, (declared, (type_, is_maybe)) in enumerate(zip(graph.inputs, given, strict=True)):
            self.define(inner, declared.name, (*graph.place, "input", j))
            value = inner.values[declared.name] = written.value(declared.name, type_, TensorKind.INPUT)
            written.inputs += written.used([value])
            self.maybe |= {value} if is_maybe else set()
        self.nodes(graph.nodes, inner, written)
        written.back = self._back(graph, inner)
        if node.operator != "If" and any(isinstance(each, Several) for each in written.back):
            raise ShapeError(
                "its graph gives out a sequence, or an optional value that is not there: how long it gets is not known"
            )
        given_back = _flat(written.back)
        self.count(len(given_back), graph.place)
        return written, given_back


def _flat(values: Iterable[Value | Several]) -> list[Value]:
    """Return the tensors in them."""
    return [item for each in values for item in (each.items if isinstance(each, Several) else (each,))]


class _Greatest(dict[str, int]):
    """The greatest value of each symbol, including those found later."""

    def __init__(self, box: Mapping[str, tuple[int, int]]) -> None:
        super().__init__()
        self._box = box

    def __missing__(self, name: str) -> int:
        return self._box[name][1]


def _whole(nodes: Nodes) -> Iterator[Node]:
    """Yield the nodes, each after its own graphs have been read, even those that never run."""
    for node in nodes:
        for graph in graphs_of(node):
            count_of(graph.nodes)
        yield node


def _called(node: Node) -> str:
    name = f" {quoted(node.name)}" if node.name else ""
    return f"{_operator(node)}{name}"


def _operator(node: Node) -> str:
    return printable(cut(str(Called(node.domain, node.operator, node.overload))))
