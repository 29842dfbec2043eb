"""The kinds of jobs: what each reads, how it works on that, and how its answer is written, cut short and drawn."""

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
"""Each is loaded when there is the first job of it."""


@cache
def kind_of(name: str) -> Kind:
    """The kind of that name."""
    module, _, found = KINDS[name].partition(":")
    made: Kind = getattr(import_module(f".{module}", __name__), found)()
    return made
