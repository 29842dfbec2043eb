"""The kinds of jobs: how each reads, works, writes its answer, cuts it short and draws it."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from .kind import Kind

KINDS = {
    "plan": "plans:PlanKind",
    "sharing": "plans:SharingKind",
    "nested": "nested:NestedKind",
    "frontier": "frontiers:FrontierKind",
    "sweep": "sweeps:SweepKind",
    "shapes": "shapes:ShapesKind",
    "proof": "proofs:ProofKind",
}
"""Each is loaded for the first job of the kind."""


@cache
def kind_of(name: str) -> Kind:
    module, _, found = KINDS[name].partition(":")
    made: Kind = getattr(import_module(f".{module}", __name__), found)()
    return made
