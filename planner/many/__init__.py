"""Many problems: each is planned once, written down as it ends, and gone on with where a run was stopped."""

from __future__ import annotations

from .collecting import ProblemFile, collect
from .manifest import Entry, EntryStatus, Manifest
from .running import Farm, plan_many

__all__ = ["Entry", "EntryStatus", "Farm", "Manifest", "ProblemFile", "collect", "plan_many"]
