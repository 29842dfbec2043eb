"""A .tflite file as a problem: by use, or as TFLite Micro plans it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....checks import sound_as_read
from ....checks.report import bad_input, quoted
from ....graph.problem import arrangement
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


def read(source: Source, like: str | None = None, in_place: bool = False) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem, and warnings about what is unknown. Raises BadInput.

    Models with commands of an Ethos-U are always read as TFLite Micro plans them: the places that its plan in the file has belong to the commands.
    """
    model = read_model(source.data)
    if like == MICRO or model.addressed:
        return _by_micro(model, in_place, is_asked=like == MICRO)
    program = program_of_model(model, in_place)
    del model  # both may be large
    try:
        arranged = arrangement(program, (Pool(ARENA),))
        del program
        problem = arranged.problem().problem
        del arranged
        return sound_as_read(problem), ()
    except BadInput as error:
        model = read_model(source.data)
        raise in_the_file(error, model, program_of_model(model, in_place)) from error


def _by_micro(model: Model, in_place: bool, *, is_asked: bool) -> tuple[Problem, tuple[str, ...]]:
    implied = (
        f"the places of what {quoted(ETHOS_U)} uses belong to its commands, so that the model is read with like={MICRO}"
    )
    if in_place:
        text = f"TFLite Micro's kernels are not asked to write over their inputs: in_place and like={MICRO} exclude each other"
        raise bad_input(Code.INVALID_OPTION, (), text if is_asked else f"{implied}. {text}")
    problem = sound_as_read(micro_problem(model))
    warnings = [] if is_asked else [implied]
    if unknown := unknown_kernels(model):
        names = ", ".join(map(quoted, unknown))
        warnings.append(f"of these kernels it is not known how much scratch memory they need: {names}")
    return problem, (*warnings, *notes(model, problem))
