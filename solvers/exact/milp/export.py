"""The integer program as a file, with readable names."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.errors import Unsupported
from ...model.instance import Instance, Term
from ...model.needs import refusal
from ...model.objective import evaluate, value_of_peaks
from ...model.solver import Feature
from .. import EXPORT
from . import written
from .program.build import Question, build, choices_of
from .program.model import make_names
from .program.terms import floors
from .tries import quick_placement

FORMATS = ("lp", "mps")
PEAKS = (Term.SUM_OF_PEAKS, Term.LARGEST_PEAK)


def export(
    instance: Instance,
    kind: str,
    blocks: Sequence[str] | None = None,
    pools: Sequence[str] | None = None,
    *,
    plain: bool = False,
) -> str:
    """The program of an instance as text; kind is lp or mps. Only in a process that may import PuLP.

    The objective is the first term; later terms of a lexicographic objective are left out. Names are those of blocks and pools. With `plain`, what only
    helps solvers is left out: redundant rows, and the limit on peaks that a placement found here reaches, from which every big M follows.
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
    choices = choices_of(instance, EXPORT)
    least = floors(instance, ())
    question = Question(term, {} if plain else _limits(instance, least), floors=least)
    model = build(instance, choices, names, question, exact=True, plain=plain)
    if model is None:
        raise Unsupported(
            EXPORT, "it has no solution, as sizes and capacities alone show, so there is no program to write"
        )
    write = written.lp if kind == "lp" else written.mps
    return write(model.program.problem, {} if model.settled else model.program.problem.objective)


def _limits(instance: Instance, least: tuple[int, ...]) -> dict[Term, int]:
    """The first term's value at a placement that is found quickly, if there is one and the term is a peak. No best placement exceeds it."""
    first = instance.terms[0] if instance.terms else None
    if first not in PEAKS:
        return {}
    bound = value_of_peaks(instance, least) if first is Term.SUM_OF_PEAKS else max(least, default=0)
    placement = quick_placement(instance, (bound,))
    return {} if placement is None else {first: evaluate(instance, placement)[0]}
