"""From torch.export's programs to our Programs: tensors with their sizes, operators with what they share.

Everything is found in the graph that PyTorch provides (shapes, operators' schemas, the signature); nothing is computed. In a Program, sizes
that depend on symbols are at their largest; a ShapedProblem keeps them as expressions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..checks.report import Place, bad_input, quoted
from ..graph.operators import Operator, OperatorKind, Tensor, TensorKind, in_place
from ..graph.outcomes import Sizes, with_symbols
from ..graph.problem import program_problem
from ..graph.program import Function, Program
from ..model.errors import Code
from ..model.problem import BufferId, Pool
from ..planning.shapes.shaped import ShapedProblem
from .aliases import Alias, aliases
from .symbols import Ranges, Symbols

MAIN = "main"
ALIASES = (OperatorKind.VIEW, OperatorKind.SLICE, OperatorKind.SELECT)
KEPT = (TensorKind.CONSTANT, TensorKind.MUTABLE)
"""Tensors that no operator may write over."""
BRANCH, LOOP = "cond", "while_loop"
"""The operators that run graphs."""


def torch_program(exported: Any, *, in_place: bool = False, ranges: Ranges | None = None) -> Program:
    """Return the Program of a `torch.export.ExportedProgram`: inputs and outputs, written state, and everything between.

    `in_place` lets elementwise operators write over an input; `ranges` gives the ranges of symbols by name, if the program has none, or wider
    ones. Raises BadInput for sizes unknown before the run, and for operators that run graphs other than `cond` and `while_loop`.
    """
    return _lowered(exported, in_place, Symbols(exported, ranges or {}))[0]


def torch_shapes(
    exported: Any, pools: Sequence[Pool], *, in_place: bool = False, ranges: Ranges | None = None
) -> ShapedProblem:
    """Return the same problem with sizes as expressions over the program's symbols, for `plan_shapes`. Raises BadInput as `torch_program` does."""
    symbols = Symbols(exported, ranges or {})
    program, sizes = _lowered(exported, in_place, symbols)
    return with_symbols(program_problem(program, pools), sizes, symbols.box)


def _lowered(exported: Any, in_place: bool, symbols: Symbols) -> tuple[Program, Sizes]:
    modules = [each for each in exported.graph_module.modules() if hasattr(each, "graph")]
    if any(_writes(node) for module in modules for node in module.graph.nodes):
        exported = exported.run_decompositions({})  # the same graph, with what is written as results
    signature = exported.graph_signature
    named = [each for each in signature.input_specs if hasattr(each.arg, "name")]
    kinds = {
        each.arg.name: TensorKind.INPUT if each.kind.name == "USER_INPUT" else TensorKind.CONSTANT for each in named
    }
    homes = {each.target: each.arg.name for each in named if each.target is not None}
    results: list[str] = []
    state: list[tuple[str, str]] = []
    for each in signature.output_specs:
        name = getattr(each.arg, "name", None)
        if name is not None and each.kind.name == "USER_OUTPUT":
            results.append(name)
        elif name is not None and homes.get(each.target, each.target) in kinds:
            state.append((name, homes.get(each.target, each.target)))
    kinds |= {into: TensorKind.MUTABLE for _, into in state}
    functions: list[Function] = []
    sizes: Sizes = {}
    main = _Lowering(MAIN, symbols, in_place, functions, sizes)
    main.run(exported.graph_module, kinds)
    for made, into in state:
        main.compute(f"write {into}", main.held(made), (into,))
    functions.append(main.function([id_ for name in results for id_ in main.held(name)]))
    return Program(tuple(functions), (MAIN,)), sizes


class _Lowering:
    """One graph as a function; the functions that it runs come before it."""

    def __init__(self, name: str, symbols: Symbols, in_place: bool, functions: list[Function], sizes: Sizes) -> None:
        self.name, self._symbols, self._in_place, self._functions, self._sizes = (
            name,
            symbols,
            in_place,
            functions,
            sizes,
        )
        self.tensors: dict[str, Tensor] = {}
        self._operators: list[Operator] = []
        self._inputs: list[str] = []
        self._values: dict[str, tuple[str | None, ...]] = {}
        """The tensors of each node; None for what is not a tensor."""

    def run(self, module: Any, kinds: Mapping[str, TensorKind]) -> list[str]:
        """Lower all nodes; return the graph's outputs. Values without a kind are inputs."""
        back: list[str] = []
        for node in module.graph.nodes:
            if node.op == "placeholder":
                kind = kinds.get(node.name, TensorKind.INPUT)
                self._values[node.name] = self._declare(node, kind)
                self._inputs += self.held(node.name) if kind is not TensorKind.CONSTANT else ()
            elif node.op == "get_attr":
                self._values[node.name] = self._declare(node, TensorKind.CONSTANT)
            elif node.op == "call_function" and getattr(node.target, "__name__", "") == "getitem":
                self._values[node.name] = (self._values[node.args[0].name][node.args[1]],)
            elif node.op == "call_function":
                self._values[node.name] = self._declare(node, TensorKind.INTERMEDIATE)
                self._operate(node, module)
            elif node.op == "output":
                back = [id_ for each in _nodes(node.args) for id_ in self.held(each.name)]
        return back

    def held(self, name: str) -> tuple[str, ...]:
        """Return the tensors of a node."""
        return tuple(id_ for id_ in self._values[name] if id_ is not None)

    def compute(self, name: str, inputs: Sequence[str], outputs: Sequence[str], **more: Any) -> None:
        """Add a step."""
        kind = more.pop("kind", OperatorKind.COMPUTE)
        self._operators.append(Operator(kind, tuple(inputs), tuple(outputs), name=name, **more))

    def function(self, back: Sequence[str], *, of_caller: bool = False) -> Function:
        """Return the function. A caller of ours gets separate output tensors."""
        outputs = []
        for number, id_ in enumerate(back):
            tensor = self.tensors[id_]
            if of_caller and (tensor.kind is not TensorKind.INTERMEDIATE or id_ in outputs):
                copy = f"{id_}.{number}.back"
                self.tensors[copy] = replace(tensor, id=copy, kind=TensorKind.INTERMEDIATE)
                self.compute(f"copy {copy}", (id_,), (copy,), kind=OperatorKind.COPY)
                id_ = copy
            if tensor.kind is not TensorKind.CONSTANT or of_caller:
                outputs.append(id_)
        shown = outputs if of_caller else list(dict.fromkeys(outputs))
        return Function(
            self.name, tuple(self.tensors.values()), tuple(self._ordered(shown)), tuple(self._inputs), tuple(shown)
        )

    def _declare(self, node: Any, kind: TensorKind) -> tuple[str | None, ...]:
        value = node.meta.get("val")
        many = isinstance(value, list | tuple)
        ids: list[str | None] = []
        for number, each in enumerate(value if many else (value,)):
            if not (hasattr(each, "shape") and hasattr(each, "element_size")):
                ids.append(None)
                continue
            id_ = f"{node.name}.{number}" if many else node.name
            self.tensors[id_] = self._tensor(id_, each, kind, ("graph", self.name, node.name))
            ids.append(id_)
        return tuple(ids)

    def _tensor(self, id_: str, value: Any, kind: TensorKind, place: Place) -> Tensor:
        shape = tuple(self._symbols.most(size, place) for size in value.shape)
        size = (
            None
            if all(isinstance(each, int) for each in value.shape)
            else self._symbols.bytes(value.shape, value.element_size())
        )
        if size is not None:
            self._sizes[self.name, id_] = size
        return Tensor(id_, shape, value.element_size() * 8, kind)

    def _operate(self, node: Any, module: Any) -> None:
        name = getattr(node.target, "__name__", str(node.target))
        outputs = self.held(node.name)
        if type(node.target).__name__ == "OpOverload" or not any(each.op == "get_attr" for each in _nodes(node.args)):
            if outputs:
                self._compute(node, outputs)
            return
        if name == BRANCH:
            test, *graphs, given = node.args
            arms = tuple(self._inner(node, module, graph) for graph in graphs)
            self.compute(
                node.name,
                (self._test(node, test), *self._all(given)),
                outputs,
                kind=OperatorKind.BRANCH,
                functions=arms,
            )
        elif name == LOOP:
            condition, body, carried, *stays = node.args
            first = self._all(carried)
            tested, turn = (self._inner(node, module, graph) for graph in (condition, body))
            inputs = (*first, *self._all(stays))
            kinds = {"functions": (turn,), "condition": tested, "carried": len(first)}
            self.compute(node.name, inputs, outputs, kind=OperatorKind.LOOP, **kinds)
        else:
            text = f"{quoted(name)} runs graphs, and only {BRANCH} and {LOOP} can be followed"
            raise bad_input(Code.UNSUPPORTED, ("graph", self.name, node.name), text)

    def _all(self, nodes: Any) -> tuple[str, ...]:
        return tuple(id_ for each in _nodes(nodes) for id_ in self.held(each.name))

    def _test(self, node: Any, condition: Any) -> str:
        """Return the tensor that decides which branch runs; other values need no room."""
        found = self._all((condition,))
        if found:
            return found[0]
        id_ = f"{node.name}.test"
        self.tensors[id_] = Tensor(id_, (), 8, TensorKind.CONSTANT)
        return id_

    def _inner(self, node: Any, module: Any, graph: Any) -> str:
        """Return the graph as a separate function for this operator."""
        name = f"{self.name}/{node.name}/{graph.target}"
        inner = _Lowering(name, self._symbols, self._in_place, self._functions, self._sizes)
        back = inner.run(getattr(module, graph.target), {})
        self._functions.append(inner.function(back, of_caller=True))
        return name

    def _compute(self, node: Any, outputs: tuple[str, ...]) -> None:
        """Add the operator as steps, usually one."""
        inputs = tuple(dict.fromkeys(self._all((node.args, node.kwargs))))
        source, found = self._aliases(node, outputs)
        for alias, id_ in zip(found, outputs, strict=False):
            self.compute(id_, (source,), (id_,), kind=alias.kind, **alias.place)
        if len(found) > 1:
            self.compute(node.name, outputs, ())  # those that have to be copied are there at once
        elif not found:
            is_over = self._over_an_input(node, inputs, outputs)
            self.compute(node.name, inputs, outputs, kind=OperatorKind.IN_PLACE if is_over else OperatorKind.COMPUTE)

    def _aliases(self, node: Any, outputs: tuple[str, ...]) -> tuple[str, tuple[Alias, ...]]:
        """Return the tensor in which all outputs lie, and how; nothing if they are new."""
        source: Any = node.args[0] if node.args else None
        over = self.held(source.name) if hasattr(source, "meta") and hasattr(node.target, "_schema") else ()
        found = aliases(node, source.meta["val"]) if len(over) == 1 else ()
        is_view = any(each.kind is OperatorKind.VIEW for each in found)
        if not found or (is_view and self.tensors[over[0]].bits != self.tensors[outputs[0]].bits):
            return "", ()
        return over[0], found

    def _over_an_input(self, node: Any, inputs: Sequence[str], outputs: Sequence[str]) -> bool:
        """True if the operator may write its output over an input."""
        tags = getattr(node.target, "tags", ()) if self._in_place and len(outputs) == 1 else ()
        return any(str(tag).endswith("pointwise") for tag in tags) and any(self._alike(inputs, outputs[0]))

    def _alike(self, inputs: Sequence[BufferId], output: BufferId) -> Iterator[BufferId]:
        """Yield the inputs with the output's elements."""
        tensors = {id_: self.tensors[str(id_)] for id_ in (*inputs, output)}
        forms = {id_: (each.shape, each.element_bits) for id_, each in tensors.items()}
        return (id_ for id_ in inputs if forms[id_] == forms[output])

    def _ordered(self, back: Sequence[str]) -> Iterator[Operator]:
        """Yield the operators. One in place begins with the inputs that are like its output, first with those that are neither kept nor needed later."""
        roots: dict[BufferId, str] = {id_: id_ for id_ in self.tensors}
        """The tensors in which others lie."""
        last: dict[str, int] = {}
        """The steps at which something that lies there is read last."""
        for step, each in enumerate(self._operators):
            last.update((roots[id_], step) for id_ in each.inputs)
            root = roots[each.inputs[0]] if each.kind in ALIASES else None
            # parts of constants are copied
            if root and (each.kind is OperatorKind.VIEW or self.tensors[root].kind is not TensorKind.CONSTANT):
                roots[each.outputs[0]] = root
        last.update((roots[id_], len(self._operators)) for id_ in back)
        for step, each in enumerate(self._operators):
            if each.kind is OperatorKind.IN_PLACE:
                free = {
                    id_ for id_ in each.inputs if last[roots[id_]] == step and self.tensors[roots[id_]].kind not in KEPT
                }
                alike = sorted(self._alike(each.inputs, each.outputs[0]), key=lambda id_: id_ not in free)
                yield in_place(alike, each.inputs, each.outputs, each.name)
            else:
                yield each


def _writes(node: Any) -> bool:
    """True if the operator writes over an argument."""
    return bool(getattr(getattr(node.target, "_schema", None), "is_mutable", False))


def _nodes(value: Any) -> Iterator[Any]:
    """Return the nodes in arguments, in order."""
    if hasattr(value, "all_input_nodes"):
        yield value
    elif isinstance(value, Mapping):
        yield from _nodes(list(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _nodes(each)
