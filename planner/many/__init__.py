"""Many problems: each is planned once and written when done; the next run continues a stopped one."""

from __future__ import annotations

from .collecting import ProblemFile, collect
from .farm import Farm
from .manifest import Entry, EntryStatus, Manifest
from .progress import Reached, UnderWay
from .running import places_for, plan_many

__all__ = [
    "Entry",
    "EntryStatus",
    "Farm",
    "Manifest",
    "ProblemFile",
    "Reached",
    "UnderWay",
    "collect",
    "places_for",
    "plan_many",
]
