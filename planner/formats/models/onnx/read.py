"""ONNX: from a model's bytes to a Problem, or a ShapedProblem if dimensions have several values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ....checks import sound_as_read
from ....checks.report import bad_input, quoted
from ....graph.checks.soundness import require_sound_program
from ....graph.outcomes import with_symbols
from ....graph.problem import ProgramFile, arrangement
from ....graph.program import Program
from ....model.errors import BadInput, Code, Finding
from ....model.problem import Pool
from ....planning.shapes.expression import ExpressionError
from .dims import Dim
from .lowering import Lowering
from .messages import read_model
from .rules.site import ShapeError
from .symbols import Symbols, parse_dims

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....model.problem import Problem
    from ....planning.shapes.shaped import ShapedProblem
    from ...documents import Source

ALIGNMENT = 64
"""The alignment of every tensor in ONNX Runtime, on processors."""
ARENA = "arena"


class OnnxProgram(NamedTuple):
    """A model as a program, its sizes (expressions if dimensions have several values), and warnings."""

    program: Program
    sizes: dict[tuple[str | None, int | str], Dim]
    symbols: dict[str, tuple[int, int]]
    """The dimensions with several values."""
    warnings: tuple[str, ...]


def read_program(source: Source, dim: Sequence[str] = (), *, in_place: bool = False) -> OnnxProgram:
    """Return the model as a program, with these values of its dimensions. Raises BadInput."""
    symbols = Symbols(parse_dims(dim))
    model = read_model(source.data)
    lowering = Lowering(model, symbols, in_place=in_place)
    try:
        lowering.lower()
    except (ExpressionError, ShapeError) as error:
        raise bad_input(Code.INVALID_VALUE, ("graph",), str(error)) from None
    symbols.require_all_used()
    open_ = {name: span for name, span in symbols.box.items() if span[0] < span[1]}
    if open_ and in_place:
        text = "where memory is shared, every dimension must be one number"
        raise bad_input(Code.INVALID_OPTION, ("options", "in_place"), text)
    program = Program(tuple(lowering.functions), ("main",), name=model.graph.name or None)
    with _in_the_graph():
        require_sound_program(program)
    sizes: dict[tuple[str | None, int | str], Dim] = {}
    for name, each in lowering.sizes.items() if open_ else ():
        sizes.update({(name, id_): size for id_, size in each.items()})
    return OnnxProgram(program, sizes, open_, tuple(lowering.warnings))


def read_file(
    source: Source, dim: Sequence[str] = (), *, in_place: bool = False, alignment: int = ALIGNMENT
) -> tuple[ProgramFile, tuple[str, ...]]:
    """Return the model as a program with one arena, and warnings. Raises BadInput, also if dimensions have several values."""
    made = read_program(source, dim, in_place=in_place)
    for name, (low, high) in made.symbols.items():
        text = f"a program has one size for each tensor, and {quoted(name)} is from {low} to {high}: give dim {name}={high}"
        raise bad_input(Code.INVALID_OPTION, ("options", "dim"), text)
    return ProgramFile(made.program, (Pool(ARENA, alignment=alignment),)), made.warnings


def read(
    source: Source, dim: Sequence[str] = (), *, in_place: bool = False, alignment: int = ALIGNMENT
) -> tuple[Problem | ShapedProblem, tuple[str, ...]]:
    """Return the Problem of planning everything that the model computes in one arena, and warnings."""
    program, sizes, symbols, warnings = read_program(source, dim, in_place=in_place)
    with _in_the_graph():
        arranged = arrangement(program, (Pool(ARENA, alignment=alignment),), is_sound=True)
    del program  # it may be large
    made = arranged.problem()
    del arranged
    problem = sound_as_read(made.problem)
    if not symbols:
        return problem, warnings
    return with_symbols(replace(made, problem=problem), sizes, symbols), warnings


@contextmanager
def _in_the_graph() -> Iterator[None]:
    """State errors about the program as such about the graph: the program's functions are not those of the file."""
    try:
        yield
    except BadInput as error:
        findings = (Finding(each.code, "/graph", each.message) for each in error.findings)
        raise BadInput(*findings, more=error.more) from error
