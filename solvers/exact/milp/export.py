"""The integer program as a file, with readable names."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from ...model.errors import Unsupported
from ...model.instance import Instance
from ...model.needs import refusal
from ...model.solver import Feature
from .. import EXPORT
from .program.build import Question, build, choices_of
from .program.model import make_names
from .program.terms import floors

FORMATS = ("lp", "mps")


def export(
    instance: Instance,
    kind: str,
    blocks: Sequence[str] | None = None,
    pools: Sequence[str] | None = None,
    *,
    plain: bool = False,
) -> str:
    """The program of an instance as text; kind is lp or mps. Only in a process that may import PuLP.

    The objective is the first term; later terms of a lexicographic objective are left out. Names are those of blocks and pools. With `plain`,
    redundant rows that only help solvers are left out.
    """
    if kind not in FORMATS:
        raise Unsupported(EXPORT, f"a model file ends in .lp or .mps, not in .{kind}")
    if instance.weighs_moves:
        raise Unsupported(EXPORT, refusal({Feature.MOVES}))
    names = make_names(
        blocks if blocks is not None else [str(b) for b in range(instance.blocks)],
        pools if pools is not None else [str(p) for p in range(len(instance.pools))],
    )
    term = instance.terms[0] if instance.terms else None
    question = Question(term, floors=floors(instance, ()))
    model = build(instance, choices_of(instance, EXPORT), names, question, exact=True, plain=plain)
    if model is None:
        raise Unsupported(
            EXPORT, "it has no solution, as sizes and capacities alone show, so there is no program to write"
        )
    with tempfile.TemporaryDirectory(prefix="memplan-export-") as folder:
        path = Path(folder, f"model.{kind}")
        if kind == "lp":
            model.program.problem.writeLP(str(path))
        else:
            model.program.problem.writeMPS(str(path), with_objsense=True)
        return path.read_text()
