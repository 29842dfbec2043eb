"""From torch.export's programs to our Programs: tensors with their sizes, operators with what they share.

Everything is found in the graph that PyTorch provides (shapes, operators' schemas, the signature); nothing is computed. In a Program, sizes
that depend on symbols are at their largest; a ShapedProblem keeps them as expressions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..checks.report import Place, bad_input, quoted
from ..graph.operators import Operator, OperatorKind, Tensor, TensorKind
from ..graph.outcomes import Sizes, with_symbols
from ..graph.problem import program_problem
from ..graph.program import Function, Program
from ..model.errors import Code
from ..model.problem import Pool
from ..planning.shapes.shaped import ShapedProblem
from .symbols import Ranges, Symbols

MAIN = "main"
PARTS = {"aten.slice.Tensor": OperatorKind.SLICE, "aten.select.int": OperatorKind.SELECT}
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
            self.name, tuple(self.tensors.values()), tuple(self._operators), tuple(self._inputs), tuple(shown)
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
            kind, inputs, more = self._kind(node)
            if outputs:
                self.compute(node.name, inputs, outputs, kind=kind, **more)
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

    def _kind(self, node: Any) -> tuple[OperatorKind, tuple[str, ...], dict[str, int]]:
        """Return what the operator does with memory, by its schema and the tensors' strides; and its inputs, beginning with the one it shares."""
        inputs = tuple(dict.fromkeys(self._all((node.args, node.kwargs))))
        plain: tuple[OperatorKind, tuple[str, ...], dict[str, int]] = OperatorKind.COMPUTE, inputs, {}
        source: Any = node.args[0] if node.args else None
        result = self.held(node.name)
        schema = getattr(node.target, "_schema", None)
        if schema is None or len(result) != 1 or not hasattr(source, "meta"):
            return plain
        alias = schema.returns[0].alias_info if len(schema.returns) == 1 else None
        own, theirs = node.meta["val"], source.meta.get("val")
        if alias is not None and not alias.is_write and hasattr(theirs, "is_contiguous") and theirs.is_contiguous():
            over = self.held(source.name)
            part = PARTS.get(str(node.target))
            # where a part begins depends on sizes, so these have to be numbers
            settled = all(each is None or isinstance(each, int) for each in (*node.args[1:], *theirs.shape))
            if part is not None and over and settled:
                return part, over, self._part(part, self.tensors[over[0]].shape, node.args[1:])
            if part is None and over and own.is_contiguous() and self._are_alike(over[0], result[0]):
                return OperatorKind.VIEW, over, {}
        if self._in_place and any(str(tag).endswith("pointwise") for tag in node.target.tags):
            for id_ in inputs:
                mine, other = self.tensors[result[0]], self.tensors[id_]
                if (mine.shape, mine.element_bits) == (other.shape, other.element_bits):
                    return OperatorKind.IN_PLACE, (id_, *(each for each in inputs if each != id_)), {}
        return plain

    def _part(self, part: OperatorKind, shape: tuple[int, ...], bounds: tuple[int | None, ...]) -> dict[str, int]:
        """Return the part of a slice (dim, start, end, step) or a select (dim, index)."""
        dim, start, _, step = (*bounds, *(0, 0, None, 1)[len(bounds) :])
        if part is OperatorKind.SELECT:
            return {"dim": dim or 0, "start": start or 0}
        length = shape[dim or 0]
        start = start or 0
        return {
            "dim": dim or 0,
            "start": min(max(start + length if start < 0 else start, 0), length),
            "step": step or 1,
        }

    def _are_alike(self, source: str, result: str) -> bool:
        return self.tensors[source].bits == self.tensors[result].bits


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
