"""A .tflite file as a problem: by use, or as TFLite Micro plans it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....checks import sound_as_read
from ....checks.report import bad_input, quoted
from ....graph.problem import arrangement
from ....graph.program import Program
from ....model.errors import BadInput, Code
from ....model.problem import Pool
from .kernels import unknown_kernels
from .micro import ARENA, micro_problem
from .model import read_model
from .program import in_the_file, program_of_model

if TYPE_CHECKING:
    from ....model.problem import Problem
    from ...documents import Source

MICRO = "tflm"


def read(source: Source, like: str | None = None, in_place: bool = False) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem, and warnings about what is unknown. Raises BadInput."""
    if like == MICRO:
        model = read_model(source.data)
        if in_place:
            text = "TFLite Micro's kernels are not asked to write over their inputs: in_place and like=tflm exclude each other"
            raise bad_input(Code.INVALID_OPTION, (), text)
        unknown = unknown_kernels(model)
        text = "of these kernels it is not known how much scratch memory they need: " + ", ".join(map(quoted, unknown))
        return sound_as_read(micro_problem(model)), (text,) if unknown else ()
    program = read_program(source, in_place)
    try:
        arranged = arrangement(program, (Pool(ARENA),))
        del program  # it may be large
        problem = arranged.problem().problem
        del arranged
        return sound_as_read(problem), ()
    except BadInput as error:
        model = read_model(source.data)  # again, since it may be large, too
        raise in_the_file(error, model, program_of_model(model, in_place)) from error


def read_program(source: Source, in_place: bool = False) -> Program:
    """Return the model as a program. Raises BadInput."""
    return program_of_model(read_model(source.data), in_place)
