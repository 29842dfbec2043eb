"""A .tflite file as a problem: by use, or as TFLite Micro plans it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....checks import sound_as_read
from ....checks.report import bad_input, quoted
from ....facts.colocation import aligned
from ....graph.checks.soundness import require_sound_program
from ....graph.problem import ProgramFile, arrangement
from ....model.errors import BadInput, Code
from ....model.problem import Pool
from .given import notes
from .kernels import unknown_kernels
from .micro import ARENA, micro_problem
from .model import ETHOS_U, Model, read_model
from .program import in_the_file, program_of_model

if TYPE_CHECKING:
    from ....model.problem import Problem
    from ...documents import Source

MICRO = "tflm"
_AS_A_PROBLEM = "write it in a format of problems, or plan it in one arena"


def read_file(
    source: Source, like: str | None = None, in_place: bool = False, alignment: int = 1
) -> tuple[ProgramFile, tuple[str, ...]]:
    """Return the model as a program with one arena; there are no warnings. Raises BadInput, also if it is to be read as TFLite Micro plans it."""
    model = read_model(source.data)
    if like == MICRO or model.addressed:
        raise _no_program(model, is_asked=like == MICRO)
    program = program_of_model(model, in_place)
    try:
        require_sound_program(program)
    except BadInput as error:
        raise in_the_file(error, model, program) from error
    return ProgramFile(program, (Pool(ARENA, alignment=alignment),)), ()


def _no_program(model: Model, *, is_asked: bool) -> BadInput:
    text = "TFLite Micro's lifetimes, sizes and scratch memory do not follow from the operators, so that no program says them"
    if is_asked:
        return bad_input(
            Code.INVALID_OPTION, ("options", "like"), f"{text}: leave out like={MICRO}, or {_AS_A_PROBLEM}"
        )
    subgraph, tensor = min(model.addressed)
    return bad_input(
        Code.UNSUPPORTED, ("subgraphs", subgraph, "tensors", tensor), f"{_implied()}. {text}: {_AS_A_PROBLEM}"
    )


def read(
    source: Source, like: str | None = None, in_place: bool = False, alignment: int = 1
) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem, and warnings about what is unknown. Raises BadInput.

    Models with commands of an Ethos-U are always read as TFLite Micro plans them: the places that its plan in the file has belong to the commands.
    """
    model = read_model(source.data)
    if like == MICRO or model.addressed:
        return _by_micro(model, in_place, alignment, is_asked=like == MICRO)
    program = program_of_model(model, in_place)
    del model  # both may be large
    try:
        arranged = arrangement(program, (Pool(ARENA, alignment=alignment),))
        del program
        problem = arranged.problem().problem
        del arranged
        return sound_as_read(problem), ()
    except BadInput as error:
        model = read_model(source.data)
        raise in_the_file(error, model, program_of_model(model, in_place)) from error


def _implied() -> str:
    return (
        f"the places of what {quoted(ETHOS_U)} uses belong to its commands, so that the model is read with like={MICRO}"
    )


def _by_micro(model: Model, in_place: bool, alignment: int, *, is_asked: bool) -> tuple[Problem, tuple[str, ...]]:
    implied = _implied()
    if in_place:
        text = f"TFLite Micro's kernels are not asked to write over their inputs: in_place and like={MICRO} exclude each other"
        raise bad_input(Code.INVALID_OPTION, (), text if is_asked else f"{implied}. {text}")
    problem = sound_as_read(aligned(micro_problem(model), alignment))
    warnings = [] if is_asked else [implied]
    if unknown := unknown_kernels(model):
        names = ", ".join(map(quoted, unknown))
        warnings.append(f"of these kernels it is not known how much scratch memory they need: {names}")
    return problem, (*warnings, *notes(model, problem))
