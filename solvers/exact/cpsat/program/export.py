"""CP-SAT's model of an instance as text (CpModelProto in protobuf's text format), with names that people can read."""

from __future__ import annotations

from collections.abc import Sequence

from solvers.model.errors import Unsupported
from solvers.model.instance import Instance

from .cover import cover
from .model import build
from .objective import Costs


def export(instance: Instance, blocks: Sequence[str], pools: Sequence[str]) -> str:
    """The model that minimises the objective's first term. A block's offset is `lowest + modulus * k`; `k[block, pool]` is that step.

    Later terms of a lexicographic objective are no part of it.
    """
    covered = cover(instance)
    model = build(instance, covered)
    if model.is_impossible:
        raise Unsupported("export-model", "a block has no place at all, as sizes and capacities alone show")
    for what, variables in (("k", model.steps), ("in", model.chosen)):
        for (block, pool), variable in variables.items():
            model.cp.proto.variables[variable.index].name = f"{what}[{blocks[block]}, {pools[pool]}]"
    costs = Costs(model, covered)
    if instance.terms:
        model.cp.minimize(costs.term(instance.terms[0]))
    model.cp.name = "memplan"
    return str(model.cp.proto)
